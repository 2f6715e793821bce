import { conflict, invalid } from '../platform/errors.ts'
import { appliedMigrations, knownMigrations, migrate } from '../platform/migrate.ts'
import { type BackupTable, checkManifest, type Manifest, migrationName } from './archive/manifest.ts'
import { inOrder } from './archive/order.ts'
import {
  type BackupLocation,
  isCopy,
  isLeftOut,
  readFile,
  readManifest,
  requireAlone,
  requireNoMigration,
} from './backup.ts'
import type { Handles } from './compare.ts'
import { restoreLinks, restorePartners } from './rebuild.ts'
import {
  allowMigrations,
  attachAll,
  begin,
  commit,
  copyIn,
  countRows,
  dropCopy,
  type EventTable,
  emptyTable,
  insertRows,
  makeCopy,
  openSession,
  type Session,
  selectEventTables,
  selectFilled,
  selectOthers,
  selectTables,
  setSequence,
  switchTriggers,
  truncate,
} from './store.ts'

export type RestoreOptions = {
  /** Replaces existing data. When false, the databases must be empty. */
  replace: boolean
  otherKeys: boolean
  unsigned: boolean
  keys: Manifest['keys']
}
export type Restored = { madeAt: string; rows: number; migrated: string[]; links: number }

// Sequences skip this many numbers: link numbers assigned after the backup are still in click ids and the event log.
const numbersSkipped = 1_000_000n

/**
 * Restores PostgreSQL and ClickHouse from a backup. Applies the backup's migrations first and newer ones at the end.
 * ClickHouse rows are loaded into staging tables, which are swapped in when all are complete.
 */
export async function restore(handles: Handles, source: BackupLocation, options: RestoreOptions): Promise<Restored> {
  const { config, clickhouse } = handles
  const backup = await readManifest(source.storage)
  const reading: Reading = {
    ...source,
    key: backup.encrypted ? config.BACKUP_KEY : undefined,
    count: counter(backup, source),
  }
  const session = await openSession(config)
  const staged: EventTable[] = []
  try {
    await requireAlone(session)
    await requireFit(handles, backup, options)
    await requireStopped(session)
    if (!options.replace) await requireEmpty(handles, session)
    const expected = new Set(backup.migrations.map(migrationName))
    await migrate(config, clickhouse, () => {}, { isSelected: (file) => expected.has(migrationName(file)) })
    await requireNoMigration(session)

    const tables = await eventTablesFor(handles, session, backup)
    for (const table of tables.filter((table) => !isLeftOut(table))) {
      await dropCopy(handles, stagedAs(table))
      await makeCopy(handles, table, stagedAs(table))
      staged.push(table)
    }
    for (const table of backup.tables) if (table.engine === 'clickhouse') await stage(handles, reading, table)
    await begin(session)
    await fillPostgres(reading, session, backup)
    await commit(session)
    await swapTables(handles, tables, staged)

    await allowMigrations(session)
    const migrated: string[] = []
    await migrate(config, clickhouse, (line) => migrated.push(line))
    const rows = reading.count(0)
    const links = await restoreLinks(handles, (text) => source.report(99, text))
    await restorePartners(handles, (text) => source.report(99, text))
    source.report(100, `${rows} rows`)
    return { madeAt: backup.madeAt, rows, migrated, links }
  } finally {
    for (const table of staged) await dropCopy(handles, stagedAs(table)).catch(() => {})
    await session.end().catch(() => {})
  }
}

/** Moves the staged rows into the ClickHouse tables. A failure leaves PostgreSQL restored and ClickHouse not. */
async function swapTables(handles: Handles, tables: EventTable[], staged: EventTable[]): Promise<void> {
  try {
    for (const { name } of tables) await emptyTable(handles, name)
    for (const table of staged) await attachAll(handles, stagedAs(table), table.name)
  } catch (error) {
    throw conflict(
      `PostgreSQL is restored, ClickHouse is not: ${(error as Error).message}. Do not start Tributary. Fix the problem, then restore again with --replace.`,
    )
  }
}

async function requireFit({ config }: Handles, backup: Manifest, { keys, ...trust }: RestoreOptions): Promise<void> {
  const [known, applied] = [await knownMigrations(), await appliedMigrations(config)]
  const refusal = checkManifest(backup, { known, applied, keys, key: config.BACKUP_KEY }, trust)
  if (refusal) throw conflict(refusal)
}

