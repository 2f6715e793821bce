import type { Ctx } from '../../platform/context.ts'
import { badRequest } from '../../platform/errors.ts'
import { transaction } from '../../platform/postgres.ts'
import { followGroup } from '../discount-codes/service.ts'
import { removeDiscountOfGroup } from '../discounts/service.ts'
import { deleteGroup, type Group, requireGroup } from '../groups/service.ts'
import { moveGroup, movePartners, requirePartners } from '../partners/service.ts'
import { archiveGroupRewards } from '../rewards/service.ts'

const mostMoved = 10_000

/** Deletes a group with its discount and rewards, and moves its partners to the default group. */
export function removeGroup(ctx: Ctx, id: string): Promise<{ id: string }> {
  return deleteGroup(ctx, id, async (ctx, from, to) => {
    const moved = await moveGroup(ctx, from, to, mostMoved + 1)
    if (moved.length > mostMoved)
      throw badRequest(
        `The group ${id} has more than ${mostMoved} partners. Move them with POST /groups/{id}/partners before you delete it.`,
      )
    await followGroup(
      ctx,
      moved.map((partner) => partner.number),
      to.number,
    )
    await removeDiscountOfGroup(ctx, from.number)
    await archiveGroupRewards(ctx, from.number)
  })
}

/** Moves partners to a group. If one of them does not exist, none moves. */
export async function addToGroup(ctx: Ctx, id: string, partnerIds: string[]): Promise<{ count: number }> {
  return transaction(ctx, async (ctx) => {
    const group = await requireGroup(ctx, id)
    const partners = await requirePartners(ctx, [...new Set(partnerIds)])
    const numbers = partners.map((partner) => partner.number)
    return { count: await moveToGroup(ctx, numbers, group) }
  })
}

/** Moves partners and the discount of their codes to a group, in a transaction. Returns how many moved. */
export async function moveToGroup(ctx: Ctx, numbers: bigint[], group: Group): Promise<number> {
  const moved = await movePartners(ctx, numbers, group)
  await followGroup(
    ctx,
    moved.map((partner) => partner.number),
    group.number,
  )
  return moved.length
}
