import { execFile } from 'node:child_process'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { afterAll, expect, test, vi } from 'vitest'
import { newSecrets } from '../demo/settings.ts'
import { ensureBinaries } from '../engines/binaries.ts'
import type { EngineProcess } from '../engines/engine-process.ts'
import { startEngines } from '../engines/start.ts'
import { query } from '../server/src/platform/clickhouse.ts'
import { migrate } from '../server/src/platform/migrate.ts'
import { ensureStreams } from '../server/src/platform/nats.ts'
import { buildLink, buildWorkspace } from '../server/test/build.ts'
import { startServer } from '../server/test/server-process.ts'
import { eventually, openTestPlatform } from '../server/test/stack.ts'
import { allowLoopback, buildWebhook, startReceiver } from '../server/test/webhooks.ts'
import { copyNats, copyPostgres, restoreCopy } from './restore/copies.ts'
import { startTraffic, type Traffic } from './restore/traffic.ts'

vi.setConfig({ testTimeout: 240_000 })

const main = fileURLToPath(new URL('../server/src/main.ts', import.meta.url))
const lostMs = 10_000
const keys = ['one', 'two', 'three']

await ensureBinaries(console.error)
const directory = await mkdtemp(join(tmpdir(), 'tributary-restore-'))
await chmod(directory, 0o711)
const engines = await startEngines({ directory })
const [postgres, nats] = [engines.processes.postgres, engines.processes.nats] as [EngineProcess, EngineProcess]
const folders = { postgres: join(directory, 'postgres/data'), nats: join(directory, 'nats/jetstream') }
const environment = {
  ...engines.urls,
  ...allowLoopback,
  ...newSecrets(),
  SPOOL_DIRECTORY: join(directory, 'spool'),
  ENVIRONMENT: 'development',
  EVENT_PARTITIONS: '1',
  INGEST_INTERVAL_MS: '100',
  CLICKS_PER_ADDRESS_PER_SECOND: '100000',
  LOG_LEVEL: 'info',
}
// This platform only reads, so that the servers must detect the restore themselves.
const platform = await openTestPlatform({ ...environment, ROLES: 'redirect' })
await migrate(platform.config, platform.clickhouse, () => {})
await ensureStreams(platform.nats, platform.config)
const workspace = await buildWorkspace(platform)
for (const key of keys) await buildLink(platform, workspace, { key, trackConversion: true })
const receiver = await startReceiver()
await buildWebhook(platform, workspace.id, { url: receiver.url, triggers: ['link.created', 'lead.created'] })
await sql`UPDATE workspaces SET webhook_triggers = '{link.created,lead.created}' WHERE id = ${workspace.id}`.execute(
  platform.db,
)
const [front, worker] = await Promise.all([
  startServer({ ...environment, ROLES: 'api,redirect' }),
  startServer({ ...environment, ROLES: 'worker' }),
])
afterAll(async () => {
  await Promise.all([front.stop(), worker.stop()])
  await receiver[Symbol.asyncDispose]()
  await engines.stop()
  await rm(directory, { recursive: true, force: true })
})

const answered = new Map<string, number>()

function begin(): Traffic {
  return startTraffic({ api: front.api, redirect: front.redirect, key: workspace.key, domain: workspace.domain, keys })
}

/** Stops the traffic, and adds its visits to the total of answered visits. */
async function end(traffic: Traffic): Promise<void> {
  await traffic.stop()
  for (const [key, visits] of traffic.visits) answered.set(key, (answered.get(key) ?? 0) + visits)
}

type Stored = Record<'rows' | 'ids' | 'counted', number>

async function readClicks(): Promise<Map<string, Stored>> {
  const links = await sql<{ number: bigint; key: string; clicks: bigint }>`SELECT l.number, l.key, c.clicks
    FROM links l JOIN link_counters c ON c.link_number = l.number WHERE l.key = ANY(${keys})`.execute(platform.db)
  const rows = await query<{ number: string; rows: string; ids: string }>(
    platform.clickhouse,
    "SELECT toString(link_number) AS number, count() AS rows, uniqExact(id) AS ids FROM click_events WHERE bot = '' GROUP BY number",
    {},
  )
  return new Map(
    links.rows.map(({ number, key, clicks }) => {
      const found = rows.find((row) => row.number === String(number))
      return [key, { rows: Number(found?.rows ?? 0), ids: Number(found?.ids ?? 0), counted: Number(clicks) }]
    }),
  )
}

