import type { Platform } from '../../platform/context.ts'
import { startInterval } from '../../platform/schedule.ts'
import { fillDue } from './fill.ts'

export function startSampleData(platform: Platform): AsyncDisposable {
  return startInterval(platform, 'fill sample data', 1_000, async (signal) => {
    while (!signal.aborted && (await fillDue(platform)));
  })
}
