import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { jetstreamManager } from '@nats-io/jetstream'
import { sql } from 'kysely'
import { afterAll, beforeEach, expect, inject, test, vi } from 'vitest'
import { createDatabase } from '../../../engines/postgres.ts'
import { startEngines } from '../../../engines/start.ts'
import { type BuiltWorkspace, buildClick, buildLink, buildWorkspace } from '../../test/build.ts'
import { eventually, openTestPlatform } from '../../test/stack.ts'
import { startIngest } from '../features/ingest/jobs.ts'
import { clicksSubject, type RawClick } from '../features/redirect/messages.ts'
import { insertDeletion, markDeleted } from '../features/workspaces/deletions-store.ts'
import { query } from '../platform/clickhouse.ts'
import { hashPartition } from '../platform/ids.ts'
import { migrate } from '../platform/migrate.ts'
import { ensureStreams, eventStream, jetStream } from '../platform/nats.ts'
import { transaction } from '../platform/postgres.ts'
import { reconcileClicks } from './clicks.ts'
import { eraseWorkspaces } from './erase.ts'
import { rebuild as rebuildWith } from './rebuild.ts'
import { reconcileRollups } from './rollups.ts'
import { withRebuildLock } from './store.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 })
const name = `rebuild_${randomUUID().replaceAll('-', '')}`
const { POSTGRES_URL = '', CLICKHOUSE_URL = '' } = inject('environment')
const engines = await startEngines({ only: ['nats', 'valkey'] })
const shared = await openTestPlatform()
await shared.clickhouse.command({ query: `CREATE DATABASE ${name}` })
const own = {
  ...engines.urls,
  POSTGRES_URL: await createDatabase(POSTGRES_URL, name),
  CLICKHOUSE_URL: new URL(`/${name}`, CLICKHOUSE_URL).href,
  INGEST_INTERVAL_MS: '5',
  // Small batches, so that a rebuild can be interrupted at many points.
  INGEST_BATCH_BYTES: '20000',
}
const platform = await openTestPlatform(own)
await migrate(platform.config, platform.clickhouse, () => {})
await ensureStreams(platform.nats, platform.config)
const worker = await startIngest(platform)
afterAll(async () => {
  await worker[Symbol.asyncDispose]()
  await engines.stop()
})

const hourMs = 3_600_000
const tables = [
  ...['click_events', 'link_attributes', 'workspace_counts', 'link_counts', 'link_days', 'link_months'],
  ...['dimension_counts', 'dimension_months'],
]
type TestLink = { number: bigint; workspaceId: string; url: string }

let workspace: BuiltWorkspace
let links: TestLink[]

beforeEach(async () => {
  workspace = await buildWorkspace(platform)
  const built = [await buildLink(platform, workspace), await buildLink(platform, workspace)]
  const ids = built.map(({ id }) => id)
  const found = await sql<{ number: bigint; url: string }>`
    SELECT number, url FROM links WHERE id = ANY(${ids}) ORDER BY number`.execute(platform.db)
  links = found.rows.map((link) => ({ ...link, workspaceId: workspace.id }))
})

function rebuild(report: (percent: number) => void = () => {}) {
  return rebuildWith(platform, report)
}

async function send(clicks: unknown[]): Promise<void> {
  const partition = hashPartition(workspace.id, platform.config.EVENT_PARTITIONS)
  await jetStream(platform.nats).publish(clicksSubject(partition), JSON.stringify(clicks))
}

/** Publishes clicks of people, bots and repeats, and rejected clicks, hours apart; `people` of them count. */
async function sendMixed(people: number): Promise<void> {
  const clicks = Array.from({ length: people }, (_, index) =>
    buildClick(platform, links[index % 2] as TestLink, { at: Date.now() - (index % 4) * hourMs }),
  )
  const repeats: RawClick[] = clicks.slice(0, 5).map((click) => ({ ...click, at: click.at + 1 }))
  const bots = clicks.slice(5, 9).map((click) => ({ ...click, bot: 'prefetch' }))
  for (let start = 0; start < clicks.length; start += 10) await send(clicks.slice(start, start + 10))
  await send([...repeats, ...bots, { forged: true }, { ...clicks[0], id: 'x'.repeat(40) }])
  await counted(people)
}

async function counters(): Promise<number[]> {
  const result = await sql<{ clicks: bigint }>`
    SELECT clicks FROM link_counters WHERE workspace_id = ${workspace.id} ORDER BY link_number`.execute(platform.db)
  return result.rows.map(({ clicks }) => Number(clicks))
}

async function counted(people: number): Promise<void> {
  await eventually(async () => {
    expect((await counters()).reduce((sum, clicks) => sum + clicks, 0)).toBe(people)
    const partition = hashPartition(workspace.id, platform.config.EVENT_PARTITIONS)
    const cursor = await sql<{ sequence: bigint }>`
      SELECT sequence FROM ingest_cursors WHERE partition = ${partition} AND intent IS NULL`.execute(platform.db)
    const manager = await jetstreamManager(platform.nats)
    expect(Number(cursor.rows[0]?.sequence)).toBe((await manager.streams.info(eventStream(partition))).state.last_seq)
  }, 30_000)
}

function stored(): Promise<unknown[]> {
  return query(
    platform.clickhouse,
    `SELECT base64URLEncode(id) AS id_text, * EXCEPT (id, stored_at) FROM click_events
     WHERE workspace_id = {id:String} ORDER BY id, bot`,
    { id: workspace.id },
  )
}

async function truncate(): Promise<void> {
  for (const table of tables) await platform.clickhouse.command({ query: `TRUNCATE TABLE ${table}` })
}

