import type { Ctx } from '../../platform/context.ts'
import { badRequest } from '../../platform/errors.ts'
import { transaction } from '../../platform/postgres.ts'
import { removeDiscountOfGroup } from '../discounts/service.ts'
import { deleteGroup, requireGroup } from '../groups/service.ts'
import { moveGroup, movePartners, requirePartners } from '../partners/service.ts'

const mostMoved = 10_000

/** Deletes a group with its discount, and moves its partners to the default group. */
export function removeGroup(ctx: Ctx, id: string): Promise<{ id: string }> {
  return deleteGroup(ctx, id, async (ctx, from, to) => {
    const moved = await moveGroup(ctx, from, to, mostMoved + 1)
    if (moved > mostMoved)
      throw badRequest(
        `The group ${id} has more than ${mostMoved} partners. Move them with POST /groups/{id}/partners before you delete it.`,
      )
    await removeDiscountOfGroup(ctx, from.number)
  })
}

/** Moves partners to a group. If one of them does not exist, none moves. */
export async function addToGroup(ctx: Ctx, id: string, partnerIds: string[]): Promise<{ count: number }> {
  return transaction(ctx, async (ctx) => {
    const group = await requireGroup(ctx, id)
    const partners = await requirePartners(ctx, [...new Set(partnerIds)])
    const moved = await movePartners(
      ctx,
      partners.map((partner) => partner.number),
      group,
    )
    return { count: moved.length }
  })
}
