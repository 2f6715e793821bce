import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client'
import type { Config } from './config.ts'

export type ClickHouse = ClickHouseClient

export function openClickHouse(config: Config): ClickHouse {
  return createClient({
    url: config.CLICKHOUSE_URL,
    application: 'tributary',
    // Every problem reaches the caller, who says what it means; the client would write it to the terminal as well.
    log: { level: ClickHouseLogLevel.OFF },
    request_timeout: 30_000,
    max_open_connections: 16,
    keep_alive: { enabled: true, idle_socket_ttl: 2_500 },
    clickhouse_settings: { date_time_output_format: 'iso' },
  })
}

/** Values are bound by name (`{name:Type}` in the statement); they never become part of its text. */
export async function query<Row>(
  clickhouse: ClickHouse,
  statement: string,
  values: Record<string, unknown>,
): Promise<Row[]> {
  const result = await clickhouse.query({ query: statement, query_params: values, format: 'JSONEachRow' })
  return result.json<Row>()
}

/** One insert; a repeat with the same token is ignored by the table. */
export async function insert(
  clickhouse: ClickHouse,
  table: string,
  rows: [object, ...object[]],
  token?: string,
): Promise<void> {
  await clickhouse.insert({
    table,
    // Named, so that a column which only feeds the default of another one is taken too.
    columns: Object.keys(rows[0]) as [string, ...string[]],
    values: rows,
    format: 'JSONEachRow',
    clickhouse_settings: token
      ? {
          insert_deduplicate: 1,
          insert_deduplication_token: token,
          deduplicate_blocks_in_dependent_materialized_views: 1,
        }
      : {},
  })
}
