import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, expect, inject, test, vi } from 'vitest'
import { createDatabase } from '../../../engines/postgres.ts'
import { startEngines } from '../../../engines/start.ts'
import { type BuiltWorkspace, buildClick, buildLink, buildWorkspace } from '../../test/build.ts'
import { eventually, openTestPlatform } from '../../test/stack.ts'
import { startIngest } from '../features/ingest/jobs.ts'
import { claim, ingest } from '../features/ingest/service.ts'
import { clicksSubject } from '../features/redirect/messages.ts'
import { query } from '../platform/clickhouse.ts'
import { hashPartition } from '../platform/ids.ts'
import { migrate } from '../platform/migrate.ts'
import { ensureStreams, jetStream } from '../platform/nats.ts'
import { type Finding, reconcileClicks } from './clicks.ts'

// Tests are slow: counts that differ are read again after two seconds before a difference is reported.
vi.setConfig({ testTimeout: 40_000 })
const name = `verify_${randomUUID().replaceAll('-', '')}`
const { POSTGRES_URL = '', CLICKHOUSE_URL = '' } = inject('environment')
const engines = await startEngines({ only: ['nats', 'valkey'] })
const shared = await openTestPlatform()
await shared.clickhouse.command({ query: `CREATE DATABASE ${name}` })
const platform = await openTestPlatform({
  ...engines.urls,
  POSTGRES_URL: await createDatabase(POSTGRES_URL, name),
  CLICKHOUSE_URL: new URL(`/${name}`, CLICKHOUSE_URL).href,
  INGEST_INTERVAL_MS: '5',
})
await migrate(platform.config, platform.clickhouse, () => {})
await ensureStreams(platform.nats, platform.config)
const worker = await startIngest(platform)
afterAll(async () => {
  await worker[Symbol.asyncDispose]()
  await engines.stop()
})

type TestLink = { number: bigint; id: string; workspaceId: string; url: string; address: string }

async function buildTestLink(workspace: BuiltWorkspace): Promise<TestLink> {
  const { id, url, domain, key } = await buildLink(platform, workspace)
  const result = await sql<{ number: bigint }>`SELECT number FROM links WHERE id = ${id}`.execute(platform.db)
  return { id, url, workspaceId: workspace.id, number: result.rows[0]?.number ?? 0n, address: `${domain}/${key}` }
}

async function send(link: TestLink, count: number): Promise<void> {
  const clicks = Array.from({ length: count }, () => buildClick(platform, link))
  const partition = hashPartition(link.workspaceId, platform.config.EVENT_PARTITIONS)
  await jetStream(platform.nats).publish(clicksSubject(partition), JSON.stringify(clicks))
}

async function readCounter(link: TestLink): Promise<{ clicks: number; last: Date | null }> {
  const result = await sql<{ clicks: bigint; last_clicked: Date | null }>`
    SELECT clicks, last_clicked FROM link_counters WHERE link_number = ${link.number}`.execute(platform.db)
  return { clicks: Number(result.rows[0]?.clicks), last: result.rows[0]?.last_clicked ?? null }
}

async function counted(link: TestLink, clicks: number): Promise<void> {
  await eventually(async () => expect(await readCounter(link)).toMatchObject({ clicks }), 15_000)
}

async function tamper(link: TestLink, clicks: number): Promise<void> {
  await sql`UPDATE link_counters SET clicks = ${clicks}, last_clicked = NULL
    WHERE link_number = ${link.number}`.execute(platform.db)
}

async function check(
  options: Parameters<typeof reconcileClicks>[1] = {},
): Promise<{ links: number; findings: Finding[] }> {
  const whole = { links: 0, findings: [] as Finding[] }
  let percent = 0
  for await (const step of reconcileClicks(platform, options)) {
    whole.links += step.links
    whole.findings.push(...step.findings)
    expect(step.percent).toBeGreaterThanOrEqual(percent)
    percent = step.percent
  }
  expect(percent).toBe(100)
  return whole
}

test('correctly counted clicks have no differences, including bots and several batches of links', async () => {
  const workspace = await buildWorkspace(platform)
  const links = [await buildTestLink(workspace), await buildTestLink(workspace), await buildTestLink(workspace)]
  for (const [index, link] of links.entries()) await send(link, index)
  const [, , last] = links as [TestLink, TestLink, TestLink]
  const bot = buildClick(platform, last, { bot: 'head' })
  const partition = hashPartition(workspace.id, platform.config.EVENT_PARTITIONS)
  await jetStream(platform.nats).publish(clicksSubject(partition), JSON.stringify([bot]))
  await counted(last, 2)
  for (const linksAtOnce of [1, 2, 3, 4]) {
    expect(await check({ linksAtOnce, workspaceId: workspace.id })).toEqual({ links: 3, findings: [] })
  }
  expect((await check()).findings).toEqual([])
})

