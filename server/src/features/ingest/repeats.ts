import type { Redis } from 'ioredis'
import { LRUCache } from 'lru-cache'

export type Sighting = { id: string; isBot: boolean; place: string }

// The id changes with the hour; one more covers clocks that differ and batches that come late.
const rememberedSeconds = 2 * 60 * 60

/**
 * Which of these sightings repeat an earlier one. The first to come leaves its place in the log, so the same batch gets
 * the same answer when it is run again. Without Valkey only what this worker has seen lately is known, and the rest is
 * kept. What only looked like a visit (HEAD, prefetch) is apart: the visit itself may still follow.
 */
export async function findRepeats(valkey: Redis, sightings: Sighting[]): Promise<boolean[]> {
  const names = sightings.map(nameOf)
  const earlier = await firstPlaces(valkey, sightings, names)
  const seen = memoryOf(valkey)
  return sightings.map(({ place }, index) => {
    const name = names[index] as string
    const first = seen.get(name) ?? earlier[index] ?? place
    seen.set(name, first)
    return first !== place
  })
}

const memories = new WeakMap<Redis, LRUCache<string, string>>()

function memoryOf(valkey: Redis): LRUCache<string, string> {
  const memory = memories.get(valkey) ?? new LRUCache<string, string>({ max: 200_000 })
  memories.set(valkey, memory)
  return memory
}

async function firstPlaces(valkey: Redis, sightings: Sighting[], names: string[]): Promise<(string | null)[]> {
  const places = sightings.map(({ place }) => place)
  const until = Date.now() + patienceMs
  while (valkey.status === 'ready' && Date.now() < until) {
    const asked: Promise<(string | null)[]>[] = []
    for (let start = 0; start < names.length; start += atOnce)
      asked.push(leavePlaces(valkey, names.slice(start, start + atOnce), places.slice(start, start + atOnce)))
    // Asking again is harmless: who was first finds its own place.
    const answers = await Promise.all(asked).catch(() => undefined)
    if (answers) return answers.flat()
  }
  return []
}

/** In one command: one for every click would cost the worker more than all its other work on it. */
function leavePlaces(valkey: Redis, names: string[], places: string[]): Promise<(string | null)[]> {
  return valkey.eval(script, names.length, ...names, rememberedSeconds, ...places) as Promise<(string | null)[]>
}

const patienceMs = 5_000
const atOnce = 1_000
const script = `local first = {}
for i, name in ipairs(KEYS) do
  first[i] = redis.call('SET', name, ARGV[i + 1], 'EX', ARGV[1], 'NX', 'GET')
end
return first`

/** What stands in braces decides about the place in a cluster: all of a partition is together. */
function nameOf({ id, isBot, place }: Sighting): string {
  return `visit:{${place.slice(0, place.indexOf(':'))}}:${isBot ? 'bot:' : ''}${id}`
}
