import type { Platform } from '../../platform/context.ts'
import { startInterval } from '../../platform/schedule.ts'
import { storeChangedPartners } from './service.ts'

// ClickHouse has to merge a part per insert, so changes are gathered for this long.
const intervalMs = 500

export function startPartnerAttributes(platform: Platform): AsyncDisposable {
  return startInterval(platform, 'store partner attributes', intervalMs, async (signal) => {
    while (!signal.aborted && (await storeChangedPartners(platform)) > 0);
  })
}
