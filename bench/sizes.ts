import { randomUUID } from 'node:crypto'
import { Agent, request } from 'node:http'
import { jetstreamManager } from '@nats-io/jetstream'
import { sql } from 'kysely'
import { query } from '../server/src/platform/clickhouse.ts'
import { sleep } from '../server/src/platform/clock.ts'
import { eventStream } from '../server/src/platform/nats.ts'
import { type BuiltWorkspace, buildLink, buildWorkspace } from '../server/test/build.ts'
import { startServer } from '../server/test/server-process.ts'
import { someClicks } from './clicks.ts'
import { readArguments, report } from './figures.ts'
import { runPosts } from './run-posts.ts'
import { openBench } from './stack.ts'

/**
 * `npm run bench:sizes [-- links [clicks]]`: the bytes that a link takes in PostgreSQL and ClickHouse, a click in the event log
 * and in Valkey, and a conversion in PostgreSQL. Those of stored clicks are in `bench:data`. Other load on the machine does not change them.
 */
const [links = 200_000, clicks = 20_000] = readArguments().map(Number)
const connections = 64
const linksAtOnce = 5_000
const customers = 2_000
const agents = [
  'Windows NT 10.0; Win64; x64',
  'Macintosh; Intel Mac OS X 10_15_7',
  'iPhone; CPU iPhone OS 18_5 like Mac OS X',
]
const referrers = ['', 'https://www.example.org/', 'https://news.example.net/today?page=2', 'https://t.co/abc']

await using bench = await openBench({ TRUSTED_PROXIES: '127.0.0.1/32', ENTERPRISE_REQUESTS_PER_MINUTE: '10000000' })
const { platform, environment } = bench
const workspace = await buildWorkspace(platform)

const rows = [
  ['link in PostgreSQL, rows and indexes', await measureLinks(workspace)],
  ['link in ClickHouse, for filters', await measureAttributes(workspace)],
  ...(await measureClicks(workspace)),
  ['lead or sale in PostgreSQL, with its customer', await measureConversions(workspace)],
]
report('sizes', { title: `${links} links, ${clicks} clicks`, columns: ['bytes'], rows })

async function measureLinks({ id, domain }: BuiltWorkspace): Promise<number> {
  const before = await databaseBytes()
  for (let first = 1; first <= links; first += linksAtOnce)
    await sql`
      WITH made AS (
        INSERT INTO links (id, workspace_id, domain, key, lookup_key, url)
        SELECT 'link_' || gen_random_uuid(), ${id}, ${domain}, key, key,
          'https://www.example.com/shop/autumn/page-' || n || '?utm_source=mail&utm_campaign=autumn'
        FROM (
          SELECT n, substr(md5(n::text), 1, 8) AS key
          FROM generate_series(${first}::int, ${Math.min(first + linksAtOnce - 1, links)}::int) n
        ) AS keys
        ON CONFLICT DO NOTHING
        RETURNING number, workspace_id
      )
      INSERT INTO link_counters (link_number, workspace_id, clicks, last_clicked)
      SELECT number, workspace_id, number % 1000, now() - (number % 86400) * interval '1 second' FROM made`.execute(
      platform.db,
    )
  await sql`VACUUM ANALYZE links`.execute(platform.db)
  await sql`VACUUM ANALYZE link_counters`.execute(platform.db)
  return Math.round(((await databaseBytes()) - before) / links)
}

/** Without the outbox, whose messages are deleted soon. */
async function databaseBytes(): Promise<number> {
  const found = await sql<{ bytes: bigint }>`
    SELECT pg_database_size(current_database()) - pg_total_relation_size('outbox') AS bytes`.execute(platform.db)
  return Number(found.rows[0]?.bytes)
}

async function measureAttributes({ id, domain }: BuiltWorkspace): Promise<number> {
  await platform.clickhouse.command({
    query: `INSERT INTO link_attributes (workspace_id, link_number, domain, link_id, key, version)
SELECT {id:String}, number, {domain:String}, concat('link_', toString(generateUUIDv4())), substring(hex(MD5(toString(number))), 1, 8), 1
FROM numbers({links:UInt64})`,
    query_params: { id, domain, links },
  })
  await platform.clickhouse.command({ query: 'OPTIMIZE TABLE link_attributes FINAL' })
  const [found] = await query<{ bytes: string }>(
    platform.clickhouse,
    `SELECT toString(sum(bytes_on_disk)) AS bytes FROM system.parts
WHERE active AND database = currentDatabase() AND table = 'link_attributes'`,
    {},
  )
  return Math.round(Number(found?.bytes) / links)
}

