import { expect, test } from 'vitest'
import { buildSale } from '../../../test/rewards.ts'
import { lineEarnings, scaleLine, splitLines } from './earnings.ts'

test.each([
  ['percentage', 1_000n, 1_999n, 1, 200n],
  ['percentage', 1_250n, 100n, 1, 13n],
  ['percentage', 1_249n, 100n, 1, 12n],
  ['percentage', 50n, 100n, 1, 1n],
  ['percentage', 49n, 100n, 1, 0n],
  ['percentage', 10_000n, 999_999_999_999_999n, 1, 999_999_999_999_999n],
  ['percentage', 1_000n, 1_000n, 5, 100n],
  ['flat', 500n, 0n, 3, 1_500n],
  ['flat', 99_999_999n, 1n, 10_000, 999_999_990_000n],
] as const)('%s %s of %s × %d earns %s', (type, rate, amount, quantity, expected) => {
  expect(lineEarnings({ type, amount: rate }, { amount, quantity })).toBe(expected)
})

const metadata = (value: Record<string, unknown>, more = {}) => splitLines(buildSale({ metadata: value, ...more }))
const amounts = (value: Record<string, unknown>, more = {}) => metadata(value, more).map(({ amount }) => amount)

test('an event is one line of its amount and quantity', () => {
  expect(splitLines(buildSale({ quantity: 3 }))).toEqual([{ productId: null, amount: 10_000n, quantity: 3 }])
  expect(metadata({ productId: 'a' })).toEqual([{ productId: 'a', amount: 10_000n, quantity: 1 }])
  const lead = { kind: 'lead', amount: 0n, quantity: 2 } as const
  expect(metadata({ products: [{ id: 'a', amount: 5 }] }, lead)).toEqual([{ productId: null, amount: 0n, quantity: 2 }])
})

test('products are lines; what they leave over earns nothing', () => {
  const products = [
    { id: 'a', amount: 6_000, quantity: 2 },
    { id: 'b', amount: 3_000 },
  ]
  expect(metadata({ products })).toEqual([
    { productId: 'a', amount: 6_000n, quantity: 2 },
    { productId: 'b', amount: 3_000n, quantity: 1 },
  ])
})

test('products of more than the amount are reduced to it', () => {
  const products = [1, 1, 1].map((_, index) => ({ id: `${index}`, amount: 10_000 }))
  expect(amounts({ products })).toEqual([3_334n, 3_333n, 3_333n])
  expect(amounts({ products, commissionableAmount: 100 })).toEqual([34n, 33n, 33n])
})

test.each([
  ['8400', 10_000n],
  [8_400.5, 10_000n],
  [-1, 10_000n],
  [10_001, 10_000n],
  [10_000, 10_000n],
  [8_400, 8_400n],
  [0, 0n],
])('with the commissionable amount %s, %s of 10000 count', (commissionableAmount, expected) => {
  expect(amounts({ commissionableAmount })).toEqual([expected])
})

test('amounts in the metadata are in the currency of the tracked sale', () => {
  const money = { amount: 12_500n, originalAmount: 10_000n }
  expect(amounts({ commissionableAmount: 8_401 }, money)).toEqual([10_501n])
  const products = [
    { id: 'a', amount: 3_333 },
    { id: 'b', amount: 6_667 },
  ]
  expect(amounts({ products }, money)).toEqual([4_166n, 8_334n])
})

test.each([
  ['no list', 'a'],
  ['an empty list', []],
  ['no id', [{ amount: 1 }]],
  ['a fraction', [{ id: 'a', amount: 1.5 }]],
  ['a negative amount', [{ id: 'a', amount: -1 }]],
  ['no amount', [{ id: 'a' }]],
  ['quantity 0', [{ id: 'a', amount: 1, quantity: 0 }]],
  ['quantity 10,001', [{ id: 'a', amount: 1, quantity: 10_001 }]],
  ['one good and one bad', [{ id: 'a', amount: 1 }, null]],
])('products with %s are ignored', (_, products) => {
  expect(metadata({ products, productId: 'p' })).toEqual([{ productId: 'p', amount: 10_000n, quantity: 1 }])
})

test.each([
  [100n, 100n, 60n, 60n],
  [84n, 100n, 50n, 42n],
  [33n, 99n, 50n, 17n],
  [0n, 100n, 50n, 0n],
  [0n, 0n, 0n, 0n],
])('a line of %s in a sale of %s with %s left is %s', (line, amount, left, expected) => {
  expect(scaleLine(line, amount, left)).toBe(expected)
})
