import { rewardInput } from '@tributary/contract/reward-terms'
import { describe, expect, it, test } from 'vitest'
import { parseTerms, presentTerms, storeTerms } from './terms.ts'

const condition = { entity: 'customer', attribute: 'country', operator: 'in', value: ['DE', 'FR'] } as const
const modifier = { operator: 'OR', conditions: [condition], type: 'flat', amountInCents: 250 } as const
const input = {
  event: 'sale',
  type: 'percentage',
  amountInPercentage: 12.35,
  maxDuration: 12,
  modifiers: [modifier, { ...modifier, maxDuration: null }],
  spendLimitAmount: 5_000,
} as const

const store = (given: object) => storeTerms(rewardInput.parse(given))
const refuse = (given: object) =>
  rewardInput.safeParse({ ...input, ...given }).error?.issues.map(({ path, message }) => [path.join('.'), message])

test('percentages are stored as hundredths of a percent', () => {
  for (const percent of [0, 0.01, 0.07, 1.1, 12.35, 29.29, 33.33, 99.99, 100]) {
    const stored = store({ ...input, amountInPercentage: percent })
    expect(stored.amount).toBe(Number(percent.toFixed(2).replace('.', '')))
    expect(presentTerms(stored).amountInPercentage).toBe(percent)
  }
})

test("a modifier without a duration has the reward's", () => {
  const { modifiers, amount, cap } = parseTerms(JSON.parse(JSON.stringify(store(input))))
  expect(amount).toBe(1_235n)
  expect(modifiers.map(({ maxDuration }) => maxDuration)).toEqual([12, null])
  expect(cap).toEqual({ amount: 5_000n, interval: 'allTime', scope: 'partner' })
})

test('presented terms are the input, with defaults', () => {
  const presented = presentTerms(store(input))
  expect(presented).toEqual({
    ...input,
    amountInCents: null,
    modifiers: input.modifiers.map((modifier) => ({ ...modifier, amountInPercentage: null })),
    spendLimitInterval: 'allTime',
    spendLimitScope: 'partner',
    description: null,
  })
  expect(store(presented)).toEqual(store(input))
})

test.each(['click', 'lead'])('a %s reward has no duration', (event) => {
  const terms = parseTerms(
    store({ event, type: 'flat', amountInCents: 5, modifiers: [modifier].slice(event === 'click' ? 1 : 0) }),
  )
  expect([terms, ...terms.modifiers].map(({ maxDuration }) => maxDuration)).toEqual(event === 'click' ? [0] : [0, 0])
})

describe('refused', () => {
  it.each([
    [{ amountInPercentage: null }, 'amountInPercentage', 'a percentage reward needs it'],
    [{ amountInCents: 5 }, 'amountInCents', 'a percentage reward does not have it'],
    [{ amountInPercentage: 10.001 }, 'amountInPercentage', 'it has more than two decimals'],
    [{ event: 'lead', maxDuration: 0, modifiers: [] }, 'type', 'a lead reward is flat'],
    [
      { event: 'lead', type: 'flat', amountInPercentage: null, amountInCents: 1, modifiers: [] },
      'maxDuration',
      'a lead reward has no duration',
    ],
    [
      { spendLimitAmount: null, spendLimitInterval: 'day' },
      'spendLimitAmount',
      'the interval and scope of a limit need an amount',
    ],
  ])('%j', (given, path, message) => {
    expect(refuse(given)).toContainEqual([path, message])
  })

  it.each([
    [{ attribute: 'toString' }, 'attribute', 'a customer has no attribute toString'],
    [{ attribute: 'metadata.x' }, 'attribute', 'a customer has no attribute metadata.x'],
    [{ entity: 'sale', attribute: 'metadata.' }, 'attribute', 'a sale has no attribute metadata.'],
    [{ operator: 'contains' }, 'operator', 'country takes only equals_to, not_equals, in, not_in'],
    [{ value: 'DE' }, 'value', 'in takes a list'],
    [{ operator: 'equals_to' }, 'value', 'equals_to takes one value, not a list'],
    [{ value: ['de'] }, 'value', 'it is not a country code of two capital letters'],
    [
      { attribute: 'signupDate', operator: 'less_than', value: '2026-02-30' },
      'value',
      'it is not a date such as 2026-01-31',
    ],
    [{ entity: 'partner', attribute: 'totalLeads', value: [1.5] }, 'value', 'it is not a whole number, 0 or more'],
  ])('a condition with %j', (given, path, message) => {
    const modifiers = [{ ...modifier, conditions: [{ ...condition, ...given }] }]
    expect(refuse({ modifiers })).toContainEqual([`modifiers.0.conditions.0.${path}`, message])
  })

  it.each([
    ['click', 'partner', 'country'],
    ['click', 'customer', 'source'],
    ['lead', 'sale', 'type'],
    ['sale', 'lead', 'metadata.x'],
  ])('a %s reward that depends on %s.%s', (event, entity, attribute) => {
    const values: Record<string, string> = { source: 'trial', type: 'new', country: 'DE' }
    const conditions = [{ entity, attribute, operator: 'equals_to', value: values[attribute] ?? 'x' }]
    const terms = { event, type: 'flat', amountInCents: 1, modifiers: [{ ...modifier, conditions }] }
    const issues = rewardInput.safeParse(terms).error?.issues.map(({ message }) => message)
    expect(issues).toEqual([`a ${event} reward can't depend on ${entity}.${attribute}`])
  })
})
