import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { requireDefaultGroup } from '../../server/src/features/groups/service.ts'
import { createProgram } from '../../server/src/features/programs/service.ts'
import type { Platform } from '../../server/src/platform/context.ts'
import { type Db, openConnection } from '../../server/src/platform/postgres.ts'
import { buildWorkspace } from '../../server/test/build.ts'
import { contextIn } from '../../server/test/context.ts'

export type MadeProgram = {
  workspaceId: string
  key: string
  domain: string
  groupNumber: string
  version: string
  partners: number
  commissions: number
}

const step = 250_000
const tables = [
  ...['links', 'partners', 'partner_totals', 'customers', 'commissions', 'commission_details', 'commission_keys'],
  ...['commission_decisions', 'commission_bindings', 'ledger_accounts', 'ledger_postings', 'ledger_balances'],
]

/**
 * Fills a workspace with one program: each partner has a link and a customer, whose sales earned 10 % each. Indexes are
 * built afterwards, and constraints are not checked.
 */
export async function generateProgram(
  platform: Platform,
  { partners, commissions }: { partners: number; commissions: number },
): Promise<MadeProgram> {
  const workspace = await buildWorkspace(platform)
  const ctx = contextIn(platform, workspace.id)
  const { domain } = workspace
  await createProgram(ctx, { name: 'Friends', domain, url: 'https://example.com' })
  const { number: group } = await requireDefaultGroup(ctx)
  const version = await addReward(platform.db, workspace.id, group)
  await using client = await openUnchecked(platform)
  const run = client.run
  const rebuild = await dropIndexes(platform.db)
  const mine = `'${workspace.id}'`
  const program = { id: mine, domain: `'${domain}'`, group: String(group), version: String(version) }
  for (const [first, last] of steps(partners)) {
    console.error(`partners ${last} of ${partners}`)
    await run(...partnerStatements(program, first, last))
  }
  for (const [first, last] of steps(commissions)) {
    console.error(`commissions ${last} of ${commissions}`)
    await run(...commissionStatements(program, first, last, partners, commissions))
  }
  console.error('totals, bindings and balances')
  await run(...sumStatements(mine, program.version))
  for (const text of rebuild) {
    console.error(text)
    await run(text)
  }
  for (const table of tables) await run(`ANALYZE ${table}`)
  await run('CHECKPOINT')
  const named = { workspaceId: workspace.id, key: workspace.key, domain }
  return { ...named, groupNumber: program.group, version: program.version, partners, commissions }
}

function* steps(total: number): Generator<[number, number]> {
  for (let first = 1; first <= total; first += step) yield [first, Math.min(first + step - 1, total)]
}

async function addReward(db: Db, workspaceId: string, group: bigint): Promise<bigint> {
  const terms = { event: 'sale', type: 'percentage', amount: 1_000, maxDuration: null, modifiers: [], cap: null }
  const result = await sql<{ number: bigint }>`WITH made AS (
      INSERT INTO rewards (id, workspace_id, group_number, event)
      VALUES (${`rw_${randomUUID()}`}, ${workspaceId}, ${group}, 'sale') RETURNING number)
    INSERT INTO reward_versions (reward_number, workspace_id, version, terms, actor, created_at)
    SELECT number, ${workspaceId}, 1, ${JSON.stringify({ description: null, ...terms })}::jsonb, 'bench', '2020-01-01'
    FROM made RETURNING number`.execute(db)
  return result.rows[0]?.number ?? 0n
}

/** A connection without timeouts, triggers and foreign keys. */
async function openUnchecked(platform: Platform) {
  const client = openConnection(platform.config)
  await client.connect()
  const settings = ['session_replication_role = replica', "maintenance_work_mem = '1GB'", 'synchronous_commit = off']
  for (const setting of settings) await client.query(`SET ${setting}`)
  const run = async (...statements: string[]) => {
    for (const text of statements) await client.query(text)
  }
  return { run, [Symbol.asyncDispose]: () => client.end() }
}

/** Drops the indexes that belong to no constraint. Returns the statements that create them. */
async function dropIndexes(db: Db): Promise<string[]> {
  const result = await sql<{ name: string; text: string }>`
    SELECT i.indexrelid::regclass::text AS name, pg_get_indexdef(i.indexrelid) AS text FROM pg_index i
    WHERE i.indrelid = ANY(${tables}::regclass[])
      AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = i.indexrelid)`.execute(db)
  for (const { name } of result.rows) await sql`DROP INDEX ${sql.raw(name)}`.execute(db)
  return result.rows.map(({ text }) => text)
}

type Program = { id: string; domain: string; group: string; version: string }

function partnerStatements({ id, domain, group }: Program, first: number, last: number): string[] {
  const n = `generate_series(${first}, ${last}) AS n`
  return [
    `INSERT INTO partners (number, id, workspace_id, group_number, status, name, email, country, created_at)
      OVERRIDING SYSTEM VALUE SELECT n, 'pn_bench_' || n, ${id}, ${group}, 'approved', 'Partner ' || n,
        'partner-' || n || '@example.com', 'DE', timestamptz '2024-01-01' + n * interval '1 second' FROM ${n}`,
    `INSERT INTO links (number, id, workspace_id, domain, key, lookup_key, url, track_conversion, partner_id)
      OVERRIDING SYSTEM VALUE SELECT n, 'link_bench_' || n, ${id}, ${domain}, 'p' || n, 'p' || n,
        'https://example.com/?ref=' || n, true, 'pn_bench_' || n FROM ${n}`,
    `INSERT INTO customers (id, workspace_id, external_id, name, country, link_number, first_sale_at)
      SELECT 'cus_bench_' || n, ${id}, 'customer-' || n, 'Customer ' || n, 'DE', n, '2025-01-01' FROM ${n}`,
    `INSERT INTO ledger_accounts (number, workspace_id, partner_number, kind, currency) OVERRIDING SYSTEM VALUE
      SELECT n + 1000, ${id}, n, 'accrued', 'usd' FROM ${n}`,
  ]
}

