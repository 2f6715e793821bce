import { randomBytes } from 'node:crypto'
import { jetstreamManager } from '@nats-io/jetstream'
import { headers } from '@nats-io/transport-node'
import { sql } from 'kysely'
import { beforeEach, expect, inject, test } from 'vitest'
import { buildClick, buildLink, buildWorkspace } from '../../../test/build.ts'
import { openOwnEngines } from '../../../test/own-database.ts'
import { eventually } from '../../../test/stack.ts'
import { hashPartition } from '../../platform/ids.ts'
import { deadLetterStream, jetStream } from '../../platform/nats.ts'
import { parseKeys } from '../../platform/seal.ts'
import { clicksSubject } from '../redirect/messages.ts'
import { listDeadLetters, retryAllDeadLetters, retryDeadLetter } from './dead-letters.ts'
import { startIngest } from './jobs.ts'

const { CLICK_ID_KEYS = '' } = inject('environment')
const { platform } = await openOwnEngines({ INGEST_INTERVAL_MS: '20' })

beforeEach(async () => {
  const manager = await jetstreamManager(platform.nats)
  await manager.streams.purge(deadLetterStream)
})

async function bury(subject: string, body: unknown, about: Record<string, string> = {}): Promise<number> {
  const given = headers()
  for (const [key, value] of Object.entries(about)) given.set(key, value)
  return (await jetStream(platform.nats).publish(subject, JSON.stringify(body), { headers: given })).seq
}

async function retryAll() {
  const retried = []
  for await (const letter of retryAllDeadLetters(platform)) retried.push(letter)
  return retried
}

async function readLast(stream: string, subject: string): Promise<unknown> {
  const manager = await jetstreamManager(platform.nats)
  return (await manager.streams.getMessage(stream, { last_by_subj: subject }))?.json()
}

test('a click that failed because a click id key was missing counts once when it is retried with the key', async () => {
  const workspace = await buildWorkspace(platform)
  const { id, url } = await buildLink(platform, workspace)
  const result = await sql<{ number: bigint }>`SELECT number FROM links WHERE id = ${id}`.execute(platform.db)
  const number = result.rows[0]?.number ?? 0n
  const newKey = `2:${randomBytes(32).toString('hex')}`
  const both = {
    ...platform,
    config: { ...platform.config, CLICK_ID_KEYS: parseKeys(`${newKey},${CLICK_ID_KEYS}`) },
  }
  const click = buildClick(both, { number, workspaceId: workspace.id, url })
  const partition = hashPartition(workspace.id, platform.config.EVENT_PARTITIONS)
  const unaware = await startIngest(platform)
  await jetStream(platform.nats).publish(clicksSubject(partition), JSON.stringify([click]))
  const [letter] = await eventually(async () => {
    const { letters } = await listDeadLetters(platform, 10)
    expect(letters).toHaveLength(1)
    return letters
  }, 15_000)
  await unaware[Symbol.asyncDispose]()
  expect(letter).toEqual({
    sequence: expect.any(Number),
    at: expect.any(Date),
    subject: `dead.events.${partition}`,
    reason: 'forged_click_id',
    excerpt: `${JSON.stringify(click).slice(0, 80)}…`,
  })

  await using _aware = await startIngest(both)
  const sequence = letter?.sequence ?? 0
  expect(await retryDeadLetter(platform, sequence)).toEqual({ sequence, subject: clicksSubject(partition) })
  await eventually(async () => {
    const counter = await sql<{ clicks: bigint }>`
      SELECT clicks FROM link_counters WHERE link_number = ${number}`.execute(platform.db)
    expect(counter.rows).toEqual([{ clicks: 1n }])
  }, 15_000)
  expect(await listDeadLetters(platform, 10)).toEqual({ letters: [], total: 0 })
})

test("retrying a job's dead letter publishes it to its original subject, and the list honours its limit", async () => {
  const about = { Reason: 'too\u00a0bad', Subject: 'changes.tests.retried', Sequence: '7' }
  const sequences = [await bury('dead.some-job', { n: 1 }, about), await bury('dead.some-job', { n: 2 }, about)]
  const { letters, total } = await listDeadLetters(platform, 1)
  expect(total).toBe(2)
  expect(letters).toMatchObject([{ sequence: sequences[0], subject: 'dead.some-job', excerpt: '{"n":1}' }])
  expect(await retryAll()).toEqual(sequences.map((sequence) => ({ sequence, subject: 'changes.tests.retried' })))
  expect(await readLast('CHANGES', 'changes.tests.retried')).toEqual({ n: 2 })
  expect(await retryAll()).toEqual([])
})

test("a dead letter that can't be retried stays, with the reason, and blocks no other dead letter", async () => {
  const cut = { reason: 'malformed', sequence: 5, index: 0, body: `${'x'.repeat(50_000)}…` }
  const sequences = [
    await bury('dead.events.0', cut),
    await bury('dead.events.4000', { reason: 'malformed', sequence: 5, index: 0, body: 7 }),
    await bury('dead.some-job', {}),
    await bury('dead.events.0', { reason: 'malformed', sequence: 6, index: 1, body: 'text' }),
  ]
  expect(await retryAll()).toEqual([
    { sequence: sequences[0], problem: 'the letter is truncated; the full event is message 5 of EVENTS_0' },
    { sequence: sequences[1], problem: 'partition 4000 exceeds EVENT_PARTITIONS' },
    { sequence: sequences[2], problem: 'the dead letter has no Subject header' },
    { sequence: sequences[3], subject: 'events.0.clicks' },
  ])
  expect(await readLast('EVENTS_0', 'events.0.clicks')).toEqual(['text'])
  expect((await listDeadLetters(platform, 10)).total).toBe(3)
})

test('dropping an unknown dead letter fails with its number', async () => {
  await expect(retryDeadLetter(platform, 999_999)).rejects.toThrow(
    'There is no dead letter 999999. `tributary events dead-letters list` shows them.',
  )
})
