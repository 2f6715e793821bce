import { randomUUID } from 'node:crypto'
import { jetstreamManager } from '@nats-io/jetstream'
import { sql } from 'kysely'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { buildClick, buildLink, buildWorkspace } from '../../../test/build.ts'
import { openOwnEngines } from '../../../test/own-database.ts'
import { eventually } from '../../../test/stack.ts'
import { query } from '../../platform/clickhouse.ts'
import { hashPartition } from '../../platform/ids.ts'
import { openLog } from '../../platform/log.ts'
import { ensureStreams, eventStream, jetStream } from '../../platform/nats.ts'
import { clicksSubject, type RawClick } from '../redirect/messages.ts'
import { startIngest } from './jobs.ts'
import { claim } from './service.ts'

const { platform } = await openOwnEngines({ INGEST_INTERVAL_MS: '20' })

let link: { number: bigint; workspaceId: string; url: string }
let partition: number
const workers = new AsyncDisposableStack()
afterAll(() => workers.disposeAsync())

beforeEach(async () => {
  const workspace = await buildWorkspace(platform)
  const { id, url } = await buildLink(platform, workspace)
  const result = await sql<{ number: bigint }>`SELECT number FROM links WHERE id = ${id}`.execute(platform.db)
  link = { number: result.rows[0]?.number ?? 0n, workspaceId: workspace.id, url }
  partition = hashPartition(workspace.id, platform.config.EVENT_PARTITIONS)
})

async function publish(clicks: (RawClick | string)[]): Promise<number> {
  const ack = await jetStream(platform.nats).publish(clicksSubject(partition), JSON.stringify(clicks))
  return ack.seq
}

async function stored(): Promise<{ rows: number; counted: number }> {
  const [row] = await query<{ rows: string }>(
    platform.clickhouse,
    'SELECT count() AS rows FROM click_events WHERE workspace_id = {workspaceId:String}',
    { workspaceId: link.workspaceId },
  )
  const counter = await sql<{ clicks: bigint }>`
    SELECT clicks FROM link_counters WHERE link_number = ${link.number}`.execute(platform.db)
  return { rows: Number(row?.rows), counted: Number(counter.rows[0]?.clicks) }
}

const clicks = (count: number) => Array.from({ length: count }, () => buildClick(platform, link))

// This test comes first, while the log is empty.
test('a worker on the empty log of a new installation logs no warning, and stores the first click', async () => {
  const lines: string[] = []
  const log = openLog('warn', { write: (line) => lines.push(line) })
  const worker = await startIngest({ ...platform, log })
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  await publish(clicks(1))
  await eventually(async () => expect(await stored()).toEqual({ rows: 1, counted: 1 }))
  await worker[Symbol.asyncDispose]()
  expect(lines).toEqual([])
})

test('one of several workers stores published clicks; when it stops, another worker continues', async () => {
  const first = await startIngest(platform)
  await publish(clicks(3))
  await eventually(async () => expect(await stored()).toEqual({ rows: 3, counted: 3 }))
  const second = workers.use(await startIngest(platform))
  for (let message = 0; message < 20; message++) await publish(clicks(5))
  await first[Symbol.asyncDispose]()
  for (let message = 0; message < 20; message++) await publish(clicks(5))
  await eventually(async () => expect(await stored()).toEqual({ rows: 203, counted: 203 }))
  await second[Symbol.asyncDispose]()
})

test('a log message that is not JSON is skipped', async () => {
  const worker = await startIngest(platform)
  await jetStream(platform.nats).publish(clicksSubject(partition), '{"broken')
  await publish(clicks(1))
  await eventually(async () => expect(await stored()).toEqual({ rows: 1, counted: 1 }))
  await worker[Symbol.asyncDispose]()
})

test('an interrupted batch is completed as its intent says, before a new batch begins', async () => {
  const first = await publish(clicks(3))
  const last = await publish(['not a click', ...clicks(2)])
  const dead = { partition, owner: randomUUID() }
  const cursor = await claim(platform, dead)
  // The intent of the dead worker excludes the first click and the invalid click.
  const intent = {
    first: (cursor?.sequence ?? 0) + 1,
    last,
    excluded: [0, 3],
    bots: [],
    counts: [[String(link.number), 4, Date.now()]],
  }
  await sql`UPDATE ingest_cursors SET intent = ${JSON.stringify(intent)}::jsonb, leased_until = '-infinity'
    WHERE partition = ${partition}`.execute(platform.db)
  expect(first).toBe(intent.first)
  const worker = await startIngest(platform)
  await eventually(async () => expect(await stored()).toEqual({ rows: 4, counted: 4 }))
  await publish(clicks(1))
  await eventually(async () => expect(await stored()).toEqual({ rows: 5, counted: 5 }))
  await worker[Symbol.asyncDispose]()
})

test('a worker that lost its partition stops storing and waits as a standby', async () => {
  const worker = await startIngest(platform)
  await publish(clicks(1))
  await eventually(async () => expect(await stored()).toEqual({ rows: 1, counted: 1 }))
  await sql`UPDATE ingest_cursors SET owner = 'another', leased_until = now() + interval '1 hour'`.execute(platform.db)
  await publish(clicks(1))
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(await stored()).toEqual({ rows: 1, counted: 1 })
  await sql`UPDATE ingest_cursors SET leased_until = '-infinity'`.execute(platform.db)
  await eventually(async () => expect(await stored()).toEqual({ rows: 2, counted: 2 }))
  await worker[Symbol.asyncDispose]()
})

test('a log that was lost and recreated is read from its start, even by a running worker', async () => {
  const worker = await startIngest(platform)
  await publish(clicks(2))
  await publish(clicks(1))
  await eventually(async () => expect(await stored()).toEqual({ rows: 3, counted: 3 }))
  const manager = await jetstreamManager(platform.nats)
  await manager.streams.delete(eventStream(partition))
  await ensureStreams(platform.nats, platform.config)
  await publish(clicks(4))
  await eventually(async () => expect(await stored()).toEqual({ rows: 7, counted: 7 }), 20_000)
  await worker[Symbol.asyncDispose]()
})
