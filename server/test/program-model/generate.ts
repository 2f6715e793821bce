import { attributeKind, conditionOperators, type RewardInput, rewardInput } from '@tributary/contract/reward-terms'
import fc from 'fast-check'
import {
  type Choice,
  type History,
  parseTerms,
  type RewardEvent,
  type RewardVersion,
  storeTerms,
} from '../../src/features/rewards/terms.ts'

/** Generators of terms, events and histories that collide often: few countries, products, keys and round amounts. */

const countries = ['DE', 'FR', 'US']
const products = ['prod_a', 'prod_b', 'prod_c']
const keys = ['plan', 'seats', 'renewsAt', 'toString']
const texts = ['pro', 'pro-yearly', 'basic', '', '12', '2026-02-28', '2026-02-28T00:00:00Z']
export const pick = <T>(values: readonly T[]) => fc.constantFrom(...values)
export const orNull = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null, freq: 4 })
const whole = fc.oneof(fc.nat({ max: 20 }), fc.nat({ max: 100_000 }), fc.nat({ max: 10 ** 9 }))
/** Ends of months are common, because windows are clamped there. */
const day = fc.oneof(
  pick(['2024-01-31', '2024-02-29', '2025-02-28', '2025-12-31', '2026-01-01', '2026-03-15']),
  fc.date({ min: new Date('2024-01-01'), max: new Date('2027-12-31'), noInvalidDate: true }).map(formatDay),
)
const time = fc
  .tuple(day, pick(['00:00:00.000', '00:00:00.001', '12:30:00.000', '23:59:59.999']))
  .map(([day, clock]) => new Date(`${day}T${clock}Z`))

const attributes = {
  click: ['customer.country'],
  lead: ['customer.country', 'customer.source', 'customer.signupDate', 'partner.totalLeads', 'lead.metadata.'],
  sale: [
    ...['country', 'source', 'subscriptionDurationMonths', 'subscriptionStartDate', 'signupDate'].map(
      (name) => `customer.${name}`,
    ),
    ...['country', 'totalClicks', 'totalLeads', 'totalConversions', 'totalSaleAmount', 'totalCommissions'].map(
      (name) => `partner.${name}`,
    ),
    ...['productId', 'productId', 'productId', 'amount', 'type', 'metadata.'].map((name) => `sale.${name}`),
  ],
}
type Kind = keyof typeof attributes

const values: Record<NonNullable<ReturnType<typeof attributeKind>>, fc.Arbitrary<string | number>> = {
  country: pick(countries),
  source: pick(['tracked', 'submitted', 'trial']),
  saleType: pick(['new', 'recurring']),
  text: pick([...products, 'prod_', '_a', 'o']),
  number: fc.oneof(fc.nat({ max: 15 }), whole),
  date: day,
  metadata: fc.oneof(pick(texts), fc.integer({ min: -5, max: 20 })),
}

function condition(event: Kind) {
  return fc.tuple(pick(attributes[event]), pick(keys), pick(conditionOperators)).chain(([name, key, operator]) => {
    const [entity, ...rest] = name.split('.') as ['customer', string]
    const attribute = rest.join('.').replace(/\.$/, `.${key}`)
    const kind = attributeKind(entity, attribute) ?? 'text'
    const isList = operator === 'in' || operator === 'not_in'
    const value = isList ? fc.array(values[kind], { minLength: 1, maxLength: 3 }) : values[kind]
    return value.map((value) => ({ entity, attribute, operator, value }))
  })
}

const duration = fc.oneof(pick([0, 1, 2, 12, null]), fc.nat({ max: 600 }))

function rate(event: Kind) {
  const flat = fc
    .oneof(fc.nat({ max: 2_000 }), fc.nat({ max: 99_999_999 }))
    .map((amountInCents) => ({ type: 'flat' as const, amountInCents }))
  const percentage = fc
    .oneof(pick([0, 1, 1_000, 1_250, 3_333, 10_000]), fc.nat({ max: 10_000 }))
    .map((hundredths) => ({ type: 'percentage' as const, amountInPercentage: hundredths / 100 }))
  return event === 'sale' ? fc.oneof(flat, percentage) : flat
}

export function input(event: Kind): fc.Arbitrary<RewardInput> {
  const isSale = event === 'sale'
  // An operator that the attribute does not take makes the input invalid, and the filter drops the condition.
  const conditions = fc.array(
    condition(event).filter((given) => isValid({ event, conditions: [given] })),
    { minLength: 1, maxLength: 3 },
  )
  const modifier = fc
    .tuple(conditions, pick(['AND', 'OR'] as const), rate(event), fc.option(duration, { nil: undefined }))
    .map(([conditions, operator, rate, maxDuration]) => ({
      conditions,
      operator,
      ...rate,
      ...(isSale && maxDuration !== undefined && { maxDuration }),
    }))
  return fc
    .tuple(rate(event), duration, fc.array(modifier, { maxLength: 4 }), orNull(fc.tuple(whole, fc.nat())))
    .map(([rate, maxDuration, modifiers, limit]) =>
      rewardInput.parse({
        event,
        ...rate,
        ...(isSale && { maxDuration }),
        modifiers,
        ...(limit && { spendLimitAmount: limit[0] + 1 }),
      }),
    )
}

