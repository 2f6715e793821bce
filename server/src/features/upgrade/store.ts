import { sql } from 'kysely'
import { type ClickHouse, query } from '../../platform/clickhouse.ts'
import type { Db } from '../../platform/postgres.ts'
import type { Transaction } from './judge.ts'

export async function selectPostgresVersion(db: Db): Promise<string> {
  const result = await sql<{ version: string }>`SELECT current_setting('server_version') AS version`.execute(db)
  return result.rows[0]?.version ?? ''
}

export async function selectClickHouseVersion(clickhouse: ClickHouse): Promise<string> {
  const [found] = await query<{ version: string }>(clickhouse, 'SELECT version() AS version', {})
  return found?.version ?? ''
}

/** Those that have been open for longer than a minute. */
export async function selectLongTransactions(db: Db): Promise<Transaction[]> {
  const result = await sql<Transaction>`
    SELECT pid, application_name AS program, extract(epoch FROM now() - xact_start)::int AS seconds
    FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'
      AND xact_start < now() - interval '1 minute' ORDER BY xact_start`.execute(db)
  return result.rows
}
