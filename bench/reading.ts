import type { Grouping } from '@tributary/contract/analytics'
import { query } from '../server/src/platform/clickhouse.ts'
import { startServer } from '../server/test/server-process.ts'
import { openBenchFolder } from './data/folder.ts'
import { readArguments, report } from './figures.ts'

/** `npm run bench:reading -- <folder> [rounds]`: API queries on the data of `bench:data`, each beside its bare SQL. */
const [folder, roundsText = '40'] = readArguments()
if (folder === undefined) throw new Error('Give the data folder: npm run bench:reading -- <folder> [rounds]')
const rounds = Number(roundsText)
const dayMs = 86_400_000

await using bench = await openBenchFolder(folder)
if (!bench.made) throw new Error(`${folder} has no data. Generate it: npm run bench:data -- ${folder}`)
const { made } = bench
const { clickhouse } = bench.platform
const server = await startServer({ ...bench.environment, ROLES: 'api' })

const fields = `base64URLEncode(id) AS id_text, timestamp, link_number, url, trigger, toString(ip) AS ip, country, region, city,
  continent, device, browser, os, referer, referer_url, utm_source, utm_medium, utm_campaign, utm_term, utm_content`
const within = `workspace_id = {workspaceId:String} AND timestamp >= fromUnixTimestamp64Milli({from:Int64})
  AND timestamp < fromUnixTimestamp64Milli({to:Int64}) AND bot = ''`
const latest = (more = '', offset = 0) => `SELECT ${fields} FROM click_events WHERE ${within} ${more}
  ORDER BY timestamp DESC, id DESC LIMIT 100 OFFSET ${offset}`
const ofBuckets = (what: string, from: string, rest = '') => `SELECT ${what} FROM ${from}
  WHERE workspace_id = {workspaceId:String} AND bucket >= fromUnixTimestamp64Milli({from:Int64})
    AND bucket < fromUnixTimestamp64Milli({to:Int64}) ${rest}`
const sums = 'sum(clicks), sum(leads), sum(sales), sum(sale_amount)'
const byMonth = (rest: string) => `toStartOfMonth(bucket) AS month, ${sums}${rest}`

type BenchQuery = {
  name: string
  path: string
  days: number
  bare: string
  /** Whole days until now, as a screen asks for; otherwise both ends of the period are within a second. */
  wholeDays?: boolean
  /** Maximum p95 in milliseconds, computed from the p95 of the bare statement. */
  allowed?: (bareMs: number) => number
  /** Maximum p50 in milliseconds. */
  allowedMedian?: number
  query?: Record<string, string>
  body?: object
}
const groupingMs = 150
const bareByDimension = (dimension: string) =>
  ofBuckets(`value, ${sums}`, 'dimension_counts', `AND dimension = '${dimension}' GROUP BY value`)
