import { type ClickHouseClient, ClickHouseLogLevel, type ClickHouseSettings, createClient } from '@clickhouse/client'
import type { Config } from './config.ts'
import { refuseInTransaction } from './postgres.ts'
import { describeProblem } from './tracing.ts'

/** A statement that has ended; its text has names for the values. */
type Statement = { text: string; durationMs: number; problem?: string }
export type ClickHouse = ClickHouseClient & { onStatement?(statement: Statement): void }

export function openClickHouse(
  config: Config,
  onStatement?: ClickHouse['onStatement'],
  timeoutMs = 30_000,
): ClickHouse {
  const client = createClient({
    url: config.CLICKHOUSE_URL,
    application: 'tributary',
    // Every problem reaches the caller, who says what it means; the client would write it to the terminal as well.
    log: { level: ClickHouseLogLevel.OFF },
    request_timeout: timeoutMs,
    max_open_connections: 16,
    keep_alive: { enabled: true, idle_socket_ttl: 2_500 },
    clickhouse_settings: { date_time_output_format: 'iso' },
    // Values that are too long for an address go into the body.
    use_multipart_params_auto: true,
  })
  return Object.assign(client, { onStatement })
}

/** How much a statement may take: time in seconds, memory in bytes, rows read. */
export type QueryLimits = Partial<
  Pick<ClickHouseSettings, 'max_execution_time' | 'max_memory_usage' | 'max_rows_to_read'>
>

/** Values are bound by name (`{name:Type}` in the statement); they never become part of its text. */
export async function query<Row>(
  clickhouse: ClickHouse,
  statement: string,
  values: Record<string, unknown>,
  limits: QueryLimits = {},
): Promise<Row[]> {
  return observed(clickhouse, statement, async () => (await ask(clickhouse, statement, values, limits)).json<Row>())
}

/** The same as one JSON text for each row, for those who read many and keep none: most then never need the old heap. */
export async function queryLines(
  clickhouse: ClickHouse,
  statement: string,
  values: Record<string, unknown>,
  limits: QueryLimits = {},
): Promise<string[]> {
  return observed(clickhouse, statement, async () => {
    const lines: string[] = []
    const result = await ask(clickhouse, statement, values, limits)
    for await (const rows of result.stream()) for (const { text } of rows as { text: string }[]) lines.push(text)
    return lines
  })
}

function ask(clickhouse: ClickHouse, query: string, values: Record<string, unknown>, limits: QueryLimits) {
  refuseInTransaction('ClickHouse', { inRequestsOnly: true })
  return clickhouse.query({ query, query_params: values, format: 'JSONEachRow', clickhouse_settings: limits })
}

async function observed<T>({ onStatement }: ClickHouse, text: string, work: () => Promise<T>): Promise<T> {
  if (!onStatement) return work()
  const started = performance.now()
  const end = (problem?: string) => onStatement({ text, durationMs: performance.now() - started, problem })
  try {
    const result = await work()
    end()
    return result
  } catch (error) {
    end(describeProblem(error))
    throw error
  }
}

export type ExceededLimit = 'rows' | 'time' | 'memory'
// TOO_MANY_ROWS, TIMEOUT_EXCEEDED, TOO_SLOW, MEMORY_LIMIT_EXCEEDED, TOO_MANY_BYTES
const limitByCode: Record<string, ExceededLimit> = { 158: 'rows', 159: 'time', 160: 'time', 241: 'memory', 307: 'rows' }

/** The limit at which ClickHouse cut a statement off, or our own timeout; undefined for any other error. */
export function exceededLimit(error: unknown): ExceededLimit | undefined {
  if (!(error instanceof Error)) return undefined
  return error.message === 'Timeout error.' ? 'time' : limitByCode[(error as { code?: string }).code ?? '']
}

// TOO_MANY_SIMULTANEOUS_QUERIES, CANNOT_SCHEDULE_TASK
const overloadCodes = ['202', '439']

/** Whether ClickHouse had no room for a statement, or did not answer in time. */
export function isOverloaded(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return error.message === 'Timeout error.' || overloadCodes.includes((error as { code?: string }).code ?? '')
}

/** For rows that come in whatever was inserted before, and not a moment later where tables are distributed. */
export const atOnce = {
  insert_deduplicate: 0,
  deduplicate_blocks_in_dependent_materialized_views: 0,
  distributed_foreground_insert: 1,
  wait_end_of_query: 1,
} as const

/** One insert; a repeat with the same token is ignored by the table. `same` are columns that all rows have alike. */
export async function insert(
  clickhouse: ClickHouse,
  table: string,
  rows: [object, ...object[]],
  token?: string,
  same: Record<string, unknown> = {},
): Promise<void> {
  // Named, so that a column which only feeds the default of another one is taken too.
  const columns = Object.keys(rows[0]) as [string, ...string[]]
  await observed(clickhouse, `INSERT INTO ${table}`, () =>
    clickhouse.insert({
      table,
      columns: [...columns, ...Object.keys(same)],
      // Without the names in each row ClickHouse reads a quarter faster.
      values: rows.map((row) => [
        ...columns.map((column) => (row as Record<string, unknown>)[column]),
        ...Object.values(same),
      ]),
      format: 'JSONCompactEachRow',
      clickhouse_settings: token
        ? {
            insert_deduplicate: 1,
            // On a cluster: not before the shard has it.
            distributed_foreground_insert: 1,
            insert_deduplication_token: token,
            deduplicate_blocks_in_dependent_materialized_views: 1,
          }
        : {},
    }),
  )
}
