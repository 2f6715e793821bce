import type { Platform } from '../../platform/context.ts'
import { job } from '../../platform/jobs.ts'
import { every } from '../../platform/schedule.ts'
import { customerErased, customerErasedSubject } from '../customers/messages.ts'
import { eraseConversions } from './erase.ts'
import { exportSome, measureOverdue, mostAtOnce } from './export.ts'

const everyMs = 500
const measureEveryMs = 5_000

export const trackJobs = [
  job({ name: 'erase-customers', subject: customerErasedSubject, schema: customerErased, handle: eraseConversions }),
]

/** After each pause all that is due; what comes meanwhile waits for the next, so that inserts stay large. */
export function startExport(platform: Platform): AsyncDisposable {
  return every(platform, 'export of conversions', everyMs, async (signal) => {
    while (!signal.aborted && (await exportSome(platform)) >= mostAtOnce);
  })
}

export function startOverdueMeter(platform: Platform): AsyncDisposable {
  return every(platform, 'measure of conversions', measureEveryMs, () => measureOverdue(platform))
}
