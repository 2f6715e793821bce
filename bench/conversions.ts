import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createClient } from '@tributary/contract/client'
import { listCustomers } from '@tributary/contract/customers'
import { listLinks } from '@tributary/contract/links'
import { sql } from 'kysely'
import type { RawClick } from '../server/src/features/redirect/messages.ts'
import { clicksSubject } from '../server/src/features/redirect/messages.ts'
import { chunks } from '../server/src/platform/batches.ts'
import { query } from '../server/src/platform/clickhouse.ts'
import { sleep } from '../server/src/platform/clock.ts'
import { hashPartition } from '../server/src/platform/ids.ts'
import { ensureStreams, openPublisher } from '../server/src/platform/nats.ts'
import { buildLink, buildWorkspace } from '../server/test/build.ts'
import { startServer } from '../server/test/server-process.ts'
import { type Figures, openBare } from './bare-conversions.ts'
import { someClicks } from './clicks.ts'
import { readCpuMs } from './cpu.ts'
import { readArguments, report } from './figures.ts'
import { runPosts } from './run-posts.ts'
import { openBench } from './stack.ts'
import { failWhenMissed, middle } from './table.ts'

/**
 * Measures leads, sales and new customers over HTTP, beside bare statements that do the same writes, and checks that
 * counters, totals, messages and ClickHouse rows are exact afterwards. `node bench/conversions.ts [requests] [rounds]`;
 * BESIDE_WORKER=1 keeps the worker running during the load.
 */
const [requests = 3_000, rounds = 3] = readArguments().map(Number)
const connections = 16
const linkCount = 40

await using bench = await openBench({ ENTERPRISE_REQUESTS_PER_MINUTE: '10000000' })
const { platform, environment } = bench
const { db } = platform
await ensureStreams(platform.nats, platform.config)
const workspace = await buildWorkspace(platform)
for (let n = 0; n < linkCount; n++) await buildLink(platform, workspace, { key: `bench-${n}`, trackConversion: true })
const numbers = await sql<{ number: bigint }>`
  SELECT number FROM links WHERE workspace_id = ${workspace.id} ORDER BY number`.execute(db)
const links = numbers.rows.map(({ number }) => ({
  number,
  workspaceId: workspace.id,
  url: 'https://example.com/landing',
}))
const clicks = someClicks(platform, links, requests * rounds + 1)
const expected = { leads: 0, sales: 0, amount: 0, customers: 0, hotSales: 0, hotAmount: 0 }

let worker = await startServer({ ...environment, ROLES: 'worker' })
await storeClicks(clicks)
if (!process.env.BESIDE_WORKER) await worker.stop()
const server = await startServer({ ...environment, ROLES: 'api' })
const call = createClient({ url: server.api, token: workspace.key })
await using bare = await openBare(bench.engines.urls.POSTGRES_URL, workspace.id, connections)

const hot = 'hot-customer'
await post('/track/lead', [lead(hot, clicks.at(-1) as RawClick)])
expected.leads += 1
expected.customers += 1

const operations = {
  'POST /track/lead': {
    ours: (round: number) => {
      const mine = clicks.slice(round * requests, (round + 1) * requests)
      expected.leads += mine.length
      expected.customers += mine.length
      return post(
        '/track/lead',
        mine.map((click, n) => lead(`customer-${round}-${n}`, click)),
      )
    },
    bare: () => bare.run('lead', requests, []),
  },
  'POST /track/sale, one customer': {
    ours: () => {
      expected.hotSales += requests
      expected.hotAmount += sumAmounts()
      return post(
        '/track/sale',
        range((n) => sale(hot, n)),
      )
    },
    bare: async () => bare.run('sale', requests, await bare.addCustomers(1)),
  },
  'POST /track/sale, 40 links': {
    ours: (round: number) =>
      post(
        '/track/sale',
        range((n) => sale(`customer-${round}-${n % 1_000}`, n)),
      ),
    bare: async () => bare.run('sale', requests, await bare.addCustomers(1_000)),
  },
  'POST /customers': {
    ours: () => {
      expected.customers += requests
      return post(
        '/customers',
        range(() => ({ externalId: randomUUID(), name: 'Ada Lovelace', email: 'ada@example.com' })),
      )
    },
    bare: () => bare.run('customer', requests, []),
  },
}
type Name = keyof typeof operations
const names = Object.keys(operations) as Name[]
type Measured = Figures & { apiMs: number; postgresMs: number }
const measured = new Map(names.map((name) => [name, { ours: [] as Measured[], bare: [] as Measured[] }]))

