import type { Platform } from '../../platform/context.ts'
import { job } from '../../platform/jobs.ts'
import { startInterval } from '../../platform/schedule.ts'
import { customerErased, customerErasedSubject } from '../customers/messages.ts'
import { eraseConversions } from './erase.ts'
import { claimedAtOnce, exportDue, exportUnattributed, measureOverdue } from './export.ts'

const everyMs = 500
const measureIntervalMs = 5_000

export const trackJobs = [
  job({ name: 'erase-customers', subject: customerErasedSubject, schema: customerErased, handle: eraseConversions }),
]

export function startExport(platform: Platform): AsyncDisposable {
  return startInterval(platform, 'export conversions', everyMs, async (signal) => {
    await exportDue(platform, signal)
    while (!signal.aborted && (await exportUnattributed(platform)) >= claimedAtOnce);
  })
}

export function startOverdueMeter(platform: Platform): AsyncDisposable {
  return startInterval(platform, 'measure conversions', measureIntervalMs, () => measureOverdue(platform))
}
