const hourMs = 3_600_000
const dayMs = 24 * hourMs
const formats = new Map<string, Intl.DateTimeFormat>()

/** Formats local time as `2025-03-30 02:30:00.000`, which sorts in time order. */
export function clockIn(zone: string, at: number): string {
  const format =
    formats.get(zone) ??
    new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      fractionalSecondDigits: 3,
    })
  formats.set(zone, format)
  const part = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]))
  return `${part.year}-${part.month}-${part.day} ${part.hour}:${part.minute}:${part.second}.${part.fractionalSecond}`
}

/** Returns the first instant of a date in a time zone. */
export function midnightIn(zone: string, date: string): number {
  let early = Date.parse(date) - 16 * hourMs
  let late = Date.parse(date) + 16 * hourMs
  while (late - early > 1) {
    const middle = Math.floor((early + late) / 2)
    if (clockIn(zone, middle) < `${date} 00`) early = middle
    else late = middle
  }
  return late
}

/** Returns the first instant with the same local time, because hours repeat when clocks change. */
export function firstSame(zone: string, at: number): number {
  const clock = clockIn(zone, at)
  return [hourMs, hourMs / 2].map((ago) => at - ago).find((moment) => clockIn(zone, moment) === clock) ?? at
}

export function addDays(date: string, days: number): string {
  return new Date(Date.parse(date) + days * dayMs).toISOString().slice(0, 10)
}
