import type { View } from '@tributary/contract/views'
import { sql } from 'kysely'
import { type Db, deleteById } from '../../platform/postgres.ts'

type ViewValues = Pick<View, 'screen' | 'name' | 'query'>
type NewViewRow = ViewValues & { id: string; workspace_id: string; owner_id: string | null; created_by: string | null }
export type ViewRow = NewViewRow & { created_at: Date; updated_at: Date }

export type ViewSelection = {
  /** Whose personal views are listed; null for none. */
  userId: string | null
  screen?: string
  visibility?: View['visibility']
  sort: 'name' | 'createdAt'
  ascending: boolean
  offset: number
  count: number
}

export async function selectViews(db: Db, workspaceId: string, selection: ViewSelection): Promise<ViewRow[]> {
  const { screen, visibility, userId } = selection
  const direction = selection.ascending ? sql`ASC` : sql`DESC`
  const order = selection.sort === 'name' ? sql`lower(name)` : sql`created_at`
  const conditions = [sql`workspace_id = ${workspaceId}`]
  if (visibility !== 'personal' && visibility !== 'shared') {
    conditions.push(sql`(owner_id IS NULL OR owner_id = ${userId}::text)`)
  } else conditions.push(visibility === 'shared' ? sql`owner_id IS NULL` : sql`owner_id = ${userId}::text`)
  if (screen !== undefined) conditions.push(sql`screen = ${screen}`)
  const result = await sql<ViewRow>`SELECT * FROM views WHERE ${sql.join(conditions, sql` AND `)}
    ORDER BY ${order} ${direction}, id ${direction} LIMIT ${selection.count} OFFSET ${selection.offset}`.execute(db)
  return result.rows
}

/** Reads views of any user. In a transaction, locks their rows against deletion until it ends. */
export async function selectViewsById(db: Db, workspaceId: string, ids: string[]): Promise<ViewRow[]> {
  const rowLock = db.isTransaction ? sql`FOR KEY SHARE` : sql``
  const result = await sql<ViewRow>`
    SELECT * FROM views WHERE workspace_id = ${workspaceId} AND id = ANY(${ids}::text[]) ${rowLock}`.execute(db)
  return result.rows
}

/** Reads a view and locks its row until the transaction ends. */
export async function lockView(db: Db, workspaceId: string, id: string): Promise<ViewRow | undefined> {
  const result = await sql<ViewRow>`
    SELECT * FROM views WHERE workspace_id = ${workspaceId} AND id = ${id} FOR UPDATE`.execute(db)
  return result.rows[0]
}

export async function countViews(db: Db, workspaceId: string): Promise<number> {
  const result = await sql<{ count: bigint }>`
    SELECT count(*) FROM views WHERE workspace_id = ${workspaceId}`.execute(db)
  return Number(result.rows[0]?.count ?? 0)
}

export async function countPersonalViews(db: Db, workspaceId: string, owner: string): Promise<number> {
  const result = await sql<{ count: bigint }>`
    SELECT count(*) FROM views WHERE workspace_id = ${workspaceId} AND owner_id = ${owner}`.execute(db)
  return Number(result.rows[0]?.count ?? 0)
}

/** Inserts a view. Undefined when its name is taken. */
export async function insertView(db: Db, row: NewViewRow): Promise<ViewRow | undefined> {
  const result = await sql<ViewRow>`INSERT INTO views (id, workspace_id, owner_id, created_by, screen, name, query)
    VALUES (${row.id}, ${row.workspace_id}, ${row.owner_id}, ${row.created_by}, ${row.screen}, ${row.name},
      ${JSON.stringify(row.query)}::jsonb)
    ON CONFLICT (workspace_id, screen, coalesce(owner_id, ''), lower(name)) DO NOTHING RETURNING *`.execute(db)
  return result.rows[0]
}

/** Updates a view. May violate the unique index `views_name`. Undefined when it does not exist. */
export async function updateViewRow(
  db: Db,
  workspaceId: string,
  id: string,
  { name, query, owner_id }: Pick<ViewRow, 'name' | 'query' | 'owner_id'>,
): Promise<ViewRow | undefined> {
  const result = await sql<ViewRow>`UPDATE views
    SET name = ${name}, query = ${JSON.stringify(query)}::jsonb, owner_id = ${owner_id}, updated_at = now()
    WHERE workspace_id = ${workspaceId} AND id = ${id} RETURNING *`.execute(db)
  return result.rows[0]
}

export function deleteViewRow(db: Db, workspaceId: string, id: string): Promise<boolean> {
  return deleteById(db, 'views', workspaceId, id)
}
