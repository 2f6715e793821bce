import { randomBytes, randomInt, randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { afterAll, expect, test, vi } from 'vitest'
import { startEngines } from '../../../../engines/start.ts'
import { buildWorkspace } from '../../../test/build.ts'
import { eventually, openTestPlatform } from '../../../test/stack.ts'
import { query } from '../../platform/clickhouse.ts'
import { clickHouseStatements } from '../../platform/migrate.ts'
import { appendClicks, type NewClick } from '../event-storage/service.ts'
import { appendClicksAgain, monthsOfEvents, repairRollups, rollupDifferences } from './service.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 60_000 })
const hourMs = 3_600_000
const dayMs = 24 * hourMs
// These tests kill ClickHouse, so they need their own databases.
const engines = await startEngines({ only: ['clickhouse'] })
const platform = await openTestPlatform({ ...engines.urls, HISTORY_DAYS_BY_PLAN: 'free:30,pro:365' })
afterAll(() => engines.stop())

const folder = new URL('../../../migrations/clickhouse/', import.meta.url)
for (const name of (await readdir(folder)).sort()) {
  const text = await readFile(new URL(name, folder), 'utf8')
  for (const statement of clickHouseStatements(text, undefined)) await platform.clickhouse.command({ query: statement })
}

test('event rows and rollups agree after each kill -9 of ClickHouse and replay', async () => {
  const workspaces = [(await buildWorkspace(platform)).id, (await buildWorkspace(platform)).id]
  let rows = 0
  for (let kill = 0; kill < 8; kill++) {
    const dying = new Promise((resolve) => setTimeout(resolve, 20 + randomInt(400))).then(() =>
      engines.processes.clickhouse?.kill('SIGKILL'),
    )
    let isDead = false
    for (let batch = 0; !isDead; batch++) {
      const clicks = Array.from({ length: 1_000 }, () =>
        buildRow(workspaces[randomInt(2)] as string, { bot: randomInt(10) === 0 ? 'isbot' : '' }),
      )
      const token = `kill:${kill}:${batch}`
      await appendClicks(platform, clicks, token).catch(async () => {
        isDead = true
        await dying
        await engines.processes.clickhouse?.restart()
        await eventually(() => appendClicksAgain(platform, clicks, token), 30_000)
      })
      rows += clicks.length
    }
    await expectAgreement(workspaces, rows)
  }
})

test('days before the first complete day of a rollup are not compared, and a repair fills them', async () => {
  const { id } = await buildWorkspace(platform)
  const clicks = Array.from({ length: 50 }, (_, index) => buildRow(id, { timestamp: Date.now() - index * 3 * hourMs }))
  await appendClicks(platform, clicks, `upgrade:${id}`)
  const urls = ['url', 'base_url', 'referer_url'].map((name) => `'${name}'`).join(', ')
  const lose = (text: string) =>
    platform.clickhouse.command({ query: text, clickhouse_settings: { mutations_sync: '1' } })
  await lose(`ALTER TABLE link_days DELETE WHERE workspace_id = '${id}'`)
  await lose(`ALTER TABLE dimension_counts DELETE WHERE workspace_id = '${id}' AND dimension IN (${urls})`)
  const differing = async (starts?: { linkDays: string; urls: string; months: string }) => {
    const months = await monthsOfEvents(platform, id)
    const range = { workspaceId: id, starts }
    const found = await Promise.all(months.map((month) => rollupDifferences(platform, { ...range, month })))
    return [...new Set(found.flat().map(({ rollup }) => rollup))]
  }
  const day = (after: number) => new Date(Date.now() + after * dayMs).toISOString().slice(0, 10)
  expect(await differing({ linkDays: day(1), urls: day(1), months: day(1) })).toEqual([])
  expect(await differing({ linkDays: day(-20), urls: day(1), months: day(1) })).toEqual(['link_days'])
  expect(await differing()).toEqual(['link_days', 'link_months', 'dimension_counts', 'dimension_months'])
  for (const month of await monthsOfEvents(platform, id)) await repairRollups(platform, { month, workspaceIds: [id] })
  expect(await differing()).toEqual([])
})

test('a batch that is inserted again with its deduplication token changes nothing', async () => {
  const { id } = await buildWorkspace(platform)
  const clicks = [buildRow(id), buildRow(id, { bot: 'head' }), buildRow(id, { timestamp: Date.now() - 40 * dayMs })]
  for (let time = 0; time < 3; time++) await appendClicks(platform, clicks, `again:${id}`)
  await expectAgreement([id], 3)
  const counts = await query<{ clicks: number; bots: number }>(
    platform.clickhouse,
    'SELECT sum(clicks) AS clicks, sum(bots) AS bots FROM link_counts WHERE workspace_id = {id:String}',
    { id },
  )
  expect(counts).toEqual([{ clicks: 2, bots: 1 }])
})

test.each([['click_events'], ['link_counts'], ['workspace_counts'], ['dimension_counts']])(
  'a repeated insert restores rows of %s that ClickHouse has lost, even if it remembers the token',
  async (table) => {
    const [{ id }, { id: other }] = [await buildWorkspace(platform), await buildWorkspace(platform)]
    const old = { timestamp: Date.now() - 35 * dayMs }
    const clicks = [buildRow(id), buildRow(id), buildRow(id, old)]
    // With rows of another workspace, no part gets empty: ClickHouse forgets the tokens of parts that it removes.
    clicks.push(buildRow(other), buildRow(other, old))
    await appendClicks(platform, clicks, id)
    const statement = `ALTER TABLE ${table} DELETE WHERE workspace_id = {id:String} SETTINGS mutations_sync = 2`
    await platform.clickhouse.command({ query: statement, query_params: { id } })
    await appendClicks(platform, clicks, id)
    const found = (await Promise.all((await monthsOfEvents(platform, id)).map(differencesIn))).flat()
    expect(found).not.toEqual([])
    await appendClicksAgain(platform, clicks, id)
    await expectAgreement([id], 3)
  },
)

test('the rollup counts each dimension separately', async () => {
  const { id } = await buildWorkspace(platform)
  const location = { country: 'DE', region: 'DE-BE', city: 'Berlin' }
  await appendClicks(platform, [buildRow(id, location), buildRow(id, location), buildRow(id, { bot: 'isbot' })], id)
  const found = await query<{ dimension: string; value: string; clicks: number }>(
    platform.clickhouse,
    `SELECT dimension, value, sum(clicks) AS clicks FROM dimension_counts
     WHERE workspace_id = {id:String} AND dimension IN ('country', 'city', 'bot') GROUP BY 1, 2 ORDER BY 1, 2`,
    { id },
  )
  expect(found).toEqual([
    { dimension: 'bot', value: 'isbot', clicks: 1 },
    { dimension: 'city', value: 'DE\tDE-BE\tBerlin', clicks: 2 },
    { dimension: 'country', value: 'DE', clicks: 2 },
  ])
})

test('rollup counts that are too low or too high are found and repaired', async () => {
  const { id } = await buildWorkspace(platform)
  await appendClicks(
    platform,
    Array.from({ length: 20 }, () => buildRow(id)),
    id,
  )
  const { clickhouse } = platform
  const link = { id, number: 1 }
  for (const statement of [
    'ALTER TABLE workspace_counts DELETE WHERE workspace_id = {id:String} SETTINGS mutations_sync = 2',
    `INSERT INTO link_counts (workspace_id, link_number, bucket, clicks) VALUES ({id:String}, 1, toStartOfHour(now()), 7)`,
    `INSERT INTO dimension_counts (workspace_id, dimension, bucket, value, clicks) VALUES ({id:String}, 'os', today(), 'BeOS', 1)`,
  ])
    await clickhouse.command({ query: statement, query_params: link })
  const months = await monthsOfEvents(platform, id)
  const found = (
    await Promise.all(months.map((month) => rollupDifferences(platform, { workspaceId: id, month })))
  ).flat()
  const total = (rollup: string, what: 'missing' | 'surplus') =>
    found.filter((finding) => finding.rollup === rollup).reduce((sum, finding) => sum + finding[what], 0)
  expect(total('workspace_counts', 'missing')).toBe(20)
  expect(total('link_counts', 'surplus')).toBe(7)
  expect(total('dimension_counts', 'surplus')).toBe(1)
  for (const month of months) await repairRollups(platform, { workspaceIds: [id], month })
  await expectAgreement([id], 20)
})

test.each([
  ['free', 31],
  ['pro', 366],
  ['business', Math.floor((Date.UTC(2149, 5, 6) - Date.UTC(2026, 10, 1)) / dayMs)],
] as const)(
  'a click of a workspace on the plan %s expires after %i days, as HISTORY_DAYS_BY_PLAN says',
  async (plan, days) => {
    const { id } = await buildWorkspace(platform, { plan })
    await appendClicks(platform, [buildRow(id, { timestamp: Date.UTC(2026, 10, 1, 23) })], id)
    const [row] = await query<{ days: number }>(
      platform.clickhouse,
      "SELECT expires_on - toDate('2026-11-01') AS days FROM link_counts WHERE workspace_id = {id:String}",
      { id },
    )
    expect(row?.days).toBe(days)
  },
)

test('expired event rows are deleted, their rollup counts stay, and no difference is reported', async () => {
  const { id } = await buildWorkspace(platform, { plan: 'free' })
  const { id: keeper } = await buildWorkspace(platform)
  const old = { timestamp: Date.now() - 45 * dayMs }
  await appendClicks(platform, [buildRow(id, old), buildRow(id, old), buildRow(id), buildRow(keeper, old)], id)
  for (const table of ['click_events', 'link_counts', 'dimension_counts'])
    await platform.clickhouse.command({ query: `OPTIMIZE TABLE ${table} FINAL` })
  expect(await countRows([id])).toBe(1)
  expect(await countRows([keeper])).toBe(1)
  for (const month of await monthsOfEvents(platform)) expect(await rollupDifferences(platform, { month })).toEqual([])
  const counts = await query<{ clicks: number }>(
    platform.clickhouse,
    'SELECT sum(clicks) AS clicks FROM link_counts WHERE workspace_id = {id:String}',
    { id },
  )
  expect(counts).toEqual([{ clicks: 3 }])
})

function differencesIn(month: string) {
  return rollupDifferences(platform, { month })
}

async function expectAgreement(workspaces: string[], rows: number): Promise<void> {
  expect(await countRows(workspaces)).toBe(rows)
  for (const month of await monthsOfEvents(platform)) expect(await rollupDifferences(platform, { month })).toEqual([])
  for (const table of ['workspace_counts', 'link_counts']) {
    const counted = await query<{ n: number }>(
      platform.clickhouse,
      `SELECT toInt64(sum(clicks) + sum(bots)) AS n FROM ${table} WHERE workspace_id IN {workspaces:Array(String)}`,
      { workspaces },
    )
    expect([table, Number(counted[0]?.n)]).toEqual([table, rows])
  }
}

async function countRows(workspaces: string[]): Promise<number> {
  const statement = 'SELECT count() AS n FROM click_events WHERE workspace_id IN {workspaces:Array(String)}'
  return Number((await query<{ n: number }>(platform.clickhouse, statement, { workspaces }))[0]?.n)
}

function buildRow(workspaceId: string, given: Partial<NewClick> = {}): NewClick {
  const text = {
    url: `https://example.com/${randomUUID()}`,
    referer: 'example.org',
    referer_url: 'https://example.org/',
  }
  const location = {
    country: `C${randomInt(30)}`,
    region: `R${randomInt(50)}`,
    city: `T${randomInt(99)}`,
    continent: 'EU',
  }
  const device = { device: 'Desktop', browser: 'Chrome', os: `OS ${randomInt(9)}` }
  const utm = { utm_source: '', utm_medium: '', utm_campaign: `c${randomInt(20)}`, utm_term: '', utm_content: '' }
  return {
    workspace_id: workspaceId,
    timestamp: Date.now() - randomInt(3) * hourMs,
    id_text: randomBytes(30).toString('base64url'),
    link_number: String(1 + randomInt(40)),
    trigger: 'link',
    ip: '::',
    bot: '',
    ...text,
    ...location,
    ...device,
    ...utm,
    ...given,
  }
}
