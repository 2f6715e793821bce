import { type Interval, intervals } from '@tributary/contract/events'
import fc from 'fast-check'
import { Temporal } from 'temporal-polyfill'
import { afterEach, describe, expect, test } from 'vitest'
import { cutToHistory, type PeriodInput, resolvePeriod } from './period.ts'

const wednesday = '2025-06-18T15:30:45.123Z'

describe('intervals', () => {
  test.each<[string, string, string, Record<Interval, string>]>([
    [
      'UTC',
      'UTC',
      wednesday,
      {
        '24h': '2025-06-17T15:30:45.123Z',
        '7d': '2025-06-11T15:30:45.123Z',
        '30d': '2025-05-19T15:30:45.123Z',
        '90d': '2025-03-20T15:30:45.123Z',
        '1y': '2024-06-18T15:30:45.123Z',
        mtd: '2025-06-01T00:00:00.000Z',
        qtd: '2025-04-01T00:00:00.000Z',
        ytd: '2025-01-01T00:00:00.000Z',
        all: '1970-01-01T00:00:00.000Z',
      },
    ],
    [
      'the day after the clocks went forward in Berlin',
      'Europe/Berlin',
      '2025-03-31T08:00:00.000Z',
      {
        '24h': '2025-03-30T08:00:00.000Z',
        '7d': '2025-03-24T08:00:00.000Z',
        '30d': '2025-03-01T08:00:00.000Z',
        '90d': '2024-12-31T08:00:00.000Z',
        '1y': '2024-03-31T08:00:00.000Z',
        mtd: '2025-02-28T23:00:00.000Z',
        qtd: '2024-12-31T23:00:00.000Z',
        ytd: '2024-12-31T23:00:00.000Z',
        all: '1970-01-01T00:00:00.000Z',
      },
    ],
    [
      'the day the clocks go back in New York, where it is still yesterday',
      'America/New_York',
      '2025-11-03T04:30:00.000Z',
      {
        '24h': '2025-11-02T04:30:00.000Z',
        '7d': '2025-10-27T04:30:00.000Z',
        '30d': '2025-10-04T04:30:00.000Z',
        '90d': '2025-08-05T04:30:00.000Z',
        '1y': '2024-11-03T04:30:00.000Z',
        mtd: '2025-11-01T04:00:00.000Z',
        qtd: '2025-10-01T04:00:00.000Z',
        ytd: '2025-01-01T05:00:00.000Z',
        all: '1970-01-01T00:00:00.000Z',
      },
    ],
    [
      'Kolkata, already in the next year',
      'Asia/Kolkata',
      '2024-12-31T19:00:00.000Z',
      {
        '24h': '2024-12-30T19:00:00.000Z',
        '7d': '2024-12-24T19:00:00.000Z',
        '30d': '2024-12-01T19:00:00.000Z',
        '90d': '2024-10-02T19:00:00.000Z',
        '1y': '2024-01-01T19:00:00.000Z',
        mtd: '2024-12-31T18:30:00.000Z',
        qtd: '2024-12-31T18:30:00.000Z',
        ytd: '2024-12-31T18:30:00.000Z',
        all: '1970-01-01T00:00:00.000Z',
      },
    ],
    [
      'the week the clocks go back in Chatham',
      'Pacific/Chatham',
      '2025-04-07T12:00:00.000Z',
      {
        '24h': '2025-04-06T12:00:00.000Z',
        '7d': '2025-03-31T12:00:00.000Z',
        '30d': '2025-03-08T12:00:00.000Z',
        '90d': '2025-01-07T12:00:00.000Z',
        '1y': '2024-04-07T12:00:00.000Z',
        mtd: '2025-03-31T10:15:00.000Z',
        qtd: '2025-03-31T10:15:00.000Z',
        ytd: '2024-12-31T10:15:00.000Z',
        all: '1970-01-01T00:00:00.000Z',
      },
    ],
    [
      'a leap day',
      'UTC',
      '2024-02-29T00:00:00.000Z',
      {
        '24h': '2024-02-28T00:00:00.000Z',
        '7d': '2024-02-22T00:00:00.000Z',
        '30d': '2024-01-30T00:00:00.000Z',
        '90d': '2023-12-01T00:00:00.000Z',
        '1y': '2023-03-01T00:00:00.000Z',
        mtd: '2024-02-01T00:00:00.000Z',
        qtd: '2024-01-01T00:00:00.000Z',
        ytd: '2024-01-01T00:00:00.000Z',
        all: '1970-01-01T00:00:00.000Z',
      },
    ],
  ])('%s', (_name, timezone, now, expected) => {
    const got = Object.fromEntries(intervals.map((interval) => [interval, resolve({ interval, timezone }, now).from]))
    expect(got).toEqual(expected)
    for (const interval of intervals) {
      expect(resolve({ interval, timezone }, now).to).toBe(new Date(Date.parse(now) + 1).toISOString())
    }
  })

  test('the default interval is 24h, the default time zone UTC, and an empty parameter counts as absent', () => {
    const expected = { from: '2025-06-17T15:30:45.123Z', to: '2025-06-18T15:30:45.124Z' }
    expect(resolve({ timezone: 'UTC' })).toEqual(expected)
    expect(resolve({ start: '', end: ' ', timezone: '' })).toEqual(expected)
  })

  test.each(intervals)('the interval %s ignores an end without a start', (interval) => {
    expect(resolve({ interval, end: '2025-01-31', timezone: 'Europe/Berlin' })).toEqual(
      resolve({ interval, timezone: 'Europe/Berlin' }),
    )
  })

  test('an end without a start and an interval is ignored: the period is the last 24 hours', () => {
    expect(resolve({ end: '2025-01-31' })).toEqual({ from: '2025-06-17T15:30:45.123Z', to: '2025-06-18T15:30:45.124Z' })
  })
})

