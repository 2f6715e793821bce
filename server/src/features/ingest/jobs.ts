import { randomUUID } from 'node:crypto'
import { DeliverPolicy, jetstreamManager } from '@nats-io/jetstream'
import { paceBatches } from '../../platform/batches.ts'
import { sleep } from '../../platform/clock.ts'
import type { Platform } from '../../platform/context.ts'
import { eventStream, jetStream } from '../../platform/nats.ts'
import { type LogMessage, PartitionLost } from './batch.ts'
import { startLagMeter } from './lag.ts'
import { createdAt, isRewound, type StreamState } from './log/position.ts'
import { readBatches } from './read-batches.ts'
import { logMessage } from './read-log.ts'
import {
  claim,
  finish,
  followStream,
  type PartitionCursor,
  type PartitionHolder,
  prepare,
  release,
  renew,
  store,
} from './service.ts'

const renewIntervalMs = 2_000

/** Stores clicks of every partition that no other worker owns. Disposing finishes the current batch first. */
export async function startIngest(platform: Platform): Promise<AsyncDisposable> {
  const stopping = new AbortController()
  const owner = randomUUID()
  const running = Array.from({ length: platform.config.EVENT_PARTITIONS }, (_, partition) =>
    keepWorking(platform, { partition, owner }, stopping.signal),
  )
  const meter = startLagMeter(platform, owner)
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort()
      await meter[Symbol.asyncDispose]()
      await Promise.all(running)
    },
  }
}

async function keepWorking(platform: Platform, holder: PartitionHolder, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const cursor = await claim(platform, holder)
      if (cursor) await workOn(platform, holder, cursor, signal)
      else await sleep(1_000, signal)
    } catch (error) {
      if (error instanceof PartitionLost) platform.log.warn(holder, 'another worker took over a partition')
      else platform.log.warn({ ...holder, error }, 'click ingestion failed, will retry')
      await sleep(500, signal)
    }
  }
  await release(platform, holder).catch(() => {})
}

async function workOn(
  platform: Platform,
  holder: PartitionHolder,
  cursor: PartitionCursor,
  signal: AbortSignal,
): Promise<void> {
  const state = await readState(platform, holder, cursor.sequence)
  const firstAfter = (time: number) => firstSequenceAfter(platform, holder, time)
  const { comparison, ...followed } = await followStream(platform, holder, cursor, { state, firstAfter })
  await work(platform, { ...holder, stream: followed.stream, comparison }, followed, signal)
}

async function work(
  platform: Platform,
  holder: PartitionHolder,
  cursor: PartitionCursor,
  signal: AbortSignal,
): Promise<void> {
  const lost = new AbortController()
  let reached: Reached = cursor
  const renewing = setInterval(() => void stayOwner(platform, holder, reached, lost), renewIntervalMs)
  const stopWatching = onReconnect(platform, () => lost.abort())
  let storing = Promise.resolve(cursor.sequence)
  try {
    let sequence = cursor.sequence
    if (cursor.intent) {
      platform.log.info(
        { ...holder, first: cursor.intent.first, last: cursor.intent.last },
        'finishing an interrupted click batch',
      )
      const messages = await readRange(platform, holder, cursor.intent.first, cursor.intent.last)
      sequence = await finish(platform, holder, sequence, cursor.intent, messages)
    }
    let tookMs = 0
    const pace = {
      intervalMs: () => paceBatches(platform.config.INGEST_INTERVAL_MS, tookMs),
      maxBytes: platform.config.INGEST_BATCH_BYTES,
      signal: AbortSignal.any([signal, lost.signal]),
    }
    storing = Promise.resolve(sequence)
    for await (const messages of readBatches(platform, { ...holder, sequence }, pace)) {
      const prepared = await prepare(platform, holder, messages.map(logMessage))
      const before = await storing
      // The partition changed owner or the log was restored, so these messages may not follow the cursor.
      if (lost.signal.aborted) break
      const started = performance.now()
      storing = store(platform, holder, before, prepared).then((sequence) => {
        tookMs = performance.now() - started
        reached = { sequence, arrivedAt: prepared.arrivedAt }
        return sequence
      })
      // A failed batch ends this loop even if no further message arrives.
      storing.catch(() => lost.abort())
    }
    await storing
  } finally {
    // Without waiting, the next attempt would finish a batch that this attempt is still storing.
    await storing.catch(() => {})
    clearInterval(renewing)
    stopWatching()
  }
}

type Reached = Pick<PartitionCursor, 'sequence' | 'arrivedAt'>

async function stayOwner(
  platform: Platform,
  holder: PartitionHolder,
  reached: Reached,
  lost: AbortController,
): Promise<void> {
  const isOwner = await renew(platform, holder).catch(() => true)
  const state = await readState(platform, holder, reached.sequence).catch(() => undefined)
  const isOther = state && (state.created !== createdAt(holder.stream ?? '') || isRewound(reached, state))
  if (!isOwner || isOther) lost.abort()
}

/** Calls back when NATS reconnects: the event log may have been restored from an older copy meanwhile. */
function onReconnect({ nats }: Platform, work: () => void): () => void {
  const statuses = nats.status()[Symbol.asyncIterator]()
  const watch = async () => {
    for (let next = await statuses.next(); !next.done; next = await statuses.next())
      if (next.value.type === 'reconnect') work()
  }
  watch().catch(() => {})
  return () => void statuses.return?.()
}

async function readState(platform: Platform, { partition }: PartitionHolder, sequence: number): Promise<StreamState> {
  const manager = await jetstreamManager(platform.nats, { checkAPI: false })
  const { created, state } = await manager.streams.info(eventStream(partition))
  // An empty stream has 0 as its first sequence, and NATS refuses to look up message 0.
  const isThere = sequence > 0 && sequence >= state.first_seq && sequence <= state.last_seq
  const message = isThere ? await manager.direct.getMessage(eventStream(partition), { seq: sequence }) : null
  return { created, last: state.last_seq, atCursor: message?.time.getTime() }
}

/** The sequence of the first log message that arrived at or after `time`; the next sequence when there is none. */
async function firstSequenceAfter(platform: Platform, { partition }: PartitionHolder, time: number): Promise<number> {
  const consumer = await jetStream(platform.nats).consumers.get(eventStream(partition), {
    deliver_policy: DeliverPolicy.StartTime,
    opt_start_time: new Date(time).toISOString(),
  })
  const manager = await jetstreamManager(platform.nats, { checkAPI: false })
  const { last_seq } = (await manager.streams.info(eventStream(partition))).state
  for await (const message of await consumer.fetch({ max_messages: 1, expires: 2_000 })) return message.seq
  return last_seq + 1
}

async function readRange(
  platform: Platform,
  holder: PartitionHolder,
  first: number,
  last: number,
): Promise<LogMessage[]> {
  const consumer = await orderedConsumer(platform, holder, first)
  const messages: LogMessage[] = []
  for await (const message of await consumer.fetch({ max_messages: last - first + 1, expires: 30_000 })) {
    messages.push(logMessage(message))
    if (message.seq >= last) break
  }
  if (messages.at(-1)?.sequence !== last) throw new Error(`The event log did not return messages ${first} to ${last}`)
  return messages
}

function orderedConsumer(platform: Platform, { partition }: PartitionHolder, first: number) {
  return jetStream(platform.nats).consumers.get(eventStream(partition), {
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: first,
  })
}
