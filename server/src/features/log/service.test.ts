import { randomUUID } from 'node:crypto'
import { jetstreamManager } from '@nats-io/jetstream'
import { sql } from 'kysely'
import { afterAll, beforeEach, expect, inject, test } from 'vitest'
import { createDatabase } from '../../../../engines/postgres.ts'
import { startEngines } from '../../../../engines/start.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { withRebuildLock } from '../../maintenance/store.ts'
import { migrate } from '../../platform/migrate.ts'
import { changeStream, deadLetterStream, ensureStreams, eventStream, jetStream } from '../../platform/nats.ts'
import { clickhouseFreeRatio, purgeStored, streamUsage } from './service.ts'

const engines = await startEngines({ only: ['nats'] })
afterAll(() => engines.stop())
const name = `log_${randomUUID().replaceAll('-', '')}`
const platform = await openTestPlatform({
  ...engines.urls,
  POSTGRES_URL: await createDatabase(inject('environment').POSTGRES_URL as string, name),
  EVENT_PARTITIONS: '2',
  EVENT_LOG_MAX_MEGABYTES: '32',
})
await migrate(platform.config, platform.clickhouse, () => {})
await ensureStreams(platform.nats, platform.config)
const manager = await jetstreamManager(platform.nats)
const body = 'x'.repeat(100_000)
const publish = (subject: string) => jetStream(platform.nats).publish(subject, body)
const readState = async (stream: string) => (await manager.streams.info(stream)).state

/** Publishes messages until the stream reaches this ratio of its size limit. */
async function fillTo(share: number): Promise<number> {
  for (let count = 1; ; count++) {
    await publish('events.0.clicks')
    const { state, config } = await manager.streams.info(eventStream(0))
    if (state.bytes > config.max_bytes * share) return count
  }
}

/** Publishes messages until the stream refuses one; returns how many it accepted. */
async function fill(subject: string): Promise<number> {
  for (let count = 0; ; count++) {
    try {
      await publish(subject)
    } catch (error) {
      expect((error as Error).message).toContain('maximum bytes exceeded')
      return count
    }
  }
}

async function setCursor(partition: number, sequence: number, stream?: string): Promise<void> {
  const { created } = await manager.streams.info(eventStream(partition))
  await sql`INSERT INTO ingest_cursors (partition, sequence, stream)
    VALUES (${partition}, ${sequence}, ${stream ?? created})
    ON CONFLICT (partition) DO UPDATE SET sequence = excluded.sequence, stream = excluded.stream`.execute(platform.db)
}

beforeEach(async () => {
  for (const stream of [eventStream(0), eventStream(1), changeStream]) await manager.streams.purge(stream)
})

test('a full event stream accepts no more messages, without affecting other streams', async () => {
  expect(await fill('events.0.clicks')).toBeGreaterThan(100)
  await publish('events.1.clicks')
  await publish('changes.links')
  await publish('dead.letters')
  const usage = await streamUsage(platform)
  expect(usage.reduce((sum, { limitBytes }) => sum + limitBytes, 0)).toBeLessThanOrEqual(32 * 1_048_576)
  expect(usage.every(({ bytes, limitBytes }) => bytes <= limitBytes)).toBe(true)
  expect(usage.find(({ stream }) => stream === eventStream(0))?.bytes).toBeGreaterThan(13_000_000)
})

test('above the watermark the oldest stored messages are purged, but no unread message', async () => {
  const { last_seq: before } = await readState(eventStream(0))
  const count = await fill('events.0.clicks')
  await setCursor(0, 0)
  expect(await purgeStored(platform, 0)).toEqual([])
  await setCursor(0, before + 5)
  expect(await purgeStored(platform, 0)).toEqual([{ stream: eventStream(0), messages: 5 }])
  expect(await purgeStored(platform, 0)).toEqual([])
  expect(await fill('events.0.clicks')).toBe(5)
  await setCursor(0, before + count + 5)
  await purgeStored(platform, 0)
  const { limitBytes = 0 } = (await streamUsage(platform)).find(({ stream }) => stream === eventStream(0)) ?? {}
  const { bytes } = await readState(eventStream(0))
  expect(bytes / limitBytes).toBeGreaterThan(0.65)
  expect(bytes / limitBytes).toBeLessThan(0.72)
  expect(await purgeStored(platform, 0)).toEqual([])
  await publish('events.0.clicks')
})

