import { addDays, localTime } from '../analytics/days.ts'

export type Periods = {
  /** The date of today in the time zone of the workspace, such as 2026-11-17. */
  today: string
  /** The same hours of the same weekday last week: from its midnight to this minute. */
  lastWeek: { start: string; end: string }
  /** The first of the last 30 days, of which today is one. */
  monthStart: string
}

/** The periods that home compares, as the API reads them: without an offset, in the workspace's time zone. */
export function homePeriods(now: Date, timeZone: string): Periods {
  const { day, time } = localTime(now, timeZone)
  const weekAgo = addDays(day, -7)
  return {
    today: day,
    // One second past midnight: a period that ends where it begins is an error.
    lastWeek: { start: `${weekAgo}T00:00:00`, end: `${weekAgo}T${time}:01` },
    monthStart: addDays(day, -29),
  }
}