test('a wrong click counter is found, and a repair sets it to the number of rows', async () => {
  const workspace = await buildWorkspace(platform)
  const [high, low, right] = [
    await buildTestLink(workspace),
    await buildTestLink(workspace),
    await buildTestLink(workspace),
  ]
  for (const link of [low, right]) await send(link, 3)
  await counted(right, 3)
  await counted(low, 3)
  const { last } = await readCounter(low)
  await tamper(high, 7)
  await tamper(low, 1)
  const different = [
    { linkId: high.id, address: high.address, counter: 7, rows: 0, doubled: 0, repaired: false },
    { linkId: low.id, address: low.address, counter: 1, rows: 3, doubled: 0, repaired: false },
  ]
  const found = await check({ workspaceId: workspace.id })
  expect(found).toMatchObject({ links: 3, findings: different })
  expect(await readCounter(high)).toMatchObject({ clicks: 7 })
  const repaired = await check({ workspaceId: workspace.id, repair: true })
  expect(repaired.findings).toMatchObject(different.map((finding) => ({ ...finding, repaired: true })))
  expect(await readCounter(high)).toEqual({ clicks: 0, last: null })
  expect(await readCounter(low)).toEqual({ clicks: 3, last })
  expect(await check({ workspaceId: workspace.id })).toEqual({ links: 3, findings: [] })
})

test('missing, doubled and unknown click rows are found, and a repair counts doubled rows once', async () => {
  const workspace = await buildWorkspace(platform)
  const [missing, doubled] = [await buildTestLink(workspace), await buildTestLink(workspace)]
  const unknown = { ...missing, number: 2n ** 62n }
  await send(missing, 3)
  await send(doubled, 2)
  await send(unknown, 2)
  await counted(missing, 3)
  await counted(doubled, 2)
  await eventually(async () => expect((await check({ workspaceId: workspace.id })).findings).toHaveLength(1), 15_000)
  const { clickhouse } = platform
  await clickhouse.command({
    query: 'ALTER TABLE click_events DELETE WHERE link_number = {number:UInt64} SETTINGS mutations_sync = 2',
    query_params: { number: missing.number },
  })
  await clickhouse.command({
    query: 'INSERT INTO click_events SELECT * FROM click_events WHERE link_number = {number:UInt64} LIMIT 1',
    query_params: { number: doubled.number },
  })
  const { findings } = await check({ workspaceId: workspace.id, linksAtOnce: 1 })
  expect(findings).toMatchObject([
    { linkId: missing.id, counter: 3, rows: 0, doubled: 0 },
    { linkId: doubled.id, counter: 2, rows: 3, doubled: 1 },
    { linkId: null, linkNumber: String(2n ** 62n), address: null, counter: null, rows: 2, doubled: 0 },
  ])
  await tamper(doubled, 3)
  await check({ workspaceId: workspace.id, repair: true })
  expect(await readCounter(doubled)).toMatchObject({ clicks: 2 })
})

test('under traffic a batch that is being stored is not a difference, and a repair counts no click twice', async () => {
  const workspace = await buildWorkspace(platform)
  const link = await buildTestLink(workspace)
  await send(link, 1)
  await counted(link, 1)
  await tamper(link, 500)
  const checking = check({ workspaceId: workspace.id, repair: true })
  let sent = 1
  for (let message = 0; message < 250; message++) {
    await send(link, 4)
    sent += 4
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  expect((await checking).findings).toMatchObject([{ linkId: link.id, repaired: true }])
  await counted(link, sent)
  const rows = await query<{ rows: string }>(
    platform.clickhouse,
    'SELECT toString(count()) AS rows FROM click_events WHERE link_number = {number:UInt64}',
    { number: link.number },
  )
  expect(rows).toEqual([{ rows: String(sent) }])
})

test('a repair waits for a batch of clicks that is stored and not yet counted', async () => {
  const workspace = await buildWorkspace(platform)
  const link = await buildTestLink(workspace)
  await tamper(link, 500)
  await worker[Symbol.asyncDispose]()
  const holder = { partition: hashPartition(workspace.id, platform.config.EVENT_PARTITIONS), owner: randomUUID() }
  const { sequence = 0 } = (await claim(platform, holder)) ?? {}
  const stored = Promise.withResolvers<void>()
  const clickhouse = new Proxy(platform.clickhouse, {
    get: (target, property) => (property === 'exec' ? insertSlowly : Reflect.get(target, property, target)),
  })
  async function insertSlowly(rows: Parameters<typeof clickhouse.exec>[0]) {
    const result = await platform.clickhouse.exec(rows)
    stored.resolve()
    await new Promise((resolve) => setTimeout(resolve, 4_000))
    return result
  }
  const body = [buildClick(platform, link), buildClick(platform, link)]
  const batch = ingest({ ...platform, clickhouse }, holder, sequence, [{ sequence: sequence + 1, body }])
  await stored.promise
  const { findings } = await check({ workspaceId: workspace.id, repair: true })
  expect(await batch).toBe(sequence + 1)
  expect(findings).toMatchObject([{ linkId: link.id, counter: 502, rows: 2, repaired: true }])
  expect(await readCounter(link)).toMatchObject({ clicks: 2 })
})

test('links with an unfinished batch of clicks are reported, but not repaired', async () => {
  const workspace = await buildWorkspace(platform)
  const link = await buildTestLink(workspace)
  await tamper(link, 2)
  const partition = hashPartition(workspace.id, platform.config.EVENT_PARTITIONS)
  await worker[Symbol.asyncDispose]()
  await sql`INSERT INTO ingest_cursors (partition, intent) VALUES (${partition}, '{}')
    ON CONFLICT (partition) DO UPDATE SET intent = '{}'`.execute(platform.db)
  const { findings } = await check({ workspaceId: workspace.id, repair: true })
  expect(findings).toMatchObject([{ linkId: link.id, counter: 2, rows: 0, repaired: false }])
  expect(await readCounter(link)).toMatchObject({ clicks: 2 })
})