describe('start and end', () => {
  test.each<[string, string, string, string]>([
    ['2025-01-31', 'UTC', '2025-01-31T00:00:00.000Z', '2025-02-01T00:00:00.000Z'],
    ['2025-03-30', 'Europe/Berlin', '2025-03-29T23:00:00.000Z', '2025-03-30T22:00:00.000Z'],
    ['2025-10-26', 'Europe/Berlin', '2025-10-25T22:00:00.000Z', '2025-10-26T23:00:00.000Z'],
    ['2025-03-09', 'America/New_York', '2025-03-09T05:00:00.000Z', '2025-03-10T04:00:00.000Z'],
    ['2024-02-29', 'Asia/Kolkata', '2024-02-28T18:30:00.000Z', '2024-02-29T18:30:00.000Z'],
    ['2025-04-06', 'Pacific/Chatham', '2025-04-05T10:15:00.000Z', '2025-04-06T11:15:00.000Z'],
    ['2025-04-25', 'Africa/Cairo', '2025-04-24T22:00:00.000Z', '2025-04-25T21:00:00.000Z'],
    ['1970-01-01', 'Asia/Kolkata', '1969-12-31T18:30:00.000Z', '1970-01-01T18:30:00.000Z'],
    ['jan 5 2025', 'Asia/Kolkata', '2025-01-04T18:30:00.000Z', '2025-01-05T18:30:00.000Z'],
    ['yesterday', 'America/New_York', '2025-06-17T04:00:00.000Z', '2025-06-18T04:00:00.000Z'],
    ['Last Monday', 'Europe/Berlin', '2025-06-15T22:00:00.000Z', '2025-06-16T22:00:00.000Z'],
    ['last wednesday', 'UTC', '2025-06-11T00:00:00.000Z', '2025-06-12T00:00:00.000Z'],
    ['2 days ago', 'UTC', '2025-06-16T00:00:00.000Z', '2025-06-17T00:00:00.000Z'],
    ['last week', 'UTC', '2025-06-11T00:00:00.000Z', '2025-06-12T00:00:00.000Z'],
    ['6 months ago', 'UTC', '2024-12-18T00:00:00.000Z', '2024-12-19T00:00:00.000Z'],
    ['march 2025', 'Europe/Berlin', '2025-02-28T23:00:00.000Z', '2025-03-31T22:00:00.000Z'],
    ['this month', 'UTC', '2025-06-01T00:00:00.000Z', '2025-07-01T00:00:00.000Z'],
    ['this year', 'UTC', '2025-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z'],
  ])('%s in %s is a whole day, month or year', (text, timezone, from, to) => {
    expect(resolve({ start: text, end: text, timezone })).toEqual({ from, to })
  })

  test.each<[string, string, string]>([
    ['2025-01-31T10:00:00Z', 'Europe/Berlin', '2025-01-31T10:00:00.000Z'],
    ['2025-01-31T10:00:00.5z', 'Europe/Berlin', '2025-01-31T10:00:00.500Z'],
    ['2025-01-31T10:00:00.123456789+02:00', 'UTC', '2025-01-31T08:00:00.123Z'],
    ['2025-01-31T10:00-0330', 'UTC', '2025-01-31T13:30:00.000Z'],
    ['2025-01-31T10:00', 'Europe/Berlin', '2025-01-31T09:00:00.000Z'],
    ['2025-01-31 10:00:30', 'Asia/Kolkata', '2025-01-31T04:30:30.000Z'],
    ['2025-03-30T02:30', 'Europe/Berlin', '2025-03-30T01:30:00.000Z'],
    ['2024-11-03T01:30', 'America/New_York', '2024-11-03T05:30:00.000Z'],
    ['3 hours ago', 'Asia/Kolkata', '2025-06-18T12:30:45.123Z'],
    ['an hour and 30 minutes ago', 'UTC', '2025-06-18T14:00:45.123Z'],
    ['24h ago', 'Pacific/Chatham', '2025-06-17T15:30:45.123Z'],
    ['yesterday at 5pm', 'Europe/Berlin', '2025-06-17T15:00:00.000Z'],
    ['yesterday at 5pm EST', 'Europe/Berlin', '2025-06-17T22:00:00.000Z'],
    ['last friday 17:15', 'America/New_York', '2025-06-13T21:15:00.000Z'],
    ['5 days ago at 3pm', 'Asia/Kolkata', '2025-06-13T09:30:00.000Z'],
    ['yesterday evening', 'UTC', '2025-06-17T20:00:00.000Z'],
    ['2025-06-01 at 9am', 'Asia/Kolkata', '2025-06-01T03:30:00.000Z'],
    ['Tue, 07 Jan 2025 10:00:00 GMT', 'Asia/Kolkata', '2025-01-07T10:00:00.000Z'],
  ])('%s in %s is a point in time', (text, timezone, moment) => {
    expect(resolve({ start: text, timezone }).from).toBe(moment)
    expect(resolve({ start: '2020-01-01', end: text, timezone }).to).toBe(moment)
  })

  test('"now" is a point in time', () => {
    expect(resolve({ start: 'yesterday', end: 'now' }).to).toBe(wednesday)
  })

  test.each<[string, string, string, string]>([
    ['3 hours ago', 'Europe/Berlin', '2025-03-30T03:00:00.000Z', '2025-03-30T00:00:00.000Z'],
    ['2 days ago', 'Europe/Berlin', '2025-03-31T22:30:00.000Z', '2025-03-29T23:00:00.000Z'],
    ['yesterday at 5pm', 'America/New_York', '2025-03-09T12:00:00.000Z', '2025-03-08T22:00:00.000Z'],
    ['today', 'Pacific/Chatham', '2025-04-05T14:30:00.000Z', '2025-04-05T10:15:00.000Z'],
    ['last monday', 'Pacific/Chatham', '2025-06-15T12:00:00.000Z', '2025-06-08T11:15:00.000Z'],
  ])('%s in %s near midnight or a daylight saving change (now %s)', (start, timezone, now, from) => {
    expect(resolve({ start, timezone }, now).from).toBe(from)
  })

  test('start takes precedence over interval, with an end or up to now', () => {
    const from = '2025-01-01T00:00:00.000Z'
    expect(resolve({ start: '2025-01-01', interval: '7d' })).toEqual({ from, to: '2025-06-18T15:30:45.124Z' })
    expect(resolve({ start: '2025-01-01', end: '2025-01-31', interval: '7d' })).toEqual({
      from,
      to: '2025-02-01T00:00:00.000Z',
    })
  })
})

