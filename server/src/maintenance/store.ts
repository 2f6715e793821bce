import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { sql } from 'kysely'
import pg from 'pg'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import { type ClickHouse, query } from '../platform/clickhouse.ts'
import type { Config } from '../platform/config.ts'
import { locks } from '../platform/locks.ts'
import { migrationTable } from '../platform/migrate.ts'
import { type Db, openConnection } from '../platform/postgres.ts'
import type { Transaction } from './decide-upgrade.ts'

// Backups list tables from the system catalogs of PostgreSQL and ClickHouse, so that no new table is forgotten.

export type Session = pg.Client
export type PostgresTable = { name: string; columns: string[]; rowsEstimated: number; references: string[] }
export type EventTable = {
  name: string
  columns: string[]
  partition_key: string
  primary_key: string
  sorting_key: string
}
type ClickHouseHandles = { clickhouse: ClickHouse; config: Pick<Config, 'CLICKHOUSE_CLUSTER'> }

/** Opens a PostgreSQL connection with fixed text formats for backups. */
export async function openSession(config: Config): Promise<Session> {
  const session = openConnection(config)
  await session.connect()
  await session.query(`SET application_name = 'tributary backup'; SET datestyle = 'ISO, YMD'; SET timezone = 'UTC';
    SET bytea_output = 'hex'; SET client_encoding = 'UTF8'; SET statement_timeout = 0;
    SET idle_in_transaction_session_timeout = 0`)
  return session
}

/** Holds a lock that blocks other backups and restores until the session ends; false when another is running. */
export async function lockBackups(session: Session): Promise<boolean> {
  return (await session.query('SELECT pg_try_advisory_lock($1) AS free', [locks.backups])).rows[0].free
}

/** Holds a lock that blocks migrations until the session ends; false when a migration is running. */
export async function forbidMigrations(session: Session): Promise<boolean> {
  return (await session.query('SELECT pg_try_advisory_lock_shared($1) AS free', [locks.migrations])).rows[0].free
}

export async function allowMigrations(session: Session): Promise<void> {
  await session.query('SELECT pg_advisory_unlock_shared($1)', [locks.migrations])
}

export async function beginSnapshot(session: Session): Promise<Date> {
  await session.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
  return (await session.query('SELECT now() AS at')).rows[0].at
}

export async function begin(session: Session): Promise<void> {
  await session.query('BEGIN')
}

export async function commit(session: Session): Promise<void> {
  await session.query('COMMIT')
}

export async function selectTables(session: Session): Promise<PostgresTable[]> {
  const found = await session.query(
    `SELECT c.relname AS name, greatest(c.reltuples, 0)::float8 AS "rowsEstimated",
      array(SELECT attname::text FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped
        AND attgenerated = '' ORDER BY attnum) AS columns,
      array(SELECT DISTINCT f.relname::text FROM pg_constraint k JOIN pg_class f ON f.oid = k.confrelid
        WHERE k.conrelid = c.oid AND k.contype = 'f' AND f.oid <> c.oid) AS references
    FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND c.relname <> $1
    ORDER BY c.relname`,
    [migrationTable],
  )
  return found.rows
}

export async function selectSequences(session: Session): Promise<{ name: string; last: string }[]> {
  const found = await session.query(`SELECT sequencename AS name, last_value::text AS last FROM pg_sequences
    WHERE schemaname = current_schema() AND last_value IS NOT NULL ORDER BY 1`)
  return found.rows
}

export async function setSequence(session: Session, name: string, last: bigint): Promise<void> {
  await session.query('SELECT setval(quote_ident($1)::regclass, $2)', [name, last])
}

export function copyOut(session: Session, { name, columns }: Pick<PostgresTable, 'name' | 'columns'>): Readable {
  return session.query(copyTo(`COPY ${quoted(name)} (${columns.map(quoted).join(', ')}) TO STDOUT`))
}

