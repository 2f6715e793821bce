import { randomUUID } from 'node:crypto'
import type { Platform } from '../../platform/context.ts'
import { lastKnownSequence } from '../../platform/incarnation.ts'
import { eventStream, jetStream } from '../../platform/nats.ts'
import { transaction } from '../../platform/postgres.ts'
import { appendClicks, type NewClick } from '../events/service.ts'
import { countClicks } from '../links/service.ts'
import { type RawClick, rawClick } from '../redirect/messages.ts'
import { appendClicksAgain, foldRareValues } from '../rollups/service.ts'
import { type IpStorage, ipStorageOf, wantedTriggers } from '../workspaces/service.ts'
import { createdAt, isRewound, type StreamState } from './log/position.ts'
import { begin, enrich, judging, run, settling } from './pipeline.ts'
import { compareWithStored, findRepeats } from './repeats.ts'
import { rowOf } from './row.ts'
import { type ClickDraft, draftOf, type Outcome, type RejectReason, type StepContext } from './steps/step.ts'
import {
  advanceCursor,
  type Cursor,
  claimPartition,
  type Holder,
  type Intent,
  isRebuildLocked,
  limitPause,
  releasePartition,
  renewLease,
  selectPlaces,
  setStream,
  writeIntent,
} from './store.ts'
import { tellClicks } from './tell-clicks.ts'

export type { Cursor, Holder }

/** Another worker holds the partition now: this one has to stop at once. */
export class PartitionLost extends Error {}

/** `arrivedAt` is when it came to the log, in milliseconds. */
export type LogMessage = { sequence: number; body: unknown; arrivedAt?: number }
type Place = LogMessage & { index: number }

/** The cursor of the partition when it is this holder's now; undefined while another worker has it. */
export function claim(platform: Platform, holder: Holder): Promise<Cursor | undefined> {
  return claimPartition(platform.db, holder)
}

/** How a partition is read after a claim: from `sequence` on, and compared with ClickHouse up to `until`. */
export type Reading = Cursor & { comparison: NonNullable<Holder['comparison']> }

/**
 * Where to read on in the stream that is there now. Whatever it holds may be stored already, by a worker whose cursor
 * PostgreSQL has lost since. A stream that was created again, or restored to an older state, is read from its first new
 * message: what it lost after the cursor is gone.
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
  // Sequences come again after this, and with them the names of batches: the stream gets a name of its own.
  const stream = isSame ? `${created}+${randomUUID().slice(0, 8)}` : created
  const sequence = isFirst ? cursor.sequence : await firstUnread(cursor, isSame, firstAfter)
  const followed = { ...cursor, stream, sequence, intent: isFirst ? cursor.intent : null }
  if (!(await setStream(platform.db, holder, followed))) throw new PartitionLost()
  if (isFirst) return { ...followed, comparison: { until, areStoredCounted: false } }
  const lostMessages = Math.max(0, (await lastKnownSequence(platform.db, eventStream(partition))) - cursor.sequence)
  platform.metrics.logRewinds.inc({ partition })
  platform.metrics.logLostMessages.inc({ partition }, lostMessages)
  const fields = { partition, cursor: cursor.sequence, last: state.last, readFrom: sequence + 1, lostMessages }
  const event = isSame ? 'event log came back older than the cursor' : 'event log was created again'
  platform.log.error(fields, `${event}; clicks that were not stored yet are lost: run \`tributary verify\``)
  return { ...followed, comparison: { until, areStoredCounted: true } }
}

/** A stream that was created again is read from its start; of one that went back, only what arrived after the cursor. */
async function firstUnread(cursor: Cursor, isSame: boolean, firstAfter: (time: number) => Promise<number>) {
  if (!isSame || cursor.arrivedAt === null) return 0
  return (await firstAfter(cursor.arrivedAt - clockStepMs)) - 1
}

// The clock of a log that was restored on another machine may be behind; what is read again is compared.
const clockStepMs = 60_000

/** Up to where each partition is stored, and when the stream was created that its sequence counts in. */
export async function storedSequences(
  platform: Pick<Platform, 'db'>,
): Promise<{ partition: number; sequence: number; created: string }[]> {
  const places = await selectPlaces(platform.db)
  return places.map(({ partition, sequence, stream }) => ({ partition, sequence, created: createdAt(stream) }))
}

/** Whether `tributary rebuild` reads the log. */
export function isRebuildRunning(platform: Pick<Platform, 'db'>): Promise<boolean> {
  return isRebuildLocked(platform.db)
}

export function renew(platform: Platform, holder: Holder): Promise<boolean> {
  return renewLease(platform.db, holder)
}

export function release(platform: Platform, holder: Holder): Promise<void> {
  return releasePartition(platform.db, holder)
}

/** What a batch comes to, before anything of it is written: worked out while the one before is being stored. */
export type Prepared = {
  last: number
  arrivedAt: number | null
  outcomes: Outcome[]
  rows: NewClick[]
  /** Positions of clicks that ClickHouse has already; undefined when that was not asked. */
  stored: number[] | undefined
}

