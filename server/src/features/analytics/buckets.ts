import type { Interval } from '@tributary/contract/events'
import { Temporal } from 'temporal-polyfill'

export type BucketUnit = 'hour' | 'day' | 'month'
export type Span = { from: Date; to: Date }
/** A bucket of a time series: its start in Unix seconds, and as text in the query's time zone. */
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

/** The bucket size of a time series: by the interval or, for `start` or `all`, by the period's length. */
export function chooseUnit(query: { interval?: Interval; start?: string }, span: Span): BucketUnit {
  const unit = query.start?.trim() ? undefined : unitOfInterval[query.interval ?? '24h']
  if (unit) return unit
  const lengthMs = span.to.getTime() - span.from.getTime()
  // A period of two days has one more hour when clocks are set back.
  if (lengthMs <= 2 * dayMs + dayMs / 24) return 'hour'
  return lengthMs > 180 * dayMs + dayMs / 24 ? 'month' : 'day'
}

/** All hours, days or months that a period overlaps, in the given time zone. */
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
  // Where clocks are set back by half an hour, rounding down could return the same hour again.
  return Temporal.ZonedDateTime.compare(floored, start) > 0 ? floored : next
}
