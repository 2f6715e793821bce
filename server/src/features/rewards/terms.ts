import type {
  RewardCondition,
  RewardEventName,
  RewardInput,
  RewardModifier,
  RewardReasoning,
} from '@tributary/contract/reward-terms'
import { z } from 'zod'

/** A flat amount in the smallest unit of the currency, or hundredths of a percent. */
export type Rate = { type: 'flat' | 'percentage'; amount: bigint; maxDuration: number | null }
export type Modifier = Rate & { operator: 'AND' | 'OR'; conditions: RewardCondition[] }
export type Cap = {
  amount: bigint
  interval: 'day' | 'week' | 'month' | 'allTime'
  scope: 'partner' | 'customer' | 'group' | 'program'
}
export type Terms = Rate & {
  event: RewardEventName
  modifiers: Modifier[]
  cap: Cap | null
  description: string | null
}

export type RewardVersion = {
  number: bigint
  rewardNumber: bigint
  rewardId: string
  version: number
  terms: Terms
  /** Whether the version also applies to customers that earlier versions are bound to. */
  appliesToAll: boolean
  createdAt: Date
}

/** The current versions for an event: a partner's own reward comes before its group's. */
export type Choice = { partner: RewardVersion | null; group: RewardVersion | null }

/** A partner's totals before the event. */
export type Totals = { clicks: bigint; leads: bigint; conversions: bigint; saleAmount: bigint; commissions: bigint }

export type RewardEvent = {
  kind: RewardEventName
  /** In the program's currency. */
  amount: bigint
  /** As tracked: amounts in the metadata are in the currency of this one. */
  originalAmount: bigint
  currency: string
  quantity: number
  at: Date
  metadata: Record<string, unknown> | null
  customer: {
    id: string
    country: string | null
    email: string | null
    createdAt: Date
    /** The customer's first sale ever, which may be this one. */
    firstSaleAt: Date | null
    source: 'tracked' | 'submitted' | 'trial'
  } | null
  /** Clicks by country, for the clicks of a day; they add up to `quantity`. */
  countries?: { country: string; clicks: number }[]
  partner: {
    status: string
    country: string | null
    email: string | null
    totals: Totals
    holdingPeriodDays: number
  }
  /** Whether this is the customer's first sale ever. */
  isFirst: boolean
}

export type Binding = {
  /** The version of the first sale commission. */
  version: RewardVersion
  /** Later versions of the same reward that apply to all, oldest first. */
  later: RewardVersion[]
  firstSaleAt: Date
  endsAt: Date | null
}

/** What happened before the event, of its partner and customer. */
export type History = {
  binding: Binding | null
  /** Whether the first commission of the partner and customer is fraud or canceled. */
  isVoid: boolean
  hasLeadCommission: boolean
  /** Earnings counted against the cap's scope and period. */
  spent: bigint
}

export type Why = RewardReasoning

const storedRate = { type: z.enum(['flat', 'percentage']), amount: z.number(), maxDuration: z.number().nullish() }
const storedTerms = z.object({
  event: z.enum(['click', 'lead', 'sale']),
  ...storedRate,
  modifiers: z.array(
    z.object({ ...storedRate, operator: z.enum(['AND', 'OR']), conditions: z.array(z.custom<RewardCondition>()) }),
  ),
  cap: z
    .object({
      amount: z.number(),
      interval: z.enum(['day', 'week', 'month', 'allTime']),
      scope: z.enum(['partner', 'customer', 'group', 'program']),
    })
    .nullable(),
  description: z.string().nullable(),
})
export type StoredTerms = z.infer<typeof storedTerms>

/** The stored form of terms. A modifier without a duration of its own has that of the reward. */
export function storeTerms(input: RewardInput): StoredTerms {
  const isSale = input.event === 'sale'
  return {
    event: input.event,
    type: input.type,
    amount: storeAmount(input),
    maxDuration: isSale ? (input.maxDuration ?? null) : 0,
    modifiers: (input.modifiers ?? []).map(({ operator, conditions, type, maxDuration, ...amounts }) => ({
      operator,
      conditions,
      type,
      amount: storeAmount({ type, ...amounts }),
      ...(isSale && maxDuration !== undefined && { maxDuration }),
    })),
    cap:
      input.spendLimitAmount == null
        ? null
        : {
            amount: input.spendLimitAmount,
            interval: input.spendLimitInterval ?? 'allTime',
            scope: input.spendLimitScope ?? 'partner',
          },
    description: input.description ?? null,
  }
}

export function parseTerms(stored: unknown): Terms {
  const { maxDuration = null, ...terms } = storedTerms.parse(stored)
  return {
    ...terms,
    maxDuration,
    amount: BigInt(terms.amount),
    modifiers: terms.modifiers.map((modifier) => ({
      ...modifier,
      amount: BigInt(modifier.amount),
      maxDuration: modifier.maxDuration === undefined ? maxDuration : modifier.maxDuration,
    })),
    cap: terms.cap && { ...terms.cap, amount: BigInt(terms.cap.amount) },
  }
}

/** The stored terms as the API takes and returns them. */
export function presentTerms(stored: unknown) {
  const { event, modifiers, cap, description, ...rate } = storedTerms.parse(stored)
  return {
    event,
    ...presentRate(rate),
    maxDuration: rate.maxDuration ?? null,
    modifiers: modifiers.map(
      ({ operator, conditions, ...rate }): RewardModifier => ({
        operator,
        conditions,
        ...presentRate(rate),
        ...(rate.maxDuration !== undefined && { maxDuration: rate.maxDuration }),
      }),
    ),
    spendLimitAmount: cap?.amount ?? null,
    spendLimitInterval: cap?.interval ?? null,
    spendLimitScope: cap?.scope ?? null,
    description,
  }
}

function storeAmount(given: Pick<RewardInput, 'type' | 'amountInCents' | 'amountInPercentage'>): number {
  return given.type === 'flat' ? (given.amountInCents ?? 0) : Math.round((given.amountInPercentage ?? 0) * 100)
}

function presentRate({ type, amount }: Pick<StoredTerms, 'type' | 'amount'>) {
  return {
    type,
    amountInCents: type === 'flat' ? amount : null,
    amountInPercentage: type === 'percentage' ? amount / 100 : null,
  }
}