/** Stores a batch so that it counts once, whatever dies in between. */
export async function ingest(
  platform: Platform,
  holder: Holder,
  before: number,
  messages: LogMessage[],
): Promise<number> {
  return store(platform, holder, before, await prepare(platform, holder, messages))
}

export async function prepare(platform: Platform, holder: Holder, messages: LogMessage[]): Promise<Prepared> {
  const places = placesOf(messages)
  const { outcomes, stored } = await judge(platform, holder, places)
  await buryRejected(platform, holder, places, outcomes)
  const kept = outcomes.flatMap((outcome) => ('keep' in outcome ? [outcome.keep] : []))
  const rows = await rowsOf(platform, kept)
  return { last: messages.at(-1)?.sequence ?? 0, arrivedAt: lastArrival(messages), outcomes, rows, stored }
}

export async function store(
  platform: Platform,
  holder: Holder,
  before: number,
  { last, arrivedAt, outcomes, rows, stored }: Prepared,
): Promise<number> {
  const intent: Intent = {
    first: before + 1,
    last,
    excluded: outcomes.flatMap((outcome, position) => ('keep' in outcome ? [] : [position])),
    bots: botsOf(outcomes),
    counts: countsOf(outcomes),
    ...(stored && { stored, name: randomUUID() }),
  }
  if (!(await writeIntent(platform.db, holder, before, intent))) throw new PartitionLost()
  tally(platform, outcomes)
  return write(platform, holder, before, { intent, rows, missing: missingRows(outcomes, rows, stored), arrivedAt })
}

function missingRows(outcomes: Outcome[], rows: NewClick[], stored: number[] = []): NewClick[] {
  if (stored.length === 0) return rows
  const known = new Set(stored)
  const positions = outcomes.flatMap((outcome, position) => ('keep' in outcome ? [position] : []))
  return rows.filter((_, index) => !known.has(positions[index] as number))
}

function lastArrival(messages: LogMessage[]): number | null {
  return messages.at(-1)?.arrivedAt ?? null
}

/** What a worker that takes over does with the intent it finds: the verdicts stand, whatever it would say itself. */
export async function finish(
  platform: Platform,
  holder: Holder,
  before: number,
  intent: Intent,
  messages: LogMessage[],
): Promise<number> {
  const excluded = new Set(intent.excluded)
  const bots = new Map(
    intent.bots.flatMap(([reason, positions]) => positions.map((position) => [position, reason] as const)),
  )
  const stored = new Set(intent.stored)
  const positions: number[] = []
  const kept = placesOf(messages).flatMap(({ body }, position) => {
    if (excluded.has(position)) return []
    positions.push(position)
    const { raw, event } = draftOf(body as RawClick)
    return [{ raw, event: { ...event, bot: bots.get(position) ?? '' } }]
  })
  const rows = await rowsOf(platform, kept)
  const missing = rows.filter((_, index) => !stored.has(positions[index] as number))
  const batch = { intent, rows, missing, arrivedAt: lastArrival(messages) }
  return write(platform, holder, before, batch, appendClicksAgain)
}

/** `rows` are counted and published; only those that are `missing` in ClickHouse are inserted. */
type Batch = { intent: Intent; rows: NewClick[]; missing: NewClick[]; arrivedAt: number | null }

async function write(
  platform: Platform,
  holder: Holder,
  before: number,
  { intent, rows, missing, arrivedAt }: Batch,
  append = appendClicks,
): Promise<number> {
  const token = tokenOf(holder, intent)
  const listeners = await listenersAmong(platform, rows)
  await foldRareValues(platform, missing)
  await append(platform, missing, token)
  await tellClicks(platform, rows, listeners, token)
  await transaction(platform, async (platform) => {
    await limitPause(platform.db)
    if (intent.counts.length > 0) {
      await countClicks(
        platform,
        intent.counts.map(([linkNumber, clicks, at]) => ({
          linkNumber: BigInt(linkNumber),
          clicks,
          lastClicked: new Date(at),
        })),
      )
    }
    if (!(await advanceCursor(platform.db, holder, before, intent.last, arrivedAt))) throw new PartitionLost()
  })
  return intent.last
}

/** The workspaces that want to hear of clicks. */
async function listenersAmong(platform: Platform, rows: NewClick[]): Promise<Set<string>> {
  const ids = new Set<string>()
  for (const { workspace_id } of rows) ids.add(workspace_id)
  const wanted = await wantedTriggers(platform, ids)
  return new Set([...wanted].flatMap(([id, triggers]) => (triggers.includes('link.clicked') ? [id] : [])))
}

export async function rowsOf(platform: Platform, kept: ClickDraft[]): Promise<NewClick[]> {
  const workspaces = kept.map(({ event }) => event.workspaceId)
  const context = contextOf(platform, () => false, await ipStorageOf(platform, workspaces))
  return kept.map((draft) => rowOf(enrich(draft, context)))
}

export function contextOf(
  { config, geo }: Platform,
  isRepeat: StepContext['isRepeat'],
  storages = new Map<string, IpStorage>(),
): StepContext {
  return {
    clickKeys: config.CLICK_ID_KEYS,
    isRepeat,
    placeOf: geo.lookup,
    isDataCentre: config.BOT_RANGES_FILE?.has ?? (() => false),
    arePlacesRough: geo.source === 'built-in',
    ipStorageOf: (workspaceId) => storages.get(workspaceId) ?? config.IP_STORAGE,
  }
}

