import { jetstreamManager } from '@nats-io/jetstream'
import type { Platform } from '../../platform/context.ts'
import { AppError } from '../../platform/errors.ts'
import { deadLetterStream, eventStream, jetStream } from '../../platform/nats.ts'
import { clicksSubject, type RawClick } from '../redirect/messages.ts'
import type { LoggedVisit } from './batch.ts'
import type { Holder } from './store.ts'

type Handles = Pick<Platform, 'config' | 'nats'>
type Stored = { seq: number; time: Date; subject: string; data: Uint8Array; headers?: Headers }
type Headers = { get(name: string): string }

/** `visit` is the log position of an event that passed deduplication, so that its retry is not dropped as a repeat. */
export type NewLetter = { reason: string; logged: LoggedVisit; visit?: string }

export type DeadLetter = { sequence: number; at: Date; subject: string; reason: string; excerpt: string }
export type Retried = { sequence: number; subject: string } | { sequence: number; problem: string }

const fetchedAtOnce = 200
const excerptLength = 80
// NATS accepts messages of up to 1 MiB, so a larger dead letter is truncated.
const mostBytes = 500_000
const cutAfter = 50_000

/** Writes dead letters, with message ids from the log position, so that a worker that takes over adds no duplicates. */
export async function buryEvents(
  platform: Pick<Platform, 'nats'>,
  { partition, stream }: Holder,
  letters: NewLetter[],
): Promise<void> {
  for (const { reason, logged, visit } of letters) {
    const { sequence, index, body } = logged
    const msgID = ['event', partition, stream ?? [], sequence, index].flat().join('-')
    const text = letterText({ reason, sequence, index, body, visit })
    await jetStream(platform.nats).publish(`dead.events.${partition}`, text, { msgID })
  }
}

/** Serializes a dead letter, truncating an event too large for a NATS message; the event log still has it in full. */
function letterText(letter: {
  reason: string
  sequence: number
  index: number
  body: unknown
  visit?: string
}): string {
  const text = JSON.stringify(letter)
  if (Buffer.byteLength(text) <= mostBytes) return text
  const body = typeof letter.body === 'string' ? letter.body : JSON.stringify(letter.body)
  return JSON.stringify({ ...letter, body: `${body.slice(0, cutAfter)}…` })
}

/** Returns the oldest dead letters and the total number of dead letters. */
export async function listDeadLetters(
  platform: Handles,
  limit: number,
): Promise<{ letters: DeadLetter[]; total: number }> {
  const letters: DeadLetter[] = []
  const total = await countDeadLetters(platform)
  for await (const stored of storedLetters(platform, Math.min(limit, total))) letters.push(presented(stored))
  return { letters, total }
}

export async function retryDeadLetter(platform: Handles, sequence: number): Promise<Retried> {
  return retry(platform, await requireLetter(platform, sequence))
}

/** Deletes a dead letter permanently. */
export async function dropDeadLetter(platform: Handles, sequence: number): Promise<void> {
  const { seq } = await requireLetter(platform, sequence)
  const manager = await jetstreamManager(platform.nats)
  await manager.streams.deleteMessage(deadLetterStream, seq, false)
}

async function requireLetter(platform: Handles, sequence: number): Promise<Stored> {
  await countDeadLetters(platform)
  const manager = await jetstreamManager(platform.nats)
  const stored = await manager.streams.getMessage(deadLetterStream, { seq: sequence })
  if (!stored) {
    const advice = '`tributary events dead-letters list` shows them.'
    throw new AppError('not_found', `There is no dead letter ${sequence}. ${advice}`)
  }
  const { seq, time, subject, data, header } = stored
  return { seq, time, subject, data, headers: header }
}

/** Retries the current dead letters, oldest first. An event that fails again becomes a new letter, not retried here. */
export async function* retryAllDeadLetters(platform: Handles): AsyncGenerator<Retried> {
  const total = await countDeadLetters(platform)
  for await (const stored of storedLetters(platform, total)) yield await retry(platform, stored)
}

async function retry(platform: Handles, letter: Stored): Promise<Retried> {
  const original = findOriginal(platform, letter)
  if ('problem' in original) return { sequence: letter.seq, problem: original.problem }
  // The message id comes from the letter, so repeating a retry that did not delete the letter adds no second event.
  const msgID = `dead-letter-${letter.seq}-${letter.time.getTime()}`
  await jetStream(platform.nats).publish(original.subject, original.data, { msgID })
  const manager = await jetstreamManager(platform.nats)
  await manager.streams.deleteMessage(deadLetterStream, letter.seq, false)
  return { sequence: letter.seq, subject: original.subject }
}

function findOriginal(
  { config }: Handles,
  letter: Stored,
): { subject: string; data: string | Uint8Array } | { problem: string } {
  const partition = parsePartition(letter)
  if (partition === undefined) {
    const subject = letter.headers?.get('Subject')
    return subject ? { subject, data: letter.data } : { problem: 'the dead letter has no Subject header' }
  }
  if (partition >= config.EVENT_PARTITIONS) return { problem: `partition ${partition} exceeds EVENT_PARTITIONS` }
  const { body, sequence, visit } = JSON.parse(readText(letter)) as { body: unknown; sequence: number; visit?: string }
  if (typeof body === 'string' && body.length === cutAfter + 1 && body.endsWith('…')) {
    return { problem: `the letter is truncated; the full event is message ${sequence} of ${eventStream(partition)}` }
  }
  return {
    subject: clicksSubject(partition),
    data: JSON.stringify([visit ? { ...(body as RawClick), retriedVisit: visit } : body]),
  }
}

function presented(letter: Stored): DeadLetter {
  const { seq, time, subject } = letter
  const about = { sequence: seq, at: time, subject }
  if (parsePartition(letter) === undefined) {
    return { ...about, reason: letter.headers?.get('Reason') ?? '', excerpt: formatExcerpt(readText(letter)) }
  }
  const { reason, body } = JSON.parse(readText(letter)) as { reason: string; body: unknown }
  return { ...about, reason, excerpt: formatExcerpt(typeof body === 'string' ? body : JSON.stringify(body)) }
}

/** The partition of an event's dead letter; undefined for a dead letter of a background job. */
function parsePartition({ subject }: Stored): number | undefined {
  const partition = subject.match(/^dead\.events\.(\d+)$/)?.[1]
  return partition === undefined ? undefined : Number(partition)
}

async function* storedLetters({ nats }: Handles, count: number): AsyncGenerator<Stored> {
  const consumer = await jetStream(nats).consumers.get(deadLetterStream)
  for (let left = count; left > 0; ) {
    const before = left
    const messages = await consumer.fetch({ max_messages: Math.min(left, fetchedAtOnce), expires: 2_000 })
    for await (const message of messages) {
      left -= 1
      yield message
    }
    // Another process may have retried the remaining dead letters meanwhile.
    if (left === before) return
  }
}

export async function countDeadLetters({ nats }: Pick<Handles, 'nats'>): Promise<number> {
  const manager = await jetstreamManager(nats)
  const info = await manager.streams.info(deadLetterStream).catch((error) => {
    if (!/stream not found/.test(error.message)) throw error
    throw new AppError('not_found', 'The event log has no streams yet. Run: tributary migrate')
  })
  return info.state.messages
}

function readText({ data }: Stored): string {
  return new TextDecoder().decode(data)
}

function formatExcerpt(text: string): string {
  const line = text.replaceAll(/[\s\p{C}]+/gu, ' ')
  return line.length > excerptLength ? `${line.slice(0, excerptLength)}…` : line
}
