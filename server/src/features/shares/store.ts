import { sql } from 'kysely'
import { type AllWorkspacesDb, type Db, deleteById, updateById } from '../../platform/postgres.ts'

/** What a share is of: exactly one of these is set. */
export type SubjectColumns = { view_id: string | null; link_id: string | null; folder_id: string | null }
type NewShareRow = SubjectColumns & {
  id: string
  workspace_id: string
  title: string | null
  sealed_password: Buffer | null
  ends_at: Date | null
  show_conversions: boolean
  created_by: string | null
}
export type ShareRow = NewShareRow & { created_at: Date; updated_at: Date }
export type ShareChanges = Partial<Pick<ShareRow, 'title' | 'sealed_password' | 'ends_at' | 'show_conversions'>>

/** Reads shares in the order of their creation, of one subject if it is given. */
export async function selectShares(
  db: Db,
  workspaceId: string,
  { subject, count, ascending }: { subject: Partial<SubjectColumns>; count: number; ascending: boolean },
): Promise<ShareRow[]> {
  const conditions = [sql`workspace_id = ${workspaceId}`]
  for (const [column, id] of Object.entries(subject)) {
    if (id !== undefined) conditions.push(sql`${sql.ref(column)} = ${id}`)
  }
  const direction = ascending ? sql`ASC` : sql`DESC`
  const result = await sql<ShareRow>`SELECT * FROM shares WHERE ${sql.join(conditions, sql` AND `)}
    ORDER BY created_at ${direction}, id ${direction} LIMIT ${count}`.execute(db)
  return result.rows
}

/** Reads a share. In a transaction, locks its row until it ends. */
export async function selectShare(db: Db, workspaceId: string, id: string): Promise<ShareRow | undefined> {
  const rowLock = db.isTransaction ? sql`FOR UPDATE` : sql``
  const result = await sql<ShareRow>`
    SELECT * FROM shares WHERE workspace_id = ${workspaceId} AND id = ${id} ${rowLock}`.execute(db)
  return result.rows[0]
}

/** Reads a share for a visitor, who knows only its id. */
export async function selectVisitedShare(db: AllWorkspacesDb, id: string): Promise<ShareRow | undefined> {
  const result = await sql<ShareRow>`SELECT * FROM shares WHERE id = ${id}`.execute(db)
  return result.rows[0]
}

export async function countShares(db: Db, workspaceId: string): Promise<number> {
  const result = await sql<{ count: bigint }>`
    SELECT count(*) FROM shares WHERE workspace_id = ${workspaceId}`.execute(db)
  return Number(result.rows[0]?.count ?? 0)
}

export async function insertShare(db: Db, row: NewShareRow): Promise<ShareRow> {
  const result = await sql<ShareRow>`INSERT INTO shares (id, workspace_id, view_id, link_id, folder_id, title,
      sealed_password, ends_at, show_conversions, created_by)
    VALUES (${row.id}, ${row.workspace_id}, ${row.view_id}, ${row.link_id}, ${row.folder_id}, ${row.title},
      ${row.sealed_password}, ${row.ends_at}, ${row.show_conversions}, ${row.created_by}) RETURNING *`.execute(db)
  return result.rows[0] as ShareRow
}

export function updateShareRow(db: Db, workspaceId: string, id: string, changes: ShareChanges) {
  return updateById<ShareRow>(db, 'shares', workspaceId, id, changes)
}

export function deleteShareRow(db: Db, workspaceId: string, id: string): Promise<boolean> {
  return deleteById(db, 'shares', workspaceId, id)
}