test.each([
  ['2025-01-01', '2025-06-01', '2024-12-31', '2025-01-01', '2025-06-01'],
  ['2025-01-01', '2025-06-01', '2025-05-19', '2025-05-19', '2025-06-01'],
  ['2025-01-01', '2025-02-01', '2025-05-19', '2025-05-19', '2025-05-19'],
])('%s to %s is limited to a history from %s on', (from, to, first, cutFrom, cutTo) => {
  const cut = cutToHistory({ from: new Date(from), to: new Date(to) }, Date.parse(first))
  expect(cut).toEqual({ from: new Date(cutFrom), to: new Date(cutTo) })
})

describe("the process's time zone does not matter", () => {
  const before = process.env.TZ
  afterEach(() => {
    if (before === undefined) delete process.env.TZ
    else process.env.TZ = before
  })

  test.each(['UTC', 'America/Los_Angeles', 'Europe/Berlin', 'Pacific/Kiritimati'])('%s', (processZone) => {
    process.env.TZ = processZone
    expect(new Intl.DateTimeFormat().resolvedOptions().timeZone).toBe(processZone)
    const from = (start: string, now: string) => resolve({ start, timezone: 'Asia/Kolkata' }, now).from
    expect(from('3 hours ago', '2025-03-30T00:00:00.000Z')).toBe('2025-03-29T21:00:00.000Z')
    expect(from('3 hours ago', '2025-03-09T00:15:00.000Z')).toBe('2025-03-08T21:15:00.000Z')
    expect(from('30 hours ago', '2025-11-02T23:00:00.000Z')).toBe('2025-11-01T17:00:00.000Z')
    expect(from('yesterday', '2025-03-30T20:00:00.000Z')).toBe('2025-03-29T18:30:00.000Z')
    expect(from('this month', '2025-03-31T20:00:00.000Z')).toBe('2025-03-31T18:30:00.000Z')
    expect(from('yesterday at 5pm', '2025-11-02T20:00:00.000Z')).toBe('2025-11-02T11:30:00.000Z')
  })
})

