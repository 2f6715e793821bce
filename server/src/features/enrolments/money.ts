import type { Ctx } from '../../platform/context.ts'
import type { Partner } from '../partners/service.ts'

/** What a change of status does to commissions and payouts. Each runs in the transaction that has locked the partners. */
export type MoneyEffects = {
  /** Cancels unpaid commissions and the open payout. */
  cancelUnpaid(ctx: Ctx, partner: Partner): Promise<void>
  /** Restores the commissions that the last ban canceled. */
  restoreCanceled(ctx: Ctx, partner: Partner): Promise<void>
  /** Moves commissions and balances. Throws while money of the source is under way. */
  merge(ctx: Ctx, source: Partner, target: Partner): Promise<void>
}