/** Loads rows into a PostgreSQL table with COPY. Returns the number of rows. */
export async function copyIn(
  session: Session,
  { name, columns }: { name: string; columns: string[] },
  bytes: Buffer,
): Promise<number> {
  const target = session.query(copyFrom(`COPY ${quoted(name)} (${columns.map(quoted).join(', ')}) FROM STDIN`))
  await pipeline(Readable.from([bytes]), target)
  return target.rowCount
}

/** Turns our triggers on or off: a backup has what they wrote, too. */
export async function switchTriggers(session: Session, names: string[], state: 'DISABLE' | 'ENABLE'): Promise<void> {
  for (const name of names) await session.query(`ALTER TABLE ${quoted(name)} ${state} TRIGGER USER`)
}

export async function selectFilled(session: Session, names: string[]): Promise<string[]> {
  const filled: string[] = []
  for (const name of names) {
    const { rows } = await session.query(`SELECT EXISTS (SELECT FROM ${quoted(name)}) AS filled`)
    if (rows[0].filled) filled.push(name)
  }
  return filled
}

export async function truncate(session: Session, names: string[]): Promise<void> {
  await session.query(`TRUNCATE ${names.map(quoted).join(', ')}`)
}

/** The names of the Tributary processes that use this PostgreSQL database. */
export async function selectOthers(session: Session): Promise<string[]> {
  const found = await session.query(`SELECT DISTINCT application_name AS name FROM pg_stat_activity
    WHERE datname = current_database() AND application_name ~ '^tributary (api|redirect|worker)' ORDER BY 1`)
  return found.rows.map(({ name }) => name)
}

function quoted(name: string): string {
  return pg.escapeIdentifier(name)
}

/** The ClickHouse tables that store rows; on a cluster their names without `_local`. */
export async function selectEventTables({ clickhouse, config }: ClickHouseHandles): Promise<EventTable[]> {
  const tables = await query<EventTable>(
    clickhouse,
    `SELECT name, partition_key, primary_key, sorting_key, arrayMap(column -> column.2, arraySort(
      groupArrayIf((position, column), default_kind NOT IN ('EPHEMERAL', 'ALIAS', 'MATERIALIZED')))) AS columns
    FROM system.tables AS t INNER JOIN
      (SELECT table, name AS column, position, default_kind FROM system.columns WHERE database = currentDatabase()) AS c
      ON c.table = t.name
    WHERE database = currentDatabase() AND engine LIKE '%MergeTree'
    GROUP BY name, partition_key, primary_key, sorting_key ORDER BY name`,
    {},
  )
  return tables.map((table) =>
    config.CLICKHOUSE_CLUSTER ? { ...table, name: table.name.replace(/_local$/, '') } : table,
  )
}

/** Creates an empty ClickHouse table with the same columns, without materialized views and TTL. */
export async function makeCopy(handles: ClickHouseHandles, table: EventTable, copy: string): Promise<void> {
  const { partition_key, primary_key, sorting_key } = table
  const [local, cluster, on] = tableNames(handles)
  const partition = partition_key ? `PARTITION BY ${partition_key}` : ''
  const order = `PRIMARY KEY (${primary_key}) ORDER BY (${sorting_key})`
  await command(
    handles,
    `CREATE TABLE ${local(copy)} ${on} AS ${local(table.name)} ENGINE = MergeTree ${partition} ${order}`,
  )
  if (cluster) {
    const engine = `Distributed('${cluster}', currentDatabase(), ${local(copy)}, sipHash64(workspace_id))`
    await command(handles, `CREATE TABLE ${copy} ${on} AS ${local(copy)} ENGINE = ${engine}`)
  }
}

/** Attaches all partitions of one ClickHouse table to another, without copying files or triggering views. */
export async function attachAll(handles: ClickHouseHandles, from: string, to: string): Promise<void> {
  const [local, , on] = tableNames(handles)
  await command(handles, `ALTER TABLE ${local(to)} ${on} ATTACH PARTITION ALL FROM ${local(from)}`)
}

