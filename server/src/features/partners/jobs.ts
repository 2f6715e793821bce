import type { Platform } from '../../platform/context.ts'
import { startInterval } from '../../platform/schedule.ts'
import { removeOldActivities } from './activities.ts'

const intervalMs = 3_600_000

export function startActivityRetention(platform: Platform): AsyncDisposable {
  return startInterval(platform, 'partner activities', intervalMs, (signal) => removeOldActivities(platform, signal))
}