// The first requests of a process are slow, so they are not measured; they are counted.
await post(
  '/track/sale',
  Array.from({ length: 500 }, (_, n) => sale(hot, n)),
)
expected.hotSales += 500
expected.hotAmount += sumAmounts(500)
for (let round = 0; round < rounds; round++) {
  for (const name of names) {
    const bareFigures = await withCpu(() => operations[name].bare())
    const ours = await withCpu(() => operations[name].ours(round))
    measured.get(name)?.bare.push(bareFigures)
    measured.get(name)?.ours.push(ours)
    console.error(
      `round ${round + 1}: ${name} ${Math.round(ours.perSecond)}/s, bare ${Math.round(bareFigures.perSecond)}/s`,
    )
  }
}
expected.sales = expected.hotSales + rounds * requests
expected.amount = expected.hotAmount + rounds * sumAmounts()

const rows = names.flatMap((name) => {
  const { ours = [], bare = [] } = measured.get(name) ?? {}
  const ratio = middle(ours.map(({ perSecond }, n) => perSecond / (bare[n]?.perSecond ?? 1)))
  return [
    [name, ...formatFigures(ours), ratio.toFixed(2)],
    ['bare statement', ...formatFigures(bare), '1.00'],
  ]
})
const columns = ['per second', 'p50 ms', 'p99 ms', 'CPU ms of the API', 'CPU ms of PostgreSQL', '× bare']
report('conversions', { title: `${connections} connections`, columns, rows })
const problems = await findProblems()
for (const problem of problems) console.error(`WRONG ${problem}`)
await server.stop()
const rate = (name: Name) => middle((measured.get(name)?.ours ?? []).map(({ perSecond }) => perSecond))
failWhenMissed([
  { name: 'sales of one customer per second', figure: rate('POST /track/sale, one customer'), atLeast: 600 },
  { name: 'sales over 40 links per second', figure: rate('POST /track/sale, 40 links'), atLeast: 600 },
  { name: 'differences', figure: problems.length, atMost: 0 },
])

function lead(customerExternalId: string, click: RawClick) {
  return { clickId: click.id, eventName: 'Sign up', customerExternalId, customerName: 'Ada Lovelace' }
}

function sale(customerExternalId: string, n: number) {
  return { customerExternalId, amount: amountAt(n), invoiceId: randomUUID(), metadata: { plan: 'pro' } }
}

function amountAt(n: number): number {
  return 100 + (n % 97)
}

function sumAmounts(count = requests): number {
  return Array.from({ length: count }, (_, n) => amountAt(n)).reduce((sum, amount) => sum + amount, 0)
}

function range<T>(make: (n: number) => T): T[] {
  return Array.from({ length: requests }, (_, n) => make(n))
}

function formatFigures(list: Measured[]): (string | number)[] {
  const figure = (name: keyof Measured) => middle(list.map((figures) => figures[name]))
  const [p50 = '', p99 = ''] = (['p50', 'p99'] as const).map((name) => figure(name).toFixed(1))
  return [Math.round(figure('perSecond')), p50, p99, figure('apiMs').toFixed(2), figure('postgresMs').toFixed(2)]
}

async function withCpu(work: () => Promise<Figures>): Promise<Measured> {
  const pids = [server.pid, bench.engines.processes.postgres?.pid ?? 0]
  const before = pids.map(readCpuMs)
  const figures = await work()
  const [apiMs = 0, postgresMs = 0] = pids.map((pid, n) => (readCpuMs(pid) - (before[n] ?? 0)) / requests)
  return { ...figures, apiMs, postgresMs }
}

function post(path: string, bodies: object[]): Promise<Figures> {
  const texts = bodies.map((body) => JSON.stringify(body))
  const headers = { Authorization: `Bearer ${workspace.key}` }
  return runPosts({ url: server.api + path, headers, bodies: texts, connections })
}

