import { randomUUID } from 'node:crypto'
import { chunksInTurns } from '../../platform/batches.ts'
import type { Platform } from '../../platform/context.ts'
import { lastKnownSequence } from '../../platform/incarnation.ts'
import { eventStream } from '../../platform/nats.ts'
import { describeFailure, judgeFailure } from '../../platform/refusal.ts'
import { appendEncodedClicks, type EncodedClicks, encodeClicks, type NewClick } from '../event-storage/service.ts'
import { isRawClick } from '../redirect/messages.ts'
import { appendClicksAgain, foldRareValues } from '../rollups/service.ts'
import {
  buildRows,
  buildStepContext,
  commitBatch,
  deduplicationToken,
  type LoggedVisit,
  type LogMessage,
  lastArrival,
  PartitionLost,
  splitMessages,
  sumClicks,
  visitId,
} from './batch.ts'
import { betweenAllBatches, betweenBatches } from './between-batches.ts'
import { buryEvents, countDeadLetters, type NewLetter } from './dead-letters.ts'
import { mostAttempts, selectEvents, storeInParts } from './divide.ts'
import { measureLags } from './lag.ts'
import { createdAt, isRewound, type StreamState } from './log/position.ts'
import type { ClickBatchStored } from './messages.ts'
import { ingestMetrics } from './metrics.ts'
import { readWhole } from './read-log.ts'
import { compareWithStored, findRepeats, type LoggedDraft, type Sighting } from './repeats.ts'
import { type Replayed, replayLog } from './replay.ts'
import { begin, deduplicationSteps, run, validationSteps } from './steps/pipeline.ts'
import type { ClickDraft, Outcome } from './steps/step.ts'
import {
  type Cursor,
  claimPartition,
  type Holder,
  type Intent,
  isRebuildLocked,
  releasePartition,
  renewLease,
  selectCursors,
  setStream,
  updateIntent,
  writeIntent,
} from './store.ts'

export type PartitionHolder = Holder
export type PartitionCursor = Cursor

/** Claims a partition of the event log: returns its cursor, or undefined while another worker owns the partition. */
export function claim(platform: Platform, holder: Holder): Promise<Cursor | undefined> {
  return claimPartition(platform.db, holder)
}

/** A worker reads a claimed partition after `sequence`, and looks up clicks up to `comparison.until` in ClickHouse. */
export type Reading = Cursor & { comparison: NonNullable<Holder['comparison']> }

/**
 * Decides where to continue in a partition's NATS stream. Its messages may already be stored, by a worker whose cursor
 * PostgreSQL has since lost. A stream that was recreated, or restored to an older state, is read from its first new
 * message: messages after the cursor that the stream lost can't be recovered.
 */
export async function followStream(
  platform: Platform,
  holder: Holder,
  cursor: Cursor,
  { state, firstAfter }: { state: StreamState; firstAfter: (time: number) => Promise<number> },
): Promise<Reading> {
  const { partition } = holder
  const { created, last: until } = state
  const isSame = createdAt(cursor.stream) === created
  if (isSame && !isRewound(cursor, state)) return { ...cursor, comparison: { until, areStoredCounted: false } }
  const isFirst = cursor.stream === ''
  // A restored stream repeats sequence numbers, so it gets a unique name to keep deduplication tokens unique.
  const stream = isSame ? `${created}+${randomUUID().slice(0, 8)}` : created
  const sequence = isFirst ? cursor.sequence : await firstUnread(cursor, isSame, firstAfter)
  const followed = { ...cursor, stream, sequence, intent: isFirst ? cursor.intent : null }
  if (!(await setStream(platform.db, holder, followed))) throw new PartitionLost()
  if (isFirst) return { ...followed, comparison: { until, areStoredCounted: false } }
  const lostMessages = Math.max(0, (await lastKnownSequence(platform.db, eventStream(partition))) - cursor.sequence)
  ingestMetrics(platform).logRewinds.inc({ partition })
  ingestMetrics(platform).logLostMessages.inc({ partition }, lostMessages)
  const fields = { partition, cursor: cursor.sequence, last: state.last, readFrom: sequence + 1, lostMessages }
  const event = isSame ? 'event log was restored to an older state' : 'event log was recreated'
  platform.log.error(fields, `${event}; clicks that were not stored yet are lost: run \`tributary verify\``)
  return { ...followed, comparison: { until, areStoredCounted: true } }
}

