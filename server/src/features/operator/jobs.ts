import type { Platform } from '../../platform/context.ts'
import { startInterval } from '../../platform/schedule.ts'
import { checkForUpdate } from './update-check.ts'

const intervalMs = 3_600_000

export function startUpdateCheck(platform: Platform): AsyncDisposable {
  return startInterval(platform, 'update check', intervalMs, () => checkForUpdate(platform))
}
