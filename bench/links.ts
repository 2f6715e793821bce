import { retrieveLinkStats } from '@tributary/contract/analytics'
import { createClient } from '@tributary/contract/client'
import { countLinks, groupLinks, listLinks } from '@tributary/contract/links'
import { sql } from 'kysely'
import { buildWorkspace } from '../server/test/build.ts'
import { startServer } from '../server/test/server-process.ts'
import { readArguments, report } from './figures.ts'
import { openBench } from './stack.ts'
import { failWhenMissed, type Target } from './table.ts'

/** Measures GET /links over HTTP in a workspace with a million links, and the bare SQL statement for one page. */
const [total = 1_000_000] = readArguments().map(Number)
const rounds = 40
const warmUp = 20

await using bench = await openBench()
const { platform } = bench
const server = await startServer({ ...bench.environment, ROLES: 'api' })
const workspace = await buildWorkspace(platform)
console.error(`Making ${total} links …`)
await fill()
const call = createClient({ url: server.api, token: workspace.key })
const newest = await call(listLinks, { query: { pageSize: 1 } })

const queries: [string, Record<string, string | number>][] = [
  ['newest 100', {}],
  ['page 50', { page: 50 }],
  ['page 1,000', { page: 1_000 }],
  ['after a cursor', { startingAfter: newest[0]?.id ?? '' }],
  ['most clicked 100', { sortBy: 'clicks' }],
  ['last clicked, page 20', { sortBy: 'lastClicked', page: 20 }],
  ['search, one match', { search: 'page-777777' }],
  ['search, thousands match', { search: 'page-77' }],
  ['search, all match', { search: 'example.com' }],
  ['search, none match', { search: 'zebra-crossing' }],
  ['one tenant', { tenantId: 'tenant-77' }],
  ['domain', { domain: workspace.domain }],
]

const rows: (string | number)[][] = []
const targets: Target[] = []
const mostMs = 25
// Offsets this far are for programs, which have a cursor.
const withoutTarget = ['bare statement, newest 100', 'page 1,000']
await measure('bare statement, newest 100', () => bareStatement())
for (const [name, query] of queries) await measure(name, () => call(listLinks, { query }))
await measure('count', () => call(countLinks))
await measure('count of a domain', () => call(countLinks, { query: { domain: workspace.domain } }))
await measure('count by domain', () => call(groupLinks, { query: { groupBy: 'domain' } }))
await measure('count with a search, one match', () => call(countLinks, { query: { search: 'page-777777' } }))
const linkIds = (await call(listLinks, { query: { pageSize: 100 } })).map(({ id }) => id).join(',')
await measure('stats of 100 links, 30 days', () =>
  call(retrieveLinkStats, { query: { linkIds, interval: '30d', series: 'true' } }),
)
report('links', { title: `GET /links, ${total} links in the workspace`, columns: ['p50 ms', 'p95 ms'], rows })
await server.stop()
failWhenMissed(targets)

async function measure(name: string, work: () => Promise<unknown>): Promise<void> {
  const times: number[] = []
  for (let round = 0; round < warmUp; round++) await work()
  for (let round = 0; round < rounds; round++) {
    const started = performance.now()
    await work()
    times.push(performance.now() - started)
  }
  times.sort((a, b) => a - b)
  const at = (share: number) => (times[Math.floor(times.length * share)] ?? 0).toFixed(1)
  rows.push([name, at(0.5), at(0.95)])
  if (!withoutTarget.includes(name)) targets.push({ name: `${name}, p95 ms`, figure: Number(at(0.95)), atMost: mostMs })
  console.error(`${name}: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms`)
}

function bareStatement() {
  return sql`SELECT * FROM links WHERE workspace_id = ${workspace.id} AND deleted_at IS NULL ORDER BY number DESC LIMIT 100`.execute(
    platform.db,
  )
}

async function fill(): Promise<void> {
  const step = 50_000
  for (let first = 1; first <= total; first += step) {
    const last = Math.min(first + step - 1, total)
    await sql`
      WITH made AS (
        INSERT INTO links (id, workspace_id, domain, key, lookup_key, url, tenant_id)
        SELECT 'link_' || gen_random_uuid(), ${workspace.id}, ${workspace.domain}, 'k' || n, 'k' || n,
          'https://example.com/page-' || (n::bigint * 7919) % 1000003 || '?utm_source=s' || n % 100, 'tenant-' || n % 5000
        FROM generate_series(${first}::int, ${last}::int) n
        RETURNING number, workspace_id
      )
      INSERT INTO link_counters (link_number, workspace_id, clicks, last_clicked)
      SELECT number, workspace_id, (number * 7919) % 100000, now() - (number % 86400) * interval '1 second' FROM made`.execute(
      platform.db,
    )
    console.error(`  ${last} of ${total}`)
  }
  await platform.clickhouse.command({
    query: `INSERT INTO link_counts (workspace_id, link_number, bucket, clicks, leads, sales, sale_amount)
SELECT {workspaceId:String}, {last:UInt64} - number % 2000, toStartOfHour(now()) - toIntervalHour(intDiv(number, 2000)), 5, 1, 1, 900
FROM numbers(2000 * 24 * 30)`,
    query_params: { workspaceId: workspace.id, last: String(await lastNumber()) },
  })
  await sql`VACUUM ANALYZE links`.execute(platform.db)
  await sql`VACUUM ANALYZE link_counters`.execute(platform.db)
}

async function lastNumber(): Promise<bigint> {
  const result = await sql<{ last: bigint }>`SELECT max(number) AS last FROM links`.execute(platform.db)
  return result.rows[0]?.last ?? 0n
}
