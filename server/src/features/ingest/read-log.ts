import { DeliverPolicy, type JsMsg, jetstreamManager } from '@nats-io/jetstream'
import type { Platform } from '../../platform/context.ts'
import { eventStream, jetStream } from '../../platform/nats.ts'
import type { LogMessage } from './batch.ts'
import { readLogBody } from './log-body.ts'

/** A range of log messages of a partition; `first` and `last` are inclusive. */
export type Span = { partition: number; first: number; last: number }

/** Reads a range of log messages, some megabytes at a time. */
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
      // Any message of the range may have been deleted, even the last one.
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

/** All messages of a range; undefined when the log has lost its first or last message, or was recreated. */
export async function readWhole(
  platform: Platform,
  { partition, stream, first, last }: Span & { stream: string },
): Promise<LogMessage[] | undefined> {
  const manager = await jetstreamManager(platform.nats)
  const { created, state } = await manager.streams.info(eventStream(partition))
  if (created !== stream || state.first_seq > first || state.last_seq < last) return undefined
  const messages: LogMessage[] = []
  for await (const part of readSpan(platform, { partition, first, last })) messages.push(...part)
  return messages
}

export function logMessage(message: Pick<JsMsg, 'seq' | 'data' | 'time' | 'string'>): LogMessage {
  const arrivedAt = message.time.getTime()
  try {
    return { sequence: message.seq, body: readLogBody(message.data), arrivedAt }
  } catch {
    return { sequence: message.seq, body: message.string(), arrivedAt }
  }
}
