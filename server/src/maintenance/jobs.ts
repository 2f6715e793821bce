import type { Platform } from '../platform/context.ts'
import { startInterval } from '../platform/schedule.ts'
import { finishRewinds } from './rewinds.ts'

const everyMs = 5_000

/** Counts what a restored PostgreSQL lost a moment later, when no message from before is in flight any more. */
export function startLostCount(platform: Platform): AsyncDisposable {
  return startInterval(platform, 'count of lost records', everyMs, () => finishRewinds(platform))
}
