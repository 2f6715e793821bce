import { sql } from 'kysely'
import { query } from '../src/platform/clickhouse.ts'
import type { Platform } from '../src/platform/context.ts'

/** Finds a text in every column of every table of PostgreSQL and ClickHouse. */
export async function findTables({ db, clickhouse }: Pick<Platform, 'db' | 'clickhouse'>, text: string) {
  const foundIn: string[] = []
  const tables = await sql<{ name: string }>`
    SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`.execute(db)
  for (const { name } of tables.rows) {
    const found = await sql`SELECT 1 FROM ${sql.table(name)} t WHERE strpos(t::text, ${text}) > 0 LIMIT 1`.execute(db)
    if (found.rows.length > 0) foundIn.push(`PostgreSQL ${name}`)
  }
  const stored = await query<{ name: string }>(
    clickhouse,
    "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree'",
    {},
  )
  for (const { name } of stored) {
    const statement = `SELECT 1 FROM ${name} WHERE position(formatRow('JSONEachRow', *), {text:String}) > 0 LIMIT 1`
    if ((await query(clickhouse, statement, { text })).length > 0) foundIn.push(`ClickHouse ${name}`)
  }
  return foundIn
}
