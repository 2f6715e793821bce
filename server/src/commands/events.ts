import { defineCommand } from 'citty'
import {
  dropDeadLetter,
  listDeadLetters,
  type Retried,
  retryAllDeadLetters,
  retryDeadLetter,
} from '../features/ingest/dead-letters.ts'
import { retryConversion } from '../features/track/dead-letters.ts'
import type { Config } from '../platform/config.ts'
import { readConfig } from '../platform/config.ts'
import { countLetters, deleteLetters, type Letter, type LetterKind, selectLetters } from '../platform/dead-letters.ts'
import { AppError, invalid } from '../platform/errors.ts'
import { openLog } from '../platform/log.ts'
import { closeNats, openNats } from '../platform/nats.ts'
import { republish } from '../platform/outbox.ts'
import { type Db, openPostgres } from '../platform/postgres.ts'
import { jsonFlag, print, reportProblems, table } from './run.ts'

const list = defineCommand({
  meta: { name: 'list', description: 'List events and messages that could not be processed, oldest first' },
  args: { limit: { type: 'string', description: 'Maximum number of entries', default: '100' }, ...jsonFlag },
  run: ({ args }) =>
    onEngines(async (handles) => {
      const limit = wholeNumber('--limit', args.limit)
      const { letters, total } = await listDeadLetters(handles, limit)
      const ofLog = letters.map(({ sequence, at, subject, reason, excerpt }) => ({
        sequence,
        at: at.toISOString(),
        subject,
        reason,
        excerpt,
      }))
      const ofPostgres = (await selectLetters(handles.db, { limit })).map((letter) => ({
        reference: letter.reference,
        at: letter.first_seen_at.toISOString(),
        subject: letter.kind,
        reason: letter.reason,
        workspaceId: letter.workspace_id,
        attempts: letter.attempts,
      }))
      const counts = await countLetters(handles.db)
      const more = total + counts.conversion + counts.outbox - ofLog.length - ofPostgres.length
      const tables = [
        ofLog.length > 0 && table(ofLog.map((row) => ({ ...row, sequence: String(row.sequence) }))),
        ofPostgres.length > 0 && table(ofPostgres.map((row) => ({ ...row, attempts: String(row.attempts) }))),
        more > 0 && `${more} more dead letters; raise --limit to list them.`,
      ]
      const text = tables.filter((part) => part !== false).join('\n')
      print(args.json, [...ofLog, ...ofPostgres], text || 'There are no dead letters.')
    }),
})

const which = {
  sequence: { type: 'string', description: 'Sequence number of a message, as listed' },
  reference: { type: 'string', description: 'Reference of a lead, sale or outbox message, as listed' },
  all: { type: 'boolean', description: 'All current dead letters', default: false },
  ...jsonFlag,
} as const

const retry = defineCommand({
  meta: { name: 'retry', description: 'Retry dead letters' },
  args: which,
  run: ({ args }) =>
    onEngines(async (handles) => {
      requireOne(args)
      const retried: (Retried | RetriedRow)[] = []
      if (args.sequence !== undefined) {
        retried.push(await retryDeadLetter(handles, wholeNumber('--sequence', args.sequence)))
      } else if (args.reference !== undefined) {
        retried.push(await retryRow(handles, await requireLetter(handles, args.reference)))
      } else {
        for await (const letter of retryAllDeadLetters(handles)) retried.push(letter)
        for (const letter of await selectLetters(handles.db, { limit: mostAtOnce }))
          retried.push(await retryRow(handles, letter))
      }
      const failed = retried.filter((letter) => 'problem' in letter)
      const lines = [`Retried: ${retried.length - failed.length}.`]
      for (const { sequence, problem } of failed) lines.push(`Dead letter ${sequence} was not retried: ${problem}.`)
      print(args.json, retried, lines.join('\n'))
      if (failed.length > 0) process.exitCode = 1
    }),
})

const drop = defineCommand({
  meta: {
    name: 'drop',
    description: "Delete a dead letter permanently: its event is never counted. A sale stays in its customer's totals",
  },
  args: { sequence: which.sequence, reference: which.reference, ...jsonFlag },
  run: ({ args }) =>
    onEngines(async (handles) => {
      requireOne(args)
      if (args.sequence !== undefined) await dropDeadLetter(handles, wholeNumber('--sequence', args.sequence))
      if (args.reference !== undefined) {
        const { kind, reference } = await requireLetter(handles, args.reference)
        await deleteLetters(handles.db, kind, [reference])
      }
      print(args.json, { dropped: args.sequence ?? args.reference }, 'Deleted the dead letter.')
    }),
})

type RetriedRow = { reference: string; kind: LetterKind }
// The maximum number of dead letters in PostgreSQL that one command retries.
const mostAtOnce = 10_000

function requireOne({ sequence, reference, all = false }: { sequence?: string; reference?: string; all?: boolean }) {
  if ([sequence !== undefined, reference !== undefined, all].filter(Boolean).length !== 1)
    throw invalid('Choose one of --sequence <number>, --reference <reference> or --all.')
}

async function requireLetter({ db }: Handles, reference: string): Promise<Letter> {
  const [letter] = await selectLetters(db, { limit: 1, reference })
  if (letter) return letter
  throw new AppError(
    'not_found',
    `There is no dead letter ${reference}. To list all: \`tributary events dead-letters list\`.`,
  )
}

async function retryRow(handles: Handles, letter: Letter): Promise<RetriedRow> {
  if (letter.kind === 'outbox') await republish(handles, letter)
  else await retryConversion(handles, letter.workspace_id, letter.reference)
  return { reference: letter.reference, kind: letter.kind }
}

const deadLetters = defineCommand({
  meta: { name: 'dead-letters', description: 'List, retry and drop dead letters' },
  subCommands: { list, retry, drop },
})

export const events = defineCommand({
  meta: { name: 'events', description: 'Manage the event log' },
  subCommands: { 'dead-letters': deadLetters },
})

type Handles = { config: Config; db: Db; nats: Awaited<ReturnType<typeof openNats>> }

async function onEngines(work: (handles: Handles) => Promise<void>): Promise<void> {
  await reportProblems(async () => {
    const config = readConfig()
    const nats = await openNats(config, openLog('silent'))
    const db = openPostgres(config, 'command')
    try {
      await work({ config, db, nats })
    } finally {
      await db.destroy()
      await closeNats(nats)
    }
  })
}

function wholeNumber(option: string, text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw invalid(`${option} ${text} must be a whole number, at least 1.`)
  return Number(text)
}
