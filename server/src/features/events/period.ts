import type { Interval } from '@tributary/contract/events'
import type { Component, ParsedComponents, ParsedResult } from 'chrono-node'
import { casual as english } from 'chrono-node/en'
import { Temporal } from 'temporal-polyfill'
import { invalid } from '../../platform/errors.ts'

export type PeriodInput = { interval?: Interval; start?: string; end?: string; timezone?: string }
export type Period = { from: Date; to: Date }
export type PeriodProblem = { problem: { field: 'start' | 'end' | 'timezone'; message: string } }

/**
 * The period of a query within the plan's history. A start before the history is an error; `interval=all` and cursors
 * (which set `from`) are cut to the history instead.
 */
export function readPeriod(
  query: PeriodInput,
  now: Date,
  history: { plan: string; days?: number },
  from?: number,
): Period {
  const resolved = resolvePeriod(query, now)
  if ('problem' in resolved) throw invalid(`\`${resolved.problem.field}\` in the query: ${resolved.problem.message}.`)
  const period = from === undefined ? resolved : { ...resolved, from: new Date(from) }
  const { plan, days } = history
  if (days === undefined) return period
  const hasStart = Boolean(query.start?.trim())
  const first = now.getTime() - days * dayMs
  // Allow one day before the history, so that its first date and an interval of the same length are valid.
  const isCut = from !== undefined || (query.interval === 'all' && !hasStart)
  if (isCut || period.from.getTime() >= first - dayMs) return cutToHistory(period, first)
  throw invalid(
    `\`${hasStart ? 'start' : 'interval'}\` in the query begins at ${period.from.toISOString()}, but the ${plan} plan has ${days} days of history. Begin at ${new Date(first).toISOString()} or later.`,
  )
}

/**
 * Resolves query parameters to a half-open period [from, to). `start` takes precedence over `interval`; `end` needs
 * `start`.
 */
export function resolvePeriod(input: PeriodInput, now: Date): Period | PeriodProblem {
  const timezone = input.timezone?.trim() || 'UTC'
  if (!isTimeZone(timezone)) return problem('timezone', unknownTimeZone(timezone))
  const local = Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO(timezone)

  const startText = input.start?.trim()
  const endText = input.end?.trim()
  const start = startText ? readSpan(startText, local) : undefined
  const end = endText ? readSpan(endText, local) : undefined
  if (startText && !start) return problem('start', unreadable(startText))
  if (endText && !end) return problem('end', unreadable(endText))

  // A period's end is exclusive, so add one millisecond to include events of the current millisecond.
  const nextMs = local.epochMilliseconds + 1
  if (!start) return { from: new Date(intervalStart(input.interval ?? '24h', local)), to: new Date(nextMs) }
  const [from, to] = [start.first, end?.next ?? nextMs]
  if (from < to) return { from: new Date(from), to: new Date(to) }
  if (end) return problem('end', `${isoText(to)} must be after start (${isoText(from)})`)
  return problem('start', `${isoText(from)} is in the future: use an earlier start, or add a later end`)
}

/** Cuts a period to the plan's history, which begins at `first`; an earlier period becomes empty. */
export function cutToHistory({ from, to }: Period, first: number): Period {
  return { from: new Date(Math.max(from.getTime(), first)), to: new Date(Math.max(to.getTime(), first)) }
}

type Span = { first: number; next: number }

const lengthInDays: Partial<Record<Interval, number>> = { '24h': 1, '7d': 7, '30d': 30, '90d': 90, '1y': 365 }

/** The start of an interval. Days are 24 hours; months, quarters and years begin at midnight in the time zone. */
function intervalStart(interval: Interval, now: Temporal.ZonedDateTime): number {
  const days = lengthInDays[interval]
  if (days !== undefined) return now.epochMilliseconds - days * dayMs
  if (interval === 'all') return 0
  const today = now.toPlainDate()
  const month = interval === 'mtd' ? today.month : interval === 'qtd' ? today.month - ((today.month - 1) % 3) : 1
  return dayStart(today.with({ month, day: 1 }), now.timeZoneId)
}

const isoDate = /^\d{4}-\d{2}-\d{2}$/
const isoDateTime = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}([.,]\d{1,9})?)?(?<offset>Z|[+-]\d{2}(:?\d{2})?)?$/i
const longestText = 100
const dayMs = 24 * 3_600_000
// The range of ClickHouse's DateTime64.
const earliestMs = Date.UTC(1900, 0, 2)
const latestMs = Date.UTC(2299, 11, 31)

/** Parses a date: a point in time, or the whole day, month or year when the text has no time of day. */
function readSpan(text: string, now: Temporal.ZonedDateTime): Span | null {
  if (text.length > longestText) return null
  try {
    const span = readIso(text, now.timeZoneId) ?? readPhrase(text, now)
    return span && span.first >= earliestMs && span.next <= latestMs ? span : null
  } catch (error) {
    // Temporal throws RangeError for a date or time that does not exist.
    if (error instanceof RangeError) return null
    throw error
  }
}

