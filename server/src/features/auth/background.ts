import type { Log } from '../../platform/log.ts'

const mostPending = 200
let pending = 0

/**
 * Runs work after the response, so that its duration tells nothing about accounts. Beyond 200 pending works, further
 * ones are dropped: they come from a flood that the rate limits did not stop.
 */
export function runInBackground(log: Log, what: string, work: () => Promise<void>): void {
  if (pending >= mostPending) {
    log.warn({ what }, 'background work dropped: too much is pending')
    return
  }
  pending += 1
  setImmediate(async () => {
    try {
      await work()
    } catch (error) {
      log.error({ error, what }, 'background work failed')
    } finally {
      pending -= 1
    }
  })
}
