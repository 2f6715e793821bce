import type { Ctx } from '../../platform/context.ts'
import type { Partner } from '../partners/service.ts'
import type { Changes, Totals } from './batch.ts'
import { loadPartners } from './load.ts'
import { judgeMove } from './move.ts'

/** Judges partners whose totals a request changes. They are locked. */
export async function judgeMoves(ctx: Ctx, changes: Changes, locked: Iterable<Partner>): Promise<void> {
  const changed = [...locked].filter(({ number }) => changes.totals.has(number))
  const { partners, targets } = await loadPartners(ctx, changed)
  if (targets.length === 0) return
  for (const [number, { totals }] of partners) {
    const added = changes.totals.get(number)
    for (const name of Object.keys(totals) as (keyof Totals)[]) totals[name] += added?.[name] ?? 0n
    judgeMove({ partners, targets }, changes, number)
  }
}
