export type Random = {
  /** Returns a whole number from 0 to below `limit`. */
  below(limit: number): number
  chance(share: number): boolean
  pick<T>(from: T[]): T
}

/** A random generator, deterministic by seed: the high bits of a linear congruential generator. */
export function openRandom(seed: number): Random {
  let state = BigInt(seed)
  const next = () => {
    state = (state * 6_364_136_223_846_793_005n + 1_442_695_040_888_963_407n) % 2n ** 64n
    return Number(state >> 32n) / 2 ** 32
  }
  const below = (limit: number) => Math.floor(next() * limit)
  return { below, chance: (share) => next() < share, pick: (from) => from[below(from.length)] as never }
}
