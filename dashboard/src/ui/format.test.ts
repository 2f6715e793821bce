import { expect, test } from 'vitest'
import {
  formatBytes,
  formatClock,
  formatDay,
  formatExactTime,
  formatMoney,
  formatRelative,
  formatShort,
  regionalLocale,
} from './format.ts'

test('the region of the browser is used when it speaks the language of the page', () => {
  expect(regionalLocale('en', ['de-DE', 'en-GB'])).toBe('en-GB')
  expect(regionalLocale('de', ['en-GB'])).toBe('de')
})

test('bytes have a unit that people read', () => {
  expect([0, 1, 999, 1_000, 12_400_000, 5e15].map((bytes) => formatBytes(bytes, 'en'))).toEqual([
    ...['0 bytes', '1 byte', '999 bytes', '1 kB', '12.4 MB', '5,000 TB'],
  ])
})

test('large numbers are short', () => {
  expect(formatShort(9_999, 'en')).toBe('9,999')
  expect(formatShort(12_840, 'en')).toBe('12.8K')
})

test('money has as many decimals as its currency', () => {
  expect(formatMoney(1_280_400, 'eur', 'en-GB')).toBe('€12,804.00')
  expect(formatMoney(1_280, 'jpy', 'en-GB')).toBe('JP¥1,280')
})

test('a day of another year names the year, in the time zone of the workspace', () => {
  const now = new Date('2026-06-01T00:00:00Z')
  expect(formatDay('2026-10-02T00:00:00Z', 'en-GB', 'UTC', now)).toBe('2 Oct')
  expect(formatDay('2024-10-02T00:00:00Z', 'en-GB', 'UTC', now)).toBe('2 Oct 2024')
  expect(formatDay('2026-01-01T03:00:00Z', 'en-GB', 'America/New_York', now)).toBe('31 Dec 2025')
})

test('a time of today has seconds, one of another day its day', () => {
  const now = new Date('2026-10-10T12:00:00Z')
  expect(formatClock('2026-10-10T09:08:07Z', 'en-GB', 'Europe/Berlin', now)).toBe('11:08:07')
  expect(formatClock('2026-10-09T09:08:07Z', 'en-GB', 'Europe/Berlin', now)).toBe('9 Oct, 11:08')
  expect(formatClock('2026-10-09T23:00:00Z', 'en-GB', 'Europe/Berlin', now)).toBe('01:00:00')
})

test('an exact time names its time zone', () => {
  expect(formatExactTime('2026-10-02T10:00:00Z', 'en-GB', 'Europe/Berlin')).toMatch(/12:00:00 (CEST|GMT\+2)/)
})

test('times of the last week are relative, older ones are not', () => {
  const now = Date.parse('2026-10-10T12:00:00Z')
  expect(formatRelative('2026-10-10T11:59:50Z', 'en', now)).toBe('this minute')
  expect(formatRelative('2026-10-10T09:00:00Z', 'en', now)).toBe('3 hours ago')
  expect(formatRelative('2026-10-09T11:00:00Z', 'en', now)).toBe('yesterday')
  expect(formatRelative('2026-10-12T13:00:00Z', 'en', now)).toBe('in 2 days')
  expect(formatRelative('2026-09-01T09:00:00Z', 'en', now)).toBeUndefined()
})
