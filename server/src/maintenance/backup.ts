import { eventTables } from '../features/event-storage/service.ts'
import { pauseAllIngest } from '../features/ingest/service.ts'
import { partnerAttributesTable } from '../features/partner-attributes/service.ts'
import { pauseExport } from '../features/track/service.ts'
import { readServer } from '../platform/clickhouse.ts'
import { conflict, invalid } from '../platform/errors.ts'
import { appliedMigrations } from '../platform/migrate.ts'
import type { ObjectStorage } from '../platform/object-storage.ts'
import { postgresVersion } from '../platform/postgres.ts'
import { splitChunks } from './archive/chunks.ts'
import {
  type BackupFile,
  type BackupTable,
  distrust,
  type Manifest,
  manifest,
  signManifest,
  type Trust,
} from './archive/manifest.ts'
import { computeChecksum, pack, unpack } from './archive/pack.ts'
import type { Handles } from './compare.ts'
import {
  attachAll,
  beginSnapshot,
  copyOut,
  countRows,
  dropCopy,
  type EventTable,
  forbidMigrations,
  lockBackups,
  makeCopy,
  openSession,
  type PostgresTable,
  readPart,
  type Session,
  selectEventTables,
  selectSequences,
  selectTables,
  syncReplicas,
} from './store.ts'

export type Report = (percent: number, text: string) => void
export type BackupLocation = { storage: ObjectStorage; report: Report }
/** The server's settings for the backup: as an .env file, and the fingerprints of the keys in them. */
export type Settings = { configuration: string; keys: Manifest['keys'] }

const manifestName = 'manifest.json'
const configurationName = 'configuration.env'
const chunkBytes = 8 * 1024 * 1024

const rebuilt: string[] = [eventTables.attributes, partnerAttributesTable, 'database_marks']

/** Whether a backup skips this ClickHouse table: it can be rebuilt from PostgreSQL, or is temporary. */
export function isLeftOut({ name }: { name: string }): boolean {
  return rebuilt.includes(name) || name.endsWith('_staged') || isCopy(name)
}

export function isCopy(name: string): boolean {
  return /^(backup_of|restore_of)_/.test(name)
}

/**
 * Makes a consistent backup: reads PostgreSQL in one snapshot, and ClickHouse from table copies made at that moment,
 * which share the original tables' files. Only workers pause, while the copies are made.
 */
export async function backup(handles: Handles, destination: BackupLocation, settings: Settings): Promise<Manifest> {
  const { storage } = destination
  if (await storage.get(manifestName)) {
    throw conflict(`${storage.location} already has a backup. Choose a new folder, or remove that backup.`)
  }
  const session = await openSession(handles.config)
  const copies: Copy[] = []
  try {
    await requireAlone(session)
    await requireNoMigration(session)
    const tables = (await selectEventTables(handles)).filter((table) => !isLeftOut(table))
    for (const table of tables) await dropCopy(handles, copyName(table))
    for (const table of tables) {
      await makeCopy(handles, table, copyName(table))
      copies.push({ table, name: copyName(table) })
    }
    let madeAt = new Date()
    await pauseStoring(handles, async () => {
      madeAt = await beginSnapshot(session)
      await Promise.all(copies.map((copy) => fill(handles, copy)))
    })
    return await write(handles, destination, settings, { session, copies, madeAt })
  } finally {
    for (const { name } of copies) await dropCopy(handles, name).catch(() => {})
    await session.end().catch(() => {})
  }
}

/** Runs `work` while workers store nothing, so that the counters in PostgreSQL match the rows in ClickHouse. */
function pauseStoring(handles: Handles, work: () => Promise<void>): Promise<void> {
  return pauseAllIngest(handles, ({ db }) => pauseExport({ ...handles, db }, work))
}

async function fill(handles: Handles, { table, name }: Copy): Promise<void> {
  await syncReplicas(handles, table.name)
  await attachAll(handles, table.name, name)
}

export async function requireAlone(session: Session): Promise<void> {
  if (!(await lockBackups(session))) throw conflict('Another backup or restore is running. Wait for it to end.')
}

/** Blocks migrations: one would wait for the tables that the backup reads, and all processes would wait for it. */
export async function requireNoMigration(session: Session): Promise<void> {
  if (!(await forbidMigrations(session))) throw conflict('A migration is running. Wait for it to end, and try again.')
}

type Copy = { table: EventTable; name: string }
type Moment = { session: Session; copies: Copy[]; madeAt: Date }

