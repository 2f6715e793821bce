import { rewardReasoning } from '@tributary/contract/reward-terms'
import { describe, expect, it } from 'vitest'
import { buildHistory, buildSale, buildVersion } from '../../../test/rewards.ts'
import { type Decision, decide, governingVersion } from './decide.ts'
import type { Binding, Choice, History, RewardEvent, RewardVersion } from './terms.ts'

const none: Choice = { partner: null, group: null }
const inGroup = (group: RewardVersion): Choice => ({ partner: null, group })
const time = (text: string) => new Date(text)

function earn(
  version: RewardVersion | Choice,
  event: Partial<RewardEvent> = {},
  history: Partial<History> = {},
): Decision {
  const choice = 'terms' in version ? inGroup(version) : version
  const decision = decide(buildSale(event), buildHistory(history), choice)
  rewardReasoning.parse(decision.why)
  expect(JSON.parse(JSON.stringify(decision.why))).toEqual(decision.why)
  return decision
}

const bind = (version: RewardVersion, firstSaleAt: string, endsAt: string | null, later: RewardVersion[] = []) => ({
  binding: { version, later, firstSaleAt: time(firstSaleAt), endsAt: endsAt ? time(endsAt) : null } satisfies Binding,
})
const country = (value: string) => ({ entity: 'customer', attribute: 'country', operator: 'equals_to', value }) as const
const product = (value: string) => ({ entity: 'sale', attribute: 'productId', operator: 'equals_to', value }) as const
const percent = (amountInPercentage: number) => ({ type: 'percentage', amountInPercentage }) as const
const flat = (amountInCents: number) => ({ type: 'flat', amountInCents }) as const

describe('clicks by country', () => {
  const event = { kind: 'click', amount: 0n, originalAmount: 0n, quantity: 9, customer: null } as const
  const countries = [
    { country: 'DE', clicks: 4 },
    { country: 'FR', clicks: 3 },
    { country: '', clicks: 2 },
  ]

  it('are one line without a condition on the country', () => {
    const version = buildVersion({ event: 'click', ...flat(2) })
    expect(earn(version, { ...event, countries })).toEqual(earn(version, event))
  })

  it('are judged for each country, and an unknown country matches no condition', () => {
    const not = { ...country('DE'), operator: 'not_equals' } as const
    const modifiers = [{ operator: 'AND' as const, conditions: [not], ...flat(7) }]
    const decision = earn(buildVersion({ event: 'click', ...flat(2), modifiers }), { ...event, countries })
    expect(decision).toMatchObject({
      earnings: 33n,
      why: {
        lines: [
          { countries: ['DE', ''], quantity: 6, modifier: null, earnings: 12 },
          { countries: ['FR'], quantity: 3, modifier: 0, earnings: 21 },
        ],
      },
    })
  })
})

describe('choice', () => {
  it("takes a partner's own reward before the group's", () => {
    const choice = { partner: buildVersion(flat(700)), group: buildVersion(flat(500)) }
    expect(earn(choice)).toMatchObject({
      earnings: 700n,
      version: choice.partner,
      why: { reward: { origin: 'partner' } },
    })
    expect(earn(inGroup(choice.group))).toMatchObject({ earnings: 500n, why: { reward: { origin: 'group' } } })
    expect(earn(none)).toMatchObject({ reason: 'no_reward', why: { reward: null } })
  })

  it('takes the modifier with the highest earnings, not with the highest number', () => {
    const modifiers = [
      { operator: 'AND' as const, conditions: [country('DE')], ...flat(900) },
      { operator: 'AND' as const, conditions: [country('DE')], ...percent(20) },
    ]
    const version = buildVersion({ modifiers })
    expect(earn(version, { amount: 10_000n })).toMatchObject({ earnings: 2_000n, why: { lines: [{ modifier: 1 }] } })
    expect(earn(version, { amount: 4_000n })).toMatchObject({ earnings: 900n, why: { lines: [{ modifier: 0 }] } })
    expect(earn(version, { amount: 4_500n })).toMatchObject({ earnings: 900n, why: { lines: [{ modifier: 0 }] } })
  })

  it('takes a matching modifier even when the base terms would earn more', () => {
    const version = buildVersion({ modifiers: [{ operator: 'AND', conditions: [country('DE')], ...percent(1) }] })
    expect(earn(version)).toMatchObject({ earnings: 100n })
  })

  it('requires all conditions with AND and one with OR', () => {
    const conditions = [country('DE'), country('FR')]
    const version = (operator: 'AND' | 'OR') => buildVersion({ modifiers: [{ operator, conditions, ...percent(50) }] })
    expect(earn(version('AND'))).toMatchObject({ earnings: 1_000n, why: { lines: [{ modifier: null, matching: [] }] } })
    expect(earn(version('OR'))).toMatchObject({
      earnings: 5_000n,
      why: {
        conditions: [
          { modifier: 0, attribute: 'country', value: 'DE', actual: 'DE', result: true },
          { modifier: 0, attribute: 'country', value: 'FR', actual: 'DE', result: false },
        ],
      },
    })
  })

  it('rewards each product by itself', () => {
    const version = buildVersion({
      ...percent(10),
      modifiers: [{ operator: 'AND', conditions: [product('b')], ...flat(300) }],
    })
    const products = [
      { id: 'a', amount: 1_005, quantity: 1 },
      { id: 'b', amount: 2_000, quantity: 2 },
      { id: 'a', amount: 1_005, quantity: 1 },
    ]
    expect(earn(version, { amount: 4_010n, metadata: { products } })).toMatchObject({
      earnings: 101n + 600n + 101n,
      why: { conditions: [{ actual: null, result: null }], lines: [{ earnings: 101 }, { matching: [0] }, {}] },
    })
  })
})

