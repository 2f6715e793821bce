import type { Ctx } from '../../platform/context.ts'
import { badRequest } from '../../platform/errors.ts'
import { transaction } from '../../platform/postgres.ts'
import { giveCodes } from '../discount-codes/service.ts'
import { giveLinks } from '../links/service.ts'
import { changePartner, lockPartners, mergeRows, type Partner, requirePartner } from '../partners/service.ts'
import { requireProgram } from '../programs/service.ts'
import type { MoneyEffects } from './money.ts'
import { publishPartner } from './publish.ts'

/** Merges one partner into another: its links, codes, commissions, balances, totals and tags move. */
export async function mergePartners(
  ctx: Ctx,
  money: MoneyEffects,
  input: { sourcePartnerId: string; targetPartnerId: string },
): Promise<{ partnerId: string }> {
  return transaction(ctx, async (ctx) => {
    await requireProgram(ctx)
    const numbers = [
      (await requirePartner(ctx, { partnerId: input.sourcePartnerId })).number,
      (await requirePartner(ctx, { partnerId: input.targetPartnerId })).number,
    ]
    const locked = await lockPartners(ctx.db, ctx.workspaceId, numbers)
    const [source, target] = numbers.map((number) => locked.find((partner) => partner.number === number))
    if (!source || !target || source === target)
      throw badRequest('`sourcePartnerId` and `targetPartnerId` in the body must be two different partners.')
    for (const partner of [source, target]) requireMergeable(partner)
    await mergeRows(ctx, source, target)
    await giveLinks(ctx, source.id, { id: target.id, tenantId: target.tenant_id ?? source.tenant_id })
    if (target.tenant_id === null && source.tenant_id !== null)
      await changePartner(ctx, target.number, { tenant_id: source.tenant_id })
    await giveCodes(ctx, source.number, target)
    await money.merge(ctx, source, target)
    const tenantId = target.tenant_id ?? source.tenant_id
    await publishPartner(ctx, 'partner.merged', {
      sourcePartner: { id: source.id, tenantId: source.tenant_id, email: source.email },
      targetPartner: { id: target.id, tenantId, email: target.email },
      targetAlreadyEnrolled: true,
    })
    return { partnerId: target.id }
  })
}

const refused = ['banned', 'pending', 'rejected', 'declined']

function requireMergeable({ id, status }: Partner): void {
  if (!refused.includes(status)) return
  throw badRequest(
    `The partner ${id} is ${status}. Only partners that are approved, invited, archived or deactivated can be merged.`,
  )
}
