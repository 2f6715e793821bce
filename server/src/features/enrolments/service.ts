import type { NewPartner, Partner, PartnerPatch, PartnersQuery } from '@tributary/contract/partners'
import type { Ctx } from '../../platform/context.ts'
import { notFound } from '../../platform/errors.ts'
import { transaction } from '../../platform/postgres.ts'
import { reportChange } from '../../platform/recording.ts'
import { requireGroup } from '../groups/service.ts'
import {
  changePartner,
  listPartnerRows,
  lockPartners,
  publishUpdates,
  recordActivities,
  replaceTags,
  requirePartner,
} from '../partners/service.ts'
import { requireProgram } from '../programs/service.ts'
import { createDefaultLinks, requireLinkTarget } from './default-links.ts'
import { chooseGroup, enrol, profileColumns, refuseTaken } from './enrol.ts'
import { moveToGroup } from './groups.ts'
import { presentNewPartner, presentPartner, presentPartners } from './present.ts'
import { publishPartner } from './publish.ts'

/* A partner joins the program, changes its status and leaves: what happens to its links, codes and commissions. */

export async function listPartners(ctx: Ctx, query: PartnersQuery): Promise<Partner[]> {
  await requireProgram(ctx)
  const filter = {
    groupNumber: query.groupId === undefined ? undefined : (await requireGroup(ctx, query.groupId)).number,
    status: query.status,
    country: query.country?.toUpperCase(),
    tenantId: query.tenantId,
    email: query.email?.trim().toLowerCase(),
    search: query.search?.trim() || undefined,
  }
  const rows = await listPartnerRows(ctx, filter, {
    sort: query.sortBy,
    ascending: query.sortOrder === 'asc',
    offset: (query.page - 1) * query.pageSize,
    count: query.pageSize,
  })
  return presentPartners(ctx, rows)
}

export async function getPartner(ctx: Ctx, id: string): Promise<Partner> {
  await requireProgram(ctx)
  return presentPartner(ctx, await requirePartner(ctx, { partnerId: id }))
}

/** Enrols a partner with default links. Of an existing partner, only the tenant id changes. */
export async function createPartner(ctx: Ctx, { linkProps, groupId, ...input }: NewPartner): Promise<Partner> {
  return transaction(ctx, async (ctx) => {
    const program = await requireProgram(ctx)
    const target = requireLinkTarget(program)
    const group = await chooseGroup(ctx, groupId)
    const { name, ...profile } = input
    const { partner, isNew } = await enrol(ctx, { ...profile, name: name ?? undefined }, group, 'approved')
    if (isNew) {
      await createDefaultLinks(ctx, partner, group, target, linkProps)
      const enrolled = await presentNewPartner(ctx, partner, program, group)
      await publishPartner(ctx, 'partner.enrolled', enrolled)
      return enrolled
    }
    if (input.tenantId !== undefined && input.tenantId !== partner.tenant_id) {
      const changed = await changePartner(ctx, partner.number, { tenant_id: input.tenantId }).catch(refuseTaken(input))
      return presentPartner(ctx, changed ?? partner)
    }
    return presentPartner(ctx, partner)
  })
}

export async function updatePartner(ctx: Ctx, id: string, patch: PartnerPatch): Promise<Partner> {
  await requireProgram(ctx)
  const partner = await transaction(ctx, async (ctx) => {
    const group = patch.groupId === undefined ? undefined : await requireGroup(ctx, patch.groupId)
    const { number } = await requirePartner(ctx, { partnerId: id })
    const [before] = await lockPartners(ctx.db, ctx.workspaceId, [number])
    if (!before) throw notFound('partner', id)
    const hasMoved = group !== undefined && (await moveToGroup(ctx, [number], group)) > 0
    if (patch.tagIds) await replaceTags(ctx, number, patch.tagIds)
    const columns = Object.entries(profileColumns(patch)).filter(
      ([name, value]) => value !== before[name as keyof typeof before],
    )
    const after = { ...Object.fromEntries(columns), ...(patch.tagIds && { tagIds: patch.tagIds }) }
    reportChange(ctx, { kind: 'partners', id, before, after: group ? { ...after, groupNumber: group.number } : after })
    // A move is published already.
    if (!hasMoved && (patch.tagIds || columns.length > 0)) await publishUpdates(ctx, [number])
    if (columns.length === 0) return requirePartner(ctx, { partnerId: id })
    const changed = await changePartner(ctx, number, Object.fromEntries(columns)).catch(refuseTaken(patch))
    const detail = { fields: columns.map(([name]) => name) }
    await recordActivities(ctx, [{ partnerNumber: number, kind: 'profile', detail }])
    return changed ?? before
  })
  return presentPartner(ctx, partner)
}
