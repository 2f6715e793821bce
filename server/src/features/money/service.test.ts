import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openTestPlatform } from '../../../test/stack.ts'
import { start } from '../../roles/api.ts'
import type { ExchangeRates } from './exchange-rates.ts'
import { apportion, convert, roundShare } from './service.ts'

const table: ExchangeRates = {
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
])('%d %s in %s is %d', (amount, currency, to, expected) => {
  expect(convert({ amount: BigInt(amount), currency }, to, table)).toEqual({ amount: BigInt(expected), currency: to })
})

test.each([
  ['xyz', 'usd'],
  ['usd', 'xyz'],
  ['zzz', 'usd'],
])('%s can not be converted to %s without an exchange rate', (currency, to) => {
  expect(convert({ amount: 1n, currency }, to, table)).toBeUndefined()
})

test('an amount in its own currency stays unchanged, even without an exchange rate', () => {
  expect(convert({ amount: 7n, currency: 'xyz' }, 'xyz', table)).toEqual({ amount: 7n, currency: 'xyz' })
})

test('a converted amount is exact to half a minor unit, and never decreases as the amount grows', () => {
  const code = fc.constantFrom('eur', 'usd', 'gbp', 'jpy', 'kwd')
  const units = { eur: 100, usd: 125, gbp: 80, jpy: 160, kwd: 400 } as Record<string, number>
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1e9 }), code, code, (amount, from, to) => {
      const converted = (amount: number) =>
        Number(convert({ amount: BigInt(amount), currency: from }, to, table)?.amount)
      const result = converted(amount)
      const exact = (amount * (units[to] as number)) / (units[from] as number)
      expect(Math.abs(result - exact)).toBeLessThanOrEqual(0.5 + 1e-6)
      expect(converted(amount + 1)).toBeGreaterThanOrEqual(result)
    }),
  )
})

test('the api does not start with an unusable RATES_FILE', async () => {
  const platform = await openTestPlatform({ RATES_FILE: '/nowhere/exchange-rates.json' })
  await expect(start(platform)).rejects.toThrow(/RATES_FILE is "\/nowhere\/exchange-rates.json", which can't be used/)
})

test.each([
  [1_000n, 1_250n, undefined, 125n],
  [50n, 100n, undefined, 1n],
  [49n, 100n, undefined, 0n],
  [-50n, 100n, undefined, -1n],
  [10n ** 30n + 1n, 10_000n, undefined, 10n ** 30n + 1n],
  [100n, 1n, 3n, 33n],
  [0n, 1n, 3n, 0n],
])('the share of %s by %s / %s is %s', (amount, part, whole, expected) => {
  expect(roundShare(amount, part, whole)).toBe(expected)
})

test.each([
  [100n, [1n, 1n, 1n], [34n, 33n, 33n]],
  [-100n, [1n, 1n, 1n], [-34n, -33n, -33n]],
  [5n, [0n, 1n, 0n, 1n], [0n, 3n, 0n, 2n]],
  [10n, [1n, 6n, 4n], [1n, 5n, 4n]],
  [2n, [1n, 1n, 1n, 1n], [1n, 1n, 0n, 0n]],
  [0n, [0n, 0n], [0n, 0n]],
  [0n, [], []],
  [7n, [10n ** 40n], [7n]],
])('%s divided by the weights %s is %s', (total, weights, shares) => {
  expect(apportion(total, weights)).toEqual(shares)
})

test.each([
  [1n, [], /no weight is positive/],
  [1n, [0n, 0n], /no weight is positive/],
  [1n, [2n, -1n], /negative/],
])('%s divided by the weights %s is refused', (total, weights, message) => {
  expect(() => apportion(total, weights)).toThrow(message)
})

const add = (amounts: bigint[]) => amounts.reduce((sum, amount) => sum + amount, 0n)
const amount = fc.oneof(fc.bigInt({ min: -1_000n, max: 1_000n }), fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }))
const weight = fc.oneof(fc.bigInt({ min: 0n, max: 9n }), fc.bigInt({ min: 0n, max: 10n ** 40n }))
const weights = fc.array(weight, { minLength: 1, maxLength: 20 }).filter((weights) => add(weights) > 0n)

test('the shares of a divided amount add up to it, and each is less than one unit from exact', () => {
  fc.assert(
    fc.property(amount, weights, (total, weights) => {
      const [shares, whole] = [apportion(total, weights), add(weights)]
      expect(add(shares)).toBe(total)
      for (const [index, share] of shares.entries()) {
        const difference = share * whole - total * (weights[index] as bigint)
        expect(difference < whole && -difference < whole).toBe(true)
      }
    }),
  )
})

test('a refund is divided into the negative shares of its sale', () => {
  fc.assert(
    fc.property(amount, weights, (total, weights) => {
      expect(apportion(-total, weights)).toEqual(apportion(total, weights).map((share) => -share))
    }),
  )
})

test('a larger weight never gets a smaller share, and of equal weights the first gets the extra unit', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 20n }), weights, (total, weights) => {
      const shares = apportion(total, weights)
      for (const [one, weight] of weights.entries()) {
        for (const [other, otherWeight] of weights.entries()) {
          if (weight > otherWeight || (weight === otherWeight && one < other)) {
            expect((shares[one] as bigint) >= (shares[other] as bigint)).toBe(true)
          }
        }
      }
    }),
  )
})

test('refunds in parts, divided by what is left of each share, never overdraw a share and end at zero', () => {
  const parts = fc.array(fc.bigInt({ min: 1n, max: 400n }), { maxLength: 10 })
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 10_000n }), weights, parts, (total, weights, parts) => {
      let left = apportion(total, weights)
      for (const part of [...parts, null]) {
        const rest = add(left)
        const refund = apportion(part === null || part > rest ? rest : part, left)
        left = left.map((share, index) => share - (refund[index] as bigint))
        expect(left.every((share) => share >= 0n)).toBe(true)
      }
      expect(add(left)).toBe(0n)
    }),
  )
})
