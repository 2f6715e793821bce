import type {
  NewUtmTemplate,
  UtmTemplate,
  UtmTemplatePatch,
  UtmTemplatesQuery,
} from '@tributary/contract/utm-templates'
import type { Ctx } from '../../platform/context.ts'
import { conflict, notFound } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { transaction, violatedConstraint } from '../../platform/postgres.ts'
import { reportChange } from '../../platform/recording.ts'
import { requireRoom } from '../workspaces/service.ts'
import {
  countUtmTemplates,
  deleteUtmTemplateRow,
  insertUtmTemplate,
  selectUtmTemplate,
  selectUtmTemplates,
  type UtmTemplateRow,
  type UtmValues,
  updateUtmTemplateRow,
} from './store.ts'

const fields = ['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content', 'ref'] as const

export async function listUtmTemplates(ctx: Ctx, query: UtmTemplatesQuery): Promise<UtmTemplate[]> {
  const rows = await selectUtmTemplates(ctx.db, ctx.workspaceId, {
    search: query.search?.trim().normalize('NFC'),
    sort: query.sortBy,
    ascending: query.sortOrder === 'asc',
    offset: (query.page - 1) * query.pageSize,
    count: query.pageSize,
  })
  return rows.map(present)
}

export async function createUtmTemplate(ctx: Ctx, { name, ...given }: NewUtmTemplate): Promise<UtmTemplate> {
  const values = Object.fromEntries(fields.map((field) => [field, given[field] ?? null])) as UtmValues
  const row = await transaction(ctx, async (ctx) => {
    await requireRoom(ctx, 'UTM templates', () => countUtmTemplates(ctx.db, ctx.workspaceId))
    return insertUtmTemplate(ctx.db, { id: newId('utm'), workspace_id: ctx.workspaceId, name, ...values })
  })
  if (!row) throw nameTaken(name)
  return present(row)
}

export async function updateUtmTemplate(ctx: Ctx, id: string, patch: UtmTemplatePatch): Promise<UtmTemplate> {
  const row = await selectUtmTemplate(ctx.db, ctx.workspaceId, id)
  if (!row) throw notFound('UTM template', id)
  const given = Object.entries(patch).filter(([, value]) => value !== undefined)
  const changes = Object.fromEntries(given) as Partial<UtmTemplateRow>
  if (given.length === 0) return present(row)
  reportChange(ctx, { id, before: row, after: changes })
  const updated = await updateUtmTemplateRow(ctx.db, ctx.workspaceId, id, changes).catch((error) => {
    throw violatedConstraint(error) === 'utm_templates_name' ? nameTaken(patch.name ?? row.name) : error
  })
  if (!updated) throw notFound('UTM template', id)
  return present(updated)
}

export async function deleteUtmTemplate(ctx: Ctx, id: string): Promise<{ id: string }> {
  const row = await selectUtmTemplate(ctx.db, ctx.workspaceId, id)
  if (!row || !(await deleteUtmTemplateRow(ctx.db, ctx.workspaceId, id))) throw notFound('UTM template', id)
  reportChange(ctx, { id, before: row })
  return { id }
}

function nameTaken(name: string) {
  return conflict(`Another UTM template already has the name ${name}. Choose another name.`)
}

function present({ workspace_id: _, created_at, updated_at, ...row }: UtmTemplateRow): UtmTemplate {
  return { ...row, createdAt: created_at.toISOString(), updatedAt: updated_at.toISOString() }
}
