import type { ConsumerMessages, JsMsg } from '@nats-io/jetstream'
import { sleep } from './clock.ts'

const longestRestMs = 2_000

/**
 * Returns the time between the starts of two batches: the interval, or more after a slow batch, so that a slow database
 * has two thirds of its time for other work.
 */
export function paceBatches(intervalMs: number, tookMs: number): number {
  return Math.max(intervalMs, tookMs + Math.min(2 * tookMs, longestRestMs))
}

/** Splits a list into chunks of at most `size` items. */
export function* chunks<T>(items: readonly T[], size: number): Generator<T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size)
}

type Options = { intervalMs: () => number; signal: AbortSignal; full: (messages: JsMsg[]) => boolean }

/**
 * Groups messages into batches: a lone message forms a batch at once; under load a batch has all messages since the
 * previous batch, until `full` returns true.
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
    // An unread message would prevent the consumer from closing.
    await iterator.return?.()
    await closed
  }
}

async function patience(until: number, signal: AbortSignal): Promise<undefined> {
  const left = until - Date.now()
  // Even without time left, messages that are already in memory join the batch.
  await (left > 0 ? sleep(left, signal) : new Promise(setImmediate))
  return undefined
}
