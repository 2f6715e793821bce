import { defineCommand } from 'citty'
import { readConfiguration } from '../maintenance/backup.ts'
import { restore } from '../maintenance/restore.ts'
import { keyPrints, readSome } from '../platform/config.ts'
import { openObjectStorage } from '../platform/object-storage.ts'
import { progress } from './progress.ts'
import { jsonFlag, onDatabases, print, reportProblems } from './run.ts'

export const restoreCommand = defineCommand({
  meta: {
    name: 'restore',
    description: 'Restore a backup into empty databases. Stop all processes first, and start them afterwards',
  },
  args: {
    from: { type: 'positional', description: 'Folder of the backup, or s3://bucket/folder', required: true },
    replace: { type: 'boolean', description: 'Replace the current data in the databases', default: false },
    'other-keys': { type: 'boolean', description: 'Restore even if keys of the backup are missing', default: false },
    unsigned: { type: 'boolean', description: 'Trust a manifest that an earlier release did not sign', default: false },
    configuration: { type: 'boolean', description: 'Only print the settings in the backup', default: false },
    ...jsonFlag,
  },
  run: ({ args }) => (args.configuration ? printConfiguration(args.from, args) : restoreFrom(args)),
})

const patienceMs = 600_000

type Arguments = { from: string; replace: boolean; 'other-keys': boolean; unsigned: boolean; json: boolean }

function restoreFrom(args: Arguments): Promise<void> {
  return onDatabases(async (handles) => {
    const report = progress()
    const storage = openObjectStorage(handles.config, args.from)
    const options = { replace: args.replace, otherKeys: args['other-keys'], unsigned: args.unsigned, keys: keyPrints() }
    const restored = await restore(handles, { storage, report }, options)
    const lines = [`Restored the state of ${restored.madeAt}: ${restored.rows} rows, ${restored.links} links.`]
    if (restored.migrated.length > 0) lines.push(`Migrations applied afterwards: ${restored.migrated.length}.`)
    lines.push('Next: start the processes, then tributary verify.')
    print(args.json, restored, lines.join('\n'))
  }, patienceMs)
}

/** Prints the settings in a backup. Needs no database, because a new machine may have none yet. */
function printConfiguration(from: string, trust: Pick<Arguments, 'unsigned'>): Promise<void> {
  return reportProblems(async () => {
    const { BACKUP_KEY, ...settings } = readSome([
      'BACKUP_S3_ENDPOINT',
      'BACKUP_S3_REGION',
      'BACKUP_S3_ACCESS_KEY',
      'BACKUP_S3_SECRET_KEY',
      'BACKUP_KEY',
    ])
    process.stdout.write(await readConfiguration(openObjectStorage(settings, from), BACKUP_KEY, trust))
  })
}