test.each([
  ['of another stream', () => setCursor(0, 1_000_000, 'of an older stream')],
  ['younger than a quarter of an hour', async () => setCursor(0, (await readState(eventStream(0))).last_seq)],
])('messages %s are never purged', async (_name, prepare) => {
  const count = await fillTo(0.9)
  await prepare()
  expect(await purgeStored(platform)).toEqual([])
  expect((await readState(eventStream(0))).messages).toBe(count)
})

test('a stream that is nearly full purges stored messages of any age', async () => {
  await fill('events.0.clicks')
  await setCursor(0, (await readState(eventStream(0))).last_seq)
  expect(await purgeStored(platform)).toHaveLength(1)
})

test('no message is purged while a rebuild reads the log', async () => {
  await fill('events.0.clicks')
  await setCursor(0, (await readState(eventStream(0))).last_seq)
  expect(await withRebuildLock(platform.db, () => purgeStored(platform, 0))).toEqual([])
  expect(await purgeStored(platform, 0)).toHaveLength(1)
})

test('change messages are purged when every job that reads their subject has acknowledged them', async () => {
  await manager.consumers.add(changeStream, {
    durable_name: 'one',
    filter_subject: 'changes.one',
    ack_policy: 'explicit',
  })
  await manager.consumers.add(changeStream, {
    durable_name: 'two',
    filter_subject: 'changes.two',
    ack_policy: 'explicit',
  })
  await publish('changes.two')
  const count = await fill('changes.one')
  const read = async (consumer: string, most: number) => {
    const source = await jetStream(platform.nats).consumers.get(changeStream, consumer)
    for await (const message of await source.fetch({ max_messages: most, expires: 2_000 })) await message.ackAck()
  }
  await read('one', 5)
  expect(await purgeStored(platform, 0)).toEqual([{ stream: changeStream, messages: 5 }])
  expect(await purgeStored(platform, 0)).toEqual([])
  await read('one', count - 5)
  // The unread message before them stays.
  expect(await fill('changes.one')).toBe(5)
  expect(await purgeStored(platform, 0)).toEqual([{ stream: changeStream, messages: count - 5 }])
  await read('one', 5)
  await read('two', 1)
  await fill('changes.one')
  const { first_seq: first } = await readState(changeStream)
  expect(await purgeStored(platform, 0)).toHaveLength(1)
  expect((await readState(changeStream)).first_seq).toBeGreaterThan(first)
})

test('unread change messages are never purged', async () => {
  const count = await fill('changes.two')
  expect(await purgeStored(platform, 0)).toEqual([])
  expect((await readState(changeStream)).messages).toBe(count)
})

test('old dead letters are deleted for new ones, so that a full stream never stops a worker', async () => {
  for (let count = 0; count < 30; count++) await publish('dead.letters')
  const { bytes, messages, first_seq } = await readState(deadLetterStream)
  expect(bytes).toBeLessThanOrEqual(1_048_576)
  expect(messages).toBeLessThan(12)
  expect(first_seq).toBeGreaterThan(1)
})

test('a NATS store that is too small for the setting gets streams with smaller limits', async () => {
  const tooMuch = { ...platform.config, EVENT_LOG_MAX_MEGABYTES: 2 ** 30 }
  const warnings: string[] = []
  await ensureStreams(platform.nats, tooMuch, (text) => warnings.push(text))
  expect(warnings.join('\n')).toContain('EVENT_LOG_MAX_MEGABYTES')
  expect((await streamUsage(platform)).every(({ limitBytes }) => limitBytes > 1_000_000)).toBe(true)
})

test("the free ratio of ClickHouse's disk is measured", async () => {
  const free = await clickhouseFreeRatio(platform)
  expect(free).toBeGreaterThan(0)
  expect(free).toBeLessThanOrEqual(1)
})
