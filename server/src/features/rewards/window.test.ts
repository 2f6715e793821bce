import { expect, test } from 'vitest'
import { addMonths, isWindowOpen, lastWindowEnd, monthsBetween, windowEnd } from './window.ts'

const time = (text: string) => new Date(text)

test.each([
  ['2026-01-31T10:00:00Z', 1, '2026-02-28T10:00:00Z'],
  ['2024-01-31T10:00:00Z', 1, '2024-02-29T10:00:00Z'],
  ['2024-02-29T00:00:00Z', 12, '2025-02-28T00:00:00Z'],
  ['2024-02-29T00:00:00Z', 48, '2028-02-29T00:00:00Z'],
  ['2026-08-31T23:59:59.999Z', 13, '2027-09-30T23:59:59.999Z'],
  ['2026-12-15T00:00:00Z', 1, '2027-01-15T00:00:00Z'],
  ['2026-03-29T00:30:00Z', 0, '2026-03-29T00:30:00Z'],
  ['2026-03-29T00:30:00Z', 600, '2076-03-29T00:30:00Z'],
])('%s and %d months is %s', (from, months, to) => {
  expect(addMonths(time(from), months)).toEqual(time(to))
})

test.each([
  ['2026-01-31T00:00:00Z', '2026-02-27T23:59:59Z', 0],
  ['2026-01-31T00:00:00Z', '2026-02-28T00:00:00Z', 1],
  ['2025-06-15T12:00:00Z', '2026-06-15T11:59:59Z', 11],
  ['2025-06-15T12:00:00Z', '2026-06-15T12:00:00Z', 12],
  ['2026-06-15T12:00:00Z', '2026-01-01T00:00:00Z', 0],
])('from %s to %s are %d whole months', (from, to, months) => {
  expect(monthsBetween(time(from), time(to))).toBe(months)
})

test.each([
  [null, '2099-01-01T00:00:00Z', true],
  [0, '2026-01-31T00:00:00Z', false],
  [0, '2026-01-30T00:00:00Z', false],
  [1, '2026-02-27T23:59:59.999Z', true],
  [1, '2026-02-28T00:00:00Z', false],
])('with %s months from 31 January, a later sale at %s earns: %s', (maxDuration, at, isOpen) => {
  expect(isWindowOpen({ maxDuration }, time('2026-01-31T00:00:00Z'), time(at))).toBe(isOpen)
})

test('the window ends with the longest of base terms and modifiers', () => {
  const firstSaleAt = time('2026-01-31T00:00:00Z')
  const terms = (...durations: (number | null)[]) => {
    const [base = null, ...modifiers] = durations.map((maxDuration) => ({ maxDuration }))
    return { ...base, modifiers } as never
  }
  expect(lastWindowEnd(terms(0), firstSaleAt)).toEqual(firstSaleAt)
  expect(lastWindowEnd(terms(0, 12, 1), firstSaleAt)).toEqual(time('2027-01-31T00:00:00Z'))
  expect(lastWindowEnd(terms(12, null), firstSaleAt)).toBeNull()
  expect(windowEnd({ maxDuration: null }, firstSaleAt)).toBeNull()
})
