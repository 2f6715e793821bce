import { addDays, addMonths, countDays, type Day, isDay, localTime, weekday } from './days.ts'

export const periodNames = [
  'today',
  'yesterday',
  '24h',
  '7d',
  '30d',
  '90d',
  '1y',
  'wtd',
  'mtd',
  'qtd',
  'ytd',
  'all',
] as const
export type PeriodName = (typeof periodNames)[number]
/** A name, or days as `2026-01-01..2026-01-31`. */
export type Period = string
export const defaultPeriod = '30d'

/** When the page is read: now, in the time zone of the workspace, whose weeks begin on a day (0 is Sunday). */
export type Moment = { now: Date; timeZone: string; weekStart: number }
export type Days = { from: Day; to: Day }
/** A period as the API takes it: without an offset, in the time zone of the workspace. */
export type AskedPeriod = { interval?: '24h' | 'all'; start?: string; end?: string }

export function parsePeriod(given: unknown): Period | undefined {
  if (typeof given !== 'string' || given === defaultPeriod) return undefined
  if (periodNames.some((name) => name === given)) return given
  const [from = '', to = ''] = given.split('..', 2)
  return isDay(from) && isDay(to) && from <= to ? `${from}..${to}` : undefined
}

export function isNamed(period: Period): period is PeriodName {
  return !period.includes('..')
}

/** First and last day; undefined for all time. A period that reaches now ends today. */
export function periodDays(period: Period, moment: Moment): Days | undefined {
  const today = localTime(moment.now, moment.timeZone).day
  if (!isNamed(period)) {
    const [from = today, to = today] = period.split('..')
    return { from, to }
  }
  if (period === 'all') return undefined
  if (period === 'yesterday') return { from: addDays(today, -1), to: addDays(today, -1) }
  return { from: firstDay(period, today, moment.weekStart), to: today }
}

/** Whole days come from sums that are stored by day, which is why names mean days and not hours. */
export function askPeriod(period: Period, moment: Moment): AskedPeriod {
  if (period === '24h' || period === 'all') return { interval: period }
  const { from, to } = periodDays(period, moment) as Days
  const today = localTime(moment.now, moment.timeZone).day
  return to >= today ? { start: from } : { start: from, end: to }
}

/** Whether the last hour, day or month of the period is not over yet. */
export function reachesNow(period: Period, moment: Moment): boolean {
  const days = periodDays(period, moment)
  return days === undefined || days.to >= localTime(moment.now, moment.timeZone).day
}

/** The period before or after this one; undefined where there is none. Whole months, quarters and years stay whole. */
export function stepPeriod(period: Period, by: -1 | 1, moment: Moment): Period | undefined {
  const today = localTime(moment.now, moment.timeZone).day
  const days = period === '24h' ? { from: today, to: today } : periodDays(period, moment)
  if (!days) return undefined
  const whole = wholeDays(period, days)
  const months = wholeMonths(whole)
  const from = months ? addMonths(whole.from, by * months) : addDays(whole.from, by * countDays(whole.from, whole.to))
  const to = months ? addDays(addMonths(from, months), -1) : addDays(from, countDays(whole.from, whole.to) - 1)
  if (from > today) return undefined
  return nameDays({ from, to: earlier(to, today) }, { from, to }, moment)
}

export type Comparison = 'previous' | 'year'

/** The period to compare with. One that reaches now is compared with the same hours, not with whole days. */
export function comparePeriod(period: Period, comparison: Comparison, moment: Moment): AskedPeriod | undefined {
  if (period === 'all') return undefined
  if (period === '24h') return hoursBefore(comparison, moment)
  const days = periodDays(period, moment) as Days
  const { day: today, time } = localTime(moment.now, moment.timeZone)
  const whole = wholeDays(period, days)
  const months = comparison === 'year' ? 12 : wholeMonths(whole)
  const length = countDays(whole.from, whole.to)
  const back = (day: Day) => (months ? addMonths(day, -months) : addDays(day, -length))
  const from = back(days.from)
  if (days.to < today)
    return { start: from, end: months && isMonthEnd(days.to) ? monthEnd(back(days.to)) : back(days.to) }
  // One second past the minute: a period that ends where it begins is an error.
  return { start: `${from}T00:00:00`, end: `${back(today)}T${time}:01` }
}

function hoursBefore(comparison: Comparison, { now }: Moment): AskedPeriod {
  const minute = Math.floor(now.getTime() / 60_000) * 60_000
  const back = (comparison === 'year' ? 364 : 1) * 86_400_000
  return { start: new Date(minute - back - 86_400_000).toISOString(), end: new Date(minute - back).toISOString() }
}

function firstDay(period: PeriodName, today: Day, weekStart: number): Day {
  const lengths: Partial<Record<PeriodName, number>> = { today: 1, '24h': 1, '7d': 7, '30d': 30, '90d': 90, '1y': 365 }
  const length = lengths[period]
  if (length !== undefined) return addDays(today, 1 - length)
  if (period === 'wtd') return addDays(today, -((weekday(today) - weekStart + 7) % 7))
  if (period === 'ytd') return `${today.slice(0, 4)}-01-01`
  const month = `${today.slice(0, 7)}-01`
  return period === 'mtd' ? month : addMonths(month, -((Number(today.slice(5, 7)) - 1) % 3))
}

/** A week, month, quarter or year that has begun, to its end. */
function wholeDays(period: Period, { from, to }: Days): Days {
  const months: Partial<Record<Period, number>> = { mtd: 1, qtd: 3, ytd: 12 }
  const count = months[period]
  if (count) return { from, to: addDays(addMonths(from, count), -1) }
  return period === 'wtd' ? { from, to: addDays(from, 6) } : { from, to }
}

/** 1, 3 or 12 for a whole month, quarter or year; else 0. */
function wholeMonths({ from, to }: Days): number {
  if (!from.endsWith('-01')) return 0
  return [1, 3, 12].find((months) => addDays(addMonths(from, months), -1) === to) ?? 0
}

function earlier(one: Day, other: Day): Day {
  return one < other ? one : other
}

function isMonthEnd(day: Day): boolean {
  return addDays(day, 1).endsWith('-01')
}

function monthEnd(day: Day): Day {
  return addDays(addMonths(`${day.slice(0, 7)}-01`, 1), -1)
}

/** The name of days that have one, so that the address says “this month” and not its dates. */
function nameDays(days: Days, whole: Days, moment: Moment): Period {
  const name = (['today', 'yesterday', 'wtd', 'mtd', 'qtd', 'ytd'] as const).find((one) => {
    const named = periodDays(one, moment) as Days
    const end = wholeDays(one, named)
    return named.from === days.from && (named.to === days.to || end.to === whole.to)
  })
  return name ?? `${days.from}..${days.to}`
}
