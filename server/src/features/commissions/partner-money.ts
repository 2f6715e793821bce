import type { Ctx } from '../../platform/context.ts'
import { conflict } from '../../platform/errors.ts'
import { partnerBalances, post } from '../ledger/service.ts'
import {
  addToPayouts,
  cancelPayouts,
  hasMoneyUnderWay,
  lockPartnerPayouts,
  movePayouts,
  openPayouts,
} from '../payouts/service.ts'
import { noChanges } from './batch.ts'
import { type Commission, type CommissionStatus, isFrozen } from './commission.ts'
import { selectCommissionsByNumber } from './list-store.ts'
import { withPayouts } from './load.ts'
import { reviewReasons } from './review.ts'
import { closeFormerBans, moveBindings, moveCommissions, moveSpending, selectNumbersByStatus } from './rows-store.ts'
import { endCommission, restoreCommission } from './transitions.ts'
import { writeChanges } from './write.ts'

/* What becomes of a partner's money when its status changes. The caller's transaction has locked the partners. */

const commissionsAtOnce = 2_000

/** For a ban: cancels the pending payout, and commissions that are neither paid nor in a payout under way. */
export async function cancelUnpaidCommissions(ctx: Ctx, partnerNumber: bigint): Promise<void> {
  const payouts = await lockPartnerPayouts(ctx.db, ctx.workspaceId, partnerNumber)
  const statuses: CommissionStatus[] = ['pending', 'hold', 'processed']
  await closeFormerBans(ctx.db, ctx.workspaceId, partnerNumber)
  await eachPart(ctx, partnerNumber, { statuses }, async (numbers) => {
    const rows = await selectCommissionsByNumber(ctx.db, ctx.workspaceId, numbers)
    const commissions = await withPayouts(ctx, rows)
    const changes = noChanges()
    for (const commission of commissions)
      if (!isFrozen(commission)) endCommission(changes, commission, 'canceled', banReason(commission))
    await writeChanges(ctx, changes)
  })
  await cancelPayouts(
    ctx.db,
    ctx.workspaceId,
    payouts.map(({ number }) => number),
  )
}

/** What a ban writes into a commission: the reason of a hold follows, because lifting the ban does not confirm it. */
function banReason({ status, statusReason }: Pick<Commission, 'status' | 'statusReason'>): string {
  return status === 'hold' && statusReason ? `ban:${statusReason}` : 'ban'
}

/**
 * An unban with `restoreCommissions`: restores the commissions that the last ban canceled, and refunds did not use up, to
 * pending or to hold.
 */
export async function restoreCanceledCommissions(ctx: Ctx, partnerNumber: bigint): Promise<void> {
  for (const review of [null, ...reviewReasons]) {
    const reason = banReason({ status: 'hold', statusReason: review })
    await eachPart(ctx, partnerNumber, { statuses: ['canceled'], reason }, async (numbers) => {
      const rows = await selectCommissionsByNumber(ctx.db, ctx.workspaceId, numbers)
      const changes = noChanges()
      for (const commission of await withPayouts(ctx, rows)) {
        if (commission.earnings === 0n) endCommission(changes, commission, 'refunded')
        else restoreCommission(changes, commission, review)
      }
      await writeChanges(ctx, changes)
    })
  }
}

/** A merge: gives commissions, payouts and balances of one partner to another. Refused while money is on its way. */
export async function mergeMoney(ctx: Ctx, source: bigint, target: bigint): Promise<void> {
  const { db, workspaceId } = ctx
  if (await hasMoneyUnderWay(db, workspaceId, source))
    throw conflict('A payout of the partner is on its way. Merge the partners after it is completed.')
  const open = await lockPartnerPayouts(db, workspaceId, source)
  const owners = open.map(({ currency }) => ({ partnerNumber: target, currency }))
  const targets = new Map(
    (await openPayouts(db, workspaceId, owners)).map((payout) => [payout.currency, payout.number]),
  )
  const moved = open.flatMap(({ number, currency, amount, period_start, period_end }) => {
    const to = targets.get(currency)
    return to === undefined ? [] : [{ from: number, to, amount, period_start, period_end }]
  })
  await moveCommissions(db, workspaceId, { source, target, payouts: moved })
  await moveBindings(db, workspaceId, source, target)
  await moveSpending(db, source, target)
  await addToPayouts(
    db,
    workspaceId,
    moved.map(({ to, amount, period_start, period_end }) => {
      return { number: to, amount, from: period_start ?? undefined, to: period_end ?? undefined }
    }),
  )
  await cancelPayouts(
    db,
    workspaceId,
    moved.map(({ from }) => from),
  )
  await movePayouts(db, workspaceId, source, target)
  const balances = await partnerBalances(db, workspaceId, [source])
  await post(
    db,
    workspaceId,
    balances.map(({ kind, currency, owed }) => ({
      kind: 'merged' as const,
      currency,
      debit: { kind, partnerNumber: source },
      credit: { kind, partnerNumber: target },
      amount: owed,
    })),
  )
}

/** Works through a partner's commissions, some thousand at a time. */
async function eachPart(
  ctx: Ctx,
  partnerNumber: bigint,
  selection: { statuses: CommissionStatus[]; reason?: string },
  work: (numbers: bigint[]) => Promise<void>,
): Promise<void> {
  for (let after = 0n; ; ) {
    const page = { ...selection, after, count: commissionsAtOnce }
    const numbers = await selectNumbersByStatus(ctx.db, ctx.workspaceId, partnerNumber, page)
    if (numbers.length > 0) await work(numbers)
    const last = numbers.at(-1)
    if (last === undefined || numbers.length < commissionsAtOnce) return
    after = last
  }
}