async function write(
  handles: Handles,
  { storage, report }: BackupLocation,
  { configuration, keys }: Settings,
  { session, copies, madeAt }: Moment,
): Promise<Manifest> {
  const { config, db, clickhouse } = handles
  const key = config.BACKUP_KEY
  const postgres = await selectTables(session)
  const events = []
  for (const copy of copies) events.push({ ...copy, parts: await countRows(handles, copy.name) })
  const expected = sum(postgres.map((table) => table.rowsEstimated)) + sum(events.flatMap(countPartRows))
  let done = 0
  const tally = (name: string) => (rows: number) => {
    done += rows
    report(Math.min(99, Math.floor((done * 100) / (expected || 1))), `${done} rows, ${name}`)
  }

  const tables: BackupTable[] = []
  for (const table of postgres) tables.push(await writePostgres(session, table, { storage, key, tally }))
  for (const copy of events) tables.push(await writeEvents(handles, copy, { storage, key, tally }))
  const made: Manifest = {
    format: 1,
    madeAt: madeAt.toISOString(),
    versions: { postgres: await postgresVersion(db), clickhouse: (await readServer(clickhouse)).version },
    migrations: await appliedMigrations(config),
    keys,
    encrypted: key !== undefined,
    sequences: await selectSequences(session),
    configuration: await putFile({ storage, key }, configurationName, {
      bytes: Buffer.from(configuration),
      rows: 0,
    }),
    tables,
  }
  const signed = key ? { ...made, signature: signManifest(made, key) } : made
  await storage.put(manifestName, Buffer.from(JSON.stringify(signed, null, 1)))
  report(100, `${done} rows`)
  return made
}

type Writing = Pick<BackupLocation, 'storage'> & {
  key: Buffer | undefined
  tally: (name: string) => (rows: number) => void
}

async function writePostgres(session: Session, table: PostgresTable, writing: Writing): Promise<BackupTable> {
  const files = await putChunks(writing, `postgres/${table.name}`, copyOut(session, table))
  return {
    engine: 'postgres',
    name: table.name,
    columns: table.columns,
    rows: sum(files.map(({ rows }) => rows)),
    files,
  }
}

async function writeEvents(
  handles: Handles,
  { table, name, parts }: Copy & { parts: { part: string; rows: number }[] },
  writing: Writing,
): Promise<BackupTable> {
  const files: BackupFile[] = []
  for (const { part, rows } of parts) {
    const stream = await readPart(handles, name, table.columns, part)
    const written = await putChunks(writing, `clickhouse/${table.name}/${part}`, stream)
    const found = sum(written.map(({ rows }) => rows))
    // Compare the number of rows, because a truncated ClickHouse response can end like a complete one.
    if (found !== rows) throw new Error(`ClickHouse sent ${found} of ${rows} rows of ${table.name} ${part}. Try again.`)
    files.push(...written)
  }
  return {
    engine: 'clickhouse',
    name: table.name,
    columns: table.columns,
    rows: sum(parts.map(({ rows }) => rows)),
    files,
  }
}

/** Stores a stream as backup files; reads the next chunk while the previous one is compressed and stored. */
async function putChunks(writing: Writing, name: string, source: AsyncIterable<Buffer>): Promise<BackupFile[]> {
  const files: BackupFile[] = []
  const tally = writing.tally(name)
  let storing: Promise<void> = Promise.resolve()
  let count = 0
  for await (const chunk of splitChunks(source, chunkBytes)) {
    await storing
    count += 1
    const path = `${name}-${String(count).padStart(5, '0')}.tsv.zst${writing.key ? '.aes' : ''}`
    storing = putFile(writing, path, chunk).then((file) => {
      files.push(file)
      tally(chunk.rows)
    })
    // Prevents an unhandled rejection: `storing` is awaited in the next iteration.
    storing.catch(() => {})
  }
  await storing
  return files
}

async function putFile(
  { storage, key }: Pick<Writing, 'storage' | 'key'>,
  name: string,
  { bytes, rows }: { bytes: Buffer; rows: number },
): Promise<BackupFile> {
  const packed = await pack(name, bytes, key)
  await storage.put(name, packed)
  return { name, rows, bytes: packed.length, sha256: computeChecksum(packed) }
}

export async function readManifest(storage: ObjectStorage): Promise<Manifest> {
  const bytes = await storage.get(manifestName)
  if (!bytes) throw invalid(`${storage.location} has no complete backup: ${manifestName} is missing.`)
  const found = manifest.safeParse(parsed(bytes))
  if (!found.success)
    throw invalid(`${manifestName} in ${storage.location} is invalid. It may be from a newer version.`)
  return found.data
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return undefined
  }
}

export async function readFile(storage: ObjectStorage, file: BackupFile, key: Buffer | undefined): Promise<Buffer> {
  const bytes = await storage.get(file.name)
  if (!bytes)
    throw invalid(`${file.name} is missing in ${storage.location}. The backup is incomplete: use another one.`)
  if (computeChecksum(bytes) !== file.sha256) {
    throw invalid(`${file.name} in ${storage.location} is damaged: its checksum differs. Use another backup.`)
  }
  return unpack(file.name, bytes, key).catch((cause) => {
    const advice = key ? 'Check that BACKUP_KEY is the key that the backup was made with.' : 'Use another backup.'
    throw invalid(`${file.name} can't be decrypted or decompressed: ${cause.message}. ${advice}`)
  })
}

/** Reads the server's settings from a backup, as an .env file. */
export async function readConfiguration(
  storage: ObjectStorage,
  key: Buffer | undefined,
  trust: Trust = {},
): Promise<string> {
  const backup = await readManifest(storage)
  const doubt = distrust(backup, key, trust)
  if (doubt) throw invalid(doubt)
  return (await readFile(storage, backup.configuration, backup.encrypted ? key : undefined)).toString('utf8')
}

function copyName({ name }: { name: string }): string {
  return `backup_of_${name}`
}

function countPartRows({ parts }: { parts: { rows: number }[] }): number[] {
  return parts.map(({ rows }) => rows)
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