describe('reasons for nothing', () => {
  it.each(['pending', 'rejected', 'declined', 'deactivated', 'banned'])('a partner that is %s', (status) => {
    const partner = { ...buildSale().partner, status }
    expect(earn(buildVersion(), { partner })).toMatchObject({ reason: 'not_enrolled' })
  })

  it.each(['approved', 'invited', 'archived'])('none for a partner that is %s', (status) => {
    expect(earn(buildVersion(), { partner: { ...buildSale().partner, status } })).toMatchObject({ earnings: 1_000n })
  })

  it('a first commission that is fraud or canceled', () => {
    expect(earn(buildVersion(), {}, { isVoid: true })).toMatchObject({ reason: 'voided' })
  })

  it('a second lead', () => {
    const version = buildVersion({ event: 'lead', ...flat(100) })
    const lead = { kind: 'lead', amount: 0n, quantity: 3 } as const
    expect(earn(version, lead)).toMatchObject({ earnings: 300n, binds: null, why: { window: null } })
    expect(earn(version, lead, { hasLeadCommission: true })).toMatchObject({ reason: 'duplicate_lead' })
  })

  it('earnings of zero', () => {
    expect(earn(buildVersion(flat(0)))).toMatchObject({ reason: 'zero' })
    expect(earn(buildVersion(percent(0.01)), { amount: 4_999n })).toMatchObject({ reason: 'zero' })
    expect(earn(buildVersion(percent(0.01)), { amount: 5_000n })).toMatchObject({ earnings: 1n })
  })
})

describe('window', () => {
  const first = '2026-01-31T00:00:00Z'

  it('begins with the first sale commission', () => {
    const at = time(first)
    expect(earn(buildVersion({ maxDuration: 1 }), { at })).toMatchObject({
      binds: { firstSaleAt: at, endsAt: time('2026-02-28T00:00:00Z') },
    })
    expect(earn(buildVersion({ maxDuration: 0 }), { at })).toMatchObject({ binds: { firstSaleAt: at, endsAt: at } })
    expect(earn(buildVersion(), { at })).toMatchObject({ binds: { firstSaleAt: at, endsAt: null } })
  })

  it('ends after its months', () => {
    const history = bind(buildVersion({ maxDuration: 1 }), first, '2026-02-28T00:00:00Z')
    const other = buildVersion(percent(90))
    expect(earn(other, { at: time('2026-02-27T23:59:59Z') }, history)).toMatchObject({ earnings: 1_000n, binds: null })
    expect(earn(other, { at: time('2026-02-28T00:00:00Z') }, history)).toMatchObject({ reason: 'window_over' })
    expect(earn(none, { at: time('2026-02-27T23:59:59Z') }, history)).toMatchObject({
      earnings: 1_000n,
      why: { reward: { origin: 'customer' }, window: { endsAt: '2026-02-28T00:00:00.000Z' } },
    })
  })

  it('is that of each modifier', () => {
    const recurring = { entity: 'sale', attribute: 'type', operator: 'equals_to', value: 'recurring' } as const
    const modifiers = [{ operator: 'AND' as const, conditions: [recurring], ...percent(5), maxDuration: 12 }]
    const version = buildVersion({ ...percent(30), maxDuration: 0, modifiers })
    expect(earn(version, { at: time(first) })).toMatchObject({
      earnings: 3_000n,
      binds: { endsAt: time('2027-01-31T00:00:00Z') },
    })
    const later = { at: time('2026-06-01T00:00:00Z'), isFirst: false }
    expect(earn(none, later, bind(version, first, '2027-01-31T00:00:00Z'))).toMatchObject({ earnings: 500n })
    const unmatched = { ...later, isFirst: true }
    expect(earn(none, unmatched, bind(version, first, '2027-01-31T00:00:00Z'))).toMatchObject({
      reason: 'window_over',
      why: { lines: [{ modifier: null, isOpen: false, earnings: 0 }] },
    })
  })
})

