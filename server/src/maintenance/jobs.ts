import type { Platform } from '../platform/context.ts'
import { startInterval } from '../platform/schedule.ts'
import { eraseWorkspaces } from './erase.ts'
import { finishRewinds } from './rewinds.ts'

const everyMs = 5_000
const eraseEveryMs = 1_000

/** Counts the records that a PostgreSQL restore lost, some seconds after the restore was detected. */
export function startLostCount(platform: Platform): AsyncDisposable {
  return startInterval(platform, 'count lost records', everyMs, () => finishRewinds(platform))
}

/** Erases the data of deleted workspaces. */
export function startErasure(platform: Platform): AsyncDisposable {
  return startInterval(platform, 'erase deleted workspaces', eraseEveryMs, (signal) =>
    eraseWorkspaces(platform, signal),
  )
}
