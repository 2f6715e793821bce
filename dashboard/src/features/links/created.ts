/** When links were created: the last days (`7d`), or days as `2026-01-01..2026-01-31`, of which one end may be open. */
export type Created = string

const recent: Record<string, number> = { '1d': 1, '7d': 7, '30d': 30, '90d': 90, '365d': 365 }
export const recentCreated = Object.keys(recent)
const dayMs = 86_400_000

export function parseCreated(given: string | undefined): Created | undefined {
  if (given === undefined || given in recent) return given
  const { from, to } = createdDays(given)
  return from || to ? `${from}..${to}` : undefined
}

/** The first and the last day of a range; empty for an open end, and for what is not a day. */
export function createdDays(created: Created | undefined): { from: string; to: string } {
  const [from = '', to = ''] = created?.split('..', 2) ?? []
  return { from: isDay(from) ? from : '', to: isDay(to) ? to : '' }
}

/** The range as times: from the start of its first day to the end of its last, in the time zone. */
export function createdRange(
  created: Created | undefined,
  timeZone: string,
  now = Date.now(),
): { start?: string; end?: string } {
  if (created === undefined) return {}
  const days = recent[created]
  if (days !== undefined) return { start: dayStart(shiftDay(localDay(now, timeZone), 1 - days), timeZone) }
  const { from, to } = createdDays(created)
  return {
    ...(from && { start: dayStart(from, timeZone) }),
    ...(to && { end: dayStart(shiftDay(to, 1), timeZone) }),
  }
}

function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))
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
