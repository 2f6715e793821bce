import type { PartnerTag, PartnerTagsQuery } from '@tributary/contract/partner-tags'
import type { Ctx } from '../../platform/context.ts'
import { conflict, notFound } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { transaction, violatedConstraint } from '../../platform/postgres.ts'
import { requireRoom } from '../workspaces/service.ts'
import {
  countPartnerTags,
  deletePartnerTagRow,
  insertPartnerTag,
  type PartnerTagRow,
  renamePartnerTag,
  selectPartnerTags,
  selectPartnerTagsById,
} from './store.ts'

export async function listPartnerTags(ctx: Ctx, query: PartnerTagsQuery): Promise<PartnerTag[]> {
  const rows = await selectPartnerTags(ctx.db, ctx.workspaceId, {
    search: query.search?.trim().normalize('NFC'),
    sort: query.sortBy,
    ascending: query.sortOrder === 'asc',
    offset: (query.page - 1) * query.pageSize,
    count: query.pageSize,
  })
  return rows.map(presentPartnerTag)
}

export async function createPartnerTag(ctx: Ctx, { name }: { name: string }): Promise<PartnerTag> {
  const row = await transaction(ctx, async (ctx) => {
    await requireRoom(ctx, 'partner tags', () => countPartnerTags(ctx.db, ctx.workspaceId))
    return insertPartnerTag(ctx.db, { id: newId('ptag'), workspace_id: ctx.workspaceId, name })
  })
  if (!row) throw nameTaken(name)
  return presentPartnerTag(row)
}

export async function updatePartnerTag(ctx: Ctx, id: string, { name }: { name?: string }): Promise<PartnerTag> {
  if (name === undefined) {
    const tag = (await partnerTagsById(ctx, [id])).get(id)
    if (!tag) throw notFound('partner tag', id)
    return tag
  }
  const row = await renamePartnerTag(ctx.db, ctx.workspaceId, id, name).catch((error) => {
    throw violatedConstraint(error) === 'partner_tags_name' ? nameTaken(name) : error
  })
  if (!row) throw notFound('partner tag', id)
  return presentPartnerTag(row)
}

export async function deletePartnerTag(ctx: Ctx, id: string): Promise<{ id: string }> {
  if (!(await deletePartnerTagRow(ctx.db, ctx.workspaceId, id))) throw notFound('partner tag', id)
  return { id }
}

export async function partnerTagsById(
  ctx: Pick<Ctx, 'db' | 'workspaceId'>,
  ids: string[],
): Promise<Map<string, PartnerTag>> {
  if (ids.length === 0) return new Map()
  const rows = await selectPartnerTagsById(ctx.db, ctx.workspaceId, [...new Set(ids)])
  return new Map(rows.map((row) => [row.id, presentPartnerTag(row)]))
}

function nameTaken(name: string) {
  return conflict(`Another partner tag already has the name ${name}. Choose another name.`)
}

function presentPartnerTag(row: PartnerTagRow): PartnerTag {
  return { id: row.id, name: row.name, createdAt: row.created_at.toISOString() }
}
