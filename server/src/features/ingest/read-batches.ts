import { type JetStreamManager, jetstreamManager, type StoredMsg } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { sleep } from '../../platform/clock.ts'
import type { Platform } from '../../platform/context.ts'
import { eventStream } from '../../platform/nats.ts'
import { clicksSubject } from '../redirect/messages.ts'

export type Pace = { intervalMs: () => number; maxBytes: number; signal: AbortSignal }

// A message that another NATS cluster copied into this stream is not published here, so nothing announces it.
const longestPauseMs = 500
// NATS publishes a message before it has stored it.
const storedWithinMs = 10
const answerWithinMs = 5_000
const mostMessages = 100_000

/**
 * Reads a partition of the event log after `sequence` in batches: all messages of an interval with one request, and a message
 * that arrives after a pause at once. A consumer would wake NATS and this process for each message.
 */
export async function* readBatches(
  { nats }: Pick<Platform, 'nats'>,
  { partition, sequence }: { partition: number; sequence: number },
  { intervalMs, maxBytes, signal }: Pace,
): AsyncGenerator<StoredMsg[]> {
  const manager = await jetstreamManager(nats, { checkAPI: false })
  let after = sequence
  let startedAt = 0
  let isBehind = false
  while (!signal.aborted) {
    if (!isBehind) await sleep(Math.max(0, startedAt + intervalMs() - Date.now()), signal)
    if (signal.aborted) return
    const messages = await readAfter(manager, { partition, sequence: after, maxBytes }, signal)
    const last = messages.at(-1)
    isBehind = last !== undefined && last.pending > 0
    if (!last) {
      await untilPublished(nats, partition, signal)
      continue
    }
    startedAt = Date.now()
    after = last.seq
    yield messages
  }
}

/** The messages after a sequence, up to a number of bytes; fewer when the signal aborts, none when there are no more. */
async function readAfter(
  manager: JetStreamManager,
  { partition, sequence, maxBytes }: { partition: number; sequence: number; maxBytes: number },
  signal: AbortSignal,
): Promise<StoredMsg[]> {
  const messages: StoredMsg[] = []
  const read = Promise.withResolvers<void>()
  const answer = await manager.direct.getBatch(eventStream(partition), {
    seq: sequence + 1,
    batch: mostMessages,
    max_bytes: maxBytes,
    callback(done, message) {
      if (!done) messages.push(message)
      else if (done.err && !isNotFound(done.err)) read.reject(done.err)
      else read.resolve()
    },
  })
  const timer = setTimeout(() => answer.stop(new Error('NATS did not return messages in time')), answerWithinMs)
  const stop = () => answer.stop()
  signal.addEventListener('abort', stop, { once: true })
  try {
    await read.promise
    return messages
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
  }
}

function isNotFound(error: Error): boolean {
  return 'code' in error && error.code === 404
}

async function untilPublished(nats: NatsConnection, partition: number, signal: AbortSignal): Promise<void> {
  const published = new AbortController()
  const subscription = nats.subscribe(clicksSubject(partition), { max: 1, callback: () => published.abort() })
  await sleep(longestPauseMs, AbortSignal.any([signal, published.signal]))
  subscription.unsubscribe()
  if (published.signal.aborted) await sleep(storedWithinMs, signal)
}
