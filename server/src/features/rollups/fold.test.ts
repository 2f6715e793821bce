import { randomBytes } from 'node:crypto'
import { analyticsQuery } from '@tributary/contract/analytics'
import { describe, expect, test } from 'vitest'
import { buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { query } from '../../platform/clickhouse.ts'
import { countEvents } from '../analytics/service.ts'
import { appendClicks, type NewClick } from '../event-storage/service.ts'
import { foldRareValues, repairRollups, rollupDifferences } from './service.ts'

const limit = 5
const open = () => openTestPlatform({ ROLLUP_VALUES_PER_DAY: String(limit) })
const platform = await open()
const at = Date.now() - 3 * 86_400_000
const month = `${new Date(at).toISOString().slice(0, 7)}-01`

function click(workspaceId: string, given: Partial<NewClick> = {}): NewClick {
  return {
    workspace_id: workspaceId,
    timestamp: at,
    id_text: randomBytes(30).toString('base64url'),
    link_number: '1',
    url: 'https://example.com/',
    trigger: 'link',
    ip: '::',
    bot: '',
    country: 'DE',
    region: 'DE-BE',
    city: 'Berlin',
    continent: 'EU',
    device: 'Desktop',
    browser: 'Chrome',
    os: 'Linux',
    referer: '(direct)',
    referer_url: '(direct)',
    utm_source: '',
    utm_medium: '',
    utm_campaign: '',
    utm_term: '',
    utm_content: '',
    ...given,
  }
}

async function append(rows: NewClick[], by = platform): Promise<void> {
  await foldRareValues(by, rows)
  await appendClicks(by, rows, randomBytes(8).toString('hex'))
}

async function counted(workspaceId: string, dimension: string): Promise<Record<string, number>> {
  const rows = await query<{ value: string; clicks: string }>(
    platform.clickhouse,
    `SELECT value, toString(sum(clicks)) AS clicks FROM dimension_counts
     WHERE workspace_id = {workspaceId:String} AND dimension = {dimension:String} GROUP BY value HAVING clicks != '0'`,
    { workspaceId, dimension },
  )
  return Object.fromEntries(rows.map(({ value, clicks }) => [value, Number(clicks)]))
}

async function analytics(workspaceId: string, asked: Record<string, string>) {
  const ctx = contextIn(platform, workspaceId)
  return countEvents(ctx, analyticsQuery.parse({ event: 'clicks', interval: '30d', ...asked }))
}

const sources = (workspaceId: string, from: number, count: number) =>
  Array.from({ length: count }, (_, index) => click(workspaceId, { utm_source: `s${from + index}` }))

describe("values beyond a day's limit", () => {
  test('are counted in one total by the rollup, exactly by analytics, and rollup and event rows agree', async () => {
    const { id } = await buildWorkspace(platform)
    await append(sources(id, 0, 40))
    await append([...sources(id, 0, 40), ...sources(id, 0, 2)])
    expect(await counted(id, 'utm_source')).toEqual({ s0: 3, s1: 3, s2: 2, s3: 2, s4: 2 })
    expect(await counted(id, 'utm_source folded')).toEqual({ '': 70 })
    expect(await rollupDifferences(platform, { workspaceId: id, month })).toEqual([])

    const groups = await analytics(id, { groupBy: 'utm_sources' })
    expect(groups).toHaveLength(40)
    expect(groups).toContainEqual(expect.objectContaining({ utm_source: 's33', clicks: 2 }))
    expect(await analytics(id, { groupBy: 'count', utm_source: 's33' })).toMatchObject({ clicks: 2 })
    expect(await analytics(id, { groupBy: 'count', utm_source: 's0' })).toMatchObject({ clicks: 3 })
    expect(await analytics(id, { groupBy: 'countries' })).toMatchObject([{ country: 'DE', clicks: 82 }])
  })

  test('stay the same when the rollup is rebuilt from event rows', async () => {
    const { id } = await buildWorkspace(platform)
    await append(sources(id, 0, 20))
    const before = await counted(id, 'utm_source')
    await platform.clickhouse.command({
      query: 'ALTER TABLE dimension_counts DELETE WHERE workspace_id = {id:String} SETTINGS mutations_sync = 2',
      query_params: { id },
    })
    await repairRollups(platform, { workspaceIds: [id], month })
    expect(await counted(id, 'utm_source')).toEqual(before)
    expect(await counted(id, 'utm_source folded')).toEqual({ '': 15 })
  })

  test('are the same in a process that starts later', async () => {
    const { id } = await buildWorkspace(platform)
    await append(sources(id, 0, 8))
    await append(sources(id, 100, limit * 4), await open())
    expect(Object.keys(await counted(id, 'utm_source')).length).toBeLessThanOrEqual(2 * limit)
    const rows = await query<{ n: string }>(
      platform.clickhouse,
      'SELECT toString(uniqExact(utm_source)) AS n FROM click_events WHERE workspace_id = {id:String}',
      { id },
    )
    expect(rows[0]?.n).toBe('28')
  })

  test.each(['city', 'browser', 'os', 'referer', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content'] as const)(
    'are folded for %s too',
    async (dimension) => {
      const { id } = await buildWorkspace(platform)
      await append(Array.from({ length: 9 }, (_, index) => click(id, { [dimension]: `v${index}` })))
      expect(Object.keys(await counted(id, dimension))).toHaveLength(limit)
      expect(await counted(id, `${dimension} folded`)).toEqual({ '': 4 })
      expect(await rollupDifferences(platform, { workspaceId: id, month })).toEqual([])
    },
  )

  test('do not include values of another day or workspace, or of bots', async () => {
    const { id } = await buildWorkspace(platform)
    const { id: other } = await buildWorkspace(platform)
    const bots = Array.from({ length: 20 }, (_, index) => click(id, { utm_source: `b${index}`, bot: 'head' }))
    const earlier = sources(id, 50, limit).map((row) => ({ ...row, timestamp: at - 86_400_000 }))
    await append([...bots, ...sources(id, 0, limit), ...earlier, ...sources(other, 0, limit)])
    expect(Object.keys(await counted(id, 'utm_source'))).toHaveLength(2 * limit)
    expect(await counted(id, 'utm_source folded')).toEqual({})
    expect(await counted(other, 'utm_source folded')).toEqual({})
  })
})
