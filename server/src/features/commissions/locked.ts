import type { Ctx } from '../../platform/context.ts'
import { conflict, notFound } from '../../platform/errors.ts'
import { lockPartners, type Partner } from '../partners/service.ts'
import type { Commission } from './commission.ts'
import { selectCommissionsById } from './list-store.ts'
import { withPayouts } from './load.ts'

const attempts = 3

export function parseCommissionId(id: string): string | undefined {
  return /^cm_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(id)?.[1]
}

/** Locks the partners and payouts of commissions, and reads the commissions. Throws 404 for an unknown one. */
export async function lockCommissions(
  ctx: Ctx,
  ids: string[],
): Promise<{ commissions: Commission[]; partners: Map<bigint, Partner> }> {
  const uuids = new Map(ids.map((id) => [id, parseCommissionId(id)]))
  const known = [...uuids.values()].filter((uuid) => uuid !== undefined)
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const before = await selectCommissionsById(ctx.db, ctx.workspaceId, known)
    const missing = ids.find((id) => !before.some((row) => row.id === uuids.get(id)))
    if (missing !== undefined) throw notFound('commission', missing)
    const locked = await lockPartners(
      ctx.db,
      ctx.workspaceId,
      before.map(({ partner_number }) => partner_number),
    )
    const partners = new Map(locked.map((partner) => [partner.number, partner]))
    const rows = await selectCommissionsById(ctx.db, ctx.workspaceId, known)
    // A merge that committed meanwhile gave the commissions to another partner.
    if (rows.every(({ partner_number }) => partners.has(partner_number)))
      return { commissions: await withPayouts(ctx, rows), partners }
  }
  throw conflict('The partner of a commission is being merged by another request. Try again.')
}
