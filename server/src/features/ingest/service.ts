import type { Platform } from '../../platform/context.ts'
import { jetStream } from '../../platform/nats.ts'
import { transaction } from '../../platform/postgres.ts'
import { appendClicks, type NewClick } from '../events/service.ts'
import { countClicks } from '../links/service.ts'
import { type RawClick, rawClick } from '../redirect/messages.ts'
import { appendClicksAgain } from '../rollups/service.ts'
import { type IpStorage, ipStorageOf, wantedTriggers } from '../workspaces/service.ts'
import { begin, enrich, judging, run, settling } from './pipeline.ts'
import { findRepeats } from './repeats.ts'
import { rowOf } from './row.ts'
import { type ClickDraft, draftOf, type Outcome, type RejectReason, type StepContext } from './steps/step.ts'
import {
  advanceCursor,
  type Cursor,
  claimPartition,
  type Holder,
  type Intent,
  limitPause,
  releasePartition,
  renewLease,
  setStream,
  writeIntent,
} from './store.ts'
import { tellClicks } from './tell-clicks.ts'

export type { Cursor, Holder }

/** Another worker holds the partition now: this one has to stop at once. */
export class PartitionLost extends Error {}

export type LogMessage = { sequence: number; body: unknown }
type Place = { sequence: number; index: number; body: unknown }

/** The cursor of the partition when it is this holder's now; undefined while another worker has it. */
export function claim(platform: Platform, holder: Holder): Promise<Cursor | undefined> {
  return claimPartition(platform.db, holder)
}

/**
 * The cursor as it counts in the stream that is there now. When that is another one than before, the log was lost with
 * what was not stored yet, and reading begins at its start.
 */
export async function followStream(
  platform: Platform,
  holder: Holder,
  cursor: Cursor,
  stream: string,
): Promise<Cursor> {
  if (cursor.stream === stream) return cursor
  const isAnother = cursor.stream !== ''
  const followed = isAnother ? { sequence: 0, intent: null, stream } : { ...cursor, stream }
  if (!(await setStream(platform.db, holder, stream, followed.sequence))) throw new PartitionLost()
  if (isAnother) {
    const advice = 'What was in it and not yet stored is gone. Run `tributary verify`'
    platform.log.error(
      { partition: holder.partition, ...cursor, intent: undefined },
      `The event log was made anew. ${advice}`,
    )
  }
  return followed
}

export function renew(platform: Platform, holder: Holder): Promise<boolean> {
  return renewLease(platform.db, holder)
}

export function release(platform: Platform, holder: Holder): Promise<void> {
  return releasePartition(platform.db, holder)
}

/** What a batch comes to, before anything of it is written: worked out while the one before is being stored. */
export type Prepared = { last: number; outcomes: Outcome[]; rows: NewClick[] }

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
  const outcomes = await judge(platform, holder, places)
  await buryRejected(platform, holder, places, outcomes)
  const kept = outcomes.flatMap((outcome) => ('keep' in outcome ? [outcome.keep] : []))
  return { last: messages.at(-1)?.sequence ?? 0, outcomes, rows: await rowsOf(platform, kept) }
}

export async function store(
  platform: Platform,
  holder: Holder,
  before: number,
  { last, outcomes, rows }: Prepared,
): Promise<number> {
  const intent: Intent = {
    first: before + 1,
    last,
    excluded: outcomes.flatMap((outcome, position) => ('keep' in outcome ? [] : [position])),
    bots: botsOf(outcomes),
    counts: countsOf(outcomes),
  }
  if (!(await writeIntent(platform.db, holder, before, intent))) throw new PartitionLost()
  tally(platform, outcomes)
  return write(platform, holder, before, intent, rows)
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
  const kept = placesOf(messages).flatMap(({ body }, position) => {
    if (excluded.has(position)) return []
    const { raw, event } = draftOf(body as RawClick)
    return [{ raw, event: { ...event, bot: bots.get(position) ?? '' } }]
  })
  return write(platform, holder, before, intent, await rowsOf(platform, kept), appendClicksAgain)
}

async function write(
  platform: Platform,
  holder: Holder,
  before: number,
  intent: Intent,
  rows: NewClick[],
  append = appendClicks,
): Promise<number> {
  const token = tokenOf(holder, intent)
  const listeners = await listenersAmong(platform, rows)
  await append(platform, rows, token)
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
    if (!(await advanceCursor(platform.db, holder, before, intent.last))) throw new PartitionLost()
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
  return messages.flatMap(({ sequence, body }) =>
    (Array.isArray(body) ? body : [body]).map((event, index) => ({ sequence, index, body: event })),
  )
}

async function judge(platform: Platform, holder: Holder, places: Place[]): Promise<Outcome[]> {
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
      place: `${holder.partition}:${place.sequence}:${place.index}`,
    })),
  )
  for (const [index, { draft }] of kept.entries()) if (repeats[index]) repeated.add(draft)
  return judged.map((outcome) => run(outcome, settling, context))
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
        msgID: `event-${holder.partition}-${sequence}-${index}`,
      },
    )
  }
}

/** What is too large for a message is cut; the whole is at its place in the log. */
function letterOf(letter: Place & { reason: RejectReason }): string {
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

/** Names the rows of a batch for ever: numbers alone come again when the log is made anew. */
function tokenOf({ partition, stream = '' }: Holder, { first, last }: Intent): string {
  return [partition, ...(stream ? [stream] : []), first, last].join(':')
}
