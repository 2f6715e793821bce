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

/** `manifest.json`, written last: a backup without it is incomplete. */
export const manifest = z.object({
  format: z.literal(1),
  madeAt: z.iso.datetime(),
  /** The versions of the source engines. */
  versions: z.object({ postgres: z.string(), clickhouse: z.string() }),
  migrations: z.array(migration),
  /** A fingerprint of each key by setting and key id, which reveals nothing about the key. */
  keys: prints,
  encrypted: z.boolean(),
  sequences: z.array(z.object({ name: z.string(), last: z.string() })),
  configuration: file,
  tables: z.array(table),
  /** HMAC-SHA256 of the rest with BACKUP_KEY; earlier releases signed nothing. */
  signature: z.string().optional(),
})
export type Manifest = z.infer<typeof manifest>
export type BackupFile = z.infer<typeof file>
export type BackupTable = z.infer<typeof table>
export type AppliedMigration = z.infer<typeof migration>

export type Here = {
  /** The migrations of this version, and those recorded in the database. */
  known: AppliedMigration[]
  applied: AppliedMigration[]
  keys: Manifest['keys']
  /** BACKUP_KEY. */
  key: Buffer | undefined
}
export type Trust = {
  /** The caller accepts that keys are missing. */
  otherKeys?: boolean
  /** The caller vouches for an unsigned manifest. */
  unsigned?: boolean
}

/** Without the signature, in schema order, so that writer and reader get the same text. */
export function signManifest(backup: Manifest, key: Buffer): string {
  const { signature, ...rest } = manifest.parse(backup)
  return createHmac('sha256', key)
    .update(`tributary backup manifest\n${JSON.stringify(rest)}`)
    .digest('hex')
}

/** The reason the manifest can't be trusted with this key. */
export function distrust(backup: Manifest, key: Buffer | undefined, { unsigned = false }: Trust): string | undefined {
  if (backup.encrypted && !key) return 'The backup is encrypted. Set BACKUP_KEY to the key it was made with.'
  if (!key) return undefined
  if (!backup.encrypted) {
    return 'The backup is not encrypted, but BACKUP_KEY is set: somebody may have replaced it. To restore it anyway, unset BACKUP_KEY.'
  }
  if (backup.signature === undefined) {
    if (unsigned) return undefined
    return 'The manifest of the backup is not signed. If a release without signatures made it, and nobody else can write there, restore with --unsigned.'
  }
  if (timingSafeEqual(hash(backup.signature), hash(signManifest(backup, key)))) return undefined
  return 'The manifest of the backup was changed, or made with another BACKUP_KEY: its signature is wrong. Use the key it was made with, or another backup.'
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** The reason a backup can't be restored here, and the remedy. */
export function checkManifest(backup: Manifest, here: Here, trust: Trust = {}): string | undefined {
  const doubt = distrust(backup, here.key, trust)
  if (doubt) return doubt
  const known = new Map(here.known.map((file) => [migrationName(file), file.checksum]))
  const foreign = backup.migrations
    .filter((file) => known.get(migrationName(file)) !== file.checksum)
    .map(migrationName)
  if (foreign.length > 0) {
    return `The backup is from a newer or a different version: this one does not know ${foreign.join(', ')}. Install the version that made it, or a newer one.`
  }
  const stored = new Set(backup.migrations.map(migrationName))
  const ahead = here.applied.filter((file) => !stored.has(migrationName(file))).map(migrationName)
  if (ahead.length > 0) {
    return `The backup is older than this database, which already has ${ahead.join(', ')}. Set POSTGRES_URL and CLICKHOUSE_URL to empty databases: missing migrations are applied after the restore.`
  }
  const missing = missingKeys(backup.keys, here.keys)
  if (missing.length > 0 && !trust.otherKeys) {
    return `Keys of the backup are not set here: ${missing.join(', ')}. Add them after the current ones; or restore with --other-keys, and lose the data that only they can decrypt.`
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
