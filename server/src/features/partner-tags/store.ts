import { sql } from 'kysely'
import { type Db, deleteById } from '../../platform/postgres.ts'

export type PartnerTagRow = { id: string; workspace_id: string; name: string; created_at: Date }

export async function selectPartnerTags(
  db: Db,
  workspaceId: string,
  page: { search?: string; sort: 'name' | 'createdAt'; ascending: boolean; offset: number; count: number },
): Promise<PartnerTagRow[]> {
  const found = page.search ? sql`strpos(lower(name), lower(${page.search})) > 0` : sql`true`
  const direction = page.ascending ? sql`ASC` : sql`DESC`
  const order = page.sort === 'name' ? sql`lower(name)` : sql`created_at`
  const result = await sql<PartnerTagRow>`SELECT * FROM partner_tags
    WHERE workspace_id = ${workspaceId} AND ${found} ORDER BY ${order} ${direction}, id ${direction}
    LIMIT ${page.count} OFFSET ${page.offset}`.execute(db)
  return result.rows
}

/** Reads tags by id. In a transaction, locks their rows against deletion until it ends. */
export async function selectPartnerTagsById(db: Db, workspaceId: string, ids: string[]): Promise<PartnerTagRow[]> {
  const rowLock = db.isTransaction ? sql`FOR KEY SHARE` : sql``
  const result = await sql<PartnerTagRow>`SELECT * FROM partner_tags
    WHERE workspace_id = ${workspaceId} AND id = ANY(${ids}::text[]) ORDER BY id ${rowLock}`.execute(db)
  return result.rows
}

export async function countPartnerTags(db: Db, workspaceId: string): Promise<number> {
  const result = await sql<{ count: bigint }>`
    SELECT count(*) FROM partner_tags WHERE workspace_id = ${workspaceId}`.execute(db)
  return Number(result.rows[0]?.count ?? 0)
}

/** Inserts a tag. Undefined when its name is taken. */
export async function insertPartnerTag(db: Db, row: Omit<PartnerTagRow, 'created_at'>) {
  const result = await sql<PartnerTagRow>`INSERT INTO partner_tags (id, workspace_id, name)
    VALUES (${row.id}, ${row.workspace_id}, ${row.name})
    ON CONFLICT (workspace_id, lower(name)) DO NOTHING RETURNING *`.execute(db)
  return result.rows[0]
}

/** Renames a tag. May violate the unique index `partner_tags_name`. Undefined when it does not exist. */
export async function renamePartnerTag(db: Db, workspaceId: string, id: string, name: string) {
  const result = await sql<PartnerTagRow>`UPDATE partner_tags SET name = ${name}
    WHERE workspace_id = ${workspaceId} AND id = ${id} RETURNING *`.execute(db)
  return result.rows[0]
}

export function deletePartnerTagRow(db: Db, workspaceId: string, id: string): Promise<boolean> {
  return deleteById(db, 'partner_tags', workspaceId, id)
}
