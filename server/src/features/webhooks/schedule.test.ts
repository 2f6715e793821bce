import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isGivenUp, nextTry, offsetsMs, retryAfterMs } from './schedule.ts'

const start = new Date('2026-03-01T00:00:00Z')
const after = (milliseconds: number) => new Date(start.getTime() + milliseconds)
const second = 1_000
const hour = 3_600 * second
const day = 24 * hour

describe('nextTry', () => {
  test('calls of a failing delivery follow the schedule', () => {
    const times = [start]
    for (;;) {
      const at = times.at(-1) as Date
      const next = nextTry({ startedAt: start, tries: times.length, at, endedAt: at }, 0)
      if (!next) break
      times.push(next)
    }
    expect(times.map((time) => (time.getTime() - start.getTime()) / second)).toEqual([
      0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400,
    ])
  })

  test('each call is at most a tenth of its interval late, whatever the jitter', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 9, maxLength: 9 }), (dice) => {
        let at = start
        for (const [index, random] of dice.entries()) {
          const next = nextTry({ startedAt: start, tries: index + 1, at, endedAt: at }, random)
          const passed = (next?.getTime() ?? 0) - start.getTime()
          const planned = offsetsMs[index + 1] ?? 0
          expect(passed).toBeGreaterThanOrEqual(planned)
          expect(passed).toBeLessThanOrEqual(Math.ceil(planned * 1.1))
          at = next as Date
        }
      }),
    )
  })

  test('after a call that hung, the receiver gets a pause before the next call', () => {
    const tried = { startedAt: start, tries: 1, at: start, endedAt: after(15 * second) }
    expect(nextTry(tried, 0)).toEqual(after(20 * second))
  })

  test('after a call that is days late, later calls keep their intervals', () => {
    const late = after(3 * day)
    expect(nextTry({ startedAt: start, tries: 4, at: late, endedAt: late }, 1)).toEqual(after(3 * day + 1.5 * hour))
  })

  test.each([
    ['a minute', 60 * second, 60 * second],
    ['less than the pause', second, 5 * second],
    ['more than a day', 30 * day, day],
  ])('the next call for a Retry-After of %s', (_what, asked, expected) => {
    const tried = { startedAt: start, tries: 1, at: start, endedAt: start, retryAfterMs: asked }
    expect(nextTry(tried, 0)).toEqual(after(expected))
  })

  test('Retry-After can neither shorten the interval nor add attempts', () => {
    const tried = { startedAt: start, tries: 2, at: after(5 * second), endedAt: after(5 * second), retryAfterMs: 1 }
    expect(nextTry(tried, 0)).toEqual(after(300 * second))
    expect(nextTry({ ...tried, tries: offsetsMs.length, retryAfterMs: hour }, 0)).toBeUndefined()
  })
})

test.each<[string | string[] | undefined, number | undefined]>([
  [undefined, undefined],
  ['', undefined],
  ['0', undefined],
  ['120', 120_000],
  [' 120 ', 120_000],
  [['30', '60'], 30_000],
  ['-5', undefined],
  ['1.5', undefined],
  ['soon', undefined],
  ['Sun, 01 Mar 2026 00:02:00 GMT', 120_000],
  ['Sat, 28 Feb 2026 23:00:00 GMT', undefined],
  ['9'.repeat(30), undefined],
])('Retry-After: %j', (header, expected) => {
  expect(retryAfterMs(header, start)).toBe(expected)
})

test.each([
  [5 * day, 4, true],
  [5 * day - 1, 4, false],
  [30 * day, 10, true],
  [30 * day, 3, false],
])('a webhook that has failed for %d ms, at attempt %d: disabled is %s', (milliseconds, tries, expected) => {
  expect(isGivenUp(start, { tries, endedAt: after(milliseconds) })).toBe(expected)
})
