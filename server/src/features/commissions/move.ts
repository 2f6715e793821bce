import { type Ctx, systemActor } from '../../platform/context.ts'
import { followGroup } from '../discount-codes/service.ts'
import { findTarget } from '../groups/service.ts'
import { recordMoves } from '../partners/service.ts'
import type { Batch, Changes, Move, Totals } from './batch.ts'

/* Partners move between groups by their totals, in the transaction that changes these. */

/** Moves the partner if its totals now meet the rules of another group. */
export function judgeMove(
  { partners, targets }: Pick<Batch, 'partners' | 'targets'>,
  changes: Pick<Changes, 'moves'>,
  partnerNumber: bigint,
): void {
  const partner = partners.get(partnerNumber)
  const target = partner && findTarget(partner, targets)
  if (!target) return
  const move = { partnerNumber, from: partner.groupId, to: target, totals: { ...partner.totals } }
  changes.moves.set(partnerNumber, move)
}

/** Writes moves. The discount of the partners' codes follows the group. */
export async function writeMoves(ctx: Ctx, moves: Move[]): Promise<void> {
  if (moves.length === 0) return
  await recordMoves(
    { ...ctx, actor: systemActor },
    moves.map(({ partnerNumber, from, to, totals }) => {
      const detail = { from, to: to.id, totals: describeTotals(to, totals) }
      return { partnerNumber, groupNumber: to.number, detail }
    }),
  )
  for (const [groupNumber, mine] of Map.groupBy(moves, ({ to }) => to.number)) {
    const numbers = mine.map(({ partnerNumber }) => partnerNumber)
    await followGroup(ctx, numbers, groupNumber)
  }
}

/** The totals that the group's rules name. */
function describeTotals({ moveRules }: Move['to'], totals: Totals): Record<string, string> {
  const all: Record<string, bigint> = {
    totalLeads: totals.leads,
    totalConversions: totals.conversions,
    totalSaleAmount: totals.saleAmount,
    totalCommissions: totals.commissions,
  }
  const named = moveRules.flatMap(({ attribute }) => (attribute in all ? [[attribute, String(all[attribute])]] : []))
  return Object.fromEntries(named)
}