function isValid({ event, conditions }: { event: Kind; conditions: unknown[] }): boolean {
  const modifiers = [{ conditions, type: 'flat', amountInCents: 1 }]
  return rewardInput.safeParse({ event, type: 'flat', amountInCents: 1, modifiers }).success
}

function version(event: Kind): fc.Arbitrary<RewardVersion> {
  return fc.tuple(input(event), fc.nat({ max: 1_000_000 }), time).map(([input, number, createdAt]) => ({
    number: BigInt(number),
    rewardNumber: 1n,
    rewardId: `rw_${number}`,
    version: 1,
    terms: parseTerms(JSON.parse(JSON.stringify(storeTerms(input)))),
    appliesToAll: false,
    createdAt,
  }))
}

const product = fc.record(
  { id: pick(products), amount: fc.oneof(fc.nat({ max: 30 }), whole), quantity: fc.integer({ min: 1, max: 4 }) },
  { requiredKeys: ['id', 'amount'] },
)
export const metadata = fc.record(
  {
    plan: pick(texts),
    seats: fc.oneof(fc.nat({ max: 15 }), fc.boolean()),
    renewsAt: pick(['2026-02-28', '2026-03-01T10:00:00+02:00', 'soon', 'x'.repeat(501)]),
    productId: pick([...products, 5 as never]),
    products: fc.oneof(
      fc.array(product, { maxLength: 4 }),
      pick<unknown>(['none', [null], [{ id: 'a', amount: 0.5 }]]),
    ),
    commissionableAmount: fc.oneof(whole, pick<unknown>(['5', 1.5, -1])),
  },
  { requiredKeys: [] },
)

function event(kind: Kind): fc.Arbitrary<RewardEvent> {
  const big = whole.map(BigInt)
  return fc
    .record({
      amount: fc.oneof(fc.nat({ max: 30 }), whole, fc.nat({ max: 10 ** 15 })).map(BigInt),
      original: orNull(whole.map(BigInt)),
      quantity: fc.integer({ min: 1, max: 5 }),
      at: time,
      metadata: orNull(metadata),
      customer: orNull(
        fc.record({
          id: fc.constant('cus_1'),
          country: orNull(pick([...countries, 'de'])),
          email: orNull(pick(['c@example.com', 'd@example.com', 'P@Example.com'])),
          createdAt: time,
          firstSaleAt: orNull(time),
          source: pick(['tracked', 'submitted', 'trial'] as const),
        }),
      ),
      partner: fc.record({
        status: fc.oneof(
          { weight: 9, arbitrary: pick(['approved', 'invited', 'archived']) },
          { weight: 1, arbitrary: pick(['pending', 'rejected', 'declined', 'deactivated', 'banned']) },
        ),
        country: orNull(pick(countries)),
        email: orNull(pick(['p@example.com', 'q@example.com', 'r@example.com'])),
        totals: fc.record({ clicks: big, leads: big, conversions: big, saleAmount: big, commissions: big }),
        holdingPeriodDays: pick([0, 7, 14, 30, 60, 90]),
      }),
      isFirst: fc.boolean(),
    })
    .map(({ original, ...event }) => ({ ...event, kind, currency: 'usd', originalAmount: original ?? event.amount }))
}

/** One event with its history and the current versions. A bound customer's window is what the engine would store. */
export const situation: fc.Arbitrary<{ event: RewardEvent; history: History; choice: Choice }> = pick<Kind>([
  'sale',
  'sale',
  'sale',
  'sale',
  'lead',
  'click',
]).chain((kind) => {
  const binding = fc
    .tuple(version('sale'), fc.array(version('sale'), { maxLength: 2 }), time, orNull(time))
    .map(([version, later, firstSaleAt, endsAt]) => ({
      version,
      later: later
        .map((version) => ({ ...version, appliesToAll: true }))
        .sort((one, other) => one.createdAt.getTime() - other.createdAt.getTime()),
      firstSaleAt,
      endsAt,
    }))
  const near = orNull(fc.record({ months: pick([1, 2, 12]), offsetMs: pick([-1, 0, 1]) }))
  const parts = fc.record({
    event: event(kind),
    history: fc.record({
      binding: fc.option(binding, { nil: null, freq: 2 }),
      isVoid: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
      hasLeadCommission: fc.boolean(),
      spent: whole.map(BigInt),
    }),
    choice: fc.record({ partner: fc.option(version(kind), { nil: null, freq: 2 }), group: orNull(version(kind)) }),
  })
  return fc.tuple(parts, near).map(([{ event, ...parts }, near]) => {
    const { binding } = parts.history
    return { ...parts, event: near && binding ? { ...event, at: shift(binding.firstSaleAt, near) } : event }
  })
})

function formatDay(date: Date): string {
  return date.toISOString().slice(0, 10)
}

/** A time at the end of a window, or a millisecond before or after it. */
function shift(from: Date, { months, offsetMs }: { months: number; offsetMs: number }): Date {
  const shifted = new Date(from.getTime() + offsetMs)
  shifted.setUTCMonth(shifted.getUTCMonth() + months)
  return shifted
}