describe('later versions', () => {
  const first = '2026-01-01T00:00:00Z'
  const bound = buildVersion({ maxDuration: 12 })
  const later = (createdAt: string, maxDuration: number | null, version = 2) =>
    buildVersion({ ...percent(20), maxDuration }, { version, appliesToAll: true, createdAt: time(createdAt) })
  const govern = (...versions: RewardVersion[]) => {
    const { binding } = bind(bound, first, '2027-01-01T00:00:00Z', versions)
    return governingVersion({ kind: 'sale', at: time('2030-01-01T00:00:00Z') }, binding, inGroup(buildVersion()))
  }

  it('replace the version of a customer while its window is open', () => {
    const extended = later('2026-06-01T00:00:00Z', 24)
    expect(govern()).toBe(bound)
    expect(govern(extended)).toBe(extended)
    const again = later('2027-06-01T00:00:00Z', 36, 3)
    expect(govern(extended, again)).toBe(again)
  })

  it('never reopen a window that had ended', () => {
    expect(govern(later('2027-01-01T00:00:00Z', null))).toBe(bound)
    const shortened = later('2026-06-01T00:00:00Z', 3)
    expect(govern(shortened, later('2026-07-01T00:00:00Z', null, 3))).toBe(shortened)
    const history = bind(bound, first, '2027-01-01T00:00:00Z', [later('2027-02-01T00:00:00Z', null)])
    expect(earn(none, { at: time('2027-03-01T00:00:00Z') }, history)).toMatchObject({ reason: 'window_over' })
  })

  it('leave sales alone that were before them, whenever these are decided', () => {
    const history = bind(bound, first, '2027-01-01T00:00:00Z', [later('2026-06-01T00:00:00Z', 24)])
    const at = (text: string) => earn(none, { at: time(text) }, history)
    expect(at('2026-05-31T23:59:59.999Z')).toMatchObject({ version: { version: 1 } })
    expect(at('2026-06-01T00:00:00Z')).toMatchObject({ version: { version: 2 } })
  })

  it('apply to leads whatever the customer is bound to', () => {
    const { binding } = bind(bound, first, null)
    const current = buildVersion({ event: 'lead', ...flat(1) })
    expect(governingVersion({ kind: 'lead', at: time(first) }, binding, inGroup(current))).toBe(current)
  })
})

describe('cap and due date', () => {
  const version = buildVersion({ spendLimitAmount: 1_500, spendLimitInterval: 'month' })

  it('clamps earnings to what is left', () => {
    expect(earn(version, {}, { spent: 400n })).toMatchObject({ earnings: 1_000n, capped: 0n })
    expect(earn(version, {}, { spent: 900n })).toMatchObject({
      earnings: 600n,
      capped: 400n,
      why: { cap: { amount: 1_500, interval: 'month', scope: 'partner', spent: 900, left: 600 }, earnings: 600 },
    })
    expect(earn(version, {}, { spent: 1_500n })).toMatchObject({ reason: 'capped', why: { cap: { left: 0 } } })
  })

  it('is due after the holding period', () => {
    expect(earn(version)).toMatchObject({
      dueAt: time('2026-04-14T12:00:00Z'),
      why: { due: { holdingPeriodDays: 30, at: '2026-04-14T12:00:00.000Z' } },
    })
  })
})

it('explains totals beyond exact JSON numbers as texts', () => {
  const partner = buildSale().partner
  partner.totals.saleAmount = 2n ** 60n
  const conditions = [
    { entity: 'partner', attribute: 'totalSaleAmount', operator: 'greater_than', value: 5 },
  ] as const satisfies unknown[]
  const version = buildVersion({ modifiers: [{ operator: 'AND', conditions: [...conditions], ...flat(5) }] })
  expect(earn(version, { partner })).toMatchObject({
    earnings: 5n,
    why: { conditions: [{ actual: '1152921504606846976', result: true }] },
  })
})
