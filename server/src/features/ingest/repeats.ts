import type { Redis } from 'ioredis'

export type Sighting = { id: string; isBot: boolean; place: string }

// The id changes with the hour; one more covers clocks that differ and batches that come late.
const rememberedSeconds = 2 * 60 * 60

/**
 * Which of these sightings repeat an earlier one. The first to come leaves its place in the log, so the same batch gets
 * the same answer when it is run again. Without Valkey only repeats inside the batch are known, and the rest is kept.
 * What only looked like a visit (HEAD, prefetch) is apart: the visit itself may still follow.
 */
export async function findRepeats(valkey: Redis, sightings: Sighting[]): Promise<boolean[]> {
  const earlier = await firstPlaces(valkey, sightings)
  const seen = new Set<string>()
  return sightings.map((sighting, index) => {
    const name = nameOf(sighting)
    const repeat = seen.has(name) || (earlier[index] !== null && earlier[index] !== sighting.place)
    seen.add(name)
    return repeat
  })
}

async function firstPlaces(valkey: Redis, sightings: Sighting[]): Promise<(string | null)[]> {
  const none = sightings.map(() => null)
  if (valkey.status !== 'ready' || sightings.length === 0) return none
  const pipeline = valkey.pipeline()
  for (const sighting of sightings) pipeline.set(nameOf(sighting), sighting.place, 'EX', rememberedSeconds, 'NX', 'GET')
  const answers = await pipeline.exec().catch(() => null)
  return answers ? answers.map(([error, value]) => (error ? null : (value as string | null))) : none
}

function nameOf({ id, isBot }: Sighting): string {
  return `visit:${isBot ? 'bot:' : ''}${id}`
}
