import type { Redis } from 'ioredis'
import { openByteCache } from '../../platform/byte-cache.ts'
import type { Platform } from '../../platform/context.ts'
import { memoByObject } from '../../platform/memo.ts'
import { type StoredVisit, visitsById } from '../event-storage/service.ts'
import type { ClickDraft, ClickEvent } from './steps/step.ts'
import type { Comparison } from './store.ts'

export type Sighting = { id: string; isBot: boolean; position: string }

// The id changes every hour; one more hour covers clock skew and delayed batches.
const rememberedSeconds = 2 * 60 * 60

/**
 * Finds sightings that repeat an earlier one. The first one stores its log position, so a batch that runs again gets
 * the same answer. Without Valkey a worker recognizes only its own recent sightings and keeps the rest. HEAD and
 * prefetch are separate, because the visit itself may still follow.
 */
export async function findRepeats(valkey: Redis, sightings: Sighting[]): Promise<boolean[]> {
  const names = sightings.map(sightingKey)
  const earlier = await readFirstSightings(valkey, sightings, names)
  const seen = seenVisits(valkey)
  return sightings.map(({ position }, index) => {
    const name = names[index] as string
    const first = seen.get(name) ?? earlier[index] ?? position
    seen.set(name, first)
    return first !== position
  })
}

/** `arrivedAt` is when the log received its message, in milliseconds. */
type Arrival = { event: ClickEvent; arrivedAt: number }
/** `own`: the row of this very message. `other`: the row of an earlier message, so the click is a repeat. */
type StoredBy = 'own' | 'other' | undefined

// The log itself drops duplicates for this long; Valkey remembers visits much longer, if it survives.
const lateAfterMs = 120_000
// The clock of a worker, which dates rows, may be behind the clock of the log by this much.
const skewMs = 60_000

/** Whether a click was delayed so long that only ClickHouse knows whether it is already stored. */
function isLate({ event, arrivedAt }: Arrival): boolean {
  return arrivedAt - event.at > lateAfterMs
}

/** Finds the rows that ClickHouse has for these clicks. */
async function findStored(platform: Pick<Platform, 'clickhouse'>, arrivals: Arrival[]): Promise<StoredBy[]> {
  if (arrivals.length === 0) return []
  const clicks = arrivals.map(({ event: { workspaceId, id, at } }) => ({ workspaceId, id, at }))
  const rows = Map.groupBy(await visitsById(platform, clicks), (row) => visitName(row.id_text, row.is_bot === 1))
  return arrivals.map(({ event, arrivedAt }) => {
    const mine = rows.get(visitName(event.id, event.bot !== ''))
    const isOwn = ({ at, stored }: StoredVisit) => Number(at) === event.at && Number(stored) >= arrivedAt - skewMs
    if (mine?.some(isOwn)) return 'own'
    return mine && 'other'
  })
}

function visitName(id: string, isBot: boolean): string {
  return isBot ? `bot:${id}` : id
}

/** A click that is not rejected, and its position in the log. */
type LoggedDraft = { draft: ClickDraft; position: { sequence: number; arrivedAt?: number } }

/**
 * Asks ClickHouse for clicks that may already be stored: those in the log at the claim, delayed ones, and retried dead
 * letters. Returns the ones that have a row but are not counted yet, and marks the others as repeats. Returns undefined
 * when no click had to be compared.
 */
export async function compareWithStored(
  platform: Pick<Platform, 'clickhouse'>,
  drafts: LoggedDraft[],
  repeated: Set<ClickDraft>,
  { until, areStoredCounted }: Comparison = { until: 0, areStoredCounted: true },
): Promise<Set<ClickDraft> | undefined> {
  const arrivals = drafts
    .map(({ draft, position }) => ({
      draft,
      position,
      event: draft.event,
      arrivedAt: position.arrivedAt ?? draft.event.at,
    }))
    .filter(
      (arrival) =>
        arrival.position.sequence <= until || isLate(arrival) || arrival.draft.raw.retriedVisit !== undefined,
    )
  if (arrivals.length === 0) return undefined
  const stored = new Set<ClickDraft>()
  for (const [index, storedBy] of (await findStored(platform, arrivals)).entries()) {
    const { draft, position } = arrivals[index] as (typeof arrivals)[number]
    if (storedBy === 'own' && position.sequence <= until && !areStoredCounted) stored.add(draft)
    else if (storedBy) repeated.add(draft)
  }
  return stored
}

const seenVisits = memoByObject((_: Redis) => openByteCache<string>({ maxBytes: 80_000_000, most: 200_000 }))

async function readFirstSightings(valkey: Redis, sightings: Sighting[], names: string[]): Promise<(string | null)[]> {
  const positions = sightings.map(({ position }) => position)
  const until = Date.now() + patienceMs
  while (valkey.status === 'ready' && Date.now() < until) {
    const asked: Promise<(string | null)[]>[] = []
    for (let start = 0; start < names.length; start += atOnce)
      asked.push(writeSightings(valkey, names.slice(start, start + atOnce), positions.slice(start, start + atOnce)))
    // A retry is harmless: the first sighting finds its own position.
    const answers = await Promise.all(asked).catch((error: Error) => (isRefusal(error) ? [] : undefined))
    if (answers) return answers.flat()
  }
  return []
}

/** Valkey answers but refuses writes, because its memory is full or it is a replica: that does not end soon. */
function isRefusal({ message }: Error): boolean {
  return /^(OOM|MISCONF|READONLY|NOREPLICAS)\b/.test(message) || message.includes('OOM command not allowed')
}

/** One script call, because a command per click would cost more than all the other work on it. */
function writeSightings(valkey: Redis, names: string[], positions: string[]): Promise<(string | null)[]> {
  return valkey.eval(script, names.length, ...names, rememberedSeconds, ...positions) as Promise<(string | null)[]>
}

const patienceMs = 5_000
const atOnce = 1_000
const script = `local first = {}
for i, name in ipairs(KEYS) do
  first[i] = redis.call('SET', name, ARGV[i + 1], 'EX', ARGV[1], 'NX', 'GET')
end
return first`

/** The braces are the cluster's hash tag: they keep all keys of a partition on one node. */
function sightingKey({ id, isBot, position }: Sighting): string {
  return `visit:{${position.slice(0, position.indexOf(':'))}}:${isBot ? 'bot:' : ''}${id}`
}
