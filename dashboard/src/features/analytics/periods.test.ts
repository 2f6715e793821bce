import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addDays, addMonths, countDays } from './days.ts'
import { askPeriod, comparePeriod, type Moment, parsePeriod, periodDays, periodNames, stepPeriod } from './periods.ts'

const moment: Moment = { now: new Date('2026-11-18T13:45:10Z'), timeZone: 'Europe/Berlin', weekStart: 1 }

describe('periods', () => {
  test.each([
    ['today', { start: '2026-11-18' }],
    ['yesterday', { start: '2026-11-17', end: '2026-11-17' }],
    ['24h', { interval: '24h' }],
    ['7d', { start: '2026-11-12' }],
    ['wtd', { start: '2026-11-16' }],
    ['mtd', { start: '2026-11-01' }],
    ['qtd', { start: '2026-10-01' }],
    ['ytd', { start: '2026-01-01' }],
    ['all', { interval: 'all' }],
    ['2026-02-01..2026-02-10', { start: '2026-02-01', end: '2026-02-10' }],
    ['2026-11-01..2026-11-18', { start: '2026-11-01' }],
  ])('%s asks for %o', (period, asked) => {
    expect(askPeriod(period, moment)).toEqual(asked)
  })

  test('a week begins on the day that the workspace says', () => {
    expect(periodDays('wtd', { ...moment, weekStart: 0 })?.from).toBe('2026-11-15')
    expect(periodDays('wtd', { ...moment, weekStart: 6 })?.from).toBe('2026-11-14')
  })

  test('today is the day of the time zone', () => {
    const late = { ...moment, now: new Date('2026-11-18T23:30:00Z') }
    expect(periodDays('today', late)?.from).toBe('2026-11-19')
    expect(periodDays('today', { ...late, timeZone: 'America/New_York' })?.from).toBe('2026-11-18')
  })

  test.each([
    ['7d', 'previous', { start: '2026-11-05T00:00:00', end: '2026-11-11T14:45:01' }],
    ['today', 'previous', { start: '2026-11-17T00:00:00', end: '2026-11-17T14:45:01' }],
    ['mtd', 'previous', { start: '2026-10-01T00:00:00', end: '2026-10-18T14:45:01' }],
    ['wtd', 'previous', { start: '2026-11-09T00:00:00', end: '2026-11-11T14:45:01' }],
    ['7d', 'year', { start: '2025-11-12T00:00:00', end: '2025-11-18T14:45:01' }],
    ['2026-03-01..2026-03-31', 'previous', { start: '2026-02-01', end: '2026-02-28' }],
    ['2026-02-01..2026-02-28', 'previous', { start: '2026-01-01', end: '2026-01-31' }],
    ['2026-03-04..2026-03-10', 'previous', { start: '2026-02-25', end: '2026-03-03' }],
    ['all', 'previous', undefined],
  ] as const)('%s beside the %s one', (period, comparison, asked) => {
    expect(comparePeriod(period, comparison, moment)).toEqual(asked)
  })

  test('a step back from this month is last month, whole, and a step forward comes back to its name', () => {
    expect(stepPeriod('mtd', -1, moment)).toBe('2026-10-01..2026-10-31')
    expect(stepPeriod('2026-10-01..2026-10-31', 1, moment)).toBe('mtd')
    expect(stepPeriod('today', -1, moment)).toBe('yesterday')
    expect(stepPeriod('yesterday', 1, moment)).toBe('today')
    expect(stepPeriod('today', 1, moment)).toBeUndefined()
    expect(stepPeriod('all', -1, moment)).toBeUndefined()
  })

  test('steps meet without a gap or an overlap', () => {
    const period = fc.constantFrom(...periodNames.filter((name) => name !== 'all' && name !== '24h'))
    fc.assert(
      fc.property(period, fc.integer({ min: 1, max: 20 }), fc.integer({ min: 0, max: 6 }), (name, steps, weekStart) => {
        const at = { ...moment, weekStart }
        let later = periodDays(name, at)
        let current: string = name
        for (let step = 0; step < steps; step += 1) {
          current = stepPeriod(current, -1, at) ?? current
          const days = periodDays(current, at)
          expect(addDays(days?.to ?? '', 1)).toBe(later?.from)
          later = days
        }
      }),
    )
  })
})

test('days', () => {
  expect(addMonths('2026-01-31', 1)).toBe('2026-02-28')
  expect(addMonths('2026-01-31', -2)).toBe('2025-11-30')
  expect(addMonths('2028-02-29', 12)).toBe('2029-02-28')
  expect(countDays('2026-03-28', '2026-03-30')).toBe(3)
  expect(parsePeriod('2026-02-30..2026-03-01')).toBeUndefined()
  expect(parsePeriod('2026-03-02..2026-03-01')).toBeUndefined()
  expect(parsePeriod('30d')).toBeUndefined()
})