/** The sequence to read after: the start of a recreated stream, or the cursor's arrival time in a restored stream. */
async function firstUnread(cursor: Cursor, isSame: boolean, firstAfter: (time: number) => Promise<number>) {
  if (!isSame || cursor.arrivedAt === null) return 0
  return (await firstAfter(cursor.arrivedAt - clockStepMs)) - 1
}

// The clock of a log restored on another machine may be behind. Clicks read twice are found in ClickHouse.
const clockStepMs = 60_000

/** The sequence of each partition's last stored message, and the creation time of its stream. */
export async function storedSequences(
  platform: Pick<Platform, 'db'>,
): Promise<{ partition: number; sequence: number; created: string }[]> {
  const visits = await selectCursors(platform.db)
  return visits.map(({ partition, sequence, stream }) => ({ partition, sequence, created: createdAt(stream) }))
}

/** Whether `tributary rebuild` is running. */
export function isRebuildRunning(platform: Pick<Platform, 'db'>): Promise<boolean> {
  return isRebuildLocked(platform.db)
}

type Engines = Pick<Platform, 'config' | 'db' | 'clickhouse'>

/** Pauses click ingestion of these workspaces during `work`; `isLocked` is false when a batch does not end in time. */
export function pauseIngest<R>(
  platform: Engines,
  workspaceIds: string[],
  work: (platform: Engines, isLocked: boolean) => Promise<R>,
): Promise<R> {
  return betweenBatches(platform, workspaceIds, work)
}

/** Pauses all click ingestion between two batches, so that counters and stored clicks match during `work`. */
export function pauseAllIngest<R>(platform: Engines, work: (platform: Engines) => Promise<R>): Promise<R> {
  return betweenAllBatches(platform, work)
}

export type ReplayedLog = Replayed

/** Inserts clicks that the event log still has and ClickHouse lacks. */
export function restoreFromLog(platform: Platform, report: (share: number, text: string) => void): Promise<Replayed> {
  return replayLog(platform, report)
}

/** Whether every click that arrived in the event log before this time is stored. Clocks may be up to ten seconds apart. */
export async function isLogStored(platform: Pick<Platform, 'config' | 'db' | 'nats'>, before: Date): Promise<boolean> {
  const lags = await measureLags(platform)
  return lags.every(({ oldestAt }) => oldestAt === undefined || oldestAt > before.getTime() + clockDifferenceMs)
}

const clockDifferenceMs = 10_000

/** The number of messages in the dead-letter stream. */
export function countDeadEvents(platform: Pick<Platform, 'nats'>): Promise<number> {
  return countDeadLetters(platform)
}

export function renew(platform: Platform, holder: Holder): Promise<boolean> {
  return renewLease(platform.db, holder)
}

export function release(platform: Platform, holder: Holder): Promise<void> {
  return releasePartition(platform.db, holder)
}

/** A validated batch of clicks, before any write; prepared while the previous batch is being stored. */
export type Prepared = {
  last: number
  arrivedAt: number | null
  outcomes: Outcome[]
  rows: NewClick[]
  /** Positions of clicks that ClickHouse already has; undefined when ClickHouse was not queried. */
  stored: number[] | undefined
  /** The rows that ClickHouse lacks. */
  missing: NewClick[]
  /** The same, encoded; undefined when a click can't be encoded. */
  encoded: EncodedClicks | undefined
}

/** Stores a batch of log messages exactly once, even if workers, PostgreSQL or ClickHouse fail in between. */
export async function ingest(
  platform: Platform,
  holder: Holder,
  before: number,
  messages: LogMessage[],
): Promise<number> {
  return store(platform, holder, before, await prepare(platform, holder, messages))
}

export async function prepare(platform: Platform, holder: Holder, messages: LogMessage[]): Promise<Prepared> {
  const visits = splitMessages(messages)
  const prepared = await prepareEvents(platform, holder, visits)
  await buryRejected(platform, holder, visits, prepared.outcomes)
  const missing = missingRows(prepared)
  await foldRareValues(platform, missing)
  // It fails again after the batch is recorded, which then is divided until the click that can't be encoded is alone.
  const encoded = await encodeClicks(platform, missing).catch(() => undefined)
  return { last: messages.at(-1)?.sequence ?? 0, arrivedAt: lastArrival(messages), ...prepared, missing, encoded }
}

