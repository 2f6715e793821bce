/** The clicks of a link on one day, and on the same weekday of the weeks before, newest first. */
export type LinkDay = { linkNumber: bigint; clicks: number; history: number[] }
export type UnusualDay = { linkNumber: bigint; clicks: number; usual: number; score: number }

/** Weeks that are compared at most, and those that a link needs. */
export const comparedWeeks = 8
export const leastWeeks = 4
/** A day counts if it, or a usual day, has this many clicks. */
export const leastClicks = 20
/** Standard deviations from the usual count. */
const leastScore = 5
const leastFactor = 1.5
// Makes the median absolute deviation of normally distributed values their standard deviation.
const deviationFactor = 1.4826

/**
 * Returns the days with unusually many or few clicks, the most striking first. Counts are compared as 2√(clicks + ⅜),
 * which has a standard deviation of about 1 for any number of independent visitors. The score is the distance of the day
 * from the median of its weekday, in deviations of the weeks before, but at least in those of independent visitors. A
 * day is unusual from a score of 5 on, if its clicks differ from the median by half or more.
 */
export function findUnusual(days: Iterable<LinkDay>, most: number): UnusualDay[] {
  const found: UnusualDay[] = []
  for (const day of days) {
    const judged = judgeDay(day)
    if (judged) found.push(judged)
  }
  return found.sort((one, other) => Math.abs(other.score) - Math.abs(one.score)).slice(0, most)
}

function judgeDay({ linkNumber, clicks, history }: LinkDay): UnusualDay | undefined {
  const weeks = history.slice(0, comparedWeeks)
  if (weeks.length < leastWeeks) return undefined
  const usual = median(weeks)
  if (Math.max(clicks, usual) < leastClicks) return undefined
  const [more, fewer] = [Math.max(clicks, usual), Math.min(clicks, usual)]
  if (more < fewer * leastFactor) return undefined
  const levels = weeks.map(stabilize)
  const middle = median(levels)
  const deviation = deviationFactor * median(levels.map((level) => Math.abs(level - middle)))
  const score = (stabilize(clicks) - middle) / Math.max(1, deviation)
  return Math.abs(score) < leastScore ? undefined : { linkNumber, clicks, usual, score }
}

function stabilize(count: number): number {
  return 2 * Math.sqrt(count + 3 / 8)
}

function median(values: number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  const middle = sorted.length >> 1
  const [low = 0, high = 0] = [sorted[middle - 1], sorted[middle]]
  return sorted.length % 2 === 1 ? high : (low + high) / 2
}
