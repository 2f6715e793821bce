import { Readable } from 'node:stream'
import { type ClickHouseClient, ClickHouseLogLevel, type ClickHouseSettings, createClient } from '@clickhouse/client'
import type { Config } from './config.ts'
import { blockParts, type NativeBlock } from './native-format.ts'
import { refuseInTransaction } from './postgres.ts'
import { describeProblem } from './tracing.ts'

/** A finished SQL statement; `text` has placeholders instead of values. */
type Statement = { text: string; durationMs: number; problem?: string }
export type ClickHouse = ClickHouseClient & { onStatement?(statement: Statement): void }
/** Marks functions of workers and operators, whose statements read all workspaces. */
export type AllWorkspacesClickHouse = ClickHouse

export function openClickHouse(
  config: Config,
  onStatement?: ClickHouse['onStatement'],
  timeoutMs = 30_000,
): ClickHouse {
  const client = createClient({
    url: config.CLICKHOUSE_URL,
    application: 'tributary',
    // Callers log ClickHouse errors themselves, so the client's own log is off.
    log: { level: ClickHouseLogLevel.OFF },
    request_timeout: timeoutMs,
    max_open_connections: 16,
    keep_alive: { enabled: true, idle_socket_ttl: 2_500 },
    clickhouse_settings: { date_time_output_format: 'iso' },
    // Sends parameters that are too long for a URL in the request body.
    use_multipart_params_auto: true,
  })
  return Object.assign(client, { onStatement })
}

/** The version of the server, and whether it is `engines/clickhouse-server`, which runs in a Node process. */
export async function readServer(clickhouse: ClickHouse): Promise<{ version: string; isInProcess: boolean }> {
  const result = await clickhouse.query({ query: 'SELECT version() AS version', format: 'JSONEachRow' })
  const [row] = await result.json<{ version: string }>()
  const displayName = result.response_headers['x-clickhouse-server-display-name']
  return { version: row?.version ?? '', isInProcess: displayName === 'chdb' }
}

/** Limits of a ClickHouse statement: seconds, bytes of memory, rows read, bytes from which on it groups on disk. */
export type QueryLimits = Partial<
  Pick<
    ClickHouseSettings,
    'max_execution_time' | 'max_memory_usage' | 'max_rows_to_read' | 'max_bytes_before_external_group_by'
  >
>

/** Runs a ClickHouse query. Values are bound by name (`{name:Type}`) and never become part of the SQL. */
export async function query<Row>(
  clickhouse: ClickHouse,
  statement: string,
  values: Record<string, unknown>,
  limits: QueryLimits = {},
): Promise<Row[]> {
  return observed(clickhouse, statement, async () => (await ask(clickhouse, statement, values, limits)).json<Row>())
}

/** Returns each row as one JSON string, which costs less garbage collection than objects when many rows are read. */
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
// Error codes TOO_MANY_ROWS, TIMEOUT_EXCEEDED, TOO_SLOW, MEMORY_LIMIT_EXCEEDED, TOO_MANY_BYTES.
const limitByCode: Record<string, ExceededLimit> = { 158: 'rows', 159: 'time', 160: 'time', 241: 'memory', 307: 'rows' }

/** Returns the limit at which ClickHouse or our client cancelled a statement; undefined for any other error. */
export function exceededLimit(error: unknown): ExceededLimit | undefined {
  if (!(error instanceof Error)) return undefined
  return error.message === 'Timeout error.' ? 'time' : limitByCode[(error as { code?: string }).code ?? '']
}

// Error codes TOO_MANY_SIMULTANEOUS_QUERIES and CANNOT_SCHEDULE_TASK.
const overloadCodes = ['202', '439']

/** Whether ClickHouse is overloaded or timed out. */
export function isOverloaded(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return error.message === 'Timeout error.' || overloadCodes.includes((error as { code?: string }).code ?? '')
}

/** ClickHouse settings that make inserted rows visible before the insert returns, also through Distributed tables. */
export const atOnce = {
  insert_deduplicate: 0,
  deduplicate_blocks_in_dependent_materialized_views: 0,
  distributed_foreground_insert: 1,
  wait_end_of_query: 1,
} as const

/** ClickHouse settings of an insert that ClickHouse ignores when its token was used before. */
function oncePerToken(insert_deduplication_token: string): ClickHouseSettings {
  return {
    insert_deduplicate: 1,
    // On a cluster, the insert returns only after the shard has stored the rows.
    distributed_foreground_insert: 1,
    insert_deduplication_token,
    deduplicate_blocks_in_dependent_materialized_views: 1,
  }
}

/** Inserts a block of `native-format.ts`, once per token: ClickHouse ignores a repeated one. */
export async function insertNative(
  clickhouse: ClickHouse,
  table: string,
  block: NativeBlock,
  token: string,
): Promise<void> {
  const query = `INSERT INTO ${table} (${block.columns.map(({ name }) => name).join(', ')}) FORMAT Native`
  await observed(clickhouse, `INSERT INTO ${table}`, async () => {
    const values = Readable.from(blockParts(block), { objectMode: false })
    const { stream } = await clickhouse.exec({ query, values, clickhouse_settings: oncePerToken(token) })
    for await (const _ of stream);
  })
}

/** Inserts rows once per token: ClickHouse ignores a repeated one. `same` has columns with one value for all rows. */
export async function insert(
  clickhouse: ClickHouse,
  table: string,
  rows: [object, ...object[]],
  token?: string,
  same: Record<string, unknown> = {},
): Promise<void> {
  // ClickHouse accepts EPHEMERAL columns, which only feed other columns' defaults, only in an explicit list.
  const columns = Object.keys(rows[0]) as [string, ...string[]]
  await observed(clickhouse, `INSERT INTO ${table}`, () =>
    clickhouse.insert({
      table,
      columns: [...columns, ...Object.keys(same)],
      // ClickHouse parses rows without column names 25 % faster.
      values: rows.map((row) => [
        ...columns.map((column) => (row as Record<string, unknown>)[column]),
        ...Object.values(same),
      ]),
      format: 'JSONCompactEachRow',
      clickhouse_settings: token ? oncePerToken(token) : {},
    }),
  )
}
