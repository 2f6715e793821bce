import type { RewardInput } from '@tributary/contract/reward-terms'

/*
 * A journey is what happens to a few partners, their customers and their two groups, one step after the other. Indexes
 * that point past the end of their list wrap around, so that a journey stays meaningful while it shrinks. Many journeys
 * share a program, its clock and the runs of its worker, but nothing that money depends on.
 */

/** How far the clock moves before a step: at least a millisecond, or to the next due date or end of a window. */
export type Wait = { months: number; days: number; ms: number } | { to: 'due' | 'window'; offsetMs: number }
export type Owner = { group: number } | { partner: number }
export type StatusChange = 'ban' | 'unban' | 'restore' | 'deactivate' | 'reactivate' | 'archive' | 'unarchive'
export type AmountPatch = { earnings?: number; saleAmount?: number; modifySaleAmount?: number; currency: string }
export type NewStatus = 'pending' | 'refunded' | 'duplicate' | 'canceled' | 'fraud'

export type Event =
  | {
      kind: 'sale'
      partner: number
      customer: number
      amount: number
      currency: string
      metadata: Record<string, unknown> | null
    }
  | { kind: 'lead'; partner: number; customer: number; quantity: number; metadata: Record<string, unknown> | null }
  /** Thousandths of the amount that is left; 1,000 refunds all of it. */
  | { kind: 'refund'; sale: number; share: number }
export type Edit =
  | { kind: 'reward'; owner: Owner; terms: RewardInput; applyTo: 'newCustomers' | 'allFutureSales' }
  | { kind: 'endReward'; owner: Owner; event: 'lead' | 'sale' }
  | { kind: 'move'; partner: number; group: number }
  | { kind: 'holding'; group: number; days: number }
  | { kind: 'status'; partner: number; change: StatusChange }
export type Money =
  | { kind: 'custom'; partner: number; amount: number }
  | { kind: 'patch'; commission: number; patch: AmountPatch | { status: NewStatus } }
  /** The open payout is sent, or even arrives: from then on only clawbacks correct it. */
  | { kind: 'freeze'; partner: number; isPaid: boolean }
export type Step = Event | Edit | Money | { kind: 'nothing' }

export type MoveTotals = 'totalLeads' | 'totalConversions' | 'totalSaleAmount' | 'totalCommissions'
export type JourneyGroup = { delayDays: number; moveRules: { attribute: MoveTotals; min: number; max?: number }[] }
export type JourneyPartner = { group: number; country: string | null }
/**
 * A tracked customer came by a click on its partner's link, mostly as a lead; the others are submitted by hand, for any
 * partner.
 */
export type JourneyCustomer = {
  country: string | null
  signupDays: number
  trackedBy: number | null
  isLead: boolean
  /** The partner whose e-mail address the customer has. */
  sameEmailAs: number | null
}

export type Journey = {
  groups: JourneyGroup[]
  partners: JourneyPartner[]
  customers: JourneyCustomer[]
  /** The terms at the beginning. */
  opening: { owner: Owner; terms: RewardInput }[]
  /** One for each phase of the program. */
  steps: Step[]
}

/** The clock moves, each journey takes a step, then the worker may run: commissions mature, and the engine decides. */
export type Phase = { wait: Wait; isMatured: boolean; isDecided: boolean }
export type Program = {
  startsAt: string
  workspaceCurrency: string
  programCurrency: string
  /** Whether the engine decides after each phase, or only after some: then it meets a backlog. */
  pattern: 'each' | 'backlog'
  phases: Phase[]
  journeys: Journey[]
}

/** A step with everything resolved: the product runs what the model understood. */
export type Played = { isRefused: boolean } & (
  | Exclude<Event, { kind: 'refund' }>
  | { kind: 'refund'; sale: number; amount: number | null }
  | Edit
  | Exclude<Money, { kind: 'patch' }>
  | { kind: 'patch'; commission: string; patch: AmountPatch | { status: NewStatus } }
)
/** The steps of all journeys in a phase; null for one that does nothing. */
export type PlayedPhase = { at: Date; steps: (Played | null)[]; isMatured: boolean; isDecided: boolean }

/** What must be equal in model and product. Events and customs are numbered in order, rewards as well. */
export type Outcome = {
  commissions: Record<
    string,
    {
      partner: number
      type: string
      status: string
      amount: bigint
      earnings: bigint
      dueAt: string
      version: string | null
      isInOpenPayout: boolean
    }
  >
  reasons: (string | null)[]
  partners: {
    group: number
    totals: { leads: bigint; conversions: bigint; sales: bigint; saleAmount: bigint; commissions: bigint }
    accrued: bigint
    due: bigint
    openPayout: bigint
  }[]
  expense: bigint
}
