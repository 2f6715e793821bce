/** A day as text: 2026-11-18. Days are those of the workspace's time zone. */
export type Day = string

export function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) && addDays(text, 0) === text
}

export function addDays(day: Day, days: number): Day {
  const date = new Date(`${day}T00:00:00Z`)
  date.setUTCDate(date.getUTCDate() + days)
  return date.toISOString().slice(0, 10)
}

/** The same day of another month; the last one of a shorter month. */
export function addMonths(day: Day, months: number): Day {
  const first = new Date(`${day.slice(0, 7)}-01T00:00:00Z`)
  first.setUTCMonth(first.getUTCMonth() + months)
  const month = first.toISOString().slice(0, 7)
  const last = addDays(`${addMonth(month)}-01`, -1)
  const same = `${month}-${day.slice(8)}`
  return same > last ? last : same
}

/** The number of days from the first to the last, both included. */
export function countDays(from: Day, to: Day): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / 86_400_000) + 1
}

/** 0 is Sunday. */
export function weekday(day: Day): number {
  return new Date(`${day}T00:00:00Z`).getUTCDay()
}

/** Date and time of day in a time zone. */
export function localTime(now: Date, timeZone: string): { day: Day; time: string } {
  const parts = Object.fromEntries(
    clockIn(timeZone)
      .formatToParts(now)
      .map(({ type, value }) => [type, value]),
  )
  return { day: `${parts.year}-${parts.month}-${parts.day}`, time: `${parts.hour}:${parts.minute}` }
}

const clocks = new Map<string, Intl.DateTimeFormat>()

/** Making a format takes longer than using it a hundred times. */
function clockIn(timeZone: string): Intl.DateTimeFormat {
  const known = clocks.get(timeZone)
  if (known) return known
  const clock = new Intl.DateTimeFormat('en-CA', {
    ...{ timeZone, hourCycle: 'h23', year: 'numeric', month: '2-digit', day: '2-digit' },
    ...{ hour: '2-digit', minute: '2-digit' },
  })
  clocks.set(timeZone, clock)
  return clock
}

function addMonth(month: string): string {
  const [year = 0, number = 0] = month.split('-').map(Number)
  return number === 12 ? `${year + 1}-01` : `${year}-${String(number + 1).padStart(2, '0')}`
}