/** Checks that every answered visit has one row, and that counters equal the rows. */
async function expectClicksExact(): Promise<void> {
  await eventually(async () => {
    const stored = await readClicks()
    for (const key of keys) {
      const visits = answered.get(key) ?? 0
      expect({ key, ...stored.get(key) }).toEqual({ key, rows: visits, ids: visits, counted: visits })
    }
  }, 60_000)
}

/** Checks that no lead, sale or link has two rows or shares a number. */
async function expectNothingDoubled(): Promise<void> {
  for (const table of ['lead_events', 'sale_events'])
    expect(await readOne(`SELECT toString(count() - uniqExact(id)) AS value FROM ${table}`), table).toBe('0')
  const addresses = 'SELECT toString(countIf(addresses > 1)) AS value FROM'
  const byNumber = 'SELECT uniqExact(url) AS addresses FROM click_events GROUP BY link_number'
  expect(await readOne(`${addresses} (${byNumber})`)).toBe('0')
}

async function readOne(statement: string): Promise<string> {
  const [row] = await query<{ value: string }>(platform.clickhouse, statement, {})
  return row?.value ?? ''
}

const highestNumber = async () =>
  BigInt(await readOne('SELECT toString(max(link_number)) AS value FROM link_attributes'))

async function findNumbers(ids: string[]): Promise<Map<string, bigint>> {
  const found = await sql<{ id: string; number: bigint }>`SELECT id, number FROM links WHERE id = ANY(${ids})`.execute(
    platform.db,
  )
  return new Map(found.rows.map(({ id, number }) => [id, number]))
}

/** Checks that new links have unused numbers, reach ClickHouse, and are sent to the webhook. */
async function expectNewLinks(traffic: Traffic, above: bigint): Promise<void> {
  const ids = traffic.links.map(({ id }) => id)
  expect(ids.length).toBeGreaterThan(3)
  const numbers = await findNumbers(ids)
  expect(numbers.size).toBe(ids.length)
  for (const number of numbers.values()) expect(number).toBeGreaterThan(above)
  await eventually(async () => {
    const list = [...numbers.values()].join(', ')
    const known = await readOne(
      `SELECT toString(uniqExact(link_number)) AS value FROM link_attributes WHERE link_number IN (${list})`,
    )
    expect(known).toBe(String(ids.length))
    const delivered = new Set(receiver.heard.map(({ body }) => (JSON.parse(body) as { data: { id?: string } }).data.id))
    expect(ids.filter((id) => !delivered.has(id))).toEqual([])
  }, 60_000)
}

/** Counts sales in ClickHouse that PostgreSQL has lost. */
async function countLostSales({ sales }: Traffic): Promise<number> {
  const invoiceIds = sales.map(({ invoiceId }) => invoiceId)
  const rows = await query<{ invoice_id: string }>(platform.clickhouse, 'SELECT invoice_id FROM sale_events', {})
  const stored = rows.map(({ invoice_id }) => invoice_id).filter((id) => invoiceIds.includes(id))
  const there = await sql<{ invoice_id: string }>`SELECT invoice_id FROM conversions
    WHERE invoice_id = ANY(${stored})`.execute(platform.db)
  return stored.length - there.rows.length
}

type Verdict = {
  rewinds: { engine: string; lost: Record<string, number> | null }[]
  different: number
  doubled: number
}

function verify(...options: string[]): Promise<string> {
  return new Promise((resolve) => {
    const env = { PATH: process.env.PATH, ...environment }
    const done = (_: unknown, stdout: string, stderr: string) => resolve(stdout || stderr)
    execFile(process.execPath, [main, 'verify', ...options], { env, timeout: 120_000 }, done)
  })
}