type PreparedEvents = Pick<Prepared, 'outcomes' | 'rows' | 'stored'>

/** Prepares events. When a lookup or our own code fails on the data, divides the events until the bad one is alone. */
async function prepareEvents(platform: Platform, holder: Holder, visits: LoggedVisit[]): Promise<PreparedEvents> {
  try {
    const { outcomes, stored } = await judge(platform, holder, visits)
    const drafts = outcomes.flatMap((outcome) => ('keep' in outcome ? [outcome.keep] : []))
    return { outcomes, stored, rows: await buildRows(platform, drafts) }
  } catch (error) {
    if (judgeFailure(error) !== 'refused') throw error
    if (visits.length === 1) {
      const outcome = { reject: 'refused', cause: describeFailure(error) } as const
      return { outcomes: [outcome], rows: [], stored: undefined }
    }
    const middle = Math.ceil(visits.length / 2)
    const first = await prepareEvents(platform, holder, visits.slice(0, middle))
    const second = await prepareEvents(platform, holder, visits.slice(middle))
    const stored = [...(first.stored ?? []), ...(second.stored ?? []).map((position) => position + middle)]
    return {
      outcomes: [...first.outcomes, ...second.outcomes],
      rows: [...first.rows, ...second.rows],
      stored: first.stored || second.stored ? stored : undefined,
    }
  }
}

function buryRejected(platform: Platform, holder: Holder, visits: LoggedVisit[], outcomes: Outcome[]): Promise<void> {
  const letters = outcomes.flatMap((outcome, position): NewLetter[] => {
    if (!('reject' in outcome)) return []
    const logged = visits[position] as LoggedVisit
    const { reject, cause } = outcome
    return [cause ? { reason: cause, logged, visit: visitId(holder, logged) } : { reason: reject, logged }]
  })
  return buryEvents(platform, holder, letters)
}

export async function store(
  platform: Platform,
  holder: Holder,
  before: number,
  { last, arrivedAt, outcomes, rows, stored, missing, encoded }: Prepared,
): Promise<number> {
  const intent: Intent = {
    first: before + 1,
    last,
    excluded: outcomes.flatMap((outcome, position) => ('keep' in outcome ? [] : [position])),
    bots: groupBots(outcomes),
    counts: sumClicks(outcomes.flatMap((outcome) => ('keep' in outcome ? [outcome.keep.event] : []))),
    ...(stored && { stored, name: randomUUID() }),
  }
  if (!(await writeIntent(platform.db, holder, before, intent))) throw new PartitionLost()
  tally(platform, outcomes)
  const token = deduplicationToken(holder, intent)
  await appendEncodedClicks(platform, encoded ?? (await encodeClicks(platform, missing)), token)
  return commitBatch(platform, holder, before, { ...intent, arrivedAt, rows })
}

function missingRows({ outcomes, rows, stored = [] }: PreparedEvents): NewClick[] {
  if (stored.length === 0) return rows
  const known = new Set(stored)
  const positions = outcomes.flatMap((outcome, position) => ('keep' in outcome ? [position] : []))
  return rows.filter((_, index) => !known.has(positions[index] as number))
}

/**
 * Finishes the batch that a previous worker left in the cursor's intent. What the intent says about dropped events and
 * bots is final. A batch that is refused, or failed too often for an unknown reason, is stored in parts.
 */
export async function finish(
  platform: Platform,
  holder: Holder,
  before: number,
  intent: Intent,
  messages: LogMessage[],
): Promise<number> {
  const { attempts = 0 } = intent
  const batch = { intent, messages }
  if (intent.division || attempts >= mostAttempts) return storeInParts(platform, holder, before, batch)
  // The attempt count is saved before the attempt, so that an attempt that kills the worker is counted.
  const counted = { ...intent, attempts: attempts + 1 }
  if (!(await updateIntent(platform.db, holder, before, counted))) throw new PartitionLost()
  try {
    return await finishWhole(platform, holder, before, batch)
  } catch (error) {
    const failure = judgeFailure(error)
    if (failure === 'unavailable') await updateIntent(platform.db, holder, before, intent).catch(() => false)
    if (failure !== 'refused') throw error
    platform.log.warn({ partition: holder.partition, error }, 'a click batch was refused, storing it in parts')
    return storeInParts(platform, holder, before, batch, describeFailure(error))
  }
}

