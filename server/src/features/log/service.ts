import { type JetStreamManager, jetstreamManager, type StreamInfo } from '@nats-io/jetstream'
import type { Platform } from '../../platform/context.ts'
import { changeStream, deadLetterStream, eventStream } from '../../platform/nats.ts'
import { clickBatchStored, clickBatchSubject } from '../ingest/messages.ts'
import { isRebuildRunning, storedSequences } from '../ingest/service.ts'
import { selectFreeRatio } from './store.ts'

export type StreamUsage = { stream: string; bytes: number; limitBytes: number }
export type Purged = { stream: string; messages: number }

/** A stream above the first ratio of its size limit is purged of its oldest stored messages down to the second. */
const purgeAbove = 0.8
const purgeTo = 0.7
// Newer messages are kept, unless the stream is almost full: a restored database reads them again.
const retentionMs = 15 * 60_000
const keepBelow = 0.95
const timeoutMs = 2_000

export async function streamUsage(platform: Pick<Platform, 'config' | 'nats'>): Promise<StreamUsage[]> {
  const manager = await openManager(platform)
  const usage: StreamUsage[] = []
  for (const stream of streamNames(platform.config)) {
    const { state, config } = await manager.streams.info(stream)
    usage.push({ stream, bytes: state.bytes, limitBytes: Math.max(0, config.max_bytes) })
  }
  return usage
}

/**
 * Purges the oldest messages of every stream that is above its watermark, but only messages that all readers have
 * finished: clicks that are stored and read by webhooks, and changes that every job has acknowledged. A stream that is
 * almost full does not wait for webhooks. Nothing is purged while `tributary rebuild` reads the log.
 */
export async function purgeStored(
  platform: Pick<Platform, 'config' | 'nats' | 'db' | 'now'>,
  keepMs = retentionMs,
): Promise<Purged[]> {
  const manager = await openManager(platform)
  const purged: Purged[] = []
  for (const stream of [...eventStreams(platform.config), changeStream]) {
    const info = await manager.streams.info(stream)
    const { bytes, messages, first_seq: first } = info.state
    const limit = info.config.max_bytes
    if (limit <= 0 || bytes <= limit * purgeAbove || (await isRebuildRunning(platform))) continue
    const surplus = Math.ceil((bytes - limit * purgeTo) / (bytes / messages))
    const isAlmostFull = bytes > limit * keepBelow
    const read = stream === changeStream ? await acknowledged(manager, info) : await stored(platform, info)
    const needed = isAlmostFull || stream === changeStream ? read : Math.min(read, await fannedOut(manager, info))
    const last = Math.min(first + surplus - 1, needed)
    const before = isAlmostFull ? Number.POSITIVE_INFINITY : platform.now().getTime() - keepMs
    if (last < first && isAlmostFull && stream === changeStream) {
      purged.push({ stream, messages: await purgeBySubject(manager) })
    } else if (last >= first && (await isOld(manager, stream, last, before))) {
      const { purged: count } = await manager.streams.purge(stream, { seq: last + 1 })
      purged.push({ stream, messages: count })
    }
  }
  return purged.filter(({ messages }) => messages > 0)
}

/** The free ratio, from 0 to 1, of ClickHouse's fullest disk. */
export function clickhouseFreeRatio({ clickhouse }: Pick<Platform, 'clickhouse'>): Promise<number | undefined> {
  return selectFreeRatio(clickhouse)
}

/** The sequence of the partition's last stored message; 0 when the cursor belongs to another stream. */
async function stored(platform: Pick<Platform, 'db'>, { config, created, state }: StreamInfo): Promise<number> {
  const cursors = await storedSequences(platform)
  const cursor = cursors.find(({ partition }) => eventStream(partition) === config.name)
  // A recreated stream, or one restored to an older state, has other messages at these sequences.
  const isOfThis = cursor?.created === created && cursor.sequence <= state.last_seq
  return isOfThis ? cursor.sequence : 0
}

async function acknowledged(manager: JetStreamManager, { config, state }: StreamInfo): Promise<number> {
  let floor = state.last_seq
  for await (const { num_pending, num_ack_pending, ack_floor } of manager.consumers.list(config.name))
    if (num_pending + num_ack_pending > 0) floor = Math.min(floor, ack_floor.stream_seq)
  return floor
}

/**
 * Purges what the readers of each subject have acknowledged, also after an older message that is unread: a job that
 * fails for hours must not fill the stream with the messages of all others.
 */
async function purgeBySubject(manager: JetStreamManager): Promise<number> {
  const { last_seq: newest } = (await manager.streams.info(changeStream)).state
  const readers: { filter: string; floor: number }[] = []
  for await (const { config, num_pending, num_ack_pending, ack_floor } of manager.consumers.list(changeStream)) {
    const floor = num_pending + num_ack_pending > 0 ? ack_floor.stream_seq : newest
    readers.push({ filter: config.filter_subject ?? '>', floor })
  }
  let count = 0
  for (const filter of new Set(readers.map((reader) => reader.filter))) {
    const floors = readers.flatMap((reader) => (overlap(filter, reader.filter) ? reader.floor : []))
    count += (await manager.streams.purge(changeStream, { filter, seq: Math.min(...floors) + 1 })).purged
  }
  return count
}

/** Whether a subject can match both filters, such as `changes.*.links` and `changes.>`. */
function overlap(one: string, other: string): boolean {
  const [parts, others] = [one.split('.'), other.split('.')]
  const end = [...parts, ...others].includes('>') ? Math.min(parts.length, others.length) - 1 : parts.length
  const differ = (a: string, b: string | undefined) => a !== b && a !== '*' && b !== '*'
  return !parts.slice(0, end).some((part, index) => differ(part, others[index]))
}

/** The sequence up to which all subscribers of click batches (webhooks) have read this stream. */
async function fannedOut(manager: JetStreamManager, { config, state }: StreamInfo): Promise<number> {
  const partition = config.name.split('_').at(-1)
  let last = state.last_seq
  for await (const consumer of manager.consumers.list(changeStream)) {
    const isBehind = consumer.num_pending + consumer.num_ack_pending > 0
    if (consumer.config.filter_subject !== clickBatchSubject || !isBehind) continue
    const start = { seq: consumer.ack_floor.stream_seq + 1, next_by_subj: `changes.${partition}.click-batches` }
    const next = await manager.direct.getMessage(changeStream, start).catch(() => null)
    const batch = next && clickBatchStored.safeParse(next.json())
    if (batch?.success) last = Math.min(last, batch.data.first - 1)
  }
  return last
}

async function isOld(manager: JetStreamManager, stream: string, sequence: number, before: number): Promise<boolean> {
  const message = await manager.direct.getMessage(stream, { seq: sequence, next_by_subj: '>' })
  return message !== null && message.time.getTime() < before
}

function openManager({ nats }: Pick<Platform, 'nats'>): Promise<JetStreamManager> {
  return jetstreamManager(nats, { checkAPI: false, timeout: timeoutMs })
}

function eventStreams({ EVENT_PARTITIONS }: Platform['config']): string[] {
  return Array.from({ length: EVENT_PARTITIONS }, (_, partition) => eventStream(partition))
}

function streamNames(config: Platform['config']): string[] {
  return [...eventStreams(config), changeStream, deadLetterStream]
}
