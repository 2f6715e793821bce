import type { GroupTarget } from '../groups/service.ts'
import type { LedgerEntry } from '../ledger/service.ts'
import type { exchangeRates } from '../money/service.ts'
import type { RewardBinding, RewardTimelines } from '../rewards/service.ts'
import type { Conversion } from '../track/service.ts'
import type { Commission } from './commission.ts'

export type PartnerState = {
  number: bigint
  id: string
  status: string
  country: string | null
  email: string | null
  groupNumber: bigint
  groupId: string
  /** Whether rules never move the partner. */
  isPinned: boolean
  holdingPeriodDays: number
  totals: Totals
}
export type Totals = {
  clicks: bigint
  leads: bigint
  conversions: bigint
  sales: bigint
  saleAmount: bigint
  commissions: bigint
}
export type CustomerFacts = {
  id: string
  country: string | null
  email: string | null
  createdAt: Date
  firstSaleAt: Date | null
  isTracked: boolean
  isErased: boolean
}
export type PairState = { binding: RewardBinding | null; isVoid: boolean; hasLead: boolean }
/** A sale that a refund belongs to. `counted` is what it added to its partner's total, in the program's currency. */
export type SaleState = { amount: bigint; left: bigint; counted: bigint; commission: Commission | null }

/** Everything that deciding a batch reads and changes, loaded before and written after. */
export type Batch = {
  workspaceId: string
  currency: string
  rates: ReturnType<typeof exchangeRates>
  partners: Map<bigint, PartnerState>
  /** The groups that partners move to by their totals. */
  targets: GroupTarget[]
  customers: Map<string, CustomerFacts>
  timelines: Map<bigint, RewardTimelines>
  pairs: Map<string, PairState>
  spending: Map<string, Spending>
  sales: Map<bigint, SaleState>
}
export type Spending = { rewardNumber: bigint; scope: string; periodStart: Date; amount: bigint; added: bigint }

/** A move by rules, with the totals that met them. */
export type Move = { partnerNumber: bigint; from: string; to: GroupTarget; totals: Totals }

export type QueuedEvent = { conversion: Conversion; partnerNumber: bigint }
export type DecisionRow = {
  conversionNumber: bigint
  partnerNumber: bigint
  reason: string | null
  detail: object | null
}
export type BindingRow = {
  partnerNumber: bigint
  customerId: string
  rewardVersion: bigint
  firstSaleAt: Date
  endsAt: Date | null
  commission: Commission
}
/** A source of a commission: `source` is the number of a conversion, click day or refund. */
export type KeyRow = { source: bigint; kind: KeyKind; commission: Commission }
export type Posted = Omit<LedgerEntry, 'commissionNumber' | 'currency'> & { commission: Commission }

/** What deciding a batch adds and changes. */
export type Changes = {
  created: Commission[]
  changed: Set<Commission>
  keys: KeyRow[]
  decisions: DecisionRow[]
  bindings: BindingRow[]
  postings: Posted[]
  totals: Map<bigint, Totals>
  /** What is added to the amounts of open payouts. */
  payouts: Map<bigint, bigint>
  moves: Map<bigint, Move>
  /** The numbers of events that are left for the next batch, and their partners. */
  undecided: bigint[]
  stopped: Set<bigint>
}

export const keyKinds = { conversion: 0, clickDay: 1, refund: 2 } as const
export type KeyKind = (typeof keyKinds)[keyof typeof keyKinds]

export function noChanges(): Changes {
  return {
    created: [],
    changed: new Set(),
    keys: [],
    decisions: [],
    bindings: [],
    postings: [],
    totals: new Map(),
    payouts: new Map(),
    moves: new Map(),
    undecided: [],
    stopped: new Set(),
  }
}

export function pairKey(partnerNumber: bigint, customerId: string): string {
  return `${partnerNumber} ${customerId}`
}

/** Adds to a partner's totals: those that are written, and those that later events of the batch see. */
export function addTotals(
  batch: Pick<Batch, 'partners'> | null,
  changes: Changes,
  partnerNumber: bigint,
  added: Partial<Totals>,
): void {
  const partner = batch?.partners.get(partnerNumber)
  const sum = changes.totals.get(partnerNumber) ?? noTotals()
  for (const name of Object.keys(added) as (keyof Totals)[]) {
    sum[name] += added[name] ?? 0n
    if (partner) partner.totals[name] += added[name] ?? 0n
  }
  changes.totals.set(partnerNumber, sum)
}

export function noTotals(): Totals {
  return { clicks: 0n, leads: 0n, conversions: 0n, sales: 0n, saleAmount: 0n, commissions: 0n }
}
