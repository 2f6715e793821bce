import { sleep } from '../platform/clock.ts'
import type { Platform } from '../platform/context.ts'
import { appliedMigrations, knownMigrations } from '../platform/migrate.ts'
import { type Check, judgeMigrations, judgeTransactions, judgeVersions } from './decide-upgrade.ts'
import { selectLongTransactions, selectVersions } from './store.ts'

/** Checks whether this release can replace the running one. Changes nothing. */
export async function checkUpgrade(platform: Platform): Promise<Check[]> {
  const versions = {
    ...(await selectVersions(platform.db, platform.clickhouse)),
    nats: platform.nats.info?.version ?? '',
    valkey: await valkeyVersion(platform),
  }
  return [
    ...judgeVersions(versions),
    ...judgeMigrations(await knownMigrations(), await appliedMigrations(platform.config)),
    judgeTransactions(await selectLongTransactions(platform.db)),
  ]
}

const connectWithinMs = 2_000

/** The version of Valkey or Redis. Retries until the connection, which opens in the background, is ready. */
async function valkeyVersion({ valkey }: Platform): Promise<string> {
  for (const until = Date.now() + connectWithinMs; Date.now() < until; await sleep(50)) {
    const info = await valkey.info('server').catch(() => '')
    const version = /^valkey_version:(\S+)/m.exec(info) ?? /^redis_version:(\S+)/m.exec(info)
    if (version?.[1]) return version[1]
  }
  return ''
}
