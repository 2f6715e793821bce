/** Days of a filter: the last ones (`7d`), or days as `2026-01-01..2026-01-31`, of which one end may be open. */
export type Days = string

const recent: Record<string, number> = { '1d': 1, '7d': 7, '30d': 30, '90d': 90, '365d': 365 }
export const recentDays = Object.keys(recent)
const dayMs = 86_400_000

export function parseDays(given: string | undefined): Days | undefined {
  if (given === undefined || Object.hasOwn(recent, given)) return given
  const { from, to } = splitDays(given)
  return from || to ? `${from}..${to}` : undefined
}

/** The first and the last day of a range; empty for an open end, and for what is not a day. */
export function splitDays(days: Days | undefined): { from: string; to: string } {
  const [from = '', to = ''] = days?.split('..', 2) ?? []
  return { from: isDay(from) ? from : '', to: isDay(to) ? to : '' }
}

/** The range as times: from the start of its first day to the end of its last, in the time zone. */
export function daysRange(
  days: Days | undefined,
  timeZone: string,
  now = Date.now(),
): { start?: string; end?: string } {
  if (days === undefined) return {}
  const count = recent[days]
  if (count !== undefined) return { start: dayStart(shiftDay(localDay(now, timeZone), 1 - count), timeZone) }
  const { from, to } = splitDays(days)
  return {
    ...(from && { start: dayStart(from, timeZone) }),
    ...(to && { end: dayStart(shiftDay(to, 1), timeZone) }),
  }
}

function isDay(text: string): boolean {
  return /^(19[7-9]|20|21)\d+-\d\d-\d\d$/.test(text) && text.length === 10 && !Number.isNaN(Date.parse(text))
}

function shiftDay(day: string, days: number): string {
  return new Date(Date.parse(day) + days * dayMs).toISOString().slice(0, 10)
}

function localDay(time: number, timeZone: string): string {
  return new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' }).format(time)
}

/** The moment at which a day begins. Its offset is that of the moment itself, also on days when the clock changes. */
function dayStart(day: string, timeZone: string): string {
  const midnight = Date.parse(day)
  const first = midnight - offsetMs(midnight, timeZone)
  return new Date(midnight - offsetMs(first, timeZone)).toISOString()
}

function offsetMs(time: number, timeZone: string): number {
  const clock = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' }).format(time)
  return Date.parse(`${clock.replace(' ', 'T')}Z`) - time
}
