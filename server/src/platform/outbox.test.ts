import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type JsMsg, jetstreamManager } from '@nats-io/jetstream'
import { sql } from 'kysely'
import { afterAll, describe, expect, inject, onTestFinished, test, vi } from 'vitest'
import { createDatabase } from '../../../engines/postgres.ts'
import { startEngines } from '../../../engines/start.ts'
import { contextIn } from '../../test/context.ts'
import { eventually, openTestPlatform } from '../../test/stack.ts'
import { countLetters, type Letter, selectLetters } from './dead-letters.ts'
import { locks } from './locks.ts'
import { migrate } from './migrate.ts'
import { changeStream, ensureStreams, jetStream } from './nats.ts'
import { publish, republish, startRelay } from './outbox.ts'
import { openConnection, transaction } from './postgres.ts'
import type { Tracing } from './tracing.ts'

// Starting a process takes long on a busy machine.
vi.setConfig({ testTimeout: 60_000 })

// Uses its own database and NATS, because the relay of the shared server would take the messages.
const engines = await startEngines({ only: ['nats'] })
const { POSTGRES_URL, ...shared } = inject('environment')
const environment = {
  ...shared,
  ...engines.urls,
  POSTGRES_URL: await createDatabase(POSTGRES_URL as string, `t${randomUUID().replaceAll('-', '')}`),
}
const platform = await openTestPlatform(environment)
await migrate(platform.config, platform.clickhouse, () => {})
await ensureStreams(platform.nats, platform.config)
const manager = await jetstreamManager(platform.nats)
const ctx = contextIn(platform, 'ws_test')
afterAll(() => engines.stop())

describe('a message', () => {
  test('of a rolled-back transaction is never published', async () => {
    const subject = newSubject()
    relayDuringTest()
    const failing = transaction(ctx, async (ctx) => {
      await publish(ctx, { subject, body: 'lost' })
      throw new Error('changed my mind')
    })
    await expect(failing).rejects.toThrow('changed my mind')
    await transaction(ctx, (ctx) => publish(ctx, { subject, body: 'kept' }))
    expect(await arrivals(subject, 1)).toEqual(['kept'])
    await expectEmptyOutbox()
    expect(await countOn(subject)).toBe(1)
  })

  test('is published only after the commit', async () => {
    const subject = newSubject()
    relayDuringTest()
    const written = Promise.withResolvers<void>()
    const seen = Promise.withResolvers<void>()
    const committed = transaction(ctx, async (inside) => {
      await publish(inside, { subject, body: 'mine' })
      written.resolve()
      await seen.promise
    })
    await written.promise
    await publish(ctx, { subject, body: 'other' })
    expect(await arrivals(subject, 1)).toEqual(['other'])
    seen.resolve()
    await committed
    expect(await arrivals(subject, 2)).toEqual(['other', 'mine'])
  })

  test('keeps any body unchanged', async () => {
    const subject = newSubject()
    relayDuringTest()
    const body = { text: 'Ä " \\ \n 🙂', list: [1, null, true], nested: { empty: {} } }
    await publish(ctx, { subject, body }, { subject, body: [] })
    expect(await arrivals(subject, 2)).toEqual([body, []])
  })

  test('that NATS rejects becomes a dead letter without blocking others, and a retry requeues it', async () => {
    const subject = newSubject()
    relayDuringTest()
    const large = 'x'.repeat(2_000_000)
    await publish(
      ctx,
      { subject, body: large },
      { subject, body: 'behind' },
      { subject: `${subject} `, body: 'misnamed' },
    )
    await publish(ctx, { subject, body: 'last' })
    expect(await arrivals(subject, 2)).toEqual(['behind', 'last'])
    await expectEmptyOutbox()
    const letters = await selectLetters(platform.db, { limit: 10 })
    expect(letters).toMatchObject([
      {
        kind: 'outbox',
        workspace_id: 'ws_test',
        reason: /^NATS rejected the message: .*payload/,
        body: { subject, body: large },
      },
      { kind: 'outbox', reason: /^NATS rejected the message: / },
    ])
    await republish(platform, { ...(letters[0] as Letter), body: { subject, body: 'shorter', traceparent: null } })
    expect(await arrivals(subject, 3)).toEqual(['behind', 'last', 'shorter'])
    expect(await countLetters(platform.db)).toEqual({ conversion: 0, outbox: 1 })
  })

  test('is published at once, without waiting for the next poll', async () => {
    const subject = newSubject()
    relayDuringTest()
    await publish(ctx, { subject, body: 0 })
    await arrivals(subject, 1)
    const started = performance.now()
    for (let number = 1; number <= 10; number++) {
      await publish(ctx, { subject, body: number })
      await arrivals(subject, number + 1)
    }
    expect(performance.now() - started).toBeLessThan(5_000)
  })
})

