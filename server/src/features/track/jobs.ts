import type { Platform } from '../../platform/context.ts'
import { job } from '../../platform/jobs.ts'
import { startInterval } from '../../platform/schedule.ts'
import { customerErased, customerErasedSubject } from '../customers/messages.ts'
import { eraseConversions } from './erase.ts'
import { claimedAtOnce, exportDue, exportUnattributed, measureOverdue } from './export.ts'
import { settleRewinds } from './reconcile.ts'

const everyMs = 500
const measureEveryMs = 5_000

export const trackJobs = [
  job({ name: 'erase-customers', subject: customerErasedSubject, schema: customerErased, handle: eraseConversions }),
]

export function startExport(platform: Platform): AsyncDisposable {
  return startInterval(platform, 'export of conversions', everyMs, async (signal) => {
    await exportDue(platform, signal)
    while (!signal.aborted && (await exportUnattributed(platform)) >= claimedAtOnce);
  })
}

/** What PostgreSQL lost when it went back is counted a moment later: then nothing of it is on its way any more. */
export function startLostCount(platform: Platform): AsyncDisposable {
  return startInterval(platform, 'count of lost records', measureEveryMs, () => settleRewinds(platform))
}

export function startOverdueMeter(platform: Platform): AsyncDisposable {
  return startInterval(platform, 'measure of conversions', measureEveryMs, () => measureOverdue(platform))
}
