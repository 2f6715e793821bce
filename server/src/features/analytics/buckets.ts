import type { Interval } from '@tributary/contract/events'
import { Temporal } from 'temporal-polyfill'

export type BucketUnit = 'hour' | 'day' | 'month'
export type Span = { from: Date; to: Date }
/** One step of a series: the second at which it begins, and that instant in its time zone. */
export type Bucket = { second: number; start: string }

const dayMs = 24 * 60 * 60 * 1000

const unitOfInterval: Partial<Record<Interval, BucketUnit>> = {
  '24h': 'hour',
  '7d': 'day',
  '30d': 'day',
  '90d': 'day',
  mtd: 'day',
  qtd: 'day',
  '1y': 'month',
  ytd: 'month',
}

/** By the interval; by the period's length for a start or `all`. */
export function chooseUnit(query: { interval?: Interval; start?: string }, span: Span): BucketUnit {
  const unit = query.start?.trim() ? undefined : unitOfInterval[query.interval ?? '24h']
  if (unit) return unit
  const lengthMs = span.to.getTime() - span.from.getTime()
  // Two days have one more hour when the clocks are set back.
  if (lengthMs <= 2 * dayMs + dayMs / 24) return 'hour'
  return lengthMs > 180 * dayMs + dayMs / 24 ? 'month' : 'day'
}

/** All hours, days or months of a time zone that a period touches, in order. */
export function listBuckets(span: Span, unit: BucketUnit, timezone: string): Bucket[] {
  const from = Temporal.Instant.fromEpochMilliseconds(span.from.getTime()).toZonedDateTimeISO(timezone)
  const buckets: Bucket[] = []
  let start = bucketStart(from, unit)
  while (start.epochMilliseconds < span.to.getTime()) {
    buckets.push({ second: start.epochMilliseconds / 1000, start: start.toString({ timeZoneName: 'never' }) })
    start = following(start, unit)
  }
  return buckets
}

function bucketStart(at: Temporal.ZonedDateTime, unit: BucketUnit): Temporal.ZonedDateTime {
  if (unit === 'hour') return at.round({ smallestUnit: 'hour', roundingMode: 'floor' })
  return (unit === 'day' ? at : at.with({ day: 1 })).startOfDay()
}

function following(start: Temporal.ZonedDateTime, unit: BucketUnit): Temporal.ZonedDateTime {
  if (unit !== 'hour')
    return start
      .toPlainDate()
      .add({ [`${unit}s`]: 1 })
      .toZonedDateTime(start.timeZoneId)
  const next = start.add({ hours: 1 })
  const floored = bucketStart(next, 'hour')
  // Where clocks are set back by half an hour, the hour that begins there has begun before.
  return Temporal.ZonedDateTime.compare(floored, start) > 0 ? floored : next
}
