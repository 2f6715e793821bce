import { type Grouping, groupings } from '@tributary/contract/analytics'
import { expect, test } from 'vitest'
import { buildLink, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { clickRow, storeEvents } from '../../../test/events/feed-rows.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import type { ClickHouse } from '../../platform/clickhouse.ts'
import { linkNumbers } from '../links/service.ts'
import { countGroupings } from './count.ts'
import { countEvents } from './service.ts'

const platform = await openTestPlatform()
const query = { event: 'composite', bots: 'exclude', visitors: false, interval: 'all', timezone: 'UTC' } as const
const limits = { max_execution_time: 20, max_memory_usage: '500000000', max_rows_to_read: '1000000' }

async function buildClicked(urls: string[], at = Date.now() - 3_600_000) {
  const workspace = await buildWorkspace(platform)
  const link = await buildLink(platform, workspace)
  const ctx = contextIn(platform, workspace.id)
  const [linkNumber] = await linkNumbers(ctx, { ids: [link.id] })
  const owner = { workspaceId: workspace.id, linkNumber: linkNumber as bigint }
  await storeEvents(platform, { clicks: urls.map((url) => clickRow(owner, { url, referer_url: url, timestamp: at })) })
  return ctx
}

/** Records the statements of a client: their settings, and how many read event rows only at the same time. */
function observe(clickhouse: ClickHouse) {
  const asked: { text: string; settings?: object }[] = []
  const scans = { running: 0, most: 0, count: 0 }
  const isScan = (text: string) => !/_counts|_days|_months/.test(text)
  const observed: ClickHouse = Object.assign(Object.create(clickhouse), {
    query: (parameters: { query: string; clickhouse_settings?: object }) => {
      asked.push({ text: parameters.query, settings: parameters.clickhouse_settings })
      if (isScan(parameters.query)) {
        scans.count += 1
        scans.most = Math.max(scans.most, ++scans.running)
      }
      return clickhouse.query(parameters as never)
    },
    onStatement: ({ text }: { text: string }) => {
      if (isScan(text)) scans.running -= 1
    },
  })
  return { observed, asked, scans }
}

test('the texts of a response end at 16 MB, which the lists of a batch share', async () => {
  const long = (index: number) => `https://example.com/${'x'.repeat(31_900)}${index}`
  const ctx = await buildClicked(Array.from({ length: 260 }, (_, index) => long(index)))
  expect(await countEvents(ctx, { ...query, groupBy: 'top_base_urls' })).toHaveLength(260)
  const both = await countGroupings(ctx, query, { groupings: ['top_urls', 'referer_urls'], limit: 1_000, limits: {} })
  expect([both.top_urls?.length, both.referer_urls?.length]).toEqual([250, 250])
})

test('a batch reads event rows twice, one after the other: for itself, and for attributes of links', async () => {
  const ctx = await buildClicked(['https://example.com'])
  const { observed, scans } = observe(platform.clickhouse)
  const filters = { country: '-FR', device: '-Mobile' }
  const options = { groupings: groupings.filter((name) => name !== 'timeseries') as Grouping[], limit: 10, limits }
  const { count } = await countGroupings({ ...ctx, clickhouse: observed }, { ...query, ...filters }, options)
  expect(count).toMatchObject({ clicks: 1 })
  expect(scans).toEqual({ running: 0, most: 1, count: 2 })
})

test('every statement of a batch has the limits of queries', async () => {
  const ctx = await buildClicked(['https://example.com'], Date.now() - 40 * 86_400_000)
  const { observed, asked } = observe(platform.clickhouse)
  await countGroupings({ ...ctx, clickhouse: observed }, query, { groupings: [...groupings], limit: 10, limits })
  expect(asked.length).toBeGreaterThan(4)
  expect(asked.filter(({ settings }) => JSON.stringify(settings) !== JSON.stringify(limits))).toEqual([])
})
