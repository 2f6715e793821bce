import type { Platform } from '../../platform/context.ts'
import { startInterval } from '../../platform/schedule.ts'
import { checkDueDomains } from './check.ts'

export function startDomainChecks(platform: Platform): AsyncDisposable {
  return startInterval(platform, 'check domains', 1_000, async (signal) => {
    while (!signal.aborted && (await checkDueDomains(platform)));
  })
}
