import type { RewardInput } from '@tributary/contract/reward-terms'
import type { RewardVersion } from '../../src/features/rewards/terms.ts'
import type { Journey, JourneyGroup, Owner, Program } from './journey.ts'
import type { Correction } from './journey-money.ts'
import type { Inputs } from './model.ts'

/* What the plain model of a program remembers. Sums are never stored: they are added up when somebody asks. */

export type ModelReward = { owner: Owner; event: 'lead' | 'sale'; versions: RewardVersion[]; endedAt: Date | null }
export type ModelPartner = {
  group: number
  country: string | null
  email: string
  status: 'approved' | 'banned' | 'deactivated' | 'archived'
  totals: { leads: bigint; conversions: bigint; sales: bigint; saleAmount: bigint }
}
export type ModelCustomer = {
  id: string
  country: string | null
  email: string | null
  signedUpAt: Date
  trackedBy: number | null
  firstSaleAt: Date | null
  hasLead: boolean
}
/** Amounts of a sale are in the workspace's currency; `original` as tracked. */
export type ModelEvent = {
  number: number
  kind: 'lead' | 'sale' | 'refund'
  at: Date
  partner: number
  customer: number
  quantity: number
  metadata: Record<string, unknown> | null
  amount: bigint
  original: bigint
  isFirst: boolean
  /** Of a refund: its sale, what was left of it before and afterwards, and whether all of it is refunded as tracked. */
  sale: number
  isFull: boolean
  before: bigint
  after: bigint
  /** Undefined until decided; null with a commission. */
  reason: string | null | undefined
}
export type ModelCommission = {
  key: string
  partner: number
  customer: number | null
  type: 'lead' | 'sale' | 'custom'
  status: 'pending' | 'processed' | 'paid' | 'refunded' | 'duplicate' | 'canceled' | 'fraud'
  isCanceledByBan: boolean
  amount: bigint
  earnings: bigint
  dueAt: Date
  version: RewardVersion | null
  payout: ModelPayout | null
  /** The amount when it was decided, and how it earned. */
  decided: { amount: bigint; inputs: Inputs } | null
  correction: Correction | null
}
export type ModelPayout = { partner: number; isOpen: boolean }
export type ModelBinding = { partner: number; customer: number; version: RewardVersion; firstSaleAt: Date }
/** What a capped commission took, for the cap's scope and period. */
export type Spent = { key: string; amount: bigint }

export type State = {
  now: Date
  workspaceCurrency: string
  programCurrency: string
  groups: JourneyGroup[]
  partners: ModelPartner[]
  customers: ModelCustomer[]
  rewards: ModelReward[]
  events: ModelEvent[]
  commissions: ModelCommission[]
  bindings: ModelBinding[]
  payouts: ModelPayout[]
  spent: Spent[]
}

const dayMs = 24 * 3_600_000

export function begin(program: Program, journey: Journey): State {
  const now = new Date(program.startsAt)
  return {
    now,
    workspaceCurrency: program.workspaceCurrency,
    programCurrency: program.programCurrency,
    groups: journey.groups.map((group) => ({ ...group })),
    partners: journey.partners.map(({ group, country }, index) => ({
      group: group % journey.groups.length,
      country,
      email: `partner ${index}`,
      status: 'approved',
      totals: { leads: 0n, conversions: 0n, sales: 0n, saleAmount: 0n },
    })),
    customers: journey.customers.map(({ country, signupDays, trackedBy, sameEmailAs }, index) => ({
      id: `customer ${index}`,
      // The country of a tracked customer comes from its click, which the engine waits for.
      country: trackedBy === null ? country : (country ?? 'FR'),
      email: sameEmailAs === null ? null : `partner ${sameEmailAs % journey.partners.length}`,
      signedUpAt: new Date(now.getTime() - signupDays * dayMs),
      trackedBy: trackedBy === null ? null : trackedBy % journey.partners.length,
      firstSaleAt: null,
      hasLead: false,
    })),
    rewards: [],
    events: [],
    commissions: [],
    bindings: [],
    payouts: [],
    spent: [],
  }
}

/** Reads terms as the guide states them. */
export function readTerms(input: RewardInput): RewardVersion['terms'] {
  const amount = (rate: Pick<RewardInput, 'type' | 'amountInCents' | 'amountInPercentage'>) =>
    BigInt(
      rate.type === 'flat' ? (rate.amountInCents as number) : Math.round((rate.amountInPercentage as number) * 100),
    )
  const duration = input.event === 'sale' ? (input.maxDuration ?? null) : 0
  return {
    event: input.event,
    type: input.type,
    amount: amount(input),
    maxDuration: duration,
    modifiers: (input.modifiers ?? []).map((modifier) => ({
      operator: modifier.operator,
      conditions: modifier.conditions,
      type: modifier.type,
      amount: amount(modifier),
      maxDuration: modifier.maxDuration === undefined ? duration : modifier.maxDuration,
    })),
    cap:
      input.spendLimitAmount == null
        ? null
        : {
            amount: BigInt(input.spendLimitAmount),
            interval: input.spendLimitInterval ?? 'allTime',
            scope: input.spendLimitScope ?? 'partner',
          },
    description: null,
  }
}

/** Whether the money is paid or under way, so that only a further commission can correct it. */
export function isFrozen({ status, payout }: ModelCommission): boolean {
  return status === 'paid' || (status === 'processed' && !payout?.isOpen)
}

export function sumEarnings(commissions: ModelCommission[], statuses: ModelCommission['status'][]): bigint {
  let sum = 0n
  for (const { status, earnings } of commissions) if (statuses.includes(status)) sum += earnings
  return sum
}
