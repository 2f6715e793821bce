import { DeliverPolicy, type JsMsg, jetstreamManager } from '@nats-io/jetstream'
import type { Platform } from '../../platform/context.ts'
import { eventStream, jetStream } from '../../platform/nats.ts'
import type { LogMessage } from './service.ts'
import { selectPlaces } from './store.ts'

/** Messages of a partition that the log still holds and that a worker has stored. */
export type Span = { partition: number; first: number; last: number }

/** What comes after is left to the workers, which store it anyway. */
export async function storedSpans(platform: Platform): Promise<Span[]> {
  const manager = await jetstreamManager(platform.nats)
  const places = new Map((await selectPlaces(platform.db)).map(({ partition, sequence }) => [partition, sequence]))
  const spans: Span[] = []
  for (let partition = 0; partition < platform.config.EVENT_PARTITIONS; partition++) {
    const { state } = await manager.streams.info(eventStream(partition))
    const last = Math.min(places.get(partition) ?? 0, state.last_seq)
    if (state.messages > 0 && state.first_seq <= last) spans.push({ partition, first: state.first_seq, last })
  }
  return spans
}

export async function* readSpan(platform: Platform, { partition, first, last }: Span): AsyncGenerator<LogMessage[]> {
  const consumer = await jetStream(platform.nats).consumers.get(eventStream(partition), {
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: first,
  })
  const size = platform.config.INGEST_BATCH_BYTES
  const source = await consumer.consume({ max_bytes: size * 2 })
  let batch: LogMessage[] = []
  let bytes = 0
  try {
    for await (const message of source) {
      if (message.seq <= last) batch.push(logMessage(message))
      bytes += message.data.length
      // A message in the span may have been deleted, also the last one.
      const isEnd = message.seq >= last || message.info.pending === 0
      if (bytes >= size || isEnd) {
        if (batch.length > 0) yield batch
        batch = []
        bytes = 0
      }
      if (isEnd) break
    }
  } finally {
    await source.close()
  }
}

function logMessage(message: JsMsg): LogMessage {
  try {
    return { sequence: message.seq, body: message.json() }
  } catch {
    return { sequence: message.seq, body: message.string() }
  }
}
