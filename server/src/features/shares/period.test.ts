import { describe, expect, test } from 'vitest'
import { choosePeriod, readPeriods } from './period.ts'

const now = new Date('2026-05-20T12:00:00Z')
const clock = { now, timezone: 'Europe/Berlin', weekStart: 1, first: null }
const limited = { ...clock, first: new Date('2026-04-20T12:00:00Z') }
const may = readPeriods({ start: '2026-05-01', end: '2026-05-10' }, clock)

describe('readPeriods', () => {
  test('a fixed start and end is a bound, in the time zone of the statistics', () => {
    const [from, to] = [new Date('2026-04-30T22:00:00Z'), new Date('2026-05-10T22:00:00Z')]
    expect(may).toEqual({ kind: 'fixed', from, to, isUntilNow: false })
    expect(readPeriods({ start: '2026-05-01' }, clock)).toMatchObject({ from, isUntilNow: true })
  })

  test('a name is a default', () => {
    expect(readPeriods({ name: 'ytd' }, clock)).toEqual({ kind: 'open', name: 'ytd', from: null })
  })

  test("a plan's history limits the periods", () => {
    expect(readPeriods({ name: '30d' }, limited)).toEqual({ kind: 'open', name: '30d', from: limited.first })
    const year = readPeriods({ name: '1y' }, limited)
    expect(year).toEqual({ kind: 'open', name: 'all', from: limited.first })
    expect(readPeriods({ start: '2026-01-01' }, limited)).toMatchObject({ from: limited.first })
    expect(() => choosePeriod(year, { start: '2026-04-01' }, limited)).toThrow('begins before 2026-04-20')
    expect(() => choosePeriod(year, { interval: '90d' }, limited)).toThrow('begins before')
    for (const interval of ['all', '30d'] as const) {
      expect(choosePeriod(year, { interval }, limited)).toEqual({ interval })
    }
  })
})

describe('choosePeriod', () => {
  test('a request without a period has the whole fixed one', () => {
    const whole = { start: '2026-04-30T22:00:00.000Z', end: '2026-05-10T22:00:00.000Z' }
    expect(choosePeriod(may, {}, clock)).toEqual(whole)
    expect(choosePeriod(readPeriods({ start: '2026-05-01' }, clock), {}, clock)).toEqual({ start: whole.start })
  })

  test.each([
    ['24h', { interval: '24h' }],
    ['all', { interval: 'all' }],
    ['today', { start: '2026-05-20' }],
    ['yesterday', { start: '2026-05-19', end: '2026-05-19' }],
    ['7d', { start: '2026-05-14' }],
    ['30d', { start: '2026-04-21' }],
    ['1y', { start: '2025-05-21' }],
    ['wtd', { start: '2026-05-18' }],
    ['mtd', { start: '2026-05-01' }],
    ['qtd', { start: '2026-04-01' }],
    ['ytd', { start: '2026-01-01' }],
  ] as const)('a request without a period has the default %s', (name, query) => {
    expect(choosePeriod(readPeriods({ name }, clock), {}, clock)).toEqual(query)
  })

  test('a request may shorten the fixed period', () => {
    const days = { start: '2026-05-01', end: '2026-05-10' }
    expect(choosePeriod(may, days, clock)).toEqual(days)
    expect(choosePeriod(may, { start: '2026-05-03', end: '2026-05-04' }, clock)).toMatchObject({ end: '2026-05-04' })
  })

  test.each([
    [{ start: '2026-04-30', end: '2026-05-04' }, 'begins before 2026-04-30T22:00:00.000Z'],
    [{ start: '2026-05-02', end: '2026-05-11' }, 'ends after 2026-05-10T22:00:00.000Z'],
    [{ start: '2026-05-02' }, 'ends after'],
    [{ start: '3 weeks ago' }, 'are days'],
    [{ start: '2026-05-02T12:00:00Z', end: '2026-05-02T12:00:01Z' }, 'are days'],
    [{ start: '2026-05-02', end: '2026-05-02T12:00:01Z' }, 'are days'],
    [{ interval: 'all' as const }, '`interval` in the body'],
    [{ start: '2026-13-01' }, '`start` in the body: "2026-13-01" can\'t be read'],
  ])('a request can not leave the fixed period by %o', (given, message) => {
    expect(() => choosePeriod(may, given, clock)).toThrow(message)
  })
})