test('messages of many writers arrive once, and messages of one subject in order', async () => {
  const subject = newSubject()
  relayDuringTest()
  const writers = Array.from({ length: 8 }, async (_, writer) => {
    for (let step = 0; step < 100; step++) {
      await transaction(ctx, (ctx) => publish(ctx, { subject, body: { writer, step } }))
    }
  })
  await Promise.all(writers)
  const bodies = (await arrivals(subject, 800)) as { writer: number; step: number }[]
  expectInOrder(bodies)
  await expectEmptyOutbox()
  expect(await countOn(subject)).toBe(800)
})

test('two relays publish no duplicates, and one takes over from the other', async () => {
  const subject = newSubject()
  const second = await openTestPlatform(environment)
  const before = [await relayed(platform), await relayed(second)]
  const relays = [startRelay(platform), startRelay(second)] as const
  onTestFinished(async () => {
    await relays[1][Symbol.asyncDispose]()
  })
  for (let step = 0; step < 700; step++) await publish(ctx, { subject, body: { writer: 0, step } })
  expect(await arrivals(subject, 700)).toHaveLength(700)
  await expectEmptyOutbox()
  await relays[0][Symbol.asyncDispose]()
  await publish(ctx, { subject, body: { writer: 0, step: 700 } })
  expectInOrder((await arrivals(subject, 701)) as { writer: number; step: number }[])
  await expectEmptyOutbox()
  expect(await countOn(subject)).toBe(701)
  const after = [await relayed(platform), await relayed(second)]
  expect((after[0] ?? 0) + (after[1] ?? 0) - (before[0] ?? 0) - (before[1] ?? 0)).toBe(701)
})

test('a relay that is killed between publishing and recording it causes no duplicates', async () => {
  const subject = newSubject()
  for (let step = 0; step < 20; step++) await publish(ctx, { subject, body: { writer: 0, step } })
  const connection = openConnection(platform.config)
  await connection.connect()
  onTestFinished(() => connection.end())
  await connection.query('BEGIN')
  await connection.query('SELECT FROM outbox FOR UPDATE')

  const relay = await relayProcess()
  expect(await arrivals(subject, 20)).toHaveLength(20)
  await eventually(async () => expect(await waitingDeletes()).toHaveLength(1))
  const ended = once(relay, 'exit')
  relay.kill('SIGKILL')
  await ended
  // The last statement of the killed process must not run after its end.
  for (const { pid } of await waitingDeletes()) await sql`SELECT pg_terminate_backend(${pid})`.execute(platform.db)
  await eventually(async () => expect(await waitingDeletes()).toHaveLength(0))
  await connection.query('ROLLBACK')
  expect(await outboxSize()).toBe(20)

  const before = await relayed(platform)
  relayDuringTest()
  await expectEmptyOutbox()
  expect((await relayed(platform)) - before).toBe(20)
  expect(await countOn(subject)).toBe(20)
  expectInOrder((await arrivals(subject, 20)) as { writer: number; step: number }[])
})