const details = {
  why: {
    event: {
      ...{ kind: 'sale', at: '2025-06-01T00:00:00.000Z', amount: 10_000, originalAmount: 10_000, quantity: 1 },
      ...{ commissionableAmount: 10_000, currency: 'usd', customerId: 'cus_bench_1', isFirst: false },
      partnerStatus: 'approved',
    },
    reward: { id: 'rw_bench', version: 1, origin: 'customer' },
    conditions: [],
    lines: [
      {
        ...{ productId: null, amount: 10_000, quantity: 1, matching: [], modifier: null, type: 'percentage' },
        ...{ rate: 1_000, maxDuration: null, endsAt: null, isOpen: true, formula: '10000 × 1000 / 10000' },
        earnings: 1_000,
      },
    ],
    rounding: 'half_up',
    window: { firstSaleAt: '2025-01-01T00:00:00.000Z', endsAt: null },
    cap: null,
    due: { holdingPeriodDays: 0, at: '2025-06-01T00:00:00.000Z' },
    earnings: 1_000,
  },
}

/** The n-th commission belongs to partner `n * 7919 % partners + 1`, so that neighbours in time are of different partners. */
function commissionStatements(
  { id, version }: Program,
  first: number,
  last: number,
  partners: number,
  commissions: number,
): string[] {
  const sold = `(SELECT n, n::bigint * 7919 % ${partners} + 1 AS p, 1000 + n * 31::bigint % 9000 AS amount,
    timestamptz '2025-01-01' + n * interval '1 year' / ${commissions} AS at
    FROM generate_series(${first}, ${last}) AS n) AS sold`
  const earned = '(amount * 2000 + 10000) / 20000'
  return [
    `INSERT INTO commissions (number, id, workspace_id, partner_number, type, status, amount, earnings, currency,
        conversion_number, customer_id, link_number, reward_version, invoice_id, due_at, created_at, updated_at)
      OVERRIDING SYSTEM VALUE
      SELECT n, (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7' || substr(md5(n::text), 1, 19))::uuid,
        ${id}, p, 'sale', 'pending', amount, ${earned}, 'usd', n, 'cus_bench_' || p, p, ${version}, 'invoice-' || n,
        at + interval '10 years', at, at FROM ${sold}`,
    `INSERT INTO commission_details (commission_number, why) SELECT n, '${JSON.stringify(details)}'::jsonb FROM ${sold}`,
    `INSERT INTO commission_keys (source, kind, partner_number, commission_number) SELECT n, 0, p, n FROM ${sold}`,
    `INSERT INTO commission_decisions (conversion_number, workspace_id, partner_number, decided_at)
      SELECT n, ${id}, p, at FROM ${sold}`,
    `INSERT INTO ledger_postings (number, transaction, workspace_id, kind, currency, debit, credit, amount,
        commission_number, created_at) OVERRIDING SYSTEM VALUE
      SELECT n, n / 1000, ${id}, 'earned', 'usd', 1000, p + 1000, ${earned}, n, at FROM ${sold}`,
  ]
}

function sumStatements(id: string, version: string): string[] {
  return [
    `INSERT INTO ledger_accounts (number, workspace_id, kind, currency) OVERRIDING SYSTEM VALUE
      VALUES (1000, ${id}, 'expense', 'usd')`,
    `INSERT INTO partner_totals (partner_number, workspace_id, conversions, sales, sale_amount, commissions)
      SELECT partner_number, ${id}, 1, count(*), sum(amount), sum(earnings) FROM commissions GROUP BY partner_number`,
    `INSERT INTO ledger_balances (account, credit) SELECT credit, sum(amount) FROM ledger_postings GROUP BY credit`,
    `INSERT INTO ledger_sums (workspace_id, day, kind, currency, debit, credit, is_folded)
      SELECT ${id}, current_date, kind, 'usd', CASE kind WHEN 'expense' THEN total ELSE 0 END,
        CASE kind WHEN 'accrued' THEN total ELSE 0 END, true
      FROM (SELECT sum(amount) AS total FROM ledger_postings) AS posted, (VALUES ('expense'), ('accrued')) AS k (kind)`,
    `INSERT INTO commission_bindings (partner_number, customer_id, workspace_id, reward_version, commission_number,
        first_sale_at)
      SELECT partner_number, customer_id, ${id}, ${version}, min(number), min(created_at) FROM commissions
      GROUP BY partner_number, customer_id`,
    ...['partners', 'links', 'commissions', 'ledger_postings', 'ledger_accounts'].map(
      (table) => `SELECT setval(pg_get_serial_sequence('${table}', 'number'), (SELECT max(number) FROM ${table}))`,
    ),
    `SELECT setval(pg_get_serial_sequence('conversions', 'number'), (SELECT max(number) FROM commissions))`,
    `SELECT setval('ledger_transactions', 1 + (SELECT max(transaction) FROM ledger_postings))`,
  ]
}
