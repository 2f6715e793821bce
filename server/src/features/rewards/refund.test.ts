import { expect, test } from 'vitest'
import { buildHistory, buildSale, buildVersion } from '../../../test/rewards.ts'
import { decide } from './decide.ts'
import { earningsAfterRefund } from './refund.ts'
import type { RewardEvent, RewardVersion } from './terms.ts'

function after(version: RewardVersion, event: Partial<RewardEvent>, left: bigint, spent = 0n): bigint {
  const { why } = decide(buildSale(event), buildHistory({ spent }), { partner: null, group: version })
  return earningsAfterRefund(why, left)
}

const percentage = buildVersion()

test.each([
  [10_000n, 1_000n],
  [9_995n, 1_000n],
  [9_994n, 999n],
  [5n, 1n],
  [4n, 0n],
  [0n, 0n],
  [20_000n, 2_000n],
])('of 10 % of 10000, %s left earn %s', (left, expected) => {
  expect(after(percentage, {}, left)).toBe(expected)
})

test('a flat reward is unchanged until nothing is left', () => {
  const version = buildVersion({ type: 'flat', amountInCents: 300 })
  expect([1n, 9_999n, 0n].map((left) => after(version, { quantity: 2 }, left))).toEqual([600n, 600n, 0n])
})

test('a refund takes the same share of the commissionable amount', () => {
  expect(after(percentage, { metadata: { commissionableAmount: 8_000 } }, 5_000n)).toBe(400n)
})

test('each product keeps its terms', () => {
  const conditions = [{ entity: 'sale', attribute: 'productId', operator: 'equals_to', value: 'b' }] as const
  const modifiers = [{ operator: 'AND' as const, conditions: [...conditions], type: 'flat' as const, amountInCents: 7 }]
  const version = buildVersion({ modifiers })
  const products = [
    { id: 'a', amount: 6_000 },
    { id: 'b', amount: 4_000 },
  ]
  expect([10_000n, 5_000n, 0n].map((left) => after(version, { metadata: { products } }, left))).toEqual([
    607n,
    307n,
    0n,
  ])
})

test('a capped commission is reduced only below its cap', () => {
  const version = buildVersion({ spendLimitAmount: 1_000 })
  expect([10_000n, 6_000n, 3_000n].map((left) => after(version, {}, left, 500n))).toEqual([500n, 500n, 300n])
})
