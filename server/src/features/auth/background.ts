import { randomInt } from 'node:crypto'
import type { Log } from '../../platform/log.ts'

type Job = { begin(): void; done: Promise<void> }
const mostPending = 1_000
const delayMs = { least: 500, most: 2_500 }
const jobs = new Set<Job>()

/** Runs work after the response. */
export function runInBackground(log: Log, what: string, work: () => Promise<void>): void {
  schedule(log, what, work, 0)
}

/**
 * Runs work that depends on whether an account exists, at a random time after the response. Neither the duration of the
 * response nor that of the next request then reveals what the work does.
 */
export function runLater(log: Log, what: string, work: () => Promise<void>): void {
  schedule(log, what, work, randomInt(delayMs.least, delayMs.most))
}

/** Runs delayed work at once and waits for all work, before the process ends. */
export async function finishBackground(): Promise<void> {
  const pending = [...jobs]
  for (const { begin } of pending) begin()
  await Promise.all(pending.map(({ done }) => done))
}

/** With 1,000 jobs pending, drops further ones: they come from a flood that the rate limits did not stop. */
function schedule(log: Log, what: string, work: () => Promise<void>, afterMs: number): void {
  if (jobs.size >= mostPending) {
    log.warn({ what }, 'background work dropped: too much is pending')
    return
  }
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
  const timer = setTimeout(begin, afterMs)
  const done = begun
    .then(work)
    .catch((error: unknown) => log.error({ error, what }, 'background work failed'))
    .finally(() => {
      clearTimeout(timer)
      jobs.delete(job)
    })
  const job = { begin, done }
  jobs.add(job)
}
