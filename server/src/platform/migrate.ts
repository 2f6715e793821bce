import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import type pg from 'pg'
import type { ClickHouse } from './clickhouse.ts'
import { sleep } from './clock.ts'
import type { Config } from './config.ts'
import { locks } from './locks.ts'
import { isLockTimeout, openConnection } from './postgres.ts'

const ours = new URL('../../migrations/', import.meta.url)
export const migrationTable = 'migrations'
// A statement that waits for a table lock blocks all later ones on that table, so migrations time out soon and retry.
const lockTimeoutMs = 2_000
const lockAttempts = 60
const turnIntervalMs = 200

export class MigrationError extends Error {}

type Migration = { engine: 'postgres' | 'clickhouse'; name: string; text: string; checksum: string }
type MigrationName = Omit<Migration, 'text'>
type MigrateOptions = { folder?: URL; isSelected?: (migration: MigrationName) => boolean }

/**
 * Applies all pending PostgreSQL and ClickHouse migrations, or only the selected ones; safe to run concurrently and
 * while other processes serve. A PostgreSQL migration commits together with its record. ClickHouse statements are
 * repeatable, so an interrupted file runs again.
 */
export async function migrate(
  config: Config,
  clickhouse: ClickHouse,
  report: (line: string) => void,
  { folder = ours, isSelected = () => true }: MigrateOptions = {},
): Promise<number> {
  const connection = openConnection(config)
  await connection.connect()
  try {
    // Makes PostgreSQL notice a killed client, whose statement would otherwise continue and keep the migration lock.
    await connection.query("SET client_connection_check_interval = '1s'").catch(() => {})
    await takeTurn(connection)
    await connection.query(`CREATE TABLE IF NOT EXISTS migrations (
      engine text, name text, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (engine, name))`)
    if (await isEmptyServer(clickhouse, config))
      await connection.query("DELETE FROM migrations WHERE engine = 'clickhouse'")
    const known = new Map((await selectApplied(connection)).map((row) => [migrationName(row), row.checksum]))
    let count = 0
    const selected = (await readAll(folder)).filter(isSelected)
    for (const [index, migration] of selected.entries()) {
      const checksum = known.get(migrationName(migration))
      if (checksum === migration.checksum) continue
      if (checksum)
        throw new MigrationError(`${migrationName(migration)} was changed after it was applied. Add a new file.`)
      report(`${migration.engine}: ${migration.name}`)
      if (migration.engine === 'postgres') await applyPostgres(connection, migration)
      else await applyClickHouse(connection, migration, { clickhouse, config, later: selected.slice(index + 1) })
      count += 1
    }
    await capSystemLogs(clickhouse, config)
    return count
  } finally {
    await connection.end()
  }
}

/**
 * Whether ClickHouse has no tables, so that a new server in place of a lost one gets all of them again. A replica of a cluster
 * gets them from its cluster.
 */
async function isEmptyServer(clickhouse: ClickHouse, { CLICKHOUSE_CLUSTER: cluster }: Config): Promise<boolean> {
  if (cluster) return false
  const found = await clickhouse.query({
    query: 'SELECT 1 FROM system.tables WHERE database = currentDatabase() LIMIT 1',
    format: 'JSONEachRow',
  })
  return (await found.json()).length === 0
}

/** Lists the migrations of this release, in order. */
export async function knownMigrations(folder: URL = ours): Promise<MigrationName[]> {
  return (await readAll(folder)).map(({ text: _, ...migration }) => migration)
}

/** Lists applied migrations; empty before the first run. */
export async function appliedMigrations(config: Config): Promise<MigrationName[]> {
  const connection = openConnection(config)
  await connection.connect()
  try {
    const found = await connection.query('SELECT to_regclass($1) IS NOT NULL AS there', [migrationTable])
    return found.rows[0].there ? await selectApplied(connection) : []
  } finally {
    await connection.end()
  }
}

async function selectApplied(connection: pg.Client): Promise<MigrationName[]> {
  return (await connection.query('SELECT engine, name, checksum FROM migrations ORDER BY engine DESC, name')).rows
}

async function readAll(folder: URL): Promise<Migration[]> {
  return [...(await read(folder, 'postgres')), ...(await read(folder, 'clickhouse'))]
}

async function read(folder: URL, engine: Migration['engine']): Promise<Migration[]> {
  const directory = new URL(`${engine}/`, folder)
  const names = (await readdir(directory)).filter((name) => name.endsWith('.sql')).sort()
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(new URL(name, directory), 'utf8')
      return { engine, name, text, checksum: createHash('sha256').update(text).digest('hex') }
    }),
  )
}

/** Waits for the migration lock. It polls, because CREATE INDEX CONCURRENTLY would wait for a blocked statement forever. */
async function takeTurn(connection: pg.Client): Promise<void> {
  const ask = () => connection.query('SELECT pg_try_advisory_lock($1) AS taken', [locks.migrations])
  while (!(await ask()).rows[0].taken) await sleep(turnIntervalMs)
}

