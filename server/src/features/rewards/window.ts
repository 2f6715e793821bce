import type { Rate, Terms } from './terms.ts'

/** The same day and time so many calendar months later in UTC, or the last day of a shorter month. */
export function addMonths(date: Date, months: number): Date {
  const later = new Date(date)
  later.setUTCMonth(date.getUTCMonth() + months)
  // A day that the month lacks became one of the next month; day 0 is the last of the month before it.
  if (later.getUTCDate() !== date.getUTCDate()) later.setUTCDate(0)
  return later
}

/** Whole calendar months from one time to another; negative never. */
export function monthsBetween(from: Date, to: Date): number {
  const years = to.getUTCFullYear() - from.getUTCFullYear()
  const months = years * 12 + to.getUTCMonth() - from.getUTCMonth()
  return Math.max(0, addMonths(from, months) > to ? months - 1 : months)
}

/** When the terms end for a customer; null for never. */
export function windowEnd({ maxDuration }: Pick<Rate, 'maxDuration'>, firstSaleAt: Date): Date | null {
  return maxDuration === null ? null : addMonths(firstSaleAt, maxDuration)
}

/** Whether a sale after the first one earns under these terms. The end is exclusive. */
export function isWindowOpen({ maxDuration }: Pick<Rate, 'maxDuration'>, firstSaleAt: Date, at: Date): boolean {
  if (maxDuration === null) return true
  return maxDuration > 0 && at < addMonths(firstSaleAt, maxDuration)
}

/** When the last of the base terms and modifiers ends; null for never. */
export function lastWindowEnd(terms: Pick<Terms, 'maxDuration' | 'modifiers'>, firstSaleAt: Date): Date | null {
  const durations = [terms, ...terms.modifiers].map(({ maxDuration }) => maxDuration ?? Number.POSITIVE_INFINITY)
  const longest = Math.max(...durations)
  return Number.isFinite(longest) ? addMonths(firstSaleAt, longest) : null
}
