import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type BucketUnit, chooseUnit, listBuckets } from './buckets.ts'

const at = (text: string) => new Date(text)
const starts = (from: string, to: string, unit: BucketUnit, timezone: string) =>
  listBuckets({ from: at(from), to: at(to) }, unit, timezone).map(({ start }) => start)

describe('chooseUnit', () => {
  const days = (count: number) => ({ from: new Date(0), to: new Date(count * 86_400_000) })
  test.each([
    ['nothing asked', {}, 1, 'hour'],
    ['24h', { interval: '24h' }, 1, 'hour'],
    ['7d', { interval: '7d' }, 7, 'day'],
    ['90d', { interval: '90d' }, 90, 'day'],
    ['mtd on the first', { interval: 'mtd' }, 1, 'day'],
    ['qtd', { interval: 'qtd' }, 92, 'day'],
    ['ytd in January', { interval: 'ytd' }, 20, 'month'],
    ['1y', { interval: '1y' }, 365, 'month'],
    ['all, new', { interval: 'all' }, 2, 'hour'],
    ['all, older', { interval: 'all' }, 100, 'day'],
    ['all, old', { interval: 'all' }, 1_000, 'month'],
    ['a start takes precedence over the interval', { interval: '1y', start: '2026-01-01' }, 2, 'hour'],
    ['180 days', { start: 'x' }, 180, 'day'],
    ['181 days', { start: 'x' }, 181, 'month'],
  ] as const)('%s', (_, query, length, unit) => {
    expect(chooseUnit(query, days(length))).toBe(unit)
  })
})

describe('listBuckets', () => {
  test.each([
    [
      'hours of a zone off the hour',
      starts('2026-01-01T10:10:00Z', '2026-01-01T11:31:00Z', 'hour', 'Asia/Kolkata'),
      ['2026-01-01T15:00:00+05:30', '2026-01-01T16:00:00+05:30', '2026-01-01T17:00:00+05:30'],
    ],
    [
      'a repeated hour',
      starts('2026-10-25T00:30:00Z', '2026-10-25T02:00:00Z', 'hour', 'Europe/Berlin'),
      ['2026-10-25T02:00:00+02:00', '2026-10-25T02:00:00+01:00'],
    ],
    [
      'a skipped hour',
      starts('2026-03-29T00:00:00Z', '2026-03-29T02:00:00Z', 'hour', 'Europe/Berlin'),
      ['2026-03-29T01:00:00+01:00', '2026-03-29T03:00:00+02:00'],
    ],
    [
      'clocks set back by half an hour',
      starts('2026-04-04T14:00:00Z', '2026-04-04T16:30:00Z', 'hour', 'Australia/Lord_Howe'),
      ['2026-04-05T01:00:00+11:00', '2026-04-05T01:30:00+10:30', '2026-04-05T02:00:00+10:30'],
    ],
    [
      'a day of 23 hours',
      starts('2026-03-28T23:00:00Z', '2026-03-29T22:00:01Z', 'day', 'Europe/Berlin'),
      ['2026-03-29T00:00:00+01:00', '2026-03-30T00:00:00+02:00'],
    ],
    [
      'a day without midnight',
      starts('2026-04-24T12:00:00Z', '2026-04-25T00:00:00Z', 'day', 'Africa/Cairo'),
      ['2026-04-24T01:00:00+03:00', '2026-04-25T00:00:00+03:00'],
    ],
    [
      'months',
      starts('2025-12-31T22:59:59Z', '2026-02-01T00:00:00Z', 'month', 'Europe/Berlin'),
      ['2025-12-01T00:00:00+01:00', '2026-01-01T00:00:00+01:00', '2026-02-01T00:00:00+01:00'],
    ],
  ])('%s', (_, found, expected) => {
    expect(found).toEqual(expected)
  })

  test('buckets are contiguous, from at or before the period to its end', () => {
    const zones = fc.constantFrom('UTC', 'Europe/Berlin', 'Asia/Kathmandu', 'America/St_Johns', 'Australia/Lord_Howe')
    const moment = fc.integer({ min: Date.UTC(2020, 0), max: Date.UTC(2027, 0) })
    const unit = fc.constantFrom<BucketUnit>('hour', 'day', 'month')
    fc.assert(
      fc.property(moment, fc.integer({ min: 1, max: 40 * 86_400_000 }), unit, zones, (from, length, unit, zone) => {
        const buckets = listBuckets({ from: new Date(from), to: new Date(from + length) }, unit, zone)
        const seconds = buckets.map(({ second }) => second)
        expect(seconds[0] as number).toBeLessThanOrEqual(from / 1000)
        expect(seconds.at(-1) as number).toBeLessThan((from + length) / 1000)
        expect(seconds).toEqual(seconds.toSorted((a, b) => a - b))
        expect(new Set(buckets.map(({ start }) => start)).size).toBe(buckets.length)
        for (const { second, start } of buckets) expect(Date.parse(start) / 1000).toBe(second)
        const longest = { hour: 5_400, day: 25 * 3_600, month: 31.1 * 86_400 }[unit]
        for (const [index, second] of seconds.entries())
          expect((seconds[index + 1] ?? second) - second).toBeLessThanOrEqual(longest)
      }),
    )
  })
})
