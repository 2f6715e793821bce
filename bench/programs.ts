import { randomUUID } from 'node:crypto'
import { createClient } from '@tributary/contract/client'
import { listCommissions } from '@tributary/contract/commissions'
import { createPartner, listPartners } from '@tributary/contract/partners'
import { sql } from 'kysely'
import { openEngine } from '../server/src/features/commissions/engine.ts'
import { startServer } from '../server/test/server-process.ts'
import { writeBare } from './bare-commissions.ts'
import { readCpuMs } from './cpu.ts'
import { openBenchFolder } from './data/folder.ts'
import { generateProgram, type MadeProgram } from './data/programs.ts'
import { readArguments, report } from './figures.ts'
import { failWhenMissed, type Target } from './table.ts'

/**
 * `npm run bench:programs -- <folder> [partners] [commissions] [backlog]`: one program with many partners and
 * commissions, over HTTP and beside bare statements, and commissions decided from a backlog. The folder keeps the data.
 */
const [folder, partners = '1000000', commissions = '10000000', backlog = '30000'] = readArguments()
if (folder === undefined) throw new Error('Give a data folder: npm run bench:programs -- <folder>')
const rounds = 100
const warmUp = 20
const batchSize = 1_000

await using bench = await openBenchFolder<MadeProgram>(folder)
const { platform } = bench
const made = bench.made ?? (await generate())
const mine = sql`workspace_id = ${made.workspaceId}`
const targets: Target[] = []
const latencies: (string | number)[][] = []

const server = await startServer({ ...bench.environment, ROLES: 'api' })
const call = createClient({ url: server.api, token: made.key })
const anyPartner = () => `pn_bench_${1 + Math.floor(Math.random() * made.partners)}`
for (const sortBy of ['createdAt', 'totalSaleAmount', 'totalCommissions'] as const) {
  const column = { createdAt: 'number', totalSaleAmount: 'sale_amount', totalCommissions: 'commissions' }[sortBy]
  const bare =
    sortBy === 'createdAt'
      ? sql`SELECT * FROM partners WHERE ${mine} ORDER BY number DESC LIMIT 100`
      : sql`SELECT p.* FROM partner_totals t JOIN partners p ON p.number = t.partner_number WHERE t.${mine}
          ORDER BY t.${sql.ref(column)} DESC, t.partner_number DESC LIMIT 100`
  await measure(
    `partners by ${sortBy}`,
    50,
    () => call(listPartners, { query: { sortBy } }),
    () => bare.execute(platform.db),
  )
}
await measure(
  'commissions, newest 100',
  30,
  () => call(listCommissions),
  () =>
    sql`SELECT * FROM commissions WHERE ${mine} ORDER BY created_at DESC, number DESC LIMIT 100`.execute(platform.db),
)
await measure(
  'commissions of a partner',
  30,
  () => call(listCommissions, { query: { partnerId: anyPartner() } }),
  () =>
    sql`SELECT c.* FROM commissions c JOIN partners p ON p.number = c.partner_number WHERE p.id = ${anyPartner()}
      ORDER BY c.created_at DESC, c.number DESC LIMIT 100`.execute(platform.db),
)
await measure(
  'POST /partners',
  40,
  () => call(createPartner, { body: { name: 'Ada', email: `${randomUUID()}@example.com` } }),
  () => insertPartner(),
)
await server.stop()

const decided = await decideBacklog(Number(backlog))
const bare = await timeBare(Number(backlog))
const fewestPerSecond = 3_000
targets.push({ name: 'commissions from a backlog, per second', figure: decided.perSecond, atLeast: fewestPerSecond })
report(
  'programs',
  {
    title: `${made.partners} partners, ${made.commissions} commissions`,
    columns: ['bare p50 ms', 'bare p95 ms', 'HTTP p50 ms', 'HTTP p95 ms', 'p95 allowed'],
    rows: latencies,
  },
  {
    title: `backlog of ${backlog} sales, ${batchSize} in a transaction`,
    columns: ['per second', 'CPU ms of Node.js for 1,000', 'CPU ms of PostgreSQL for 1,000', '× bare'],
    rows: [row('decided', decided), row('bare statements of the same rows', bare)],
  },
)
failWhenMissed(targets)

