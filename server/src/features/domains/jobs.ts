import type { Platform } from '../../platform/context.ts'
import { startInterval } from '../../platform/schedule.ts'
import { checkDueDomains } from './check.ts'
import { watchDueDomains } from './watch.ts'

export function startDomainChecks(platform: Platform): AsyncDisposable {
  return startInterval(platform, 'check domains', 1_000, async (signal) => {
    while (!signal.aborted && (await checkDueDomains(platform)));
  })
}

/** Checks verified domains every few hours, so that their members can be notified when one breaks. */
export function startDomainWatch(platform: Platform): AsyncDisposable {
  return startInterval(platform, 'watch domains', 10_000, async (signal) => {
    while (!signal.aborted && (await watchDueDomains(platform)));
  })
}
