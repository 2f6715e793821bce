import type { Period } from './period.ts'

const dayMs = 86_400_000
const mostTries = 4

/**
 * Finds a part of the period, at the end where the list begins, with enough events for a page at a large offset: an
 * OFFSET over a whole year costs ten times as much as counting and skipping the rows of a few days.
 */
export async function partWith(
  needed: number,
  period: Period,
  ascending: boolean,
  count: (part: Period) => Promise<number>,
): Promise<Period> {
  let lengthMs = dayMs
  for (let tries = 0; tries < mostTries && lengthMs < periodLength(period) / 2; tries++) {
    const part = firstPart(period, ascending, lengthMs)
    const found = await count(part)
    if (found >= needed) return part
    lengthMs *= Math.min(32, (1.5 * needed) / Math.max(found, 1))
  }
  return period
}

/** Splits a list's period into its first part and the rest; `rest` is undefined when nothing is left. */
export function cutPart(period: Period, ascending: boolean, lengthMs: number): { part: Period; rest?: Period } {
  if (lengthMs >= periodLength(period)) return { part: period }
  const part = firstPart(period, ascending, lengthMs)
  return { part, rest: ascending ? { from: part.to, to: period.to } : { from: period.from, to: part.from } }
}

function firstPart({ from, to }: Period, ascending: boolean, lengthMs: number): Period {
  return ascending ? { from, to: new Date(from.getTime() + lengthMs) } : { from: new Date(to.getTime() - lengthMs), to }
}

function periodLength({ from, to }: Period): number {
  return to.getTime() - from.getTime()
}
