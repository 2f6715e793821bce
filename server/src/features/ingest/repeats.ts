import type { Redis } from 'ioredis'
import { openRecentEntries } from '../../platform/byte-cache.ts'
import type { Platform } from '../../platform/context.ts'
import { memoByObject } from '../../platform/memo.ts'
import { type StoredVisit, visitsById } from '../event-storage/service.ts'
import type { ClickDraft, ClickEvent } from './steps/step.ts'
import type { Comparison } from './store.ts'

export type Sighting = { id: string; isBot: boolean; position: string }

// A visitor's click id changes every hour; one more hour covers clock skew and delayed batches.
const rememberedSeconds = 2 * 60 * 60

/**
 * Finds clicks whose id was seen before. Valkey stores the log position of the first click with an id, so a batch that
 * runs again gets the same answer. Without Valkey, a worker recognizes only repeats of clicks it read itself. Clicks by
 * bots (HEAD, prefetch) have separate keys, because the real visit may still follow.
 */
export async function findRepeats(valkey: Redis, sightings: Sighting[]): Promise<boolean[]> {
  const names = sightings.map(sightingKey)
  const earlier = await readFirstSightings(valkey, sightings, names)
  const seen = seenVisits(valkey)
  return sightings.map(({ position }, index) => {
    const name = names[index] as string
    const known = seen.get(name)
    const first = known ?? earlier[index] ?? position
    if (known === undefined) seen.set(name, first)
    return first !== position
  })
}

/** A click, and when the log received its message (`arrivedAt`, in Unix milliseconds). */
type Arrival = { event: ClickEvent; arrivedAt: number }
/** Which message stored a click's row: `own` is this message, `other` an earlier one, so the click is a repeat. */
type StoredBy = 'own' | 'other' | undefined

// NATS drops duplicate messages for this long: only ClickHouse can tell whether a later click is already stored. Valkey remembers click ids for longer, but may lose its memory.
const lateAfterMs = 120_000
// The worker sets `stored_at` of click rows, and its clock may be behind the log's clock by this much.
const skewMs = 60_000

/** Tells, for each click, whether ClickHouse has a row with its id and which message stored that row. */
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

/** A click that passed validation, and its position in the log. */
export type LoggedDraft = { draft: ClickDraft; position: { sequence: number; arrivedAt?: number } }

/**
 * Looks up clicks in ClickHouse that may already be stored: clicks logged before this worker claimed the partition,
 * delayed clicks, and retried dead letters. Returns clicks that are stored but not counted yet, and adds other stored
 * clicks to `repeated`. Returns undefined when no click had to be looked up.
 */
export async function compareWithStored(
  platform: Pick<Platform, 'clickhouse'>,
  drafts: LoggedDraft[],
  repeated: Set<ClickDraft>,
  { until, areStoredCounted }: Comparison = { until: 0, areStoredCounted: true },
): Promise<Set<ClickDraft> | undefined> {
  const arrivals = drafts.flatMap(({ draft, position }) => {
    const { event } = draft
    const { sequence, arrivedAt = event.at } = position
    const isDoubtful = sequence <= until || arrivedAt - event.at > lateAfterMs || draft.raw.retriedVisit !== undefined
    return isDoubtful ? [{ draft, position, event, arrivedAt }] : []
  })
  if (arrivals.length === 0) return undefined
  const stored = new Set<ClickDraft>()
  for (const [index, storedBy] of (await findStored(platform, arrivals)).entries()) {
    const { draft, position } = arrivals[index] as (typeof arrivals)[number]
    if (storedBy === 'own' && position.sequence <= until && !areStoredCounted) stored.add(draft)
    else if (storedBy) repeated.add(draft)
  }
  return stored
}

// An id has 40 characters and a position about 20, so these take about 40 MB.
const seenVisits = memoByObject((_: Redis) => openRecentEntries<string>(200_000))

async function readFirstSightings(valkey: Redis, sightings: Sighting[], names: string[]): Promise<(string | null)[]> {
  const positions = sightings.map(({ position }) => position)
  const until = Date.now() + patienceMs
  while (valkey.status === 'ready' && Date.now() < until) {
    const asked: Promise<(string | null)[]>[] = []
    for (let start = 0; start < names.length; start += atOnce)
      asked.push(writeSightings(valkey, names.slice(start, start + atOnce), positions.slice(start, start + atOnce)))
    // A retry is harmless: a first click reads back its own log position.
    const answers = await Promise.all(asked).catch((error: Error) => (isRefusal(error) ? [] : undefined))
    if (answers) return answers.flat()
  }
  return []
}

/** Whether Valkey answers but refuses writes (memory full, or a replica): a retry would not help soon. */
function isRefusal({ message }: Error): boolean {
  return /^(OOM|MISCONF|READONLY|NOREPLICAS)\b/.test(message) || message.includes('OOM command not allowed')
}

/**
 * Uses one script call for many clicks, with names and positions as one JSON text each: arguments of their own would cost more
 * than the rest of a click's processing. Only earlier sightings are returned, because most clicks are new.
 */
async function writeSightings(valkey: Redis, names: string[], positions: string[]): Promise<(string | null)[]> {
  const found = names.map((): string | null => null)
  const texts = [names, positions].map((list) => JSON.stringify(list))
  const earlier = (await valkey.eval(script, 1, names[0] as string, rememberedSeconds, ...texts)) as (number | string)[]
  for (let at = 0; at < earlier.length; at += 2) found[Number(earlier[at]) - 1] = earlier[at + 1] as string
  return found
}

const patienceMs = 5_000
const atOnce = 1_000
// The declared key tells a cluster the node: all names have the same hash tag.
const script = `local names, positions, earlier = cjson.decode(ARGV[2]), cjson.decode(ARGV[3]), {}
for i, name in ipairs(names) do
  local first = redis.call('SET', name, positions[i], 'EX', ARGV[1], 'NX', 'GET')
  if first and first ~= positions[i] then
    earlier[#earlier + 1] = i
    earlier[#earlier + 1] = first
  end
end
return earlier`

/** The braces are Valkey Cluster's hash tag: they keep all keys of a partition on one node. */
function sightingKey({ id, isBot, position }: Sighting): string {
  return `visit:{${position.slice(0, position.indexOf(':'))}}:${isBot ? 'bot:' : ''}${id}`
}
