import type { Platform } from '../../platform/context.ts'
import { job } from '../../platform/jobs.ts'
import { startInterval } from '../../platform/schedule.ts'
import { domainChanged, domainChangedSubject } from '../domains/messages.ts'
import { folderDeleted, folderDeletedSubject } from '../folders/messages.ts'
import { eraseLinks } from './deleted.ts'
import { followDomains } from './follow-domains.ts'
import { leaveFolders } from './service.ts'
import { foldTotals } from './totals.ts'

const foldIntervalMs = 1_000
const eraseIntervalMs = 3_600_000

export const linksJobs = [
  job({ name: 'follow-domains', subject: domainChangedSubject, schema: domainChanged, handle: followDomains }),
  job({ name: 'leave-folders', subject: folderDeletedSubject, schema: folderDeleted, handle: leaveFolders }),
]

/** Adds recorded changes to the link totals every second, so that a count sums few rows. */
export function startTotalsFolding(platform: Platform): AsyncDisposable {
  return startInterval(platform, 'link totals', foldIntervalMs, async (signal) => {
    while (!signal.aborted && (await foldTotals(platform)));
  })
}

/** Erases the settings of links that were deleted 30 days ago, every hour. */
export function startLinkErasure(platform: Platform): AsyncDisposable {
  return startInterval(platform, 'erase deleted links', eraseIntervalMs, async (signal) => {
    while (!signal.aborted && (await eraseLinks(platform)));
  })
}
