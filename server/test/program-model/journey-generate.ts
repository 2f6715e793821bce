import { type RewardInput, rewardInput } from '@tributary/contract/reward-terms'
import fc from 'fast-check'
import { input, metadata, orNull, pick } from './generate.ts'
import type { Journey, Phase, Program, Step, Wait } from './journey.ts'

/* Random journeys with few partners, customers, products and round amounts, so that rules meet each other often. */

/** What the generator may do; each is a rule of its own, which a counterexample can be narrowed down with. */
export type Rules = { hasMoveRules: boolean; hasEditsInBacklog: boolean }

const index = fc.nat({ max: 5 })
const currency = pick(['usd', 'usd', 'eur', 'jpy'])
const owner = fc.oneof(
  { weight: 3, arbitrary: fc.nat({ max: 1 }).map((group) => ({ group })) },
  { weight: 1, arbitrary: index.map((partner) => ({ partner })) },
)
const wait: fc.Arbitrary<Wait> = fc.oneof(
  { weight: 3, arbitrary: fc.constant({ months: 0, days: 0, ms: 0 }) },
  {
    weight: 3,
    arbitrary: fc.record({
      months: pick([0, 0, 0, 1, 2, 12]),
      days: pick([0, 1, 6, 7, 14, 30]),
      ms: pick([0, 0, 1, 3_600_000, 43_200_000]),
    }),
  },
  { weight: 2, arbitrary: fc.record({ to: pick(['due', 'window'] as const), offsetMs: pick([-1, 0, 1]) }) },
)

const condition = pick([
  { entity: 'sale', attribute: 'amount', operator: 'greater_than_or_equal', value: 5_000 },
  { entity: 'sale', attribute: 'productId', operator: 'equals_to', value: 'prod_a' },
  { entity: 'sale', attribute: 'type', operator: 'equals_to', value: 'recurring' },
  { entity: 'sale', attribute: 'metadata.plan', operator: 'starts_with', value: 'pro' },
  { entity: 'partner', attribute: 'totalSaleAmount', operator: 'greater_than_or_equal', value: 10_000 },
  { entity: 'partner', attribute: 'totalCommissions', operator: 'greater_than', value: 1_000 },
  { entity: 'partner', attribute: 'totalConversions', operator: 'greater_than_or_equal', value: 2 },
  { entity: 'partner', attribute: 'totalLeads', operator: 'less_than', value: 3 },
  { entity: 'customer', attribute: 'country', operator: 'in', value: ['DE', 'US'] },
  { entity: 'customer', attribute: 'source', operator: 'equals_to', value: 'tracked' },
  { entity: 'customer', attribute: 'subscriptionDurationMonths', operator: 'greater_than_or_equal', value: 1 },
])
const leadCondition = pick([
  { entity: 'partner', attribute: 'totalLeads', operator: 'greater_than_or_equal', value: 2 },
  { entity: 'lead', attribute: 'metadata.plan', operator: 'equals_to', value: 'pro' },
  { entity: 'customer', attribute: 'source', operator: 'not_equals', value: 'tracked' },
  { entity: 'customer', attribute: 'subscriptionDurationMonths', operator: 'less_than', value: 5 },
])
const flat = pick([0, 50, 700, 1_234]).map((amountInCents) => ({ type: 'flat' as const, amountInCents }))
const percentage = pick([0, 0.01, 10, 12.5, 33.33, 100]).map((amountInPercentage) => {
  return { type: 'percentage' as const, amountInPercentage }
})
const rate = fc.oneof({ weight: 1, arbitrary: flat }, { weight: 2, arbitrary: percentage })
const duration = pick([0, 1, 2, 12, null])
const limit = fc.record({
  spendLimitAmount: pick([1, 600, 2_000, 10_000]),
  spendLimitInterval: pick(['day', 'week', 'month', 'allTime'] as const),
  spendLimitScope: pick(['partner', 'customer', 'group', 'program'] as const),
})

function shortTerms(event: 'lead' | 'sale'): fc.Arbitrary<RewardInput> {
  const isSale = event === 'sale'
  const modifier = fc
    .record({
      conditions: fc.array(isSale ? condition : leadCondition, { minLength: 1, maxLength: 2 }),
      operator: pick(['AND', 'OR']),
      rate: isSale ? rate : flat,
      maxDuration: fc.option(duration, { nil: undefined }),
    })
    .map(({ rate, maxDuration, ...modifier }) => ({
      ...modifier,
      ...rate,
      ...(isSale && maxDuration !== undefined && { maxDuration }),
    }))
  return fc
    .tuple(isSale ? rate : flat, duration, fc.array(modifier, { maxLength: 2 }), orNull(limit))
    .map(([rate, maxDuration, modifiers, limit]) =>
      rewardInput.parse({ event, ...rate, ...(isSale && { maxDuration }), modifiers, ...limit }),
    )
}

const terms = fc.oneof(
  { weight: 6, arbitrary: shortTerms('sale') },
  { weight: 2, arbitrary: shortTerms('lead') },
  { weight: 1, arbitrary: input('sale') },
)
const amount = fc.oneof(
  pick([1, 99, 999, 5_000, 12_345]),
  fc.nat({ max: 20_000 }).map((amount) => amount + 1),
)
const patch = fc.oneof(
  pick(['pending', 'refunded', 'duplicate', 'canceled', 'fraud'] as const).map((status) => ({ status })),
  fc.record({ earnings: pick([0, 1, 777, 5_000]), currency: fc.constant('usd') }),
  fc.record({ saleAmount: pick([0, 1, 999, 20_000]), currency }),
  fc.record({ modifySaleAmount: pick([-20_000, -1_000, 1, 5_000]), currency }),
)

