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

type Options = { intervalMs: () => number; signal: AbortSignal; most: { messages: number; bytes: number } }

/**
 * Groups messages into batches: a lone message forms a batch at once; under load a batch has all messages since the
 * previous batch, up to `most`. The next batch is read while the caller handles the previous one.
 */
export async function* batches(
  source: ConsumerMessages,
  { intervalMs, signal, most }: Options,
): AsyncGenerator<JsMsg[]> {
  const stop = () => void source.close()
  signal.addEventListener('abort', stop, { once: true })
  let next = emptyBatch()
  let isStopped = false
  const read = async () => {
    for await (const message of source) {
      next.messages.push(message)
      next.bytes += message.data.length
      next.started.resolve()
      if (next.messages.length < most.messages && next.bytes < most.bytes) continue
      next.full.resolve()
      await next.taken.promise
      if (isStopped) return
    }
  }
  const reading = read().finally(() => {
    isStopped = true
    next.started.resolve()
    next.full.resolve()
  })
  // Without a handler, a failure during the caller's work would end the process; the last line throws it.
  reading.catch(() => {})
  let last = 0
  try {
    while (!signal.aborted) {
      await next.started.promise
      if (next.messages.length === 0) break
      await Promise.race([next.full.promise, patience(last + intervalMs(), signal)])
      const { messages, taken } = next
      next = emptyBatch()
      if (isStopped) next.started.resolve()
      taken.resolve()
      last = Date.now()
      yield messages
    }
    if (!signal.aborted) await reading
  } finally {
    signal.removeEventListener('abort', stop)
    isStopped = true
    next.taken.resolve()
    await Promise.allSettled([source.close(), reading])
  }
}

function emptyBatch() {
  const signals = { started: newSignal(), full: newSignal(), taken: newSignal() }
  return { messages: [] as JsMsg[], bytes: 0, ...signals }
}

function newSignal(): PromiseWithResolvers<void> {
  return Promise.withResolvers<void>()
}

async function patience(until: number, signal: AbortSignal): Promise<void> {
  const left = until - Date.now()
  // Even without time left, messages that are already in memory join the batch.
  await (left > 0 ? sleep(left, signal) : new Promise(setImmediate))
}
