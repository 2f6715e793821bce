import { Temporal } from 'temporal-polyfill'

export type ScheduledKind = 'clicks_unusual' | 'weekly_report'
/** The time in [from, to). */
export type Span = { from: Date; to: Date }

const hours: Record<ScheduledKind, number> = { clicks_unusual: 6, weekly_report: 8 }
const monday = 1

/** The latest time at which this kind was due, in the time zone of the workspace: daily at 6:00, or on Mondays at 8:00. */
export function lastDue(kind: ScheduledKind, now: Date, timeZone: string): Temporal.ZonedDateTime {
  const local = toLocal(now, timeZone)
  const isDay = (date: Temporal.PlainDate) => kind === 'clicks_unusual' || date.dayOfWeek === monday
  let date = local.toPlainDate()
  for (;;) {
    const due = at(date, hours[kind], timeZone)
    if (isDay(date) && Temporal.ZonedDateTime.compare(due, local) <= 0) return due
    date = date.subtract({ days: 1 })
  }
}

/** The next time at which this kind is due, later than `now`. */
export function nextDue(kind: ScheduledKind, now: Date, timeZone: string): Date {
  const days = kind === 'clicks_unusual' ? 1 : 7
  const next = lastDue(kind, now, timeZone).toPlainDate().add({ days })
  return toDate(at(next, hours[kind], timeZone))
}

/** The last whole day before `due` and the same weekday of the weeks before it, newest first. */
export function listDays(due: Temporal.ZonedDateTime, weeks: number): { date: string; days: Span[] } {
  const day = due.toPlainDate().subtract({ days: 1 })
  const days = Array.from({ length: weeks + 1 }, (_, index) => spanFrom(day.subtract({ weeks: index }), 1, due))
  return { date: day.toString(), days }
}

/** The first date of the last whole week before `due`; weeks begin on the weekday of the workspace, where 0 is Sunday. */
export function lastWeek(due: Temporal.ZonedDateTime, weekStart: number): string {
  const today = due.toPlainDate()
  const sinceStart = (today.dayOfWeek - weekStart + 7) % 7
  return today.subtract({ days: sinceStart + 7 }).toString()
}

/** The first and last dates of a week and of the one before. */
export function weekDates(first: string) {
  const date = (days: number) => Temporal.PlainDate.from(first).add({ days }).toString()
  return { week: { start: first, end: date(6) }, before: { start: date(-7), end: date(-1) } }
}

function spanFrom(first: Temporal.PlainDate, days: number, { timeZoneId }: Temporal.ZonedDateTime): Span {
  const start = (date: Temporal.PlainDate) => toDate(date.toZonedDateTime(timeZoneId))
  return { from: start(first), to: start(first.add({ days })) }
}

function at(date: Temporal.PlainDate, hour: number, timeZone: string): Temporal.ZonedDateTime {
  return date.toZonedDateTime({ timeZone, plainTime: { hour } })
}

function toLocal(now: Date, timeZone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO(timeZone)
}

function toDate({ epochMilliseconds }: Temporal.ZonedDateTime): Date {
  return new Date(epochMilliseconds)
}