type Written = { perSecond: number; node: number; postgres: number }

function row(name: string, { perSecond, node, postgres }: Written): (string | number)[] {
  const cells = [perSecond.toFixed(0), node.toFixed(0), postgres.toFixed(0), (perSecond / bare.perSecond).toFixed(2)]
  return [name, ...cells]
}

async function generate(): Promise<MadeProgram> {
  const generated = await generateProgram(platform, { partners: Number(partners), commissions: Number(commissions) })
  await bench.keep(generated)
  return generated
}

/** Alternates API and bare queries, so that both see the same load. */
async function measure(name: string, mostMs: number, http: () => Promise<unknown>, bare: () => Promise<unknown>) {
  const times = { bare: [] as number[], http: [] as number[] }
  for (let round = -warmUp; round < rounds; round++) {
    const [bareMs, httpMs] = [await timed(bare), await timed(http)]
    if (round < 0) continue
    times.bare.push(bareMs)
    times.http.push(httpMs)
  }
  const at = (values: number[], share: number) => values.toSorted((a, b) => a - b)[Math.floor(rounds * share)] ?? 0
  const figures = [at(times.bare, 0.5), at(times.bare, 0.95), at(times.http, 0.5), at(times.http, 0.95), mostMs]
  latencies.push([name, ...figures.map((figure) => figure.toFixed(1))])
  console.error(latencies.at(-1)?.join(' | '))
  targets.push({ name: `${name}, p95 ms`, figure: at(times.http, 0.95), atMost: mostMs })
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

function insertPartner() {
  return sql`INSERT INTO partners (id, workspace_id, group_number, status, name, email)
    VALUES (${`pn_${randomUUID()}`}, ${made.workspaceId}, ${made.groupNumber}, 'approved', 'Ada',
      ${`${randomUUID()}@example.com`})`.execute(platform.db)
}

/** Half of the sales are the first of a new customer, the others are of the partner's customer. */
async function queueSales(count: number): Promise<void> {
  const run = randomUUID().slice(0, 8)
  await sql`INSERT INTO customers (id, workspace_id, external_id, name, country, link_number, first_sale_at)
    SELECT ${`cus_${run}_`} || n, ${made.workspaceId}, ${`${run}-`} || n, 'Customer', 'DE', n, now()
    FROM generate_series(1, ${count}::int, 2) AS n`.execute(platform.db)
  await sql`INSERT INTO conversions (id, workspace_id, kind, customer_id, event_name, link_number, attribution, amount,
      currency, invoice_id, partner_id, is_first, stored_at, click_facts_at)
    SELECT ${`sale_${run}_`} || n, ${made.workspaceId}, 'sale',
      CASE n % 2 WHEN 1 THEN ${`cus_${run}_`} || n ELSE 'cus_bench_' || p END, 'Purchase', p, 'click', 10000, 'usd',
      ${`${run}-`} || n, 'pn_bench_' || p, n % 2 = 1, now(), now()
    FROM (SELECT n, n::bigint * 104729 % ${made.partners} + 1 AS p FROM generate_series(1, ${count}::int) AS n) AS sold`.execute(
    platform.db,
  )
}

async function decideBacklog(count: number): Promise<Written> {
  const decide = openEngine(platform)
  const { signal } = new AbortController()
  await queueSales(2_000)
  await decide(signal)
  await queueSales(count)
  return measureWrites(count, () => decide(signal))
}

function timeBare(count: number): Promise<Written> {
  return measureWrites(count, () => writeBare(platform.db, made, count, batchSize))
}

async function measureWrites(count: number, work: () => Promise<unknown>): Promise<Written> {
  await sql`CHECKPOINT`.execute(platform.db)
  const postgres = bench.engines.processes.postgres?.pid ?? 0
  const [node, before] = [process.cpuUsage(), readCpuMs(postgres)]
  const tookMs = await timed(work)
  const used = process.cpuUsage(node)
  const thousands = count / 1_000
  return {
    perSecond: (count * 1_000) / tookMs,
    node: (used.user + used.system) / 1_000 / thousands,
    postgres: (readCpuMs(postgres) - before) / thousands,
  }
}