async function expectClean(): Promise<void> {
  for await (const { findings } of reconcileClicks(platform, {})) expect(findings).toEqual([])
  for await (const { findings } of reconcileRollups(platform, {})) expect(findings).toEqual([])
}

test('a rebuild of an empty ClickHouse adds the same rows again, and a second rebuild adds nothing', async () => {
  await sendMixed(60)
  const before = await stored()
  expect(before).toHaveLength(64)
  const attributes = () =>
    query(platform.clickhouse, 'SELECT * EXCEPT version FROM link_attributes FINAL ORDER BY link_number', {})
  await truncate()
  const percents: number[] = []
  const rebuilt = await rebuild((percent) => percents.push(percent))
  expect(rebuilt).toMatchObject({ added: expect.any(Number), recovered: 0, unrepaired: 0 })
  expect(rebuilt.added).toBeGreaterThanOrEqual(64)
  expect(await stored()).toEqual(before)
  expect(await counters()).toEqual([30, 30])
  expect(await attributes()).toHaveLength(rebuilt.links)
  expect(percents).toEqual(percents.toSorted((one, other) => one - other))
  expect(percents.at(-1)).toBe(100)
  await expectClean()
  expect(await rebuild()).toMatchObject({ added: 0, recovered: 0, unrepaired: 0 })
  expect(await stored()).toEqual(before)
})

test('a rebuild restores missing rows while clicks arrive, and leaves other rows unchanged', async () => {
  await sendMixed(40)
  const before = await stored()
  const { clickhouse } = platform
  await clickhouse.command({
    query: `ALTER TABLE click_events DELETE WHERE workspace_id = {id:String} AND cityHash64(id) % 2 = 0
            SETTINGS mutations_sync = 2`,
    query_params: { id: workspace.id },
  })
  await clickhouse.command({
    query: `ALTER TABLE click_events UPDATE city = 'Kept' WHERE workspace_id = {id:String} SETTINGS mutations_sync = 2`,
    query_params: { id: workspace.id },
  })
  const left = (await stored()).length
  const rebuilding = rebuild()
  for (let message = 0; message < 50; message++) await send([buildClick(platform, links[0] as TestLink)])
  expect(await rebuilding).toMatchObject({ added: before.length - left, unrepaired: 0 })
  await counted(90)
  const rows = (await stored()) as { city: string }[]
  expect(rows).toHaveLength(before.length + 50)
  expect(rows.filter(({ city }) => city === 'Kept')).toHaveLength(left)
  await rebuild()
  await expectClean()
})

test('a rebuild does not bring back the clicks of a deleted workspace', async () => {
  await sendMixed(20)
  const { id } = workspace
  await transaction({ db: platform.db }, async ({ db }) => {
    await markDeleted(db, id)
    await insertDeletion(db, { former_id: id, name: 'erased', slug: workspace.slug, deleted_by: null })
  })
  const isErased = async () => {
    await eraseWorkspaces({ ...platform, now: () => new Date(Date.now() + hourMs) }, new AbortController().signal)
    const result = await sql`SELECT FROM workspace_deletions
      WHERE former_id = ${id} AND erased_at IS NOT NULL`.execute(platform.db)
    expect(result.rows).toHaveLength(1)
  }
  await eventually(isErased)
  expect(await stored()).toEqual([])
  await rebuild()
  expect(await stored()).toEqual([])
  await expectClean()
})

test('a click counter keeps clicks that the event log no longer has', async () => {
  await sendMixed(20)
  const partition = hashPartition(workspace.id, platform.config.EVENT_PARTITIONS)
  const manager = await jetstreamManager(platform.nats)
  await manager.streams.purge(eventStream(partition), { keep: 1 })
  await send([buildClick(platform, links[0] as TestLink)])
  await counted(21)
  await truncate()
  expect(await rebuild()).toMatchObject({ unrepaired: 0 })
  expect(await counters()).toEqual([11, 10])
  await expectClean()
  const sums = await query<{ clicks: number; rowless: number }>(
    platform.clickhouse,
    `SELECT toInt32(sum(c.clicks)) AS clicks, toInt32(sumIf(c.clicks, bucket = 0)) AS rowless FROM workspace_counts c
     WHERE workspace_id = {id:String}`,
    { id: workspace.id },
  )
  // The last message repeats five of the twenty purged clicks, which now count as new.
  expect(sums).toEqual([{ clicks: 21, rowless: 15 }])
})

test('a rebuild that is interrupted and repeated has the same result', async () => {
  await sendMixed(1_000)
  const before = await stored()
  await truncate()
  for (let kill = 0; kill < 3; kill++) await killHalfway()
  await rebuild()
  expect(await stored()).toEqual(before)
  await expectClean()
})

test('a concurrent rebuild is refused', async () => {
  const outcomes = await Promise.allSettled([rebuild(), rebuild()])
  const reasons = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [String(outcome.reason)] : []))
  expect(reasons).toEqual([expect.stringContaining('Another `tributary rebuild` is running')])
})

/** Kills a rebuild as soon as it has added rows. */
async function killHalfway(): Promise<void> {
  const main = fileURLToPath(new URL('../main.ts', import.meta.url))
  const env = { PATH: process.env.PATH, ...inject('environment'), ...own }
  const before = (await stored()).length
  const child = spawn(process.execPath, [main, 'rebuild'], { env, stdio: 'ignore' })
  const ended = once(child, 'exit')
  try {
    await eventually(async () => expect((await stored()).length).toBeGreaterThan(before), 30_000)
  } finally {
    child.kill('SIGKILL')
  }
  await ended
  // PostgreSQL releases the rebuild lock shortly after the process has died.
  await eventually(async () => expect(await withRebuildLock(platform.db, async () => 'free')).toBe('free'))
}