export function placesOf(messages: LogMessage[]): Place[] {
  return messages.flatMap(({ sequence, body, arrivedAt }) =>
    (Array.isArray(body) ? body : [body]).map((event, index) => ({ sequence, index, body: event, arrivedAt })),
  )
}

async function judge(
  platform: Platform,
  holder: Holder,
  places: Place[],
): Promise<{ outcomes: Outcome[]; stored: number[] | undefined }> {
  const repeated = new Set<ClickDraft>()
  const context = contextOf(platform, (draft) => repeated.has(draft))
  const judged = places.map(({ body }) => {
    const click = rawClick.safeParse(body)
    return click.success ? run(begin(click.data), judging, context) : ({ reject: 'malformed' } as Outcome)
  })
  const kept = judged.flatMap((outcome, position) =>
    'keep' in outcome ? [{ draft: outcome.keep, place: places[position] as Place }] : [],
  )
  const repeats = await findRepeats(
    platform.valkey,
    kept.map(({ draft, place }) => ({
      id: draft.event.id,
      isBot: draft.event.bot !== '',
      place: `${holder.partition}:${place.sequence}:${place.index}${holder.stream?.match(/\+.*$/s)?.[0] ?? ''}`,
    })),
  )
  for (const [index, { draft }] of kept.entries()) if (repeats[index]) repeated.add(draft)
  const stored = await compareWithStored(platform, kept, repeated, holder.comparison)
  const outcomes = judged.map((outcome) => run(outcome, settling, context))
  const isStored = (outcome: Outcome) => 'keep' in outcome && stored?.has(outcome.keep)
  return { outcomes, stored: stored && outcomes.flatMap((outcome, position) => (isStored(outcome) ? [position] : [])) }
}

function countsOf(outcomes: Outcome[]): Intent['counts'] {
  const counts = new Map<string, [number, number]>()
  for (const outcome of outcomes) {
    if (!('keep' in outcome) || outcome.keep.event.bot !== '') continue
    const { linkNumber, at } = outcome.keep.event
    const [clicks, last] = counts.get(linkNumber) ?? [0, 0]
    counts.set(linkNumber, [clicks + 1, Math.max(last, at)])
  }
  // In one order everywhere, so that two partitions never wait for each other's rows.
  return [...counts]
    .map(([linkNumber, [clicks, last]]): Intent['counts'][number] => [linkNumber, clicks, last])
    .sort(byLink)
}

function botsOf(outcomes: Outcome[]): [string, number[]][] {
  const bots = new Map<string, number[]>()
  for (const [position, outcome] of outcomes.entries()) {
    if (!('keep' in outcome) || outcome.keep.event.bot === '') continue
    const positions = bots.get(outcome.keep.event.bot) ?? []
    positions.push(position)
    bots.set(outcome.keep.event.bot, positions)
  }
  return [...bots]
}

function byLink([a]: [string, ...unknown[]], [b]: [string, ...unknown[]]): number {
  return a.length - b.length || (a < b ? -1 : 1)
}

async function buryRejected(platform: Platform, holder: Holder, places: Place[], outcomes: Outcome[]): Promise<void> {
  const stream = jetStream(platform.nats)
  for (const [position, outcome] of outcomes.entries()) {
    if (!('reject' in outcome)) continue
    const { sequence, index, body } = places[position] as Place
    await stream.publish(
      `dead.events.${holder.partition}`,
      letterOf({ reason: outcome.reject, sequence, index, body }),
      {
        msgID: ['event', holder.partition, holder.stream ?? [], sequence, index].flat().join('-'),
      },
    )
  }
}

/** What is too large for a message is cut; the whole is at its place in the log. */
function letterOf(letter: Omit<Place, 'arrivedAt'> & { reason: RejectReason }): string {
  const text = JSON.stringify(letter)
  if (Buffer.byteLength(text) <= 500_000) return text
  const body = typeof letter.body === 'string' ? letter.body : JSON.stringify(letter.body)
  return JSON.stringify({ ...letter, body: `${body.slice(0, 50_000)}…` })
}

function tally({ metrics }: Platform, outcomes: Outcome[]): void {
  for (const outcome of outcomes) {
    if ('keep' in outcome) metrics.ingested.inc({ outcome: 'kept', reason: outcome.keep.event.bot ? 'bot' : 'person' })
    else if ('drop' in outcome) metrics.ingested.inc({ outcome: 'dropped', reason: outcome.drop })
    else metrics.ingested.inc({ outcome: 'rejected', reason: outcome.reject })
  }
}

/**
 * Names the rows of a batch for ever: numbers alone come again when the log is made anew. A batch that was compared has
 * a name of its own, since other rows may have been inserted under the same numbers before.
 */
function tokenOf({ partition, stream = '' }: Holder, { first, last, name }: Intent): string {
  return [partition, ...(stream ? [stream] : []), first, last, ...(name ? [name] : [])].join(':')
}
