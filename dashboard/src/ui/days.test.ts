import { expect, test } from 'vitest'
import { daysRange, parseDays, splitDays } from './days.ts'

test.each([
  ['7d', '7d'],
  ['2026-01-01..2026-01-31', '2026-01-01..2026-01-31'],
  ['2026-01-01..', '2026-01-01..'],
  ['..2026-01-31', '..2026-01-31'],
  ['2026-13-01..', undefined],
  ['8d', undefined],
  ['constructor', undefined],
  ['..9999-12-31', undefined],
  ['..', undefined],
])('%s is read as %s', (given, expected) => {
  expect(parseDays(given)).toBe(expected)
})

test('days begin and end at midnight of the time zone', () => {
  expect(daysRange('2026-01-01..2026-01-31', 'Europe/Berlin')).toEqual({
    start: '2025-12-31T23:00:00.000Z',
    end: '2026-01-31T23:00:00.000Z',
  })
  expect(daysRange('2026-01-01..', 'America/New_York')).toEqual({ start: '2026-01-01T05:00:00.000Z' })
})

test('a day on which the clock changes has 23 hours', () => {
  expect(daysRange('2026-03-29..2026-03-29', 'Europe/Berlin')).toEqual({
    start: '2026-03-28T23:00:00.000Z',
    end: '2026-03-29T22:00:00.000Z',
  })
})

test('the last seven days include today', () => {
  const now = Date.parse('2026-01-10T23:30:00Z')
  expect(daysRange('7d', 'UTC', now)).toEqual({ start: '2026-01-04T00:00:00.000Z' })
  expect(daysRange('1d', 'Europe/Berlin', now)).toEqual({ start: '2026-01-10T23:00:00.000Z' })
})

test('an open end has no day', () => {
  expect(splitDays('2026-01-01..')).toEqual({ from: '2026-01-01', to: '' })
  expect(splitDays('7d')).toEqual({ from: '', to: '' })
})