async function requireStopped(session: Session): Promise<void> {
  const others = await selectOthers(session)
  if (others.length > 0) {
    throw conflict(`Tributary processes are using this database: ${others.join(', ')}. Stop them, and try again.`)
  }
}

const filledByMigrations = ['database_incarnation', 'rollup_starts']

async function requireEmpty(handles: Handles, session: Session): Promise<void> {
  const names = (await selectTables(session)).map(({ name }) => name)
  const filled = await selectFilled(
    session,
    names.filter((name) => !filledByMigrations.includes(name)),
  )
  for (const { name } of await realTables(handles)) if ((await countRows(handles, name)).length > 0) filled.push(name)
  if (filled.length === 0) return
  throw conflict(
    `These tables are not empty: ${filled.join(', ')}. Set POSTGRES_URL and CLICKHOUSE_URL to empty databases; or restore with --replace, and lose the data in these databases.`,
  )
}

async function eventTablesFor(handles: Handles, session: Session, backup: Manifest): Promise<EventTable[]> {
  const tables = await realTables(handles)
  const present = new Set([
    ...(await selectTables(session)).flatMap((table) => listParts({ ...table, engine: 'postgres' })),
    ...tables.flatMap((table) => listParts({ ...table, engine: 'clickhouse' })),
  ])
  // Check table and column names, which become part of SQL: without BACKUP_KEY the manifest is not signed.
  const missing = backup.tables.flatMap(listParts).filter((name) => !present.has(name))
  if (missing.length === 0) return tables
  throw invalid(
    `The databases do not have these tables or columns of the backup: ${missing.join(', ')}. Set POSTGRES_URL and CLICKHOUSE_URL to two empty databases.`,
  )
}

function listParts(table: Pick<BackupTable, 'engine' | 'name' | 'columns'>): string[] {
  return [migrationName(table), ...table.columns.map((column) => `${migrationName(table)}.${column}`)]
}

async function realTables(handles: Handles): Promise<EventTable[]> {
  return (await selectEventTables(handles)).filter(({ name }) => !isCopy(name))
}

type Reading = BackupLocation & { key: Buffer | undefined; count: (rows: number, name?: string) => number }

function counter(backup: Manifest, { report }: BackupLocation): Reading['count'] {
  const expected = backup.tables.reduce((sum, { rows }) => sum + rows, 0)
  let done = 0
  return (rows, name) => {
    done += rows
    if (name) report(Math.min(99, Math.floor((done * 100) / (expected || 1))), `${done} of ${expected} rows, ${name}`)
    return done
  }
}

async function stage(handles: Handles, { storage, key, count }: Reading, table: BackupTable): Promise<void> {
  for (const file of table.files) {
    await insertRows(handles, stagedAs(table), table.columns, await readFile(storage, file, key))
    count(file.rows, migrationName(table))
  }
  const rows = (await countRows(handles, stagedAs(table))).reduce((sum, { rows }) => sum + rows, 0)
  if (rows !== table.rows) throw new Error(`${migrationName(table)}: ${rows} of ${table.rows} rows loaded. Try again.`)
}

/** Loads PostgreSQL's rows. The caller's transaction leaves PostgreSQL unchanged when the restore fails. */
async function fillPostgres({ storage, key, count }: Reading, session: Session, backup: Manifest): Promise<void> {
  const present = await selectTables(session)
  const names = present.map(({ name }) => name)
  // Before TRUNCATE, which triggers of tables that never change would refuse.
  await switchTriggers(session, names, 'DISABLE')
  await truncate(session, names)
  const stored = backup.tables.filter(({ engine }) => engine === 'postgres')
  for (const { name } of inOrder(present)) {
    for (const table of stored.filter((table) => table.name === name)) {
      for (const file of table.files) {
        const rows = await copyIn(session, table, await readFile(storage, file, key))
        if (rows !== file.rows) throw new Error(`${file.name}: ${rows} of ${file.rows} rows loaded. Try again.`)
        count(rows, migrationName(table))
      }
    }
  }
  await switchTriggers(session, names, 'ENABLE')
  for (const { name, last } of backup.sequences) await setSequence(session, name, BigInt(last) + numbersSkipped)
}

function stagedAs({ name }: { name: string }): string {
  return `restore_of_${name}`
}
