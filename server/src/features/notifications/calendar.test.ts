import { expect, test } from 'vitest'
import { lastDue, lastWeek, listDays, nextDue, weekDates } from './calendar.ts'

const at = (text: string) => new Date(text)

test.each([
  // Berlin sets its clocks back on Sunday, 25 October 2026, and forward on Sunday, 28 March 2027.
  ['Europe/Berlin', '2026-10-19T05:59:59Z', '2026-10-19T06:00:00Z'],
  ['Europe/Berlin', '2026-10-19T06:00:00Z', '2026-10-26T07:00:00Z'],
  ['Europe/Berlin', '2027-03-27T12:00:00Z', '2027-03-29T06:00:00Z'],
  ['America/New_York', '2026-11-17T00:00:00Z', '2026-11-23T13:00:00Z'],
  // Monday in Kiritimati while it is Sunday in UTC.
  ['Pacific/Kiritimati', '2026-11-15T17:00:00Z', '2026-11-15T18:00:00Z'],
  ['Asia/Kathmandu', '2026-11-16T02:15:00Z', '2026-11-23T02:15:00Z'],
  ['UTC', '2026-12-31T23:59:59Z', '2027-01-04T08:00:00Z'],
])('in %s, the weekly report after %s is due at %s', (timeZone, now, expected) => {
  expect(nextDue('weekly_report', at(now), timeZone)).toEqual(at(expected))
})

test('links are compared every day at 6:00, also when clocks change', () => {
  const next = (now: string) => nextDue('clicks_unusual', at(now), 'Europe/Berlin').toISOString()
  expect(next('2026-10-24T04:00:00Z')).toBe('2026-10-25T05:00:00.000Z')
  expect(next('2026-10-25T05:00:00Z')).toBe('2026-10-26T05:00:00.000Z')
  expect(next('2026-10-25T04:59:59Z')).toBe('2026-10-25T05:00:00.000Z')
})

test.each([
  [1, '2026-11-09'],
  [0, '2026-11-08'],
  [6, '2026-11-07'],
  [2, '2026-11-03'],
])('with weeks that begin on day %i, the report of Monday, 16 November is about the week from %s', (start, first) => {
  expect(lastWeek(lastDue('weekly_report', at('2026-11-17T12:00:00Z'), 'UTC'), start)).toBe(first)
})

test('a late worker sends the report of the latest Monday', () => {
  const due = lastDue('weekly_report', at('2026-11-22T23:00:00Z'), 'UTC')
  expect(due.toInstant().toString()).toBe('2026-11-16T08:00:00Z')
})

test('a week of 23-hour and 25-hour days has all its hours', () => {
  expect(weekDates('2026-10-19')).toEqual({
    week: { start: '2026-10-19', end: '2026-10-25' },
    before: { start: '2026-10-12', end: '2026-10-18' },
  })
  const { date, days } = listDays(lastDue('clicks_unusual', at('2026-10-26T08:00:00Z'), 'Europe/Berlin'), 1)
  expect({ date, days }).toEqual({
    date: '2026-10-25',
    days: [
      { from: at('2026-10-24T22:00:00Z'), to: at('2026-10-25T23:00:00Z') },
      { from: at('2026-10-17T22:00:00Z'), to: at('2026-10-18T22:00:00Z') },
    ],
  })
})
