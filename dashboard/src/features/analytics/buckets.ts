import { formatDay } from '../../ui/format.ts'
import type { Moment } from './periods.ts'

export type BucketUnit = 'hour' | 'day' | 'month'

/** Whether a series has hours, days or months, by the distance of its first two. A single one is a day. */
export function bucketUnit(starts: readonly string[]): BucketUnit {
  const [first = '', second = ''] = starts
  const hours = (Date.parse(second) - Date.parse(first)) / 3_600_000
  if (Number.isNaN(hours)) return 'day'
  return hours < 20 ? 'hour' : hours < 200 ? 'day' : 'month'
}

/** A bucket as the axis names it: 14:00, 2 Oct, or October 2026. */
export function formatBucket(start: string, unit: BucketUnit, locale: string, { timeZone, now }: Moment): string {
  if (unit === 'day') return formatDay(start, locale, timeZone, now)
  if (unit === 'month') {
    return new Intl.DateTimeFormat(locale, { month: 'short', year: 'numeric', timeZone }).format(new Date(start))
  }
  const hour = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit', timeZone }).format(new Date(start))
  return `${formatDay(start, locale, timeZone, now)}, ${hour}`
}

/** The day of a bucket in its own time zone: its text begins with it. */
export function bucketDay(start: string): string {
  return start.slice(0, 10)
}
