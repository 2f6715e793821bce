import { sql } from 'kysely'
import { type Db, deleteById, updateById } from '../../platform/postgres.ts'

export type FolderRow = {
  id: string
  workspace_id: string
  name: string
  description: string | null
  type: 'default' | 'mega'
  access_level: 'write' | 'read' | null
  created_at: Date
  updated_at: Date
}
type NewFolderRow = Pick<FolderRow, 'id' | 'workspace_id' | 'name' | 'description' | 'access_level'>
export type FolderChanges = Partial<Pick<FolderRow, 'name' | 'description' | 'access_level'>>

export async function selectFolders(
  db: Db,
  workspaceId: string,
  selection: {
    search?: string
    hidden: string[]
    sort: 'name' | 'createdAt'
    ascending: boolean
    offset: number
    count: number
  },
): Promise<FolderRow[]> {
  const found = selection.search ? sql`strpos(lower(name), lower(${selection.search})) > 0` : sql`true`
  const direction = selection.ascending ? sql`ASC` : sql`DESC`
  const order = selection.sort === 'name' ? sql`lower(name)` : sql`created_at`
  const result = await sql<FolderRow>`
    SELECT * FROM folders WHERE workspace_id = ${workspaceId} AND ${found} AND id <> ALL(${selection.hidden}::text[])
    ORDER BY ${order} ${direction}, id ${direction}
    LIMIT ${selection.count} OFFSET ${selection.offset}`.execute(db)
  return result.rows
}

/** Reads a folder. In a transaction, locks its row against deletion until it ends. */
export async function selectFolder(db: Db, workspaceId: string, id: string): Promise<FolderRow | undefined> {
  const rowLock = db.isTransaction ? sql`FOR KEY SHARE` : sql``
  const result = await sql<FolderRow>`
    SELECT * FROM folders WHERE workspace_id = ${workspaceId} AND id = ${id} ${rowLock}`.execute(db)
  return result.rows[0]
}

/** The SQL condition that a folder, if any, exists; locks its row against deletion until the transaction ends. */
export function existingFolder({ workspace, id }: Record<'workspace' | 'id', string>): string {
  return `(${id} IS NULL OR EXISTS (
    SELECT FROM folders f WHERE f.workspace_id = ${workspace} AND f.id = ${id} FOR KEY SHARE))`
}

export async function selectFoldersByIds(db: Db, workspaceId: string, ids: string[]): Promise<FolderRow[]> {
  const result = await sql<FolderRow>`
    SELECT * FROM folders WHERE workspace_id = ${workspaceId} AND id = ANY(${ids}::text[])`.execute(db)
  return result.rows
}

/** Folders that members may not write by the folder's access level. */
export async function selectRestrictedFolders(
  db: Db,
  workspaceId: string,
): Promise<Pick<FolderRow, 'id' | 'access_level'>[]> {
  const result = await sql<Pick<FolderRow, 'id' | 'access_level'>>`SELECT id, access_level FROM folders
    WHERE workspace_id = ${workspaceId} AND access_level IS DISTINCT FROM 'write'`.execute(db)
  return result.rows
}

export async function countFolders(db: Db, workspaceId: string): Promise<number> {
  const result = await sql<{ count: bigint }>`
    SELECT count(*) FROM folders WHERE workspace_id = ${workspaceId}`.execute(db)
  return Number(result.rows[0]?.count ?? 0)
}

/** Inserts a folder. Undefined when its name is taken. */
export async function insertFolder(db: Db, row: NewFolderRow): Promise<FolderRow | undefined> {
  const result = await sql<FolderRow>`
    INSERT INTO folders (id, workspace_id, name, description, access_level)
    VALUES (${row.id}, ${row.workspace_id}, ${row.name}, ${row.description}, ${row.access_level})
    ON CONFLICT (workspace_id, lower(name)) DO NOTHING RETURNING *`.execute(db)
  return result.rows[0]
}

/** Updates a folder. Undefined when it does not exist. */
export function updateFolderRow(db: Db, workspaceId: string, id: string, changes: FolderChanges) {
  return updateById<FolderRow>(db, 'folders', workspaceId, id, changes)
}

export function deleteFolderRow(db: Db, workspaceId: string, id: string): Promise<boolean> {
  return deleteById(db, 'folders', workspaceId, id)
}

type NamedFolder = { workspaceId: string; folderId: string }

export async function selectMissingFolders(db: Db, named: NamedFolder[]): Promise<NamedFolder[]> {
  const result = await sql<NamedFolder>`
    SELECT DISTINCT named.workspace_id AS "workspaceId", named.id AS "folderId"
    FROM unnest(
      ${named.map((folder) => folder.workspaceId)}::text[],
      ${named.map((folder) => folder.folderId)}::text[]
    ) AS named (workspace_id, id)
    LEFT JOIN folders f ON f.workspace_id = named.workspace_id AND f.id = named.id
    WHERE f.id IS NULL`.execute(db)
  return result.rows
}