const bareByLink = ofBuckets(`link_number, ${sums}`, 'link_days', 'GROUP BY link_number')
const dimensions: Partial<Record<Grouping, string>> = {
  ...{ continents: 'continent', countries: 'country', regions: 'region', cities: 'city', devices: 'device' },
  ...{ browsers: 'browser', os: 'os', triggers: 'trigger', referers: 'referer', referer_urls: 'referer_url' },
  ...{ top_urls: 'url', top_base_urls: 'base_url', utm_sources: 'utm_source', utm_mediums: 'utm_medium' },
  ...{ utm_campaigns: 'utm_campaign', utm_terms: 'utm_term', utm_contents: 'utm_content' },
}
const ofLinks: Grouping[] = ['top_links', 'top_domains', 'top_folders', 'top_link_tags', 'top_partners']
const screen: Grouping[] = [
  ...(['count', 'timeseries', 'top_links', 'top_urls', 'countries', 'cities'] as const),
  ...(['devices', 'browsers', 'os', 'referers', 'utm_sources', 'utm_campaigns'] as const),
]
const yearBy = (groupBy: Grouping): Pick<BenchQuery, 'path' | 'days' | 'query' | 'wholeDays'> => ({
  ...{ path: 'analytics', days: 365, query: { event: 'composite', groupBy }, wholeDays: true },
})
const toTheSecond = (groupBy: Grouping, bare: string): BenchQuery => ({
  ...{ ...yearBy(groupBy), name: `${groupBy} of a year, to the second`, wholeDays: false, bare },
})
const queries: BenchQuery[] = [
  { name: 'latest 100 of 30 days', path: 'events', days: 30, bare: latest(), allowed: (bareMs) => 1.15 * bareMs + 10 },
  {
    name: 'latest 100 of a link few opened, all time',
    ...{ path: 'events', days: 395, query: { linkId: made.links.cold.id }, allowed: () => 250 },
    bare: latest(`AND link_number = ${made.links.cold.number}`),
  },
  {
    name: 'latest 100 of a link many opened, all time',
    ...{ path: 'events', days: 395, query: { linkId: made.links.hot.id }, allowed: () => 250 },
    bare: latest(`AND link_number = ${made.links.hot.number}`),
  },
  {
    name: 'page 1,000',
    path: 'events',
    days: 395,
    query: { page: '1000' },
    bare: latest('', 99_900),
    allowed: () => 300,
  },
  {
    name: 'count of a year',
    ...{ ...yearBy('count'), allowed: (bareMs: number) => 1.5 * bareMs + 10 },
    bare: ofBuckets(sums, 'workspace_counts'),
  },
  {
    name: 'series of a year',
    ...{ ...yearBy('timeseries'), allowed: (bareMs: number) => 1.5 * bareMs + 10 },
    bare: ofBuckets(byMonth(''), 'workspace_counts', 'GROUP BY month'),
  },
  {
    name: 'series of a year of a link many opened',
    ...{ ...yearBy('timeseries'), allowed: () => groupingMs },
    query: { event: 'composite', groupBy: 'timeseries', linkId: made.links.hot.id },
    bare: ofBuckets(byMonth(''), 'link_days', `AND link_number = ${made.links.hot.number} GROUP BY month`),
  },
  ...Object.entries(dimensions).map(([groupBy, dimension]) => ({
    name: `${groupBy} of a year`,
    ...{ ...yearBy(groupBy as Grouping), bare: bareByDimension(dimension), allowed: () => groupingMs },
  })),
  ...ofLinks.map((groupBy) => ({
    name: `${groupBy} of a year`,
    ...{ ...yearBy(groupBy), bare: bareByLink, allowed: () => groupingMs },
  })),
  {
    name: 'batch of 12 groupings of a year',
    ...{ path: 'analytics/batch', days: 365, body: { event: 'composite', groupBy: screen }, wholeDays: true },
    ...{ allowed: () => 400, allowedMedian: 200 },
    bare: ofBuckets(
      `dimension, value, ${sums}`,
      'dimension_counts',
      `AND dimension IN (${screen.flatMap((groupBy) => dimensions[groupBy] ?? []).map((name) => `'${name}'`)}) GROUP BY dimension, value`,
    ),
  },
  toTheSecond('count', ofBuckets(sums, 'workspace_counts')),
  toTheSecond('countries', bareByDimension('country')),
  toTheSecond('top_domains', bareByLink),
  {
    name: 'batch of 12 groupings of 30 days of a country, from rows',
    ...{ path: 'analytics/batch', days: 30, body: { event: 'composite', groupBy: screen, country: 'DE' } },
    bare: `SELECT browser, count() FROM click_events WHERE ${within} AND country = 'DE' GROUP BY browser`,
  },
]

const rows: (string | number)[][] = []
for (const query of queries) {
  const row = await measure(query)
  console.error(row.join(' | '))
  rows.push(row)
}
const columns = ['bare p50 ms', 'bare p95 ms', 'HTTP p50 ms', 'HTTP p95 ms', 'p95 allowed']
report('reading', { title: `${made.clicks} clicks`, columns, rows })
await server.stop()

/** Alternates API and bare queries, so that both see the same load; end times differ, so that no response is cached. */
async function measure({
  name,
  path,
  days,
  bare,
  query: more = {},
  body,
  wholeDays,
  allowed,
  allowedMedian,
}: BenchQuery): Promise<(string | number)[]> {
  const times = { bare: [] as number[], http: [] as number[] }
  for (let round = -3; round < rounds; round++) {
    const to = made.until - (round + 3) * 1_000
    const from = to - days * dayMs
    const bareMs = await timed(() => query(clickhouse, bare, { workspaceId: made.workspaceId, from, to }))
    const ends = wholeDays ? [from - (from % dayMs), Date.now() + dayMs + round] : [from, to]
    const [start = '', end = ''] = ends.map((at) => new Date(at).toISOString())
    const period = { start, end }
    const httpMs = await timed(() => ask(path, { ...period, ...more }, body && { ...period, ...body }))
    if (round < 0) continue
    times.bare.push(bareMs)
    times.http.push(httpMs)
  }
  const [bareMs, httpMs] = [at(times.bare, 0.95), at(times.http, 0.95)]
  const mostMs = allowed?.(bareMs)
  if (mostMs !== undefined && httpMs > mostMs) process.exitCode = 1
  if (allowedMedian !== undefined && at(times.http, 0.5) > allowedMedian) process.exitCode = 1
  return [name, at(times.bare, 0.5), bareMs, at(times.http, 0.5), httpMs, mostMs ?? ''].map((cell) =>
    typeof cell === 'number' ? cell.toFixed(1) : cell,
  )
}

async function ask(path: string, query: Record<string, string>, body?: object): Promise<void> {
  const headers = { authorization: `Bearer ${made.key}`, 'content-type': 'application/json' }
  const response = body
    ? await fetch(`${server.api}/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    : await fetch(`${server.api}/${path}?${new URLSearchParams(query)}`, { headers })
  const text = await response.text()
  if (response.status !== 200) throw new Error(`${path} returned ${response.status}: ${text}`)
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

function at(times: number[], share: number): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * share)] ?? 0
}
