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

/** `manifest.json`, written last: without it there is no backup. */
export const manifest = z.object({
  format: z.literal(1),
  madeAt: z.iso.datetime(),
  /** Of the engines that it was made from. */
  versions: z.object({ postgres: z.string(), clickhouse: z.string() }),
  migrations: z.array(migration),
  /** By setting and id of the key, something that tells one key from another and nothing about it. */
  keys: prints,
  encrypted: z.boolean(),
  sequences: z.array(z.object({ name: z.string(), last: z.string() })),
  configuration: file,
  tables: z.array(table),
})
export type Manifest = z.infer<typeof manifest>
export type BackupFile = z.infer<typeof file>
export type BackupTable = z.infer<typeof table>
export type AppliedMigration = z.infer<typeof migration>

export type Here = {
  /** Files of this version, and what the database says of itself. */
  known: AppliedMigration[]
  applied: AppliedMigration[]
  keys: Manifest['keys']
  canDecrypt: boolean
}

/** Why a backup can't be restored here, and what to do. `otherKeys`: whoever asked knows that keys are missing. */
export function refusalOf(backup: Manifest, here: Here, otherKeys = false): string | undefined {
  if (backup.encrypted && !here.canDecrypt)
    return 'The backup is encrypted. Set BACKUP_KEY to the key it was made with.'
  const known = new Map(here.known.map((file) => [nameOf(file), file.checksum]))
  const foreign = backup.migrations.filter((file) => known.get(nameOf(file)) !== file.checksum).map(nameOf)
  if (foreign.length > 0) {
    return `The backup is of a newer or another version: this one does not know ${foreign.join(', ')}. Install the version that made it, or a newer one.`
  }
  const stored = new Set(backup.migrations.map(nameOf))
  const ahead = here.applied.filter((file) => !stored.has(nameOf(file))).map(nameOf)
  if (ahead.length > 0) {
    return `The backup is older than this database, which already has ${ahead.join(', ')}. Name empty databases in POSTGRES_URL and CLICKHOUSE_URL: what is missing is migrated after the restore.`
  }
  const missing = missingKeys(backup.keys, here.keys)
  if (missing.length > 0 && !otherKeys) {
    return `Keys of the backup are not set here: ${missing.join(', ')}. Add them behind the current ones; or restore with --other-keys, and lose what only they can read.`
  }
  return undefined
}

function missingKeys(wanted: Manifest['keys'], present: Manifest['keys']): string[] {
  return Object.entries(wanted).flatMap(([setting, keys]) =>
    Object.entries(keys).flatMap(([id, print]) => (present[setting]?.[id] === print ? [] : [`${setting} ${id}`])),
  )
}

export function nameOf({ engine, name }: { engine: string; name: string }): string {
  return `${engine}/${name}`
}
