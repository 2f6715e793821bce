import type { ConsumerMessages, JsMsg } from '@nats-io/jetstream'
import { sleep } from './clock.ts'

const longestRestMs = 2_000

/**
 * The time between the starts of two batches: the interval, or longer when the last batch took long, so that a slow engine
 * has twice that time for others.
 */
export function paceBatches(intervalMs: number, tookMs: number): number {
  return Math.max(intervalMs, tookMs + Math.min(2 * tookMs, longestRestMs))
}

/** Cuts a list into parts of at most `size` items. */
export function* chunks<T>(items: readonly T[], size: number): Generator<T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size)
}

type Options = { intervalMs: () => number; signal: AbortSignal; full: (messages: JsMsg[]) => boolean }

/**
 * Messages as they come, in batches: a lone one at once, and under load whatever arrived within the interval
 * since the last batch, or fewer when `full` says so.
 */
export async function* batches(source: ConsumerMessages, options: Options): AsyncGenerator<JsMsg[]> {
  const stop = () => void source.close()
  options.signal.addEventListener('abort', stop, { once: true })
  const iterator = source[Symbol.asyncIterator]()
  let last = 0
  let upcoming = iterator.next()
  try {
    while (!options.signal.aborted) {
      const first = await upcoming
      if (first.done) return
      const batch = [first.value]
      const late = patience(last + options.intervalMs(), options.signal)
      upcoming = iterator.next()
      while (!options.full(batch)) {
        const next = await Promise.race([upcoming, late])
        if (!next || next.done) break
        batch.push(next.value)
        upcoming = iterator.next()
      }
      last = Date.now()
      yield batch
    }
  } finally {
    options.signal.removeEventListener('abort', stop)
    const closed = source.close()
    // A message that nobody takes any more would keep the source from closing.
    await iterator.return?.()
    await closed
  }
}

async function patience(until: number, signal: AbortSignal): Promise<undefined> {
  const left = until - Date.now()
  // Zero still gives a message that is already in memory the chance to join.
  await (left > 0 ? sleep(left, signal) : new Promise(setImmediate))
  return undefined
}