describe('invalid periods', () => {
  test.each([
    '2025-13-40',
    '2025-02-30',
    '2025-02-29T10:00',
    '2025-01-31T24:00:01Z',
    '2025-01-31T10:61',
    '2025-01-31T10',
    '2025-01-31T10:00+25:00',
    '2025-1-5',
    '20250131',
    '2025',
    '1735689600000',
    '12/25/2024',
    '30 february 2025',
    'february 30 2025',
    'yesterday at 25:00',
    'monday to friday',
    'day before yesterday',
    'this quarter',
    'foo',
    'yesterday; drop table',
    '0001-01-01',
    '9999-12-31',
    '99999999999999 days ago',
    'yesterday '.repeat(500),
    '-',
    '\u0000',
  ])('%s is refused as start and as end', (text) => {
    for (const field of ['start', 'end'] as const) {
      const resolved = resolvePeriod({ [field]: text, timezone: 'UTC' }, new Date(wednesday))
      expect(resolved).toEqual({ problem: { field, message: expect.stringMatching(/^"/) } })
      expect(resolved).toEqual({ problem: { field, message: expect.stringContaining('"3 hours ago"') } })
    }
  })

  test.each(['Mars/Phobos', '+02:00', '2025-01-01T00:00[UTC]', "UTC'", '../etc/passwd', 'Europe/Berlin\n1'])(
    'the zone %s is refused',
    (timezone) => {
      expect(resolvePeriod({ timezone }, new Date(wednesday))).toEqual({
        problem: { field: 'timezone', message: expect.stringMatching(/^".*" is unknown\. Use an IANA name/) },
      })
    },
  )

  test.each<[PeriodInput, string, string]>([
    [{ start: '2025-02-01', end: '2025-01-31' }, 'end', '2025-02-01T00:00:00.000Z must be after start'],
    [{ start: '2025-01-31T10:00Z', end: '2025-01-31T10:00Z' }, 'end', 'must be after start'],
    [{ start: 'tomorrow' }, 'start', '2025-06-19T00:00:00.000Z is in the future'],
  ])('%j', (input, field, message) => {
    expect(resolvePeriod({ timezone: 'UTC', ...input }, new Date(wednesday))).toEqual({
      problem: { field, message: expect.stringContaining(message) },
    })
  })
})

describe('invariants of periods', () => {
  const anyZone = fc.constantFrom(...Intl.supportedValuesOf('timeZone'))
  const anyNow = fc.date({ min: new Date('1971-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
  const anyInterval = fc.constantFrom(...intervals)

  test("a period's start is before its end, and neither moves back as time passes", () => {
    fc.assert(
      fc.property(anyZone, anyInterval, anyNow, fc.nat(10 * 86_400_000), (timezone, interval, now, laterMs) => {
        const early = resolve({ interval, timezone }, now.toISOString())
        const late = resolve({ interval, timezone }, new Date(now.getTime() + laterMs).toISOString())
        expect(early.from < early.to).toBe(true)
        expect(early.from <= late.from && early.to <= late.to).toBe(true)
      }),
    )
  })

  test('intervals of days have 24 hours per day in every time zone', () => {
    const lengths = { '24h': 1, '7d': 7, '30d': 30, '90d': 90, '1y': 365 }
    fc.assert(
      fc.property(anyZone, anyNow, (timezone, now) => {
        for (const [interval, days] of Object.entries(lengths)) {
          const from = new Date(now.getTime() - days * 86_400_000).toISOString()
          expect(resolve({ interval: interval as Interval, timezone }, now.toISOString()).from).toBe(from)
        }
      }),
    )
  })

  test('months, quarters and years begin with the first moment of the right local day', () => {
    fc.assert(
      fc.property(anyZone, anyNow, (timezone, now) => {
        const today = local(now.toISOString(), timezone).toPlainDate()
        const quarter = today.with({ month: Math.floor((today.month - 1) / 3) * 3 + 1, day: 1 })
        expectDay('mtd', today.with({ day: 1 }))
        expectDay('qtd', quarter)
        expectDay('ytd', today.with({ month: 1, day: 1 }))

        function expectDay(interval: Interval, day: Temporal.PlainDate) {
          const from = local(resolve({ interval, timezone }, now.toISOString()).from, timezone)
          const before = local(new Date(from.epochMilliseconds - 1).toISOString(), timezone)
          expect(Temporal.PlainDate.compare(before.toPlainDate(), day)).toBe(-1)
          expect(Temporal.PlainDate.compare(from.toPlainDate(), day)).toBeGreaterThanOrEqual(0)
        }
      }),
    )
  })

  test('a date as start and end covers exactly the hours of this local day', () => {
    fc.assert(
      fc.property(anyZone, anyNow, (timezone, date) => {
        const moment = local(date.toISOString(), timezone)
        const day = moment.toPlainDate().toString()
        const { from, to } = resolve({ start: day, end: day, timezone })
        expect(from <= date.toISOString() && date.toISOString() < to).toBe(true)
        expect(local(from, timezone).toPlainDate().toString()).toBe(day)
        expect(
          local(new Date(Date.parse(to) - 1).toISOString(), timezone)
            .toPlainDate()
            .toString(),
        ).toBe(day)
        expect(local(to, timezone).toPlainDate().toString()).not.toBe(day)
      }),
    )
  })

  test('a number of hours ago is exact in every time zone', () => {
    fc.assert(
      fc.property(anyZone, anyNow, fc.integer({ min: 1, max: 500 }), (timezone, now, hours) => {
        const { from } = resolve({ start: `${hours} hours ago`, timezone }, now.toISOString())
        expect(Date.parse(from)).toBe(now.getTime() - hours * 3_600_000)
      }),
    )
  })

  test('no start or end throws an unexpected error', () => {
    const words = fc.constantFrom(
      'last',
      'monday',
      'ago',
      '3',
      'hours',
      '2025-01-31',
      'T10:00',
      'at',
      '5pm',
      '-',
      'of',
      'may',
    )
    const phrase = fc.array(words, { maxLength: 6 }).map((parts) => parts.join(' '))
    fc.assert(
      fc.property(fc.oneof(fc.string(), phrase), fc.oneof(fc.string(), phrase), anyZone, (start, end, timezone) => {
        const resolved = resolvePeriod({ start, end, timezone }, new Date(wednesday))
        if ('problem' in resolved) expect(resolved.problem.message).not.toBe('')
        else expect(resolved.from.getTime()).toBeLessThan(resolved.to.getTime())
      }),
      { numRuns: 500 },
    )
  })
})

function resolve(input: PeriodInput, now = wednesday): { from: string; to: string } {
  const resolved = resolvePeriod({ timezone: 'UTC', ...input }, new Date(now))
  if ('problem' in resolved) throw new Error(resolved.problem.message)
  return { from: resolved.from.toISOString(), to: resolved.to.toISOString() }
}

function local(iso: string, timezone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.from(iso).toZonedDateTimeISO(timezone)
}
