import { once } from 'node:events'
import { flushCompileCache } from 'node:module'
import { startRole } from '../server/src/commands/serve-role.ts'
import { openClickHouse } from '../server/src/platform/clickhouse.ts'
import { type Config, readConfig } from '../server/src/platform/config.ts'
import { openLog } from '../server/src/platform/log.ts'
import { migrate } from '../server/src/platform/migrate.ts'
import '../server/src/roles/api.ts'
import '../server/src/roles/redirect.ts'
import '../server/src/roles/worker.ts'

/** Runs all roles in this process, because three processes would load most files three times. */
export async function serveAllRoles(migrates: boolean, stopped: Promise<unknown>): Promise<void> {
  const config = readConfig()
  if (migrates) await migrateDatabases(config)
  const mayStart = once(process, 'message')
  process.send?.('loaded')
  flushCompileCache()
  await Promise.race([mayStart, stopped])
  await using _running = await startRole(config, openLog(config.LOG_LEVEL))
  process.send?.('ready')
  await stopped
}

async function migrateDatabases(config: Config): Promise<void> {
  const clickhouse = openClickHouse(config)
  const count = await migrate(config, clickhouse, () => {})
  await clickhouse.close()
  if (count > 0) console.error(`Applied ${count} migrations.`)
}
