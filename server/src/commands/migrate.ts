import { defineCommand } from 'citty'
import { readServer } from '../platform/clickhouse.ts'
import { judgeVersions } from '../platform/engine-versions.ts'
import { openLog } from '../platform/log.ts'
import { migrate } from '../platform/migrate.ts'
import { ensureStreams, openNats } from '../platform/nats.ts'
import { postgresVersion } from '../platform/postgres.ts'
import { jsonFlag, onDatabases, print } from './run.ts'

export const migrateCommand = defineCommand({
  meta: { name: 'migrate', description: 'Apply pending migrations to PostgreSQL, ClickHouse and the event log' },
  args: jsonFlag,
  run: ({ args }) =>
    onDatabases(async ({ config, db, clickhouse }) => {
      judgeVersions({ postgres: await postgresVersion(db), clickhouse: (await readServer(clickhouse)).version })
      const applied: string[] = []
      await migrate(config, clickhouse, (line) => {
        applied.push(line)
        console.error(line)
      })
      const nats = await openNats(config, openLog('silent'))
      try {
        judgeVersions({ nats: nats.info?.version })
        await ensureStreams(nats, config)
      } finally {
        await nats.close()
      }
      print(
        args.json,
        { applied },
        applied.length > 0 ? `${applied.length} migrations applied.` : 'No migrations are pending.',
      )
    }),
})
