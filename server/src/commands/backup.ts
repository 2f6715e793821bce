import { defineCommand } from 'citty'
import { backup, type Report } from '../maintenance/backup.ts'
import { configLines, keyPrints } from '../platform/config.ts'
import { openObjectStorage } from '../platform/object-storage.ts'
import { progress } from './progress.ts'
import { tryToRecord } from './record-run.ts'
import { type Handles, jsonFlag, onDatabases, print, size } from './run.ts'

export const backupCommand = defineCommand({
  meta: {
    name: 'backup',
    description: 'Back up PostgreSQL, ClickHouse and the settings, as one consistent snapshot, to a folder or S3',
  },
  args: {
    to: { type: 'positional', description: 'A new folder, or s3://bucket/folder', required: true },
    ...jsonFlag,
  },
  run: ({ args }) =>
    onDatabases(async (handles) => {
      const report: Report = progress()
      const storage = openObjectStorage(handles.config, args.to)
      const isEncrypted = handles.config.BACKUP_KEY !== undefined
      const settings = { configuration: `${configLines(isEncrypted).join('\n')}\n`, keys: keyPrints() }
      const made = await recorded(handles, storage.location, () => backup(handles, { storage, report }, settings))
      const files = made.tables.flatMap((table) => table.files)
      const rows = made.tables.reduce((sum, table) => sum + table.rows, 0)
      const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
      const keys = isEncrypted
        ? 'The backup is encrypted and contains all settings with their secrets. Store BACKUP_KEY elsewhere.'
        : 'The backup is not encrypted and contains personal data, but no keys. Store CLICK_ID_KEYS and ENCRYPTION_KEYS elsewhere.'
      print(
        args.json,
        { location: storage.location, madeAt: made.madeAt, rows, files: files.length, bytes, encrypted: isEncrypted },
        `${storage.location} has the state of ${made.madeAt}: ${rows} rows in ${files.length} files, ${size(bytes)}.\n${keys}`,
      )
    }, patienceMs),
})

type Made = Awaited<ReturnType<typeof backup>>

/** Runs a backup and records when it ended and how, so that operators see the age of the last one. */
async function recorded(handles: Handles, location: string, make: () => Promise<Made>): Promise<Made> {
  const startedAt = new Date()
  try {
    const made = await make()
    const bytes = made.tables.flatMap((table) => table.files).reduce((sum, file) => sum + file.bytes, 0)
    const details = { location, bytes, encrypted: made.encrypted }
    await tryToRecord(handles, 'backup', { startedAt, isSuccessful: true, details })
    return made
  } catch (error) {
    const details = { location, problem: (error as Error).message }
    await tryToRecord(handles, 'backup', { startedAt, isSuccessful: false, details })
    throw error
  }
}

// The ClickHouse timeout of a backup: reading waits while a file is stored, which may take long.
const patienceMs = 600_000
