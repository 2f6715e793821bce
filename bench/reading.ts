import { query } from '../server/src/platform/clickhouse.ts'
import { startServer } from '../server/test/server-process.ts'
import { openBenchFolder } from './data/folder.ts'
import { table } from './table.ts'

/** `npm run bench:reading -- <folder> [rounds]`: API queries on the data of `bench:data`, each beside its bare SQL. */
const [folder, roundsText = '40'] = process.argv.slice(2)
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
  /** Maximum p95 in milliseconds, computed from the p95 of the bare statement. */
  allowed?: (bareMs: number) => number
  query?: Record<string, string>
}
const queries: BenchQuery[] = [
  { name: 'latest 100 of 30 days', path: 'events', days: 30, bare: latest(), allowed: (bareMs) => 1.25 * bareMs + 15 },
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
    ...{ path: 'analytics', days: 365, query: { event: 'composite' }, allowed: () => 100 },
    bare: ofBuckets(sums, 'workspace_counts'),
  },
  {
    name: 'series of a year',
    ...{ path: 'analytics', days: 365, query: { event: 'composite', groupBy: 'timeseries' }, allowed: () => 100 },
    bare: ofBuckets(byMonth(''), 'workspace_counts', 'GROUP BY month'),
  },
  {
    name: 'series of a year of a link many opened',
    ...{ path: 'analytics', days: 365 },
    query: { event: 'composite', groupBy: 'timeseries', linkId: made.links.hot.id },
    bare: ofBuckets(byMonth(''), 'link_counts', `AND link_number = ${made.links.hot.number} GROUP BY month`),
  },
  {
    name: 'countries of a year',
    ...{ path: 'analytics', days: 365, query: { event: 'composite', groupBy: 'countries' } },
    bare: ofBuckets(`value, ${sums}`, 'dimension_counts', "AND dimension = 'country' GROUP BY value"),
  },
  {
    name: 'top links of a year',
    ...{ path: 'analytics', days: 365, query: { event: 'composite', groupBy: 'top_links' } },
    bare: ofBuckets(`link_number, ${sums}`, 'link_counts', 'GROUP BY link_number'),
  },
  {
    name: 'destinations of 30 days, from rows',
    ...{ path: 'analytics', days: 30, query: { groupBy: 'top_urls' } },
    bare: `SELECT url, count() FROM click_events WHERE ${within} GROUP BY url ORDER BY count() DESC LIMIT 5000`,
  },
]

const rows: (string | number)[][] = []
for (const query of queries) rows.push(await measure(query))
console.log(table(`${made.clicks} clicks`, ['bare p50 ms', 'p95', 'HTTP p50 ms', 'p95', 'p95 allowed'], rows))
await server.stop()

/** Alternates API and bare queries, so that both see the same load; end times differ, so that no response is cached. */
async function measure({
  name,
  path,
  days,
  bare,
  query: more = {},
  allowed,
}: BenchQuery): Promise<(string | number)[]> {
  const times = { bare: [] as number[], http: [] as number[] }
  for (let round = -3; round < rounds; round++) {
    const to = made.until - (round + 3) * 1_000
    const from = to - days * dayMs
    const bareMs = await timed(() => query(clickhouse, bare, { workspaceId: made.workspaceId, from, to }))
    const period = { start: new Date(from).toISOString(), end: new Date(to).toISOString() }
    const httpMs = await timed(() => ask(path, { ...period, ...more }))
    if (round < 0) continue
    times.bare.push(bareMs)
    times.http.push(httpMs)
  }
  const [bareMs, httpMs] = [at(times.bare, 0.95), at(times.http, 0.95)]
  const mostMs = allowed?.(bareMs)
  if (mostMs !== undefined && httpMs > mostMs) process.exitCode = 1
  return [name, at(times.bare, 0.5), bareMs, at(times.http, 0.5), httpMs, mostMs ?? ''].map((cell) =>
    typeof cell === 'number' ? cell.toFixed(1) : cell,
  )
}

async function ask(path: string, query: Record<string, string>): Promise<void> {
  const response = await fetch(`${server.api}/${path}?${new URLSearchParams(query)}`, {
    headers: { authorization: `Bearer ${made.key}` },
  })
  const body = await response.text()
  if (response.status !== 200) throw new Error(`${path} returned ${response.status}: ${body}`)
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

function at(times: number[], share: number): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * share)] ?? 0
}
