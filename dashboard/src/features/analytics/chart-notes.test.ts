import { describe, expect, test } from 'vitest'
import { bucketUnit, formatBucket } from './buckets.ts'
import { chartNotes } from './chart-notes.ts'

const notes = [
  { day: '2026-11-03', text: 'second' },
  { day: '2026-11-03', text: 'first' },
  { day: '2026-10-30', text: 'before' },
]
const days = ['2026-11-02T00:00:00+01:00', '2026-11-03T00:00:00+01:00']

describe('chart', () => {
  test('notes stand on their day, month, or first hour', () => {
    expect(chartNotes(notes, days, 'day')).toEqual([{ index: 1, text: 'first · second' }])
    expect(chartNotes(notes, ['2026-10-01T00:00:00Z', '2026-11-01T00:00:00Z'], 'month')).toEqual([
      { index: 0, text: 'before' },
      { index: 1, text: 'first · second' },
    ])
    expect(chartNotes(notes, ['2026-11-03T00:00:00Z', '2026-11-03T01:00:00Z'], 'hour')).toHaveLength(1)
  })

  test('the unit follows from the distance, also when clocks change', () => {
    expect(bucketUnit(days)).toBe('day')
    expect(bucketUnit(['2026-03-29T00:00:00+01:00', '2026-03-30T00:00:00+02:00'])).toBe('day')
    expect(bucketUnit(['2026-02-01T00:00:00Z', '2026-03-01T00:00:00Z'])).toBe('month')
    expect(bucketUnit(['2026-02-01T00:00:00Z', '2026-02-01T01:00:00Z'])).toBe('hour')
    expect(bucketUnit(['2026-02-01T00:00:00Z'])).toBe('day')
  })

  test('names are in the time zone of the workspace', () => {
    const moment = { now: new Date('2026-11-18T00:00:00Z'), timeZone: 'Europe/Berlin', weekStart: 1 }
    expect(formatBucket('2026-11-03T00:00:00+01:00', 'day', 'en-GB', moment)).toBe('3 Nov')
    expect(formatBucket('2026-11-03T14:00:00+01:00', 'hour', 'en-GB', moment)).toBe('3 Nov, 14:00')
    expect(formatBucket('2025-11-01T00:00:00+01:00', 'month', 'en-GB', moment)).toBe('Nov 2025')
  })
})