async function storeClicks(list: RawClick[]): Promise<void> {
  const partition = hashPartition(workspace.id, platform.config.EVENT_PARTITIONS)
  using publisher = openPublisher(platform.nats, 30_000)
  for (const body of chunks(list, 100))
    await publisher.publish({ subject: clicksSubject(partition), id: randomUUID(), body: JSON.stringify(body) })
  const countRows = async () =>
    Number(
      (await query<{ rows: string }>(platform.clickhouse, 'SELECT count() AS rows FROM click_events', {}))[0]?.rows,
    )
  while ((await countRows()) < list.length) await sleep(200)
}

/** Waits until the worker has published and exported everything, then compares all places that state a count. */
async function findProblems(): Promise<string[]> {
  if (!process.env.BESIDE_WORKER) worker = await startServer({ ...environment, ROLES: 'worker' })
  const waiting = async () => {
    const found = await sql<{ count: bigint }>`SELECT (SELECT count(*) FROM outbox)
      + (SELECT count(*) FROM conversions WHERE stored_at IS NULL) AS count`.execute(db)
    return Number(found.rows[0]?.count)
  }
  const started = performance.now()
  const backlog = await waiting()
  while ((await waiting()) > 0) await sleep(200)
  console.error(`published and exported ${backlog} in ${Math.round(performance.now() - started)} ms`)
  const problems: string[] = []
  const check = (what: string, found: unknown, total: unknown) => {
    if (Number(found) !== total) problems.push(`${what}: ${found}, expected ${total}`)
  }
  const recorded = await sql<Record<'leads' | 'sales' | 'firsts' | 'amount', bigint>>`
    SELECT count(*) FILTER (WHERE kind = 'lead') AS leads, count(*) FILTER (WHERE kind = 'sale') AS sales,
      count(*) FILTER (WHERE is_first) AS firsts, sum(amount)::bigint AS amount FROM conversions`.execute(db)
  for (const name of ['leads', 'sales', 'amount'] as const)
    check(`recorded ${name}`, recorded.rows[0]?.[name], expected[name])
  const messages = await sql<{ noun: string; count: bigint }>`
    SELECT split_part(subject, '.', 3) AS noun, count(DISTINCT body) FROM outbox_published GROUP BY 1`.execute(db)
  const published = Object.fromEntries(messages.rows.map(({ noun, count }) => [noun, count]))
  for (const name of ['leads', 'sales', 'customers'] as const)
    check(`published ${name}`, published[name], expected[name])
  const totals = await sql<Record<'sales' | 'amount' | 'buyers', bigint>>`
    SELECT sum(sales)::bigint AS sales, sum(sale_amount)::bigint AS amount,
      count(*) FILTER (WHERE first_sale_at IS NOT NULL) AS buyers FROM customers`.execute(db)
  check("customers' sales", totals.rows[0]?.sales, expected.sales)
  check("customers' amount", totals.rows[0]?.amount, expected.amount)
  check('first sales', recorded.rows[0]?.firsts, Number(totals.rows[0]?.buyers))
  const [one] = await call(listCustomers, { query: { externalId: hot } })
  check("one customer's sales", one?.sales, expected.hotSales)
  check("one customer's amount", one?.saleAmount, expected.hotAmount)
  const shown = await call(listLinks, { query: { pageSize: 100 } })
  const sumLinks = (name: 'leads' | 'sales' | 'saleAmount') => shown.reduce((sum, link) => sum + link[name], 0)
  check('link counters, leads', sumLinks('leads'), expected.leads)
  check('link counters, sales', sumLinks('sales'), expected.sales)
  check('link counters, amount', sumLinks('saleAmount'), expected.amount)
  const stored = 'SELECT count() AS rows, uniqExact(id) AS ids, sum(amount) AS amount FROM sale_events'
  const [sales] = await query<Record<'rows' | 'ids' | 'amount', string>>(platform.clickhouse, stored, {})
  check('ClickHouse sales', sales?.rows, expected.sales)
  check('ClickHouse sales, distinct', sales?.ids, expected.sales)
  check('ClickHouse amount', sales?.amount, expected.amount)
  await worker.stop()
  const main = fileURLToPath(new URL('../server/src/main.ts', import.meta.url))
  const settings = { ...process.env, ...environment, API_URL: platform.config.API_URL }
  await promisify(execFile)(process.execPath, [main, 'verify'], { env: settings }).catch((error) =>
    problems.push(`tributary verify: ${error.stdout}${error.stderr}`),
  )
  return problems
}