function readIso(text: string, zone: string): Span | null {
  if (isoDate.test(text)) return daySpan(Temporal.PlainDate.from(text), { days: 1 }, zone)
  const match = isoDateTime.exec(text)
  if (!match) return null
  if (match.groups?.offset) return moment(Temporal.Instant.from(text).epochMilliseconds)
  return moment(Temporal.PlainDateTime.from(text).toZonedDateTime(zone).epochMilliseconds)
}

function readPhrase(text: string, now: Temporal.ZonedDateTime): Span | null {
  // A text without letters is an invalid ISO date, a number of seconds, or a date with ambiguous month and day.
  if (!/[a-z]/i.test(text)) return null
  const zone = now.timeZoneId
  const result = parseWhole(text, now.toPlainDateTime())
  if (!result) return null

  const part = result.start
  const dateTime = plainDateTime(part)
  const date = dateTime.toPlainDate()
  const tags = result.tags()
  if (tags.has('casualReference/now')) return moment(now.epochMilliseconds)
  if (tags.has('result/relativeDateAndTime')) return moment(now.add(elapsed(text, now)).epochMilliseconds)
  if (part.isCertain('timezoneOffset')) return moment(part.date().getTime())
  if (part.isCertain('hour') || timesOfDay.some((name) => tags.has(`casualReference/${name}`))) {
    return moment(dateTime.toZonedDateTime(zone).epochMilliseconds)
  }
  if (part.isCertain('day') || part.isCertain('weekday') || tags.has('result/relativeDate')) {
    return daySpan(date, { days: 1 }, zone)
  }
  if (part.isCertain('month')) return daySpan(date.with({ day: 1 }), { months: 1 }, zone)
  if (part.isCertain('year')) return daySpan(date.with({ month: 1, day: 1 }), { years: 1 }, zone)
  return null
}

const timesOfDay = ['morning', 'afternoon', 'evening', 'tonight']

// chrono supports no time zones, so it gets the zone's local time as if it were the process's and returns local fields.
function parseWhole(text: string, clock: Temporal.PlainDateTime): ParsedResult | null {
  const { year, month, day, hour, minute, second, millisecond } = clock
  const result = english.parse(text, new Date(year, month - 1, day, hour, minute, second, millisecond))[0]
  return result && result.text.length === text.length && !result.end ? result : null
}

function plainDateTime(part: ParsedComponents): Temporal.PlainDateTime {
  const field = (name: Component) => part.get(name) ?? 0
  const date = [field('year'), field('month'), field('day')] as const
  return new Temporal.PlainDateTime(...date, field('hour'), field('minute'), field('second'), field('millisecond'))
}

// Computes a relative time 400 years ago: the calendar is the same, but there are no daylight saving changes.
function elapsed(text: string, now: Temporal.ZonedDateTime): Temporal.Duration {
  const calm = now.toPlainDateTime().subtract({ years: 400 })
  const result = parseWhole(text, calm)
  if (!result) throw new RangeError(`${quoted(text)} can't be resolved in the year ${calm.year}`)
  return calm.until(plainDateTime(result.start), { largestUnit: 'hour' })
}

function isTimeZone(name: string): boolean {
  // Temporal also accepts offsets and date-times as a time zone; reject them.
  if (!/^[a-z][a-z0-9_+/-]*$/i.test(name)) return false
  try {
    zoned(0, name)
    return true
  } catch {
    return false
  }
}

function zoned(ms: number, zone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone)
}

function dayStart(date: Temporal.PlainDate, zone: string): number {
  return date.toZonedDateTime(zone).epochMilliseconds
}

function daySpan(
  date: Temporal.PlainDate,
  length: { days?: number; months?: number; years?: number },
  zone: string,
): Span {
  return { first: dayStart(date, zone), next: dayStart(date.add(length), zone) }
}

function moment(ms: number): Span {
  return { first: ms, next: ms }
}

function problem(field: PeriodProblem['problem']['field'], message: string): PeriodProblem {
  return { problem: { field, message } }
}

function unreadable(text: string): string {
  return (
    `${quoted(text)} can't be read as a date or time. Use an ISO date (2025-01-31), an ISO date-time ` +
    `(2025-01-31T17:00:00Z) or a phrase such as "3 hours ago", "last monday" or "yesterday at 5pm", ` +
    'between the years 1900 and 2299'
  )
}

function unknownTimeZone(name: string): string {
  return `${quoted(name)} is unknown. Use an IANA name such as Europe/Berlin, America/New_York or UTC`
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)
}

function isoText(ms: number): string {
  return new Date(ms).toISOString()
}
