import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RateTable } from '../../../platform/rates.ts'
import { convert } from './money.ts'

const table: RateTable = {
  date: '2026-01-01',
  rates: new Map([
    ['eur', '1'],
    ['usd', '1.25'],
    ['gbp', '0.8'],
    ['jpy', '160'],
    ['kwd', '0.4'],
    ['zzz', '0'],
  ]),
}

test.each([
  [100, 'usd', 'usd', 100],
  [100, 'eur', 'usd', 125],
  [125, 'usd', 'eur', 100],
  [1, 'usd', 'eur', 1],
  [0, 'usd', 'eur', 0],
  [100, 'gbp', 'usd', 156],
  [160, 'jpy', 'eur', 100],
  [1000, 'jpy', 'usd', 781],
  [100, 'eur', 'jpy', 160],
  [1000, 'kwd', 'usd', 313],
  [100, 'usd', 'kwd', 320],
  [1_000_000_000_00, 'usd', 'jpy', 128_000_000_000],
])('%d %s are %s %d', (amount, currency, to, expected) => {
  expect(convert({ amount, currency }, to, table)).toEqual({ amount: expected, currency: to })
})

test.each([
  ['xyz', 'usd'],
  ['usd', 'xyz'],
  ['zzz', 'usd'],
])('%s to %s is not known', (currency, to) => {
  expect(convert({ amount: 1, currency }, to, table)).toBeUndefined()
})

test('a currency is its own even when no rate of it is known', () => {
  expect(convert({ amount: 7, currency: 'xyz' }, 'xyz', table)).toEqual({ amount: 7, currency: 'xyz' })
})

test('is exact to half of the smallest unit, and never turns around', () => {
  const code = fc.constantFrom('eur', 'usd', 'gbp', 'jpy', 'kwd')
  const units = { eur: 100, usd: 125, gbp: 80, jpy: 160, kwd: 400 } as Record<string, number>
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1e9 }), code, code, (amount, from, to) => {
      const { amount: result = -1 } = convert({ amount, currency: from }, to, table) ?? {}
      const exact = (amount * (units[to] as number)) / (units[from] as number)
      expect(Math.abs(result - exact)).toBeLessThanOrEqual(0.5 + 1e-6)
      const { amount: more = -1 } = convert({ amount: amount + 1, currency: from }, to, table) ?? {}
      expect(more).toBeGreaterThanOrEqual(result)
    }),
  )
})
