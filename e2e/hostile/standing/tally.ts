import type { Outcome } from './wire.ts'

/** Responses to the requests of one operation. */
export type Count = {
  sent: number
  /** Responses other than 401 and 429: the request passed authentication and rate limits. */
  passed: number
  done: number
  refused: number
  limited: number
  /** 503 and 504, which are deliberate. */
  busy: number
  failed: number
  /** No response: the connection was closed, by us or by the server. */
  silent: number
  worstMs: number
}
export type Failure = { number: number; name: string; outcome: Outcome; request: string }
export type Tally = { counts: Record<string, Count>; failures: Failure[] }

const none: Count = { sent: 0, passed: 0, done: 0, refused: 0, limited: 0, busy: 0, failed: 0, silent: 0, worstMs: 0 }

export function countOutcome(tally: Tally, name: string, { status, ms }: Outcome): void {
  tally.counts[name] ??= { ...none }
  const count = tally.counts[name]
  count.sent += 1
  if (typeof status !== 'number') {
    if (status === 'hung') count.failed += 1
    else count.silent += 1
    return
  }
  if (status === 401 || status === 429) count.limited += 1
  else count.passed += 1
  if (status < 400) count.done += 1
  else if (status < 500 && status !== 401 && status !== 429) count.refused += 1
  else if (status === 503 || status === 504) count.busy += 1
  else if (status >= 500) count.failed += 1
  count.worstMs = Math.max(count.worstMs, Math.round(ms))
}

/** Whether a response is a defect: a 503 or 504 is deliberate, and counted apart. */
export function isFailure({ status }: Outcome): boolean {
  return status === 'hung' || (typeof status === 'number' && status >= 500 && status !== 503 && status !== 504)
}

export function mergeTally(into: Tally, { counts, failures }: Tally): void {
  into.failures.push(...failures)
  for (const [name, count] of Object.entries(counts)) into.counts[name] = add(into.counts[name] ?? none, count)
}

export function totalCount({ counts }: Tally): Count {
  return Object.values(counts).reduce(add, none)
}

function add(one: Count, other: Count): Count {
  const sum = Object.entries(one).map(([field, value]) => {
    const more = other[field as keyof Count]
    return [field, field === 'worstMs' ? Math.max(value, more) : value + more]
  })
  return Object.fromEntries(sum) as Count
}

/** Formats the counts as a table, with one line per operation. */
export function formatTally(tally: Tally): string {
  const names = Object.keys(none) as (keyof Count)[]
  const format = (name: string, count: Count) =>
    [name.padEnd(32), ...names.map((field) => String(count[field]).padStart(9))].join('')
  const lines = Object.entries(tally.counts)
    .sort(([one], [other]) => one.localeCompare(other))
    .map(([name, count]) => format(name, count))
  return [
    ['operation'.padEnd(32), ...names.map((field) => field.padStart(9))].join(''),
    ...lines,
    format('total', totalCount(tally)),
  ].join('\n')
}
