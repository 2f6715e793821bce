import { sql } from 'kysely'
import type { Db } from '../server/src/platform/postgres.ts'
import type { MadeProgram } from './data/programs.ts'

/** Writes the rows of `count` commissions with bare multi-row statements, `size` in a transaction. */
export function writeBare(db: Db, made: MadeProgram, count: number, size: number): Promise<void> {
  return db.connection().execute(async (db) => {
    // Numbers of no conversion: each run goes on below the last one's.
    const lowest = await sql<{ low: number }>`SELECT coalesce(min(source), 0)::float8 AS low FROM commission_keys
      WHERE source < 0`.execute(db)
    const top = lowest.rows[0]?.low ?? 0
    for (let done = 0; done < count; done += size) {
      const texts = statements(made, top - done - size, size)
      for (const text of ['BEGIN', ...texts, 'COMMIT']) await sql.raw(text).execute(db)
    }
  })
}

function statements({ workspaceId, partners, version }: MadeProgram, first: number, size: number): string[] {
  const id = `'${workspaceId}'`
  const sold = `(SELECT n::bigint, abs(n::bigint * 104729) % ${partners} + 1 AS p FROM generate_series(${first}, ${first + size - 1}) AS n)`
  return [
    `CREATE TEMP TABLE IF NOT EXISTS written (number bigint, source bigint, p bigint)`,
    `TRUNCATE written`,
    `WITH added AS (INSERT INTO commissions (id, workspace_id, partner_number, type, status, amount, earnings, currency,
        conversion_number, customer_id, link_number, reward_version, invoice_id, due_at, created_at, updated_at)
      SELECT (lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000)::bigint), 12, '0') || '7'
          || substr(md5(n::text), 1, 19))::uuid, ${id}, p, 'sale', 'pending', 10000, 1000, 'usd', n, 'cus_bench_' || p, p,
        ${version}, 'bare-' || n, now() + interval '10 years', now(), now() FROM ${sold} AS sold
      RETURNING number, conversion_number, partner_number)
      INSERT INTO written SELECT * FROM added`,
    `INSERT INTO commission_details (commission_number, why)
      SELECT written.number, d.why FROM written, (SELECT why FROM commission_details WHERE commission_number = 1) AS d`,
    `INSERT INTO commission_keys (source, kind, partner_number, commission_number)
      SELECT source, 0, p, number FROM written`,
    `INSERT INTO commission_decisions (conversion_number, workspace_id, partner_number)
      SELECT source, ${id}, p FROM written`,
    `INSERT INTO ledger_postings (transaction, workspace_id, kind, currency, debit, credit, amount, commission_number)
      SELECT 0, ${id}, 'earned', 'usd', 1000, p + 1000, 1000, number FROM written`,
    `UPDATE ledger_balances b SET credit = credit + added.amount
      FROM (SELECT p + 1000 AS account, count(*) * 1000 AS amount FROM written GROUP BY p ORDER BY p) AS added
      WHERE b.account = added.account`,
    `UPDATE partner_totals t SET sales = sales + added.count, sale_amount = sale_amount + added.count * 10000,
        commissions = commissions + added.count * 1000
      FROM (SELECT p, count(*) FROM written GROUP BY p ORDER BY p) AS added WHERE t.partner_number = added.p`,
  ]
}
