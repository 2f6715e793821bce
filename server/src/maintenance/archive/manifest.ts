import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'

const file = z.object({ name: z.string(), rows: z.number(), bytes: z.number(), sha256: z.string() })
const table = z.object({
  engine: z.enum(['postgres', 'clickhouse']),
  name: z.string(),
  columns: z.array(z.string()),
  rows: z.number(),
  files: z.array(file),
})
const migration = z.object({ engine: z.string(), name: z.string(), checksum: z.string() })
const prints = z.record(z.string(), z.record(z.string(), z.string()))

/** The `manifest.json` of a backup. It is written last: a backup without it is incomplete. */
export const manifest = z.object({
  format: z.literal(1),
  madeAt: z.iso.datetime(),
  /** The versions of PostgreSQL and ClickHouse that the backup was made from. */
  versions: z.object({ postgres: z.string(), clickhouse: z.string() }),
  migrations: z.array(migration),
  /** A one-way fingerprint of each encryption or signing key, by setting and key id. */
  keys: prints,
  encrypted: z.boolean(),
  sequences: z.array(z.object({ name: z.string(), last: z.string() })),
  configuration: file,
  tables: z.array(table),
  /** HMAC-SHA256 of the other fields with BACKUP_KEY; absent in backups of earlier releases. */
  signature: z.string().optional(),
})
export type Manifest = z.infer<typeof manifest>
export type BackupFile = z.infer<typeof file>
export type BackupTable = z.infer<typeof table>
export type AppliedMigration = z.infer<typeof migration>

export type Here = {
  /** The migrations of this release (`known`), and those recorded in the database (`applied`). */
  known: AppliedMigration[]
  applied: AppliedMigration[]
  keys: Manifest['keys']
  /** The value of BACKUP_KEY. */
  key: Buffer | undefined
}
export type Trust = {
  /** Accepts a backup whose encryption or signing keys are not configured here. */
  otherKeys?: boolean
  /** Accepts an unsigned manifest. */
  unsigned?: boolean
}

/** Signs a manifest. Parsing puts its fields in schema order, so that writer and reader sign the same text. */
export function signManifest(backup: Manifest, key: Buffer): string {
  const { signature, ...rest } = manifest.parse(backup)
  return createHmac('sha256', key)
    .update(`tributary backup manifest\n${JSON.stringify(rest)}`)
    .digest('hex')
}

/** The reason why a backup's manifest can't be trusted, or undefined. */
export function distrust(backup: Manifest, key: Buffer | undefined, { unsigned = false }: Trust): string | undefined {
  if (backup.encrypted && !key) return 'The backup is encrypted. Set BACKUP_KEY to the key of the backup.'
  if (!key) return undefined
  if (!backup.encrypted) {
    return 'The backup is not encrypted, but BACKUP_KEY is set: somebody may have replaced the backup. To restore it anyway, unset BACKUP_KEY.'
  }
  if (backup.signature === undefined) {
    if (unsigned) return undefined
    return 'The manifest of the backup is not signed. If an earlier release made the backup, and nobody else can write to its folder, restore with --unsigned.'
  }
  if (timingSafeEqual(hash(backup.signature), hash(signManifest(backup, key)))) return undefined
  return 'The signature of the backup manifest is wrong: the manifest was changed, or BACKUP_KEY is another key. Use the key that the backup was made with, or another backup.'
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** The reason why a backup can't be restored into these databases, with the remedy, or undefined. */
export function checkManifest(backup: Manifest, here: Here, trust: Trust = {}): string | undefined {
  const doubt = distrust(backup, here.key, trust)
  if (doubt) return doubt
  const known = new Map(here.known.map((file) => [migrationName(file), file.checksum]))
  const foreign = backup.migrations
    .filter((file) => known.get(migrationName(file)) !== file.checksum)
    .map(migrationName)
  if (foreign.length > 0) {
    return `The backup is from a newer or different version: this version has no migrations ${foreign.join(', ')}. Install the version that made the backup, or a newer one.`
  }
  const stored = new Set(backup.migrations.map(migrationName))
  const ahead = here.applied.filter((file) => !stored.has(migrationName(file))).map(migrationName)
  if (ahead.length > 0) {
    return `The backup is older than this database, which already has ${ahead.join(', ')}. Set POSTGRES_URL and CLICKHOUSE_URL to empty databases: missing migrations are applied after the restore.`
  }
  const missing = missingKeys(backup.keys, here.keys)
  if (missing.length > 0 && !trust.otherKeys) {
    return `Keys that the backup was made with are not configured: ${missing.join(', ')}. Add them after the current keys; or restore with --other-keys, and lose the data that only these keys can decrypt.`
  }
  return undefined
}

function missingKeys(expected: Manifest['keys'], present: Manifest['keys']): string[] {
  return Object.entries(expected).flatMap(([setting, keys]) =>
    Object.entries(keys).flatMap(([id, print]) => (present[setting]?.[id] === print ? [] : [`${setting} ${id}`])),
  )
}

export function migrationName({ engine, name }: { engine: string; name: string }): string {
  return `${engine}/${name}`
}
