import type { Platform } from '../platform/context.ts'
import { startInterval } from '../platform/schedule.ts'
import { finishRewinds } from './rewinds.ts'

const everyMs = 5_000

/** What PostgreSQL lost when it went back is counted a moment later: then nothing of it is on its way any more. */
export function startLostCount(platform: Platform): AsyncDisposable {
  return startInterval(platform, 'count of lost records', everyMs, () => finishRewinds(platform))
}
