import type { UtmTemplate } from '@tributary/contract/utm-templates'
import { sql } from 'kysely'
import { type Db, deleteById, updateById } from '../../platform/postgres.ts'

export type UtmValues = Omit<UtmTemplate, 'id' | 'name' | 'createdAt' | 'updatedAt'>
type NewUtmTemplateRow = UtmValues & { id: string; workspace_id: string; name: string }
export type UtmTemplateRow = NewUtmTemplateRow & { created_at: Date; updated_at: Date }

export async function selectUtmTemplates(
  db: Db,
  workspaceId: string,
  page: { search?: string; sort: 'name' | 'createdAt'; ascending: boolean; offset: number; count: number },
): Promise<UtmTemplateRow[]> {
  const found = page.search ? sql`strpos(lower(name), lower(${page.search})) > 0` : sql`true`
  const direction = page.ascending ? sql`ASC` : sql`DESC`
  const order = page.sort === 'name' ? sql`lower(name)` : sql`created_at`
  const result = await sql<UtmTemplateRow>`SELECT * FROM utm_templates
    WHERE workspace_id = ${workspaceId} AND ${found} ORDER BY ${order} ${direction}, id ${direction}
    LIMIT ${page.count} OFFSET ${page.offset}`.execute(db)
  return result.rows
}

export async function selectUtmTemplate(db: Db, workspaceId: string, id: string): Promise<UtmTemplateRow | undefined> {
  const result = await sql<UtmTemplateRow>`
    SELECT * FROM utm_templates WHERE workspace_id = ${workspaceId} AND id = ${id}`.execute(db)
  return result.rows[0]
}

export async function countUtmTemplates(db: Db, workspaceId: string): Promise<number> {
  const result = await sql<{ count: bigint }>`
    SELECT count(*) FROM utm_templates WHERE workspace_id = ${workspaceId}`.execute(db)
  return Number(result.rows[0]?.count ?? 0)
}

/** Inserts a template. Undefined when its name is taken. */
export async function insertUtmTemplate(db: Db, row: NewUtmTemplateRow): Promise<UtmTemplateRow | undefined> {
  const result = await sql<UtmTemplateRow>`INSERT INTO utm_templates
    (id, workspace_id, name, utm_source, utm_medium, utm_campaign, utm_term, utm_content, ref)
    VALUES (${row.id}, ${row.workspace_id}, ${row.name}, ${row.utm_source}, ${row.utm_medium}, ${row.utm_campaign},
      ${row.utm_term}, ${row.utm_content}, ${row.ref})
    ON CONFLICT (workspace_id, lower(name)) DO NOTHING RETURNING *`.execute(db)
  return result.rows[0]
}

/** Updates a template. May violate the unique index `utm_templates_name`. Undefined when it does not exist. */
export function updateUtmTemplateRow(db: Db, workspaceId: string, id: string, changes: Partial<UtmTemplateRow>) {
  return updateById<UtmTemplateRow>(db, 'utm_templates', workspaceId, id, changes)
}

export function deleteUtmTemplateRow(db: Db, workspaceId: string, id: string): Promise<boolean> {
  return deleteById(db, 'utm_templates', workspaceId, id)
}
