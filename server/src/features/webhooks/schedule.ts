const secondMs = 1_000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

/** When an event is tried, after the first time. */
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
// One bad moment after days without an event is no reason to end it: an event must have failed for half an hour too.
const leastTriesToDisable = 4

export type Tried = {
  startedAt: Date
  /** How many calls were made since then, with this one. */
  tries: number
  /** When this call began and ended. */
  at: Date
  endedAt: Date
  /** What the receiver asked for. */
  retryAfterMs?: number
}

/**
 * When to try again after a call that failed; undefined when that was the last time. A call that came late, because
 * nobody worked or the webhook was disabled, puts off those after it, so that they do not come all at once.
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

/** Reads `Retry-After`: seconds, or a date. Undefined when it says neither, or a time that has passed. */
export function retryAfterMs(header: string | string[] | undefined, now: Date): number | undefined {
  const text = (Array.isArray(header) ? header[0] : header)?.trim()
  if (!text) return undefined
  const milliseconds = /^\d{1,12}$/.test(text) ? Number(text) * secondMs : Date.parse(text) - now.getTime()
  return milliseconds > 0 ? milliseconds : undefined
}

/** Whether a webhook whose calls have all failed since then is disabled after this one. */
export function isGivenUp(failingSince: Date, { tries, endedAt }: Pick<Tried, 'tries' | 'endedAt'>): boolean {
  return tries >= leastTriesToDisable && endedAt.getTime() - failingSince.getTime() >= failingDays * dayMs
}
