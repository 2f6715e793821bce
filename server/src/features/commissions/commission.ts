import type { RewardReasoning } from '@tributary/contract/reward-terms'
import type { Payout } from '../payouts/service.ts'

export const commissionTypes = ['click', 'lead', 'sale', 'referral', 'custom'] as const
export type CommissionType = (typeof commissionTypes)[number]
export const commissionStatuses = [
  ...(['pending', 'processed', 'paid', 'refunded', 'duplicate', 'fraud', 'canceled', 'hold'] as const),
] as const
export type CommissionStatus = (typeof commissionStatuses)[number]

/** What is stored beside a commission to explain and recompute it. */
export type Detail = {
  /** Null for a commission that was created by hand. */
  why: RewardReasoning | null
  /** The sale's amount in its own currency, when the program has another one, and the date of the exchange rate. */
  exchange?: { amount: number; currency: string; date: string }
  /** Changed by hand: the commission's amount when `of` of the sale was left, and its earnings if these were set. */
  edit?: { amount: string; of: string; earnings: string | null }
  /** The clawback's commission, and the refund that caused it. */
  clawback?: { commissionId: string; refundId: string; before: string; after: string }
}

/** A commission in memory, as it is stored or will be. */
export type Commission = {
  /** Null until the commission is inserted. */
  number: bigint | null
  id: string
  partnerNumber: bigint
  type: CommissionType
  status: CommissionStatus
  amount: bigint
  earnings: bigint
  currency: string
  quantity: number
  conversionNumber: bigint | null
  customerId: string | null
  linkNumber: bigint | null
  rewardVersion: bigint | null
  payoutNumber: bigint | null
  payoutStatus: Payout['status'] | null
  invoiceId: string | null
  description: string | null
  metadata: string | null
  actor: string | null
  dueAt: Date
  createdAt: Date
  statusReason: string | null
  detail: Detail
}

const counted: CommissionStatus[] = ['pending', 'hold', 'processed', 'paid']

/** What the commission adds to its partner's total. */
export function countedEarnings({ status, earnings }: Pick<Commission, 'status' | 'earnings'>): bigint {
  return counted.includes(status) ? earnings : 0n
}

/** Whether the money is paid or on its way, so that only a further commission can correct it. */
export function isFrozen({ status, payoutStatus }: Pick<Commission, 'status' | 'payoutStatus'>): boolean {
  return status === 'paid' || (status === 'processed' && payoutStatus !== 'pending')
}

/** The account that has the commission's earnings, or undefined when they are not owed. */
export function owedAccount({ status }: Pick<Commission, 'status'>): 'accrued' | 'due' | undefined {
  if (status === 'pending' || status === 'hold') return 'accrued'
  return status === 'processed' ? 'due' : undefined
}
