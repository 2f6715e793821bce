import { defineCommand } from 'citty'
import { listDeadLetters, type Retried, retryAllDeadLetters, retryDeadLetter } from '../features/ingest/dead-letters.ts'
import type { Config } from '../platform/config.ts'
import { readConfig } from '../platform/config.ts'
import { invalid } from '../platform/errors.ts'
import { openLog } from '../platform/log.ts'
import { closeNats, openNats } from '../platform/nats.ts'
import { jsonFlag, print, reportProblems, table } from './run.ts'

const list = defineCommand({
  meta: { name: 'list', description: 'List events and messages that were given up, the oldest first' },
  args: { limit: { type: 'string', description: 'How many at most', default: '100' }, ...jsonFlag },
  run: ({ args }) =>
    onLog(async (handles) => {
      const { letters, total } = await listDeadLetters(handles, wholeNumber('--limit', args.limit))
      const rows = letters.map(({ sequence, at, subject, reason, excerpt }) => ({
        sequence,
        at: at.toISOString(),
        subject,
        reason,
        excerpt,
      }))
      const lines = rows.map((row) => ({ ...row, sequence: String(row.sequence) }))
      const more = total > rows.length ? `\n${total - rows.length} more; --limit shows them.` : ''
      print(args.json, rows, rows.length ? `${table(lines)}${more}` : 'There are no dead letters.')
    }),
})

const retry = defineCommand({
  meta: { name: 'retry', description: 'Send dead letters back to where they came from' },
  args: {
    sequence: { type: 'string', description: 'The number of one of them, as listed' },
    all: { type: 'boolean', description: 'All that are there now', default: false },
    ...jsonFlag,
  },
  run: ({ args }) =>
    onLog(async (handles) => {
      if (args.all === (args.sequence !== undefined)) throw invalid('Say which: either --sequence <number> or --all.')
      const retried: Retried[] = []
      if (args.sequence !== undefined) {
        retried.push(await retryDeadLetter(handles, wholeNumber('--sequence', args.sequence)))
      } else {
        for await (const letter of retryAllDeadLetters(handles)) retried.push(letter)
      }
      const kept = retried.filter((letter) => 'problem' in letter)
      const done = retried.filter((letter) => 'subject' in letter)
      const lines = [`Sent again: ${done.length}.`]
      for (const { sequence, problem } of kept) lines.push(`Dead letter ${sequence} stays: ${problem}.`)
      print(args.json, retried, lines.join('\n'))
      if (kept.length > 0) process.exitCode = 1
    }),
})

const deadLetters = defineCommand({
  meta: { name: 'dead-letters', description: 'List and retry what was given up' },
  subCommands: { list, retry },
})

export const events = defineCommand({
  meta: { name: 'events', description: 'Look after the event log' },
  subCommands: { 'dead-letters': deadLetters },
})

type Handles = { config: Config; nats: Awaited<ReturnType<typeof openNats>> }

async function onLog(work: (handles: Handles) => Promise<void>): Promise<void> {
  await reportProblems(async () => {
    const config = readConfig()
    const nats = await openNats(config, openLog('silent'))
    try {
      await work({ config, nats })
    } finally {
      await closeNats(nats)
    }
  })
}

function wholeNumber(option: string, text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw invalid(`${option} ${text} must be a whole number from 1 on.`)
  return Number(text)
}