test('metrics report the backlog and its age', async () => {
  const leader = openConnection(platform.config)
  await leader.connect()
  onTestFinished(() => leader.end())
  await leader.query('SELECT pg_advisory_lock($1)', [locks.outboxRelay])
  const subject = newSubject()
  for (let number = 0; number < 3; number++) await publish(ctx, { subject, body: number })
  relayDuringTest()
  const figure = async (name: 'outboxMessages' | 'outboxAge') =>
    (await platform.metrics[name].get()).values[0]?.value as number
  await eventually(async () => {
    expect(await figure('outboxMessages')).toBe(3)
    expect(await figure('outboxAge')).toBeGreaterThan(0)
  }, 20_000)
  await leader.query('SELECT pg_advisory_unlock($1)', [locks.outboxRelay])
  await eventually(async () => {
    expect(await figure('outboxMessages')).toBe(0)
    expect(await figure('outboxAge')).toBe(0)
  }, 20_000)
})

test('a trace continues through a relay that does not trace', async () => {
  const subject = newSubject()
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
  const tracing = { traceparent: () => traceparent } as Tracing
  relayDuringTest()
  await publish({ ...ctx, tracing }, { subject, body: 'traced' })
  await publish(ctx, { subject, body: 'not' })
  await arrivals(subject, 2)
  const consumer = await jetStream(platform.nats).consumers.get(changeStream, { filter_subjects: subject })
  const carried: unknown[] = []
  for await (const message of await consumer.fetch({ max_messages: 2, expires: 2_000 })) {
    carried.push([message.json(), message.headers?.get('traceparent') ?? ''])
  }
  expect(carried).toEqual([
    ['traced', traceparent],
    ['not', ''],
  ])
})

function newSubject(): string {
  return `changes.0.test-${randomUUID()}`
}

function relayDuringTest(): void {
  const relay = startRelay(platform)
  onTestFinished(async () => {
    await relay[Symbol.asyncDispose]()
  })
}

async function countOn(subject: string): Promise<number> {
  const { state } = await manager.streams.info(changeStream, { subjects_filter: subject })
  return state.subjects?.[subject] ?? 0
}

/** Waits until a NATS subject has that many messages; returns their bodies. */
async function arrivals(subject: string, count: number): Promise<unknown[]> {
  await eventually(async () => expect(await countOn(subject)).toBeGreaterThanOrEqual(count), 20_000)
  const consumer = await jetStream(platform.nats).consumers.get(changeStream, { filter_subjects: subject })
  const messages: JsMsg[] = []
  for await (const message of await consumer.fetch({ max_messages: count, expires: 2_000 })) messages.push(message)
  return messages.map((message) => message.json())
}

async function outboxSize(): Promise<number> {
  const found = await sql<{ rows: number }>`SELECT count(*)::int AS rows FROM outbox`.execute(platform.db)
  return found.rows[0]?.rows ?? 0
}

async function expectEmptyOutbox(): Promise<void> {
  await eventually(async () => expect(await outboxSize()).toBe(0))
}

async function waitingDeletes() {
  const found = await sql<{ pid: number }>`SELECT pid FROM pg_stat_activity
    WHERE datname = current_database() AND query LIKE '%DELETE FROM outbox%' AND wait_event_type = 'Lock'`.execute(
    platform.db,
  )
  return found.rows
}

async function relayed({ metrics }: typeof platform): Promise<number> {
  return (await metrics.relayed.get()).values[0]?.value ?? 0
}

async function relayProcess() {
  const script = `
    const { openPlatform } = await import(${JSON.stringify(new URL('./handles.ts', import.meta.url))})
    const { readConfig } = await import(${JSON.stringify(new URL('./config.ts', import.meta.url))})
    const { startRelay } = await import(${JSON.stringify(new URL('./outbox.ts', import.meta.url))})
    startRelay(await openPlatform(readConfig()))`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { env: environment, stdio: 'ignore' })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child, 'spawn')
  return child
}

function expectInOrder(bodies: { writer: number; step: number }[]): void {
  for (const [writer, own] of Map.groupBy(bodies, (body) => body.writer)) {
    expect(own.map((body) => body.step)).toEqual(own.map((_, index) => index))
    expect(own.every((body) => body.writer === writer)).toBe(true)
  }
}