/** On a ClickHouse cluster, waits until all replicas of a table have the same rows. */
export async function syncReplicas(handles: ClickHouseHandles, name: string): Promise<void> {
  const [local, cluster, on] = tableNames(handles)
  if (cluster) await command(handles, `SYSTEM SYNC REPLICA ${on} ${local(name)}`)
}

export async function emptyTable(handles: ClickHouseHandles, name: string): Promise<void> {
  const [local, , on] = tableNames(handles)
  await command(handles, `TRUNCATE TABLE ${local(name)} ${on}`)
}

/** Drops a ClickHouse table without SYNC, which could wait forever for an interrupted reader. */
export async function dropCopy(handles: ClickHouseHandles, copy: string): Promise<void> {
  const [local, cluster, on] = tableNames(handles)
  if (cluster) await command(handles, `DROP TABLE IF EXISTS ${copy} ${on}`)
  await command(handles, `DROP TABLE IF EXISTS ${local(copy)} ${on}`)
}

export async function countRows(
  { clickhouse }: ClickHouseHandles,
  name: string,
): Promise<{ part: string; rows: number }[]> {
  const statement = `SELECT _partition_id AS part, count() AS rows FROM ${name} GROUP BY part ORDER BY part`
  const found = await query<{ part: string; rows: string }>(clickhouse, statement, {})
  return found.map(({ part, rows }) => ({ part, rows: Number(rows) }))
}

export async function readPart(
  { clickhouse }: ClickHouseHandles,
  copy: string,
  columns: string[],
  part: string,
): Promise<Readable> {
  const { stream } = await clickhouse.exec({
    query: `SELECT ${columns.join(', ')} FROM ${copy} WHERE _partition_id = {part:String} FORMAT TabSeparated`,
    query_params: { part },
    clickhouse_settings: { date_time_output_format: 'simple', max_execution_time: 0, max_threads: 2 },
  })
  return stream
}

export async function insertRows({ clickhouse }: ClickHouseHandles, copy: string, columns: string[], bytes: Buffer) {
  const { stream } = await clickhouse.exec({
    query: `INSERT INTO ${copy} (${columns.join(', ')}) FORMAT TabSeparated`,
    values: Readable.from([bytes], { objectMode: false }),
    clickhouse_settings: { async_insert: 0, distributed_foreground_insert: 1, max_execution_time: 0 },
  })
  stream.resume()
  for await (const _ of stream);
}

function tableNames({ config }: ClickHouseHandles): [(name: string) => string, string | undefined, string] {
  const cluster = config.CLICKHOUSE_CLUSTER
  return [(name) => (cluster ? `${name}_local` : name), cluster, cluster ? `ON CLUSTER '${cluster}'` : '']
}

// By default ClickHouse refuses to drop tables above 50 GB, even copies that share their files.
const unlimited = { max_execution_time: 0, max_table_size_to_drop: '0' }

async function command({ clickhouse }: ClickHouseHandles, statement: string): Promise<void> {
  await clickhouse.command({ query: statement, clickhouse_settings: unlimited })
}

/** PostgreSQL transactions that have been open for more than a minute. */
export async function selectLongTransactions(db: Db): Promise<Transaction[]> {
  const result = await sql<Transaction>`
    SELECT pid, application_name AS program, extract(epoch FROM now() - xact_start)::int AS seconds
    FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'
      AND xact_start < now() - interval '1 minute' ORDER BY xact_start`.execute(db)
  return result.rows
}

/** Runs `work` unless another rebuild is running; then returns undefined. */
export function withRebuildLock<R>(db: Db, work: () => Promise<R>): Promise<R | undefined> {
  return db.connection().execute(async (connection) => {
    const result = await sql<{ free: boolean }>`SELECT pg_try_advisory_lock(${locks.rebuild}) AS free`.execute(
      connection,
    )
    if (!result.rows[0]?.free) return undefined
    try {
      return await work()
    } finally {
      await sql`SELECT pg_advisory_unlock(${locks.rebuild})`.execute(connection)
    }
  })
}
