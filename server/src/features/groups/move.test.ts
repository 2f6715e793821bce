import type { MoveRule } from '@tributary/contract/groups'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findMove, type MovingPartner } from './move.ts'

type Total = Exclude<MoveRule['attribute'], 'groupId'>
const gte = (attribute: Total, value: number): MoveRule => ({ attribute, operator: 'gte', value })
const between = (attribute: Total, min: number, max: number): MoveRule => ({
  attribute,
  operator: 'between',
  value: { min, max },
})
const from = (operator: 'in' | 'not_in', ...value: string[]): MoveRule => ({ attribute: 'groupId', operator, value })

function partner(totals: Partial<MovingPartner['totals']>, given: Partial<MovingPartner> = {}): MovingPartner {
  const none = { leads: 0n, conversions: 0n, saleAmount: 0n, commissions: 0n }
  return { groupId: 'default', isPinned: false, totals: { ...none, ...totals }, ...given }
}

const tiers = [
  { id: 'default', moveRules: [] },
  { id: 'gold', moveRules: [gte('totalSaleAmount', 10_000)] },
  { id: 'bronze', moveRules: [gte('totalSaleAmount', 100)] },
  { id: 'silver', moveRules: [gte('totalSaleAmount', 1_000)] },
]

test.each([
  [0n, null],
  [99n, null],
  [100n, 'bronze'],
  [999n, 'bronze'],
  [1_000n, 'silver'],
  [10_000n, 'gold'],
  [2n ** 60n, 'gold'],
])('with sales of %s, a partner of the default group moves to %s', (saleAmount, group) => {
  expect(findMove(partner({ saleAmount }), tiers)).toBe(group)
})

test('a partner in the group that fits stays, and one whose totals sank moves down', () => {
  expect(findMove(partner({ saleAmount: 10_000n }, { groupId: 'gold' }), tiers)).toBeNull()
  expect(findMove(partner({ saleAmount: 9_999n }, { groupId: 'gold' }), tiers)).toBe('silver')
  expect(findMove(partner({ saleAmount: 1n }, { groupId: 'gold' }), tiers)).toBeNull()
})

test('a pinned partner stays', () => {
  expect(findMove(partner({ saleAmount: 10_000n }, { isPinned: true }), tiers)).toBeNull()
})

test('a group needs all of its rules', () => {
  const groups = [{ id: 'a', moveRules: [gte('totalLeads', 5), between('totalConversions', 1, 3)] }]
  expect(findMove(partner({ leads: 5n, conversions: 1n }), groups)).toBe('a')
  expect(findMove(partner({ leads: 5n, conversions: 3n }), groups)).toBe('a')
  expect(findMove(partner({ leads: 5n, conversions: 4n }), groups)).toBeNull()
  expect(findMove(partner({ leads: 4n, conversions: 1n }), groups)).toBeNull()
})

test('rules on the present group', () => {
  const groups = [{ id: 'b', moveRules: [from('in', 'a', 'c'), gte('totalCommissions', 1)] }]
  expect(findMove(partner({ commissions: 1n }, { groupId: 'a' }), groups)).toBe('b')
  expect(findMove(partner({ commissions: 1n }), groups)).toBeNull()
  const others = [{ id: 'b', moveRules: [from('not_in', 'a')] }]
  expect([findMove(partner({}, { groupId: 'a' }), others), findMove(partner({}), others)]).toEqual([null, 'b'])
})

test('the most demanding group wins: by commissions, sales, conversions, then leads; of equal ones the first', () => {
  const rich = partner({ leads: 100n, conversions: 100n, saleAmount: 100n, commissions: 100n })
  const group = (id: string, ...moveRules: MoveRule[]) => ({ id, moveRules })
  const choose = (...groups: ReturnType<typeof group>[]) => findMove(rich, groups)
  expect(choose(group('a', gte('totalSaleAmount', 99)), group('b', gte('totalCommissions', 0)))).toBe('b')
  expect(choose(group('a', gte('totalLeads', 9)), group('b', between('totalLeads', 10, 200)))).toBe('b')
  expect(choose(group('a', gte('totalLeads', 9)), group('b', gte('totalLeads', 9)))).toBe('a')
  expect(choose(group('a', gte('totalLeads', 9), gte('totalLeads', 50)), group('b', gte('totalLeads', 40)))).toBe('a')
})

test('a rule on groups says who may join, not who stays', () => {
  const groups = [
    { id: 'silver', moveRules: [gte('totalSaleAmount', 1_000)] },
    { id: 'gold', moveRules: [gte('totalSaleAmount', 10_000), from('in', 'silver')] },
  ]
  expect(findMove(partner({ saleAmount: 10_000n }, { groupId: 'silver' }), groups)).toBe('gold')
  expect(findMove(partner({ saleAmount: 10_000n }, { groupId: 'gold' }), groups)).toBeNull()
  expect(findMove(partner({ saleAmount: 9_999n }, { groupId: 'gold' }), groups)).toBe('silver')
  expect(findMove(partner({ saleAmount: 10_000n }), groups)).toBe('gold')
})

test('of equally demanding groups, the partner stays in its own', () => {
  const groups = ['a', 'b'].map((id) => ({ id, moveRules: [gte('totalLeads', 5)] }))
  expect(findMove(partner({ leads: 5n }, { groupId: 'b' }), groups)).toBeNull()
})

test('equal totals never move a partner twice', () => {
  const ids = ['default', 'a', 'b', 'c', 'd']
  const total = fc.constantFrom<Total[]>('totalLeads', 'totalConversions', 'totalSaleAmount', 'totalCommissions')
  const small = fc.nat({ max: 4 })
  const rule: fc.Arbitrary<MoveRule> = fc.oneof(
    fc.tuple(total, small).map(([attribute, value]) => gte(attribute, value)),
    fc.tuple(total, small, small).map(([attribute, min, length]) => between(attribute, min, min + length)),
    fc
      .tuple(fc.constantFrom('in' as const, 'not_in' as const), fc.subarray(ids, { minLength: 1 }))
      .map(([operator, groups]) => from(operator, ...groups)),
  )
  const rules = fc.array(rule, { maxLength: 3 })
  const amount = small.map(BigInt)
  const totals = fc.record({ leads: amount, conversions: amount, saleAmount: amount, commissions: amount })
  fc.assert(
    fc.property(
      fc.tuple(rules, rules, rules, rules, rules),
      totals,
      fc.constantFrom(...ids),
      (all, totals, groupId) => {
        const groups = ids.map((id, index) => ({ id, moveRules: all[index] ?? [] }))
        const target = findMove({ groupId, isPinned: false, totals }, groups)
        if (target !== null) expect(findMove({ groupId: target, isPinned: false, totals }, groups)).toBeNull()
        expect(target).not.toBe(groupId)
      },
    ),
    { numRuns: 5_000 },
  )
})
