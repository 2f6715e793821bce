import type { Variant } from './builder-values.ts'

/** Each destination of a test gets at least this share, in percent. */
export const leastShare = 10

/** Destinations with equal shares; what does not divide goes to the first ones. */
export function shared(urls: readonly string[]): Variant[] {
  const share = Math.floor(100 / urls.length)
  const rest = 100 - share * urls.length
  return urls.map((url, index) => ({ url, percentage: share + (index < rest ? 1 : 0) }))
}

/** Where the share of each destination but the last ends, in percent of the whole. */
export function boundaries(variants: readonly Variant[]): number[] {
  let end = 0
  return variants.slice(0, -1).map(({ percentage }) => (end += percentage))
}

/** Moves the end of one share; the next one gives or takes, and neither gets less than its least. */
export function moveBoundary(variants: readonly Variant[], index: number, to: number): Variant[] {
  const [before, after] = [variants[index], variants[index + 1]]
  if (!before || !after) return [...variants]
  const start = (boundaries(variants)[index] ?? 0) - before.percentage
  const both = before.percentage + after.percentage
  const percentage = Math.min(both - leastShare, Math.max(leastShare, Math.round(to) - start))
  const moved = [
    { ...before, percentage },
    { ...after, percentage: both - percentage },
  ]
  return [...variants.slice(0, index), ...moved, ...variants.slice(index + 2)]
}