/** Visits links over HTTP with the headers of browsers, each visit from another address, and reads what the engines stored. */
async function measureClicks(workspace: BuiltWorkspace): Promise<[string, number][]> {
  const url = 'https://www.example.com/shop/autumn?utm_source=mail&utm_campaign=autumn'
  const built = await Promise.all(
    Array.from({ length: 100 }, (_, n) => buildLink(platform, workspace, { key: `bench-${n}`, url })),
  )
  const [redirect, worker] = await Promise.all([
    startServer({ ...environment, ROLES: 'redirect' }),
    startServer({ ...environment, ROLES: 'worker' }),
  ])
  try {
    const before = await valkeyBytes()
    const agent = new Agent({ keepAlive: true, maxSockets: connections })
    let next = 0
    const visitAll = async () => {
      for (let n = next++; n < clicks; n = next++)
        await visit(`${redirect.redirect}/${built[n % built.length]?.key}`, agent, workspace.domain, n)
    }
    await Promise.all(Array.from({ length: connections }, visitAll))
    agent.destroy()
    await untilStored()
    const manager = await jetstreamManager(platform.nats)
    const { state } = await manager.streams.info(eventStream(0))
    return [
      ['click in the event log', Math.round(state.bytes / clicks)],
      ['visit in Valkey', Math.round(((await valkeyBytes()) - before) / clicks)],
    ]
  } finally {
    await Promise.all([redirect.stop(), worker.stop()])
  }
}

function visit(url: string, agent: Agent, host: string, n: number): Promise<void> {
  const headers = {
    host,
    'user-agent': `Mozilla/5.0 (${agents[n % 3]}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${60 + (n % 90)}.0.0.0 Safari/537.36`,
    'x-forwarded-for': `${1 + (n % 220)}.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`,
    'x-forwarded-proto': 'https',
    referer: referrers[n % referrers.length],
  }
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, headers }, (response) => {
      response.resume().once('end', () => {
        if (response.statusCode === 302) resolve()
        else reject(new Error(`${url} returned ${response.statusCode}`))
      })
    })
    sent.once('error', reject).end()
  })
}

/** Tracks a lead and a sale for each of many customers. */
async function measureConversions(workspace: BuiltWorkspace): Promise<number> {
  const link = await buildLink(platform, workspace, { key: 'conversions', trackConversion: true })
  const found = await sql<{ number: bigint }>`SELECT number FROM links WHERE id = ${link.id}`.execute(platform.db)
  const clicked = { number: found.rows[0]?.number ?? 0n, workspaceId: workspace.id, url: link.url }
  const server = await startServer({ ...environment, ROLES: 'api' })
  try {
    const before = await databaseBytes()
    const headers = { Authorization: `Bearer ${workspace.key}` }
    const post = (path: string, bodies: object[]) =>
      runPosts({ url: server.api + path, headers, bodies: bodies.map((body) => JSON.stringify(body)), connections: 16 })
    const customer = (n: number) => `customer-${n}`
    const leads = someClicks(platform, [clicked], customers).map(({ id }, n) => ({
      clickId: id,
      eventName: 'Sign up',
      customerExternalId: customer(n),
      customerName: 'Ada Lovelace',
      customerEmail: `${customer(n)}@example.com`,
    }))
    await post('/track/lead', leads)
    const sales = leads.map(({ customerExternalId }) => ({ customerExternalId, amount: 4900, invoiceId: randomUUID() }))
    await post('/track/sale', sales)
    return Math.round(((await databaseBytes()) - before) / (2 * customers))
  } finally {
    await server.stop()
  }
}

async function untilStored(): Promise<void> {
  for (let tries = 0; tries < 600; tries++, await sleep(100)) {
    const [row] = await query<{ rows: string }>(platform.clickhouse, 'SELECT count() AS rows FROM click_events', {})
    if (Number(row?.rows) === clicks) return
  }
  throw new Error(`not all of ${clicks} clicks were stored within a minute`)
}

async function valkeyBytes(): Promise<number> {
  return Number(/^used_memory:(\d+)/m.exec(await platform.valkey.info('memory'))?.[1])
}
