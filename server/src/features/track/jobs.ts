import type { Platform } from '../../platform/context.ts'
import { job } from '../../platform/jobs.ts'
import { startInterval } from '../../platform/schedule.ts'
import { customerErased, customerErasedSubject } from '../customers/messages.ts'
import { eraseConversions } from './erase.ts'
import { claimedAtOnce, exportDue, exportUnattributed, measureOverdue } from './export.ts'

// Each time asks PostgreSQL what is due.
const leastIntervalMs = 100
const measureIntervalMs = 5_000

export const trackJobs = [
  job({ name: 'erase-customers', subject: customerErasedSubject, schema: customerErased, handle: eraseConversions }),
]

export function startExport(platform: Platform): AsyncDisposable {
  const intervalMs = Math.max(leastIntervalMs, platform.config.INGEST_INTERVAL_MS)
  return startInterval(platform, 'export conversions', intervalMs, async (signal) => {
    await exportDue(platform, signal)
    while (!signal.aborted && (await exportUnattributed(platform)) >= claimedAtOnce);
  })
}

export function startOverdueMeter(platform: Platform): AsyncDisposable {
  return startInterval(platform, 'measure conversions', measureIntervalMs, () => measureOverdue(platform))
}
