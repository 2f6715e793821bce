import type { RewardCondition } from '@tributary/contract/reward-terms'
import { rewardCondition } from '@tributary/contract/reward-terms'
import { expect, test } from 'vitest'
import { buildSale } from '../../../test/rewards.ts'
import { judgeCondition, readAttribute } from './conditions.ts'
import type { RewardEvent } from './terms.ts'

const start = new Date('2025-01-31T08:00:00Z')
const event = buildSale({
  at: new Date('2026-03-15T12:00:00Z'),
  amount: 5_000n,
  isFirst: false,
  metadata: { plan: 'pro-yearly', seats: 12, trial: false, renewsAt: '2026-05-01', notes: 'x'.repeat(501), nested: {} },
  customer: { id: 'cus_1', country: 'de', email: null, createdAt: start, firstSaleAt: start, source: 'submitted' },
})
event.partner.totals = { clicks: 10n, leads: 5n, conversions: 3n, saleAmount: 2n ** 60n, commissions: 0n }

type Given = [entity: string, attribute: string, operator: string, value: unknown, result: boolean]

function judge(given: Given, of: RewardEvent = event, productId: string | null = 'prod_1'): boolean {
  const [entity, attribute, operator, value] = given
  const condition = rewardCondition.parse({ entity, attribute, operator, value }) as RewardCondition
  return judgeCondition(condition, readAttribute(of, condition, productId))
}

const cases: Given[] = [
  ['customer', 'country', 'equals_to', 'DE', true],
  ['customer', 'country', 'not_equals', 'DE', false],
  ['customer', 'country', 'in', ['FR', 'DE'], true],
  ['customer', 'country', 'not_in', ['FR', 'US'], true],
  ['customer', 'source', 'equals_to', 'submitted', true],
  ['customer', 'subscriptionDurationMonths', 'equals_to', 13, true],
  ['customer', 'subscriptionDurationMonths', 'greater_than', 13, false],
  ['customer', 'subscriptionStartDate', 'less_than', '2025-02-01', true],
  ['customer', 'subscriptionStartDate', 'equals_to', '2025-01-31', true],
  ['customer', 'signupDate', 'greater_than_or_equal', '2025-01-31', true],
  ['customer', 'signupDate', 'greater_than', '2025-01-31', false],
  ['partner', 'country', 'equals_to', 'FR', true],
  ['partner', 'totalClicks', 'less_than_or_equal', 10, true],
  ['partner', 'totalLeads', 'less_than', 5, false],
  ['partner', 'totalConversions', 'in', [1, 3], true],
  ['partner', 'totalSaleAmount', 'greater_than', Number.MAX_SAFE_INTEGER, true],
  ['partner', 'totalCommissions', 'equals_to', 0, true],
  ['sale', 'productId', 'equals_to', 'prod_1', true],
  ['sale', 'productId', 'starts_with', 'prod_', true],
  ['sale', 'productId', 'ends_with', '_2', false],
  ['sale', 'amount', 'greater_than_or_equal', 5_000, true],
  ['sale', 'type', 'equals_to', 'recurring', true],
  ['sale', 'metadata.plan', 'contains', 'pro', true],
  ['sale', 'metadata.plan', 'not_contains', 'basic', true],
  ['sale', 'metadata.plan', 'greater_than', 5, false],
  ['sale', 'metadata.seats', 'greater_than', 9, true],
  ['sale', 'metadata.seats', 'equals_to', '12', true],
  ['sale', 'metadata.seats', 'in', ['1', 12], true],
  ['sale', 'metadata.trial', 'equals_to', 'false', true],
  ['sale', 'metadata.renewsAt', 'less_than', '2026-05-01T00:00:01Z', true],
  ['sale', 'metadata.renewsAt', 'less_than', '2026-05-01T00:00:00+02:00', false],
  ['sale', 'metadata.missing', 'not_equals', 'x', false],
  ['sale', 'metadata.missing', 'not_in', ['x'], false],
  ['sale', 'metadata.missing', 'not_contains', 'x', false],
  ['sale', 'metadata.toString', 'not_equals', 'x', false],
  ['sale', 'metadata.notes', 'not_equals', 'x', false],
  ['sale', 'metadata.nested', 'not_equals', 'x', false],
]

test.each(cases)('%s.%s %s %j is %s', (...given) => {
  expect(judge(given)).toBe(given[4])
})

test('the type of a first sale is new', () => {
  expect(judge(['sale', 'type', 'equals_to', 'new', true], buildSale())).toBe(true)
})

test.each<Given>([
  ['customer', 'country', 'not_equals', 'US', false],
  ['customer', 'subscriptionDurationMonths', 'less_than', 100, false],
  ['customer', 'subscriptionStartDate', 'not_equals', '2020-01-01', false],
  ['partner', 'country', 'not_in', ['US'], false],
  ['sale', 'productId', 'not_equals', 'x', false],
])('a missing %s.%s makes %s false', (...given) => {
  const unknown = buildSale({ metadata: null })
  Object.assign(unknown.customer ?? {}, { country: null, firstSaleAt: null })
  unknown.partner.country = null
  expect(judge(given, unknown, null)).toBe(false)
  expect(judge(given, { ...unknown, customer: null }, null)).toBe(false)
})
