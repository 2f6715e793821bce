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
  const { date, time } = localTime(now, timeZone)
  const weekAgo = addDays(date, -7)
  return {
    today: date,
    lastWeek: { start: `${weekAgo}T00:00:00`, end: `${weekAgo}T${time}` },
    monthStart: addDays(date, -29),
  }
}

/** Change in percent, as a share; undefined from zero, where there is none. */
export function relativeChange(now: number, before: number): number | undefined {
  return before === 0 ? undefined : (now - before) / before
}

function localTime(now: Date, timeZone: string): { date: string; time: string } {
  const format = new Intl.DateTimeFormat('en-CA', {
    ...{ timeZone, hourCycle: 'h23', year: 'numeric', month: '2-digit', day: '2-digit' },
    ...{ hour: '2-digit', minute: '2-digit' },
  })
  const parts = Object.fromEntries(format.formatToParts(now).map(({ type, value }) => [type, value]))
  // One second past midnight: a period that ends where it begins is an error.
  const time = `${parts.hour}:${parts.minute}:01`
  return { date: `${parts.year}-${parts.month}-${parts.day}`, time }
}

function addDays(date: string, days: number): string {
  const at = new Date(`${date}T00:00:00Z`)
  at.setUTCDate(at.getUTCDate() + days)
  return at.toISOString().slice(0, 10)
}
