const secondMs = 1_000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

/** The time of each delivery attempt, counted from the first attempt. */
export const offsetsMs = [
  0,
  5 * secondMs,
  5 * minuteMs,
  30 * minuteMs,
  2 * hourMs,
  5 * hourMs,
  10 * hourMs,
  14 * hourMs,
  20 * hourMs,
  24 * hourMs,
]
const jitter = 0.1
const leastPauseMs = 5 * secondMs
const mostPutOffMs = dayMs
const failingDays = 5
// An event's fourth attempt is half an hour after its first. Fewer failed attempts never disable a webhook.
const leastTriesToDisable = 4

export type Tried = {
  startedAt: Date
  /** The number of calls since `startedAt`, including this one. */
  tries: number
  /** The start and end of the latest call. */
  at: Date
  endedAt: Date
  /** The delay from the receiver's `Retry-After` header. */
  retryAfterMs?: number
}

/**
 * The time of the next delivery attempt after a failed call; undefined after the last one. A late call (no worker ran,
 * or the webhook was disabled) postpones all later calls, so that they keep their intervals.
 */
export function nextTry(
  { startedAt, tries, at, endedAt, retryAfterMs = 0 }: Tried,
  random: number = Math.random(),
): Date | undefined {
  const [before, offset] = [offsetsMs[tries - 1], offsetsMs[tries]]
  if (before === undefined || offset === undefined) return undefined
  const planned = startedAt.getTime() + offset * (1 + jitter * random)
  const afterLast = at.getTime() + offset - before
  const afterThis = endedAt.getTime() + Math.max(leastPauseMs, Math.min(retryAfterMs, mostPutOffMs))
  return new Date(Math.ceil(Math.max(planned, afterLast, afterThis)))
}

/** Parses a `Retry-After` header: seconds or a date. Undefined when it is invalid or in the past. */
export function retryAfterMs(header: string | string[] | undefined, now: Date): number | undefined {
  const text = (Array.isArray(header) ? header[0] : header)?.trim()
  if (!text) return undefined
  const milliseconds = /^\d{1,12}$/.test(text) ? Number(text) * secondMs : Date.parse(text) - now.getTime()
  return milliseconds > 0 ? milliseconds : undefined
}

/** Whether to disable a webhook whose calls have all failed since `failingSince`. */
export function isGivenUp(failingSince: Date, { tries, endedAt }: Pick<Tried, 'tries' | 'endedAt'>): boolean {
  return tries >= leastTriesToDisable && endedAt.getTime() - failingSince.getTime() >= failingDays * dayMs
}
