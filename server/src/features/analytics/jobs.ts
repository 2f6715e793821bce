import type { Platform } from '../../platform/context.ts'
import { startInterval } from '../../platform/schedule.ts'
import { closeTests } from './close-tests.ts'

export function startTestClosing(platform: Platform): AsyncDisposable {
  return startInterval(platform, 'close A/B tests', 1_000, () => closeTests(platform))
}
