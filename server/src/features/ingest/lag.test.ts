import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, expect, inject, test } from 'vitest'
import { createDatabase } from '../../../../engines/postgres.ts'
import { startEngines } from '../../../../engines/start.ts'
import { eventually, openTestPlatform } from '../../../test/stack.ts'
import { migrate } from '../../platform/migrate.ts'
import { ensureStreams, eventStream, jetStream } from '../../platform/nats.ts'
import { clicksSubject } from '../redirect/messages.ts'
import { measureLags, startLagMeter } from './lag.ts'
import { ingestMetrics } from './metrics.ts'
import { advanceCursor, claimPartition } from './store.ts'

const engines = await startEngines({ only: ['nats'] })
afterAll(() => engines.stop())
const name = `lag_${randomUUID().replaceAll('-', '')}`
const platform = await openTestPlatform({
  ...engines.urls,
  POSTGRES_URL: await createDatabase(inject('environment').POSTGRES_URL as string, name),
  EVENT_PARTITIONS: '2',
})
await migrate(platform.config, platform.clickhouse, () => {})
await ensureStreams(platform.nats, platform.config)

const owner = randomUUID()
const publish = () => jetStream(platform.nats).publish(clicksSubject(1), '[]')
const nothing = { messages: 0, oldestAt: undefined }

test("a partition's lag is the number of messages after its cursor, whichever worker owns the partition", async () => {
  expect(await measureLags(platform, owner)).toEqual([
    { partition: 0, ...nothing, isOwned: false },
    { partition: 1, ...nothing, isOwned: false },
  ])
  const before = Date.now() - 1_000
  for (let message = 0; message < 5; message++) await publish()
  const [, behind] = await measureLags(platform, owner)
  expect(behind).toEqual({ partition: 1, messages: 5, oldestAt: expect.any(Number), isOwned: false })
  expect(behind?.oldestAt).toBeGreaterThan(before)

  await claimPartition(platform.db, { partition: 1, owner })
  await advanceCursor(platform.db, { partition: 1, owner }, 0, 3)
  expect((await measureLags(platform, owner))[1]).toMatchObject({ messages: 2, isOwned: true })
  expect((await measureLags(platform, 'another'))[1]).toMatchObject({ messages: 2, isOwned: false })
  await sql`UPDATE ingest_cursors SET leased_until = '-infinity'`.execute(platform.db)
  expect((await measureLags(platform, owner))[1]).toMatchObject({ messages: 2, isOwned: false })

  await claimPartition(platform.db, { partition: 1, owner })
  await advanceCursor(platform.db, { partition: 1, owner }, 3, 5)
  expect((await measureLags(platform, owner))[1]).toEqual({ partition: 1, ...nothing, isOwned: true })
})

test('messages that the log has deleted do not count as lag', async () => {
  await sql`UPDATE ingest_cursors SET sequence = 1 WHERE partition = 1`.execute(platform.db)
  const manager = await jetStream(platform.nats).jetstreamManager()
  await manager.streams.purge(eventStream(1), { seq: 5 })
  expect((await measureLags(platform, owner))[1]).toMatchObject({ messages: 1, oldestAt: expect.any(Number) })
  await manager.streams.purge(eventStream(1))
  expect((await measureLags(platform, owner))[1]).toMatchObject(nothing)
})

test('the lag metrics grow while no worker stores clicks, even if NATS is down', async () => {
  await publish()
  await using _meter = startLagMeter(platform, owner)
  const seconds = async () => (await figures(ingestMetrics(platform).lagSeconds))['1'] ?? 0
  await eventually(async () => expect(await figures(ingestMetrics(platform).lag)).toEqual({ 0: 0, 1: 1 }))
  const first = await seconds()
  await eventually(async () => expect(await seconds()).toBeGreaterThan(first), 20_000)
  await engines.processes.nats?.stop()
  const atStop = await seconds()
  await eventually(async () => expect(await seconds()).toBeGreaterThan(atStop + 3), 30_000)
  expect(await figures(ingestMetrics(platform).lag)).toEqual({ 0: 0, 1: 1 })
  await engines.processes.nats?.restart()
})

async function figures(gauge: ReturnType<typeof ingestMetrics>['lag']): Promise<Record<string, number>> {
  const { values } = await gauge.get()
  return Object.fromEntries(values.map(({ labels, value }) => [labels.partition, value]))
}
