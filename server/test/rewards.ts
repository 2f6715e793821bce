import type { RewardInput } from '@tributary/contract/reward-terms'
import {
  type History,
  parseTerms,
  type RewardEvent,
  type RewardVersion,
  storeTerms,
} from '../src/features/rewards/terms.ts'

const at = new Date('2026-03-15T12:00:00Z')

/** A sale of 100.00 by a new customer of an approved partner. */
export function buildSale(given: Partial<RewardEvent> = {}): RewardEvent {
  const amount = given.amount ?? 10_000n
  return {
    kind: 'sale',
    amount,
    originalAmount: amount,
    currency: 'usd',
    quantity: 1,
    at,
    metadata: null,
    customer: { id: 'cus_1', country: 'DE', email: 'c@example.com', createdAt: at, firstSaleAt: at, source: 'tracked' },
    partner: {
      status: 'approved',
      country: 'FR',
      email: 'p@example.com',
      totals: { clicks: 0n, leads: 0n, conversions: 0n, saleAmount: 0n, commissions: 0n },
      holdingPeriodDays: 30,
    },
    isFirst: true,
    ...given,
  }
}

export function buildHistory(given: Partial<History> = {}): History {
  return { binding: null, isVoid: false, hasLeadCommission: false, spent: 0n, ...given }
}

let numbers = 0n

/** A version of 10 % for ever, unless the terms say otherwise. */
export function buildVersion(terms: Partial<RewardInput> = {}, given: Partial<RewardVersion> = {}): RewardVersion {
  const rate = terms.type === 'flat' ? {} : { type: 'percentage' as const, amountInPercentage: 10 }
  numbers += 1n
  return {
    number: numbers,
    rewardNumber: 1n,
    rewardId: 'rw_1',
    version: 1,
    terms: parseTerms(storeTerms({ event: 'sale', ...rate, ...terms } as RewardInput)),
    appliesToAll: false,
    createdAt: new Date('2026-01-01T00:00:00Z'),
    ...given,
  }
}
