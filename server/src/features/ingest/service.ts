import { isIP } from 'node:net'
import type { Platform } from '../../platform/context.ts'
import { jetStream } from '../../platform/nats.ts'
import { transaction } from '../../platform/postgres.ts'
import { appendClicks, type NewClick } from '../events/service.ts'
import { countClicks } from '../links/service.ts'
import { type RawClick, rawClick } from '../redirect/messages.ts'
import { begin, enrich, judging, run, settling } from './pipeline.ts'
import { findRepeats } from './repeats.ts'
import type { ClickDraft, ClickEvent, Outcome, RejectReason, StepContext } from './steps/step.ts'
import {
  advanceCursor,
  type Cursor,
  claimPartition,
  type Holder,
  type Intent,
  releasePartition,
  renewLease,
  writeIntent,
} from './store.ts'

export type { Cursor, Holder }

/** Another worker holds the partition now: this one has to stop at once. */
export class PartitionLost extends Error {}

export type LogMessage = { sequence: number; body: unknown }
type Place = { sequence: number; index: number; body: unknown }

/** The cursor of the partition when it is this holder's now; undefined while another worker has it. */
export function claim(platform: Platform, holder: Holder): Promise<Cursor | undefined> {
  return claimPartition(platform.db, holder)
}

export function renew(platform: Platform, holder: Holder): Promise<boolean> {
  return renewLease(platform.db, holder)
}

export function release(platform: Platform, holder: Holder): Promise<void> {
  return releasePartition(platform.db, holder)
}

/** Stores a batch so that it counts once, whatever dies in between. */
export async function ingest(
  platform: Platform,
  holder: Holder,
  before: number,
  messages: LogMessage[],
): Promise<number> {
  const places = placesOf(messages)
  const outcomes = await judge(platform, holder, places)
  await buryRejected(platform, holder, places, outcomes)
  const last = messages.at(-1)?.sequence ?? before
  const intent: Intent = {
    first: before + 1,
    last,
    excluded: outcomes.flatMap((outcome, position) => ('keep' in outcome ? [] : [position])),
    counts: countsOf(outcomes),
  }
  if (!(await writeIntent(platform.db, holder, before, intent))) throw new PartitionLost()
  tally(platform, outcomes)
  return finish(platform, holder, before, intent, messages)
}

/** The second half, which a worker that takes over repeats with the intent it finds. */
export async function finish(
  platform: Platform,
  holder: Holder,
  before: number,
  intent: Intent,
  messages: LogMessage[],
): Promise<number> {
  const excluded = new Set(intent.excluded)
  const context = contextOf(platform, () => false)
  const kept = placesOf(messages).filter((_, position) => !excluded.has(position))
  const rows = kept.map(({ body }) => rowOf(enrich(body as RawClick, context)))
  await appendClicks(platform, rows, `${holder.partition}:${intent.first}:${intent.last}`)
  await transaction(platform, async (platform) => {
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

function contextOf({ config, geo }: Platform, isRepeat: StepContext['isRepeat']): StepContext {
  return {
    clickKeys: config.CLICK_ID_KEYS,
    isRepeat,
    placeOf: geo.lookup,
    isDataCentre: config.BOT_RANGES_FILE?.has ?? (() => false),
    ipStorage: config.IP_STORAGE,
  }
}

function placesOf(messages: LogMessage[]): Place[] {
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

/** One value that ClickHouse can't read would hold up the whole partition, so none is left. */
function rowOf(event: ClickEvent): NewClick {
  const row: NewClick = {
    workspace_id: event.workspaceId,
    timestamp: event.at,
    id_text: event.id,
    link_number: event.linkNumber,
    url: event.url,
    trigger: event.trigger,
    ip: addressOf(event.ip),
    country: event.country,
    region: event.region,
    city: event.city,
    continent: event.continent,
    device: event.device,
    browser: event.browser,
    os: event.os,
    referer: event.referer,
    referer_url: event.refererUrl,
    utm_source: event.utmSource,
    utm_medium: event.utmMedium,
    utm_campaign: event.utmCampaign,
    utm_term: event.utmTerm,
    utm_content: event.utmContent,
    bot: event.bot,
  }
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, typeof value === 'string' ? value.toWellFormed() : value]),
  ) as NewClick
}

function addressOf(ip: string): string {
  const withoutZone = ip.replace(/%.*$/s, '')
  return isIP(withoutZone) ? withoutZone : '::'
}
