import { asSystem, type Ctx, type Platform } from '../../platform/context.ts'
import { transaction } from '../../platform/postgres.ts'
import { judgeFailure } from '../../platform/refusal.ts'
import { type LedgerEntry, post } from '../ledger/service.ts'
import { lockManyPartners } from '../partners/service.ts'
import { addToPayouts, openPayouts } from '../payouts/service.ts'
import { type DueRow, matureCommissions, selectDue, selectWorkspacesWithPending } from './rows-store.ts'
import { publishEvents } from './write.ts'

const mostPartners = 5_000
const mostCommissions = 20_000

/** Moves every pending commission that is due into its partner's open payout. Continues where an earlier run stopped. */
export async function runMaturing(
  platform: Platform,
  now: Date = platform.now(),
  { signal, workspaceIds }: { signal?: AbortSignal; workspaceIds?: string[] } = {},
): Promise<void> {
  for (const workspaceId of workspaceIds ?? (await selectWorkspacesWithPending(platform.db))) {
    try {
      while (!signal?.aborted && (await matureSome(asSystem(platform, workspaceId), now)) > 0);
    } catch (error) {
      if (judgeFailure(error) === 'unavailable') throw error
      platform.log.error({ error, workspace: workspaceId }, 'commissions of a workspace did not mature, will retry')
    }
  }
}

/** Matures commissions of some thousand partners in one transaction, with one posting for each. Returns how many. */
async function matureSome(ctx: Ctx, now: Date): Promise<number> {
  const due = limitPartners(await selectDue(ctx.db, ctx.workspaceId, now, mostCommissions))
  if (due.length === 0) return 0
  return transaction(ctx, async (ctx) => {
    const { db, workspaceId } = ctx
    const locked = await lockManyPartners(
      db,
      workspaceId,
      due.map(({ partner_number }) => partner_number),
    )
    const numbers = new Set(locked.map(({ number }) => number))
    const mine = due.filter(({ partner_number }) => numbers.has(partner_number))
    const payouts = await openPayouts(
      db,
      workspaceId,
      mine.map(({ partner_number, currency }) => ({ partnerNumber: partner_number, currency })),
    )
    const byOwner = new Map(payouts.map((payout) => [`${payout.partner_number} ${payout.currency}`, payout]))
    const rows = mine.flatMap(({ number, partner_number, currency }) => {
      const payout = byOwner.get(`${partner_number} ${currency}`)
      return payout ? [{ number, payoutNumber: payout.number }] : []
    })
    const matured = await matureCommissions(db, workspaceId, rows)
    await addToPayouts(
      db,
      workspaceId,
      matured.map((sum) => ({ number: sum.payout_number, amount: sum.earnings, from: sum.first_at, to: sum.last_at })),
    )
    const byNumber = new Map(payouts.map((payout) => [payout.number, payout]))
    const entries = matured.flatMap(({ payout_number, earnings }): LedgerEntry[] => {
      const payout = byNumber.get(payout_number)
      if (!payout) return []
      const partnerNumber = payout.partner_number
      return [
        {
          kind: 'matured',
          currency: payout.currency,
          debit: { kind: 'accrued', partnerNumber },
          credit: { kind: 'due', partnerNumber },
          amount: earnings,
          payoutNumber: payout_number,
        },
      ]
    })
    await post(db, workspaceId, entries)
    const changes = matured.flatMap(({ payout_number, ids }) => {
      const partnerNumber = byNumber.get(payout_number)?.partner_number ?? 0n
      return ids.map((id) => ({ event: 'commission.updated' as const, id, partnerNumber }))
    })
    await publishEvents(ctx, changes)
    return matured.length
  })
}

/** The first commissions, of at most some thousand partners. */
function limitPartners(rows: DueRow[]): DueRow[] {
  const partners = new Set<bigint>()
  return rows.filter(({ partner_number }) => {
    if (partners.size < mostPartners) partners.add(partner_number)
    return partners.has(partner_number)
  })
}
