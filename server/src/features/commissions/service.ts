import { boundedSum } from '@tributary/contract/common'
import type { Ctx, Platform } from '../../platform/context.ts'
import { summarizePartners } from '../partners/service.ts'
import { isDataLeft, readCustomerCommissions, readDecisions } from './customers.ts'
import { type EarningsKey, sumEarnings } from './earnings-store.ts'
import { selectIdsByNumber, selectOfConversions } from './list-store.ts'
import { cancelUnpaidCommissions, mergeMoney, restoreCanceledCommissions } from './partner-money.ts'
import { type FateRow, selectFates, selectPayoutSums, selectSums } from './verify-store.ts'

type Numbered = { number: bigint }

/** For a ban: cancels commissions that are neither paid nor in a payout under way. Lock the partner before. */
export function cancelUnpaid(ctx: Ctx, { number }: Numbered): Promise<void> {
  return cancelUnpaidCommissions(ctx, number)
}

/** An unban: makes the commissions pending again that the ban canceled. Lock the partner before. */
export function restoreCanceled(ctx: Ctx, { number }: Numbered): Promise<void> {
  return restoreCanceledCommissions(ctx, number)
}

/** A merge: moves commissions, payouts and balances from one partner to another. Lock both partners before. */
export function mergePartnerMoney(ctx: Ctx, source: Numbered, target: Numbered): Promise<void> {
  return mergeMoney(ctx, source.number, target.number)
}

/** What a partner earned in a period, by key. */
export async function partnerEarnings(
  { db, workspaceId }: Pick<Ctx, 'db' | 'workspaceId'>,
  partnerNumber: bigint,
  period: { from: Date; to: Date },
  by: EarningsKey,
): Promise<Map<bigint, number>> {
  const rows = await sumEarnings(db, workspaceId, partnerNumber, period, by)
  return new Map(rows.map(({ key, earnings }) => [key, boundedSum(earnings)]))
}

/** The ids of commissions by number. */
export async function commissionIds(
  { db, workspaceId }: Pick<Ctx, 'db' | 'workspaceId'>,
  numbers: bigint[],
): Promise<Map<bigint, string>> {
  if (numbers.length === 0) return new Map()
  const rows = await selectIdsByNumber(db, workspaceId, numbers)
  return new Map(rows.map(({ number, id }) => [number, `cm_${id}`]))
}

export type EarnedCommission = Record<'id' | 'currency' | 'status' | 'partnerId', string> & { earnings: number }

/** What leads, sales and refunds earned, by the number of the event. */
export async function commissionsOfConversions(
  ctx: Pick<Ctx, 'db' | 'workspaceId' | 'actor'>,
  numbers: bigint[],
): Promise<Map<bigint, EarnedCommission[]>> {
  const rows = numbers.length === 0 ? [] : await selectOfConversions(ctx.db, ctx.workspaceId, numbers)
  const partners = await summarizePartners(
    ctx,
    rows.map(({ partner_number }) => partner_number),
  )
  const commissions = new Map<bigint, EarnedCommission[]>()
  for (const { id, currency, status, earnings, partner_number, conversion_number } of rows) {
    const partnerId = partners.get(partner_number)?.id ?? ''
    const commission = { id: `cm_${id}`, currency, status, partnerId, earnings: boundedSum(earnings) }
    const number = conversion_number ?? 0n
    commissions.set(number, [...(commissions.get(number) ?? []), commission])
  }
  return commissions
}

/** Reads the commissions of a customer with what is stored to explain them. */
export function customerCommissions(...input: Parameters<typeof readCustomerCommissions>): AsyncGenerator<object> {
  return readCustomerCommissions(...input)
}

/** Why leads, sales and refunds earned nothing, by their number. */
export function decisionsOnConversions(...input: Parameters<typeof readDecisions>) {
  return readDecisions(...input)
}

/** Whether values of an erased customer are left in commissions and decisions. */
export function isCommissionDataLeft(...input: Parameters<typeof isDataLeft>): Promise<boolean> {
  return isDataLeft(...input)
}

/** Sums of commissions by partner: what is accrued, and what counts in the partner's total. */
export async function commissionSums({ db }: Pick<Platform, 'db'>, partnerNumbers: bigint[]) {
  const rows = await selectSums(db, partnerNumbers)
  return new Map(rows.map(({ partner_number, accrued, counted }) => [partner_number, { accrued, counted }]))
}

/** Sums of commissions by payout. */
export async function payoutSums({ db }: Pick<Platform, 'db'>, payoutNumbers: bigint[]): Promise<Map<bigint, string>> {
  const rows = await selectPayoutSums(db, payoutNumbers)
  return new Map(rows.map(({ payout_number, earnings }) => [payout_number, earnings]))
}

export type ConversionFate = FateRow

/** What became of leads, sales and refunds of any workspace. */
export async function conversionFates({ db }: Pick<Platform, 'db'>, numbers: bigint[]): Promise<ConversionFate[]> {
  return numbers.length === 0 ? [] : selectFates(db, numbers)
}
