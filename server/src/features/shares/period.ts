import type { Interval } from '@tributary/contract/events'
import type { NamedPeriod } from '@tributary/contract/shares'
import { Temporal } from 'temporal-polyfill'
import { AppError, invalid } from '../../platform/errors.ts'
import { parsePeriod } from '../events/service.ts'
import type { ViewPeriod } from './view-query.ts'

type PeriodQuery = { interval?: Interval; start?: string; end?: string }
/** `first` is the time of the oldest events that the workspace's plan includes; null if it includes all. */
export type Clock = { now: Date; timezone: string; weekStart: number; first: Date | null }

/** The periods that visitors may choose: any after `from`, or parts of what the owner has fixed. */
export type Periods =
  | { kind: 'open'; name: NamedPeriod; from: Date | null }
  | { kind: 'fixed'; from: Date; to: Date; isUntilNow: boolean }

const dayMs = 86_400_000

/** Reads the owner's period: days are a bound, a name is only the default. */
export function readPeriods(period: ViewPeriod, clock: Clock): Periods {
  const { first } = clock
  if ('name' in period) {
    const isCovered = first === null || resolve(namePeriod(period.name, clock), clock).from >= dayBefore(first)
    return { kind: 'open', name: isCovered ? period.name : 'all', from: first }
  }
  const { from, to } = resolve(period, clock)
  const within = (time: Date) => new Date(Math.max(time.getTime(), first?.getTime() ?? 0))
  return { kind: 'fixed', from: within(from), to: within(to), isUntilNow: period.end === undefined }
}

/** The period of a request, as parameters of an analytics query. Throws 422 for one that the owner does not share. */
export function choosePeriod(periods: Periods, given: PeriodQuery, clock: Clock): PeriodQuery {
  const { interval, start, end } = given
  if (start?.trim()) {
    requireWhole({ start, end })
    requireWithin(resolve(given, clock), periods)
    return { start, ...(end && { end }) }
  }
  if (periods.kind === 'fixed') {
    if (interval !== undefined) throw invalid(fixedPeriod)
    const { from, to, isUntilNow } = periods
    return { start: from.toISOString(), ...(!isUntilNow && { end: to.toISOString() }) }
  }
  if (interval === undefined) return namePeriod(periods.name, clock)
  if (interval !== 'all') requireWithin(resolve({ interval }, clock), { ...periods, from: dayBefore(periods.from) })
  return { interval }
}

/** Throws 422 unless the period is of days: within a moment, filters would single out a visitor. */
function requireWhole({ start, end }: PeriodQuery): void {
  const other = [start, end].find((given) => given && !/^\d{4}-\d{2}-\d{2}$/.test(given.trim()))
  if (other) {
    throw invalid('`start` and `end` in the body are days of shared statistics, such as 2026-05-31.')
  }
}

const fixedPeriod =
  '`interval` in the body is for periods that end now, but these statistics have a fixed period. Send `start` and `end` within it.'

function requireWithin(chosen: { from: Date; to: Date }, periods: Pick<Periods, 'from'> & { to?: Date }): void {
  const { from, to } = periods
  if (from && chosen.from < from) {
    throw invalid(`The period in the body begins before ${from.toISOString()}, when these statistics begin.`)
  }
  if (to && chosen.to > to) {
    throw invalid(`The period in the body ends after ${to.toISOString()}, when these statistics end.`)
  }
}

/** A plan's history includes its first day, and an interval of the same length. */
function dayBefore<T extends Date | null>(time: T): T {
  return (time && new Date(time.getTime() - dayMs)) as T
}

/** A named period as parameters of an analytics query. Days are whole days, as in the dashboard, and the last one is today. */
function namePeriod(name: NamedPeriod, { now, timezone, weekStart }: Clock): PeriodQuery {
  if (name === '24h' || name === 'all') return { interval: name }
  const today = Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO(timezone).toPlainDate()
  const yesterday = today.subtract({ days: 1 }).toString()
  if (name === 'yesterday') return { start: yesterday, end: yesterday }
  return { start: firstDay(name, today, weekStart).toString() }
}

const lengths = { today: 1, '7d': 7, '30d': 30, '90d': 90, '1y': 365 }

function firstDay(
  name: Exclude<NamedPeriod, '24h' | 'all' | 'yesterday'>,
  today: Temporal.PlainDate,
  weekStart: number,
): Temporal.PlainDate {
  if (name === 'wtd') return today.subtract({ days: (today.dayOfWeek - weekStart + 7) % 7 })
  if (name === 'ytd') return today.with({ month: 1, day: 1 })
  if (name === 'mtd') return today.with({ day: 1 })
  if (name === 'qtd') return today.with({ month: today.month - ((today.month - 1) % 3), day: 1 })
  return today.subtract({ days: lengths[name] - 1 })
}

function resolve(query: PeriodQuery, { now, timezone }: Clock): { from: Date; to: Date } {
  try {
    return parsePeriod({ plan: 'enterprise', now: () => now }, { ...query, timezone })
  } catch (error) {
    if (error instanceof AppError) throw invalid(error.message.replace('in the query', 'in the body'))
    throw error
  }
}
