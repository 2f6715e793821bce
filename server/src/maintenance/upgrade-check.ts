import type { Platform } from '../platform/context.ts'
import { readEngines } from '../platform/engine-versions.ts'
import { appliedMigrations, knownMigrations } from '../platform/migrate.ts'
import { type Check, judgeEngines, judgeMigrations, judgeTransactions } from './decide-upgrade.ts'
import { selectLongTransactions } from './store.ts'

const answerWithinMs = 2_000

/** Checks whether this release can replace the running one. Changes nothing. */
export async function checkUpgrade(platform: Platform): Promise<Check[]> {
  return [
    ...judgeEngines(
      await readEngines(platform, { withinMs: answerWithinMs }),
      platform.config.ENVIRONMENT === 'production',
    ),
    ...judgeMigrations(await knownMigrations(), await appliedMigrations(platform.config)),
    judgeTransactions(await selectLongTransactions(platform.db)),
  ]
}
