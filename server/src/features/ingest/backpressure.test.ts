import { randomUUID } from 'node:crypto'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { sql } from 'kysely'
import { afterAll, expect, inject, test } from 'vitest'
import { createDatabase } from '../../../../engines/postgres.ts'
import { startEngines } from '../../../../engines/start.ts'
import { buildClick, buildLink, buildWorkspace } from '../../../test/build.ts'
import { eventually, openTestPlatform } from '../../../test/stack.ts'
import type { Platform } from '../../platform/context.ts'
import { migrate } from '../../platform/migrate.ts'
import { ensureStreams, jetStream } from '../../platform/nats.ts'
import { clicksSubject } from '../redirect/messages.ts'
import { startIngest } from './jobs.ts'

const engines = await startEngines({ only: ['nats', 'valkey'] })
afterAll(() => engines.stop())
const batchBytes = 250_000
const settings = {
  ...engines.urls,
  POSTGRES_URL: await createDatabase(
    inject('environment').POSTGRES_URL as string,
    `pressure_${randomUUID().replaceAll('-', '')}`,
  ),
  EVENT_PARTITIONS: '1',
  INGEST_BATCH_BYTES: String(batchBytes),
}
const publisher = await openTestPlatform(settings)
await migrate(publisher.config, publisher.clickhouse, () => {})
await ensureStreams(publisher.nats, publisher.config)
const workspace = await buildWorkspace(publisher)
const { id, url } = await buildLink(publisher, workspace)
const links = await sql<{ number: bigint }>`SELECT number FROM links WHERE id = ${id}`.execute(publisher.db)
const link = { number: links.rows[0]?.number ?? 0n, workspaceId: workspace.id, url }

const messages = 160
await publishAll()

test('a worker whose ClickHouse inserts hang reads only a few batches from the log', async () => {
  const worker = await openTestPlatform(settings)
  let isHanging = false
  const hanging = Promise.withResolvers<never>()
  await using _ingest = await startIngest(
    withInsert(worker, () => {
      isHanging = true
      return hanging.promise
    }),
  )
  await eventually(async () => expect(isHanging).toBe(true), 20_000)
  const taken = await waitUntilStable(() => worker.nats.stats().inBytes)
  // A worker buffers the batch being stored, the batch being prepared, and the consumer's prefetch.
  expect(taken).toBeGreaterThan(batchBytes)
  expect(taken).toBeLessThan(batchBytes * 6)
  hanging.reject(new Error('over'))
})

test('a worker whose ClickHouse inserts fail rereads its batch without buffering more each time', async () => {
  const worker = await openTestPlatform(settings)
  const sizes: number[] = []
  await using _ingest = await startIngest(
    withInsert(worker, async ({ values }) => {
      sizes.push((await buffer(values)).length)
      throw new Error('connect ECONNREFUSED')
    }),
  )
  await eventually(async () => expect(sizes.length).toBeGreaterThan(3), 30_000)
  expect(new Set(sizes).size).toBe(1)
  expect(worker.nats.stats().inBytes).toBeLessThan(sizes.length * batchBytes * 6)
})

async function publishAll(): Promise<void> {
  const stream = jetStream(publisher.nats)
  for (let message = 0; message < messages; message++) {
    const clicks = Array.from({ length: 50 }, () => buildClick(publisher, link, { referer: 'r'.repeat(500) }))
    await stream.publish(clicksSubject(0), JSON.stringify(clicks))
  }
}

type Insert = (input: { values: Readable }) => Promise<unknown>

function withInsert(platform: Platform, insert: Insert): Platform {
  const clickhouse = new Proxy(platform.clickhouse, {
    get(target, property) {
      const value = property === 'exec' ? insert : Reflect.get(target, property, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  return { ...platform, clickhouse }
}

/** Returns the measured number once it has not changed for a second. */
async function waitUntilStable(read: () => number): Promise<number> {
  for (;;) {
    const before = read()
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    if (read() - before < 5_000) return read()
  }
}
