import { expect, test } from 'vitest'
import { homePeriods } from './periods.ts'

test("today and last week follow the workspace's time zone", () => {
  const now = new Date('2026-11-17T23:30:15Z')
  expect(homePeriods(now, 'UTC')).toEqual({
    today: '2026-11-17',
    lastWeek: { start: '2026-11-10T00:00:00', end: '2026-11-10T23:30:01' },
    monthStart: '2026-10-19',
  })
  expect(homePeriods(now, 'Europe/Berlin')).toMatchObject({
    today: '2026-11-18',
    lastWeek: { start: '2026-11-11T00:00:00', end: '2026-11-11T00:30:01' },
  })
})

test('the same hours of last week are by the clock, also when clocks changed between', () => {
  const { lastWeek } = homePeriods(new Date('2026-10-26T08:00:00Z'), 'Europe/Berlin')
  expect(lastWeek).toEqual({ start: '2026-10-19T00:00:00', end: '2026-10-19T09:00:01' })
})