/** Every kind of step, and how often it occurs. */
const kinds: [number, fc.Arbitrary<object>][] = [
  [
    14,
    fc.record({
      kind: fc.constant('sale'),
      partner: index,
      customer: index,
      amount,
      currency,
      metadata: fc.option(metadata, { nil: null, freq: 2 }),
    }),
  ],
  [
    4,
    fc.record({
      kind: fc.constant('lead'),
      partner: index,
      customer: index,
      quantity: pick([1, 1, 3]),
      metadata: orNull(metadata),
    }),
  ],
  [6, fc.record({ kind: fc.constant('refund'), sale: fc.nat({ max: 9 }), share: pick([1, 333, 500, 1_000, 1_000]) })],
  [4, fc.record({ kind: fc.constant('reward'), owner, terms, applyTo: pick(['newCustomers', 'allFutureSales']) })],
  [1, fc.record({ kind: fc.constant('endReward'), owner, event: pick(['lead', 'sale']) })],
  [2, fc.record({ kind: fc.constant('move'), partner: index, group: index })],
  [1, fc.record({ kind: fc.constant('holding'), group: index, days: pick([0, 7, 30, 90]) })],
  [
    2,
    fc.record({
      kind: fc.constant('status'),
      partner: index,
      change: pick(['ban', 'unban', 'restore', 'restore', 'deactivate', 'reactivate', 'archive', 'unarchive']),
    }),
  ],
  [1, fc.record({ kind: fc.constant('custom'), partner: index, amount: pick([-5_000, -1, 1, 2_500]) })],
  [4, fc.record({ kind: fc.constant('patch'), commission: fc.nat({ max: 9 }), patch })],
  [3, fc.record({ kind: fc.constant('freeze'), partner: index, isPaid: fc.boolean() })],
]
const nothing: Step = { kind: 'nothing' }
const step = fc.oneof(...kinds.map(([weight, arbitrary]) => ({ weight, arbitrary: arbitrary as fc.Arbitrary<Step> })))

const moveRule = fc.record(
  {
    attribute: pick(['totalLeads', 'totalConversions', 'totalSaleAmount', 'totalCommissions'] as const),
    min: pick([0, 1, 2, 500, 10_000]),
    max: pick([10_000, 50_000]),
  },
  { requiredKeys: ['attribute', 'min'] },
)
const country = orNull(pick(['DE', 'FR', 'US']))
/** Programs begin on days after which months and leap years end soon. */
const start = pick([
  '2023-12-31T23:59:59.000Z',
  '2024-01-31T12:00:00.000Z',
  '2024-02-28T23:00:00.000Z',
  '2025-03-15T00:00:00.000Z',
])

const phaseCount = 11

/** Group 0 has a reward for sales, because a program without one is over soon. */
const opening = fc
  .tuple(
    shortTerms('sale'),
    orNull(shortTerms('sale')),
    fc.option(shortTerms('lead'), { nil: null, freq: 2 }),
    fc.option(terms, { nil: null, freq: 2 }),
  )
  .map(([sale, further, lead, own]) => {
    const given = [
      { owner: { group: 0 }, terms: sale },
      { owner: { group: 1 }, terms: further },
      { owner: { group: 0 }, terms: lead },
      { owner: { partner: 0 }, terms: own },
    ]
    return given.flatMap(({ owner, terms }) => (terms ? [{ owner, terms }] : []))
  })

function journey({ hasMoveRules, hasEditsInBacklog }: Rules, phases: Phase[]): fc.Arbitrary<Journey> {
  const isEdit = ({ kind }: Step) => kind === 'reward' || kind === 'endReward'
  const isBacklogged = (at: number) => !hasEditsInBacklog && !phases[at]?.isDecided
  return fc.record({
    groups: fc.array(
      fc.record({
        delayDays: pick([0, 0, 7, 30]),
        moveRules: hasMoveRules ? fc.array(moveRule, { maxLength: 2 }) : fc.constant([]),
      }),
      { minLength: 2, maxLength: 2 },
    ),
    partners: fc.array(fc.record({ group: pick([0, 0, 1]), country }), { minLength: 1, maxLength: 2 }),
    customers: fc.array(
      fc.record({
        country,
        signupDays: pick([0, 1, 40]),
        trackedBy: orNull(index),
        isLead: pick([true, true, true, false]),
        sameEmailAs: fc.option(index, { nil: null, freq: 1 }),
      }),
      { minLength: 1, maxLength: 3 },
    ),
    opening,
    steps: fc
      .array(step, { minLength: phaseCount, maxLength: phaseCount })
      .map((steps) => steps.map((step, at) => (isEdit(step) && isBacklogged(at - 1) ? nothing : step))),
  })
}

const phase = fc.record({ wait, isMatured: fc.boolean(), isDecided: pick([false, false, false, true]) })

/** A program in which so many journeys are made. */
export function programs(rules: Rules, journeyCount: number): fc.Arbitrary<Program> {
  return fc
    .record({
      startsAt: start,
      workspaceCurrency: currency,
      programCurrency: currency,
      pattern: pick(['each', 'backlog'] as const),
      phases: fc.array(phase, { minLength: phaseCount, maxLength: phaseCount }),
    })
    .chain(({ pattern, ...program }) => {
      const phases = program.phases.map((phase) => ({ ...phase, isDecided: phase.isDecided || pattern === 'each' }))
      const journeys = fc.array(journey(rules, phases), { minLength: journeyCount, maxLength: journeyCount })
      return journeys.map((journeys) => ({ ...program, pattern, phases, journeys }))
    })
}