async function readVerdict(engine: string): Promise<Verdict & { lost: Record<string, number> }> {
  return eventually(async () => {
    const verdict = JSON.parse(await verify('--json')) as Verdict
    const lost = verdict.rewinds.find((rewind) => rewind.engine === engine)?.lost
    expect(lost, JSON.stringify(verdict.rewinds)).toBeTruthy()
    return { ...verdict, lost: lost as Record<string, number> }
  }, 60_000)
}

test('PostgreSQL restored to 10 s earlier under load: no duplicates, no id reused, losses are reported', async () => {
  const copy = join(directory, 'postgres/copy-1')
  const before = begin()
  await sleep(6_000)
  await copyPostgres(engines.urls.POSTGRES_URL, folders.postgres, copy)
  const copiedAt = Date.now()
  await sleep(lostMs)
  await restoreCopy(postgres, folders.postgres, copy)
  const highest = await highestNumber()
  await end(before)

  const after = begin()
  await eventually(async () => expect(after.sales.length).toBeGreaterThan(10), 60_000)
  await end(after)
  await expectClicksExact()
  await expectNothingDoubled()
  await expectNewLinks(after, highest)

  const lostLinks = before.links.filter(({ at }) => at > copiedAt)
  const there = await findNumbers(lostLinks.map(({ id }) => id))
  const { lost, doubled } = await readVerdict('postgresql')
  expect(doubled).toBe(0)
  expect(lost.links).toBeGreaterThan(0)
  expect(lost.links).toBeLessThanOrEqual(lostLinks.length - there.size + 1)
  expect(lost.sales).toBe(await countLostSales(before))
  expect(lost.sales).toBeGreaterThan(0)
  expect(lost.customers).toBeGreaterThan(0)
  expect(await verify()).toMatch(
    /PostgreSQL was restored to its state of .*: \d+ links, \d+ leads, \d+ sales, \d+ customers/,
  )
  expect([...front.log, ...worker.log].join('\n')).toContain('PostgreSQL was restored to an older state')
})

test('NATS restored to an older snapshot under load: no click is skipped or duplicated, and the restore is reported', async () => {
  const copy = join(directory, 'nats/copy-2')
  const before = begin()
  await sleep(3_000)
  await copyNats(nats, folders.nats, copy)
  await sleep(lostMs)
  // Clicks that no worker has stored are lost with NATS; all others must be stored.
  await before.pauseVisits()
  await sleep(3_000)
  await restoreCopy(nats, folders.nats, copy)
  before.resumeVisits()
  await sleep(8_000)
  await end(before)
  await expectClicksExact()
  await expectNothingDoubled()
  await expectNewLinks(before, 0n)
  await eventually(async () => expect(await verify()).toMatch(/The event log was restored to its state of /), 60_000)
  const { doubled, different } = await readVerdict('postgresql')
  expect({ doubled, different }).toEqual({ doubled: 0, different: 0 })
})

test('PostgreSQL and NATS restored to an older state under load: no duplicates, no id reused, counters are repaired', async () => {
  const copies = { postgres: join(directory, 'postgres/copy-3'), nats: join(directory, 'nats/copy-3') }
  const before = begin()
  await sleep(3_000)
  await copyNats(nats, folders.nats, copies.nats)
  await copyPostgres(engines.urls.POSTGRES_URL, folders.postgres, copies.postgres)
  await sleep(lostMs)
  await before.pauseVisits()
  await sleep(3_000)
  await Promise.all([
    restoreCopy(nats, folders.nats, copies.nats),
    restoreCopy(postgres, folders.postgres, copies.postgres),
  ])
  const highest = await highestNumber()
  before.resumeVisits()
  await sleep(2_000)
  await end(before)
  const after = begin()
  await eventually(async () => expect(after.links.length).toBeGreaterThan(10), 60_000)
  await end(after)
  await expectNewLinks(after, highest)
  await expectNothingDoubled()
  await eventually(async () => {
    const stored = await readClicks()
    for (const key of keys) expect(stored.get(key)).toMatchObject({ rows: answered.get(key), ids: answered.get(key) })
  }, 60_000)
  expect(await verify('--repair')).toMatch(/PostgreSQL was restored to /)
  await expectClicksExact()
})