async function finishWhole(
  platform: Platform,
  holder: Holder,
  before: number,
  { intent, messages }: { intent: Intent; messages: LogMessage[] },
): Promise<number> {
  const events = selectEvents(intent, messages)
  const stored = new Set(intent.stored)
  const drafts = events.map(({ draft }) => draft)
  const rows = await buildRows(platform, drafts)
  const missing = rows.filter((_, index) => !stored.has(events[index]?.position as number))
  await foldRareValues(platform, missing)
  await appendClicksAgain(platform, missing, deduplicationToken(holder, intent))
  return commitBatch(platform, holder, before, { ...intent, arrivedAt: lastArrival(messages), rows })
}

/** Reads the clicks of a stored batch from the log again; undefined when the log no longer has them. */
export async function readStoredClicks(platform: Platform, batch: ClickBatchStored): Promise<NewClick[] | undefined> {
  const messages = await readWhole(platform, batch)
  if (!messages) return undefined
  const drafts = selectEvents(batch, messages).map(({ draft }) => draft)
  return buildRows(platform, drafts)
}

async function judge(
  platform: Platform,
  holder: Holder,
  visits: LoggedVisit[],
): Promise<{ outcomes: Outcome[]; stored: number[] | undefined }> {
  const repeated = new Set<ClickDraft>()
  const context = buildStepContext(platform, (draft) => repeated.has(draft))
  const judged: Outcome[] = []
  const drafts: LoggedDraft[] = []
  const searches: Promise<boolean[]>[] = []
  // Valkey looks up the first clicks while the next ones are validated.
  for await (const some of chunksInTurns(visits, searchedAtOnce)) {
    const sightings: Sighting[] = []
    for (const position of some) {
      const { body } = position
      const outcome: Outcome = isRawClick(body) ? run(begin(body), validationSteps, context) : { reject: 'malformed' }
      judged.push(outcome)
      if (!('keep' in outcome)) continue
      const { event } = outcome.keep
      drafts.push({ draft: outcome.keep, position })
      sightings.push({ id: event.id, isBot: event.bot !== '', position: visitId(holder, position) })
    }
    searches.push(findRepeats(platform.valkey, sightings))
  }
  const repeats = (await Promise.all(searches)).flat()
  for (const [index, { draft }] of drafts.entries()) if (repeats[index]) repeated.add(draft)
  const stored = await compareWithStored(platform, drafts, repeated, holder.comparison)
  const outcomes = judged.map((outcome) => run(outcome, deduplicationSteps, context))
  const isStored = (outcome: Outcome) => 'keep' in outcome && stored?.has(outcome.keep)
  return { outcomes, stored: stored && outcomes.flatMap((outcome, position) => (isStored(outcome) ? [position] : [])) }
}

const searchedAtOnce = 1_000

function groupBots(outcomes: Outcome[]): [string, number[]][] {
  const bots = new Map<string, number[]>()
  for (const [position, outcome] of outcomes.entries()) {
    if (!('keep' in outcome) || outcome.keep.event.bot === '') continue
    // PostgreSQL refuses ill-formed Unicode and NUL in JSON.
    const reason = outcome.keep.event.bot.toWellFormed().replaceAll('\0', '\uFFFD')
    const positions = bots.get(reason) ?? []
    positions.push(position)
    bots.set(reason, positions)
  }
  return [...bots]
}

function tally(platform: Platform, outcomes: Outcome[]): void {
  const { ingested } = ingestMetrics(platform)
  const [stored, dropped, rejected] = [new Map<string, number>(), new Map<string, number>(), new Map<string, number>()]
  const count = (reasons: Map<string, number>, reason: string) => reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
  for (const outcome of outcomes) {
    if ('keep' in outcome) count(stored, outcome.keep.event.bot ? 'bot' : 'person')
    else if ('drop' in outcome) count(dropped, outcome.drop)
    else count(rejected, outcome.reject)
  }
  // Counting first, because setting labels for each click would cost more than a step.
  const counts = [
    ['kept', stored],
    ['dropped', dropped],
    ['rejected', rejected],
  ] as const
  for (const [outcome, reasons] of counts)
    for (const [reason, clicks] of reasons) ingested.inc({ outcome, reason }, clicks)
}