async function applyPostgres(connection: pg.Client, migration: Migration): Promise<void> {
  if (/^-- outside a transaction\b/i.test(migration.text)) return applyStatements(connection, migration)
  for (let attempt = 1; ; attempt++) {
    try {
      await connection.query('BEGIN')
      await connection.query(`SET LOCAL lock_timeout = ${lockTimeoutMs}`)
      await connection.query(migration.text)
      await record(connection, migration)
      await connection.query('COMMIT')
      return
    } catch (error) {
      await connection.query('ROLLBACK').catch(() => {})
      if (isLockTimeout(error) && attempt < lockAttempts) {
        await sleep(lockTimeoutMs)
        continue
      }
      const advice = isLockTimeout(error) ? '. A long transaction holds the lock: end it, then retry' : ''
      const reason = `${(error as Error).message}${advice}`
      throw new MigrationError(`${migrationName(migration)} failed and was rolled back: ${reason}`, {
        cause: error,
      })
    }
  }
}

/** Applies a migration outside a transaction, such as CREATE INDEX CONCURRENTLY. Its statements must be repeatable. */
async function applyStatements(connection: pg.Client, migration: Migration): Promise<void> {
  try {
    for (const statement of splitStatements(migration.text)) await connection.query(statement)
  } catch (error) {
    const reason = (error as Error).message
    throw new MigrationError(`${migrationName(migration)} failed and will run again from its start: ${reason}`, {
      cause: error,
    })
  }
  await record(connection, migration)
}

type ClickHouseRun = { clickhouse: ClickHouse; config: Config; later: Migration[] }

async function applyClickHouse(
  connection: pg.Client,
  migration: Migration,
  { clickhouse, config, later }: ClickHouseRun,
) {
  const read = ({ text }: Migration) => clickHouseStatements(text, config.CLICKHOUSE_CLUSTER)
  // A view that a later migration changes again is not changed now: meanwhile it would count less than it did.
  const changedLater = new Set(later.flatMap(read).map(findChangedView))
  try {
    for (const statement of read(migration)) {
      const view = findChangedView(statement)
      if (view === undefined || !changedLater.has(view)) await clickhouse.command({ query: statement })
    }
  } catch (error) {
    const reason = (error as Error).message
    throw new MigrationError(`${migrationName(migration)} failed and will run again from its start: ${reason}`, {
      cause: error,
    })
  }
  await record(connection, migration)
}

function findChangedView(statement: string): string | undefined {
  return /^ALTER TABLE (\S+) .*?MODIFY QUERY/.exec(statement)?.[1]
}

function migrationName({ engine, name }: MigrationName): string {
  return `${engine}/${name}`
}

async function record(connection: pg.Client, { engine, name, checksum }: Migration): Promise<void> {
  await connection.query('INSERT INTO migrations (engine, name, checksum) VALUES ($1, $2, $3)', [
    engine,
    name,
    checksum,
  ])
}

/**
 * Expands `{table:x}`, `{engine:MergeTree(args)}` and `{distributed:x:key}`: on one server to the table and its engine,
 * on a cluster to a Replicated `x_local` on every node and a Distributed `x` over them. Views read from and write to
 * `{local:x}`; ALTER statements of `x` are repeated as `{distributed-alter:x:change}`.
 */
export function clickHouseStatements(text: string, cluster: string | undefined): string[] {
  const filled = text
    .replaceAll(/\{table:(\w+)\}/g, (_, table) => (cluster ? `${table}_local ON CLUSTER '${cluster}'` : table))
    .replaceAll(/\{local:(\w+)\}/g, (_, table) => (cluster ? `${table}_local` : table))
    .replaceAll(/\{engine:(\w*MergeTree)\((.*?)\)\}/g, (_, engine, args) => {
      const path = "'/clickhouse/tables/{shard}/{database}/{table}', '{replica}'"
      return cluster ? `Replicated${engine}(${[path, args].filter(Boolean).join(', ')})` : `${engine}(${args})`
    })
    .replaceAll(/\{distributed:(\w+):(.+?)\}/g, (_, table, key) =>
      cluster
        ? `CREATE TABLE IF NOT EXISTS ${table} ON CLUSTER '${cluster}' AS ${table}_local
           ENGINE = Distributed('${cluster}', currentDatabase(), ${table}_local, ${key})`
        : '',
    )
    .replaceAll(/\{distributed-alter:(\w+):(.+?)\}/g, (_, table, change) =>
      cluster ? `ALTER TABLE ${table} ON CLUSTER '${cluster}' ${change}` : '',
    )
  return splitStatements(filled)
}

function splitStatements(text: string): string[] {
  return text
    .replaceAll(/^--.*$/gm, '')
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter(Boolean)
}

/** Sets a TTL on ClickHouse's own logs, which by default grow until they fill a small disk. */
async function capSystemLogs(clickhouse: ClickHouse, { CLICKHOUSE_CLUSTER: cluster }: Config): Promise<void> {
  const found = await clickhouse.query({
    query: `SELECT name FROM system.tables WHERE database = 'system' AND name LIKE '%\\_log' AND engine LIKE '%MergeTree'
            AND position(create_table_query, 'TTL') = 0`,
    format: 'JSONEachRow',
  })
  for (const { name } of await found.json<{ name: string }>()) {
    const where = cluster ? ` ON CLUSTER '${cluster}'` : ''
    await clickhouse.command({ query: `ALTER TABLE system.${name}${where} MODIFY TTL event_date + INTERVAL 3 DAY` })
  }
}
