import type { Role } from '@tributary/contract/permissions'
import { sql } from 'kysely'
import type { Db } from '../../platform/postgres.ts'

export type MemberRow = { workspace_id: string; user_id: string; role: Role; created_at: Date }
export type MemberFolderRow = { user_id: string; folder_id: string; access: 'none' | 'read' | 'write' }

export async function selectMember(db: Db, workspaceId: string, userId: string): Promise<MemberRow | undefined> {
  const result = await sql<MemberRow>`SELECT workspace_id, user_id, role, created_at FROM members
    WHERE workspace_id = ${workspaceId} AND user_id = ${userId}`.execute(db)
  return result.rows[0]
}

export async function selectMembers(
  db: Db,
  workspaceId: string,
  { sort, ascending, offset, count }: { sort: 'createdAt' | 'role'; ascending: boolean; offset: number; count: number },
): Promise<MemberRow[]> {
  const direction = ascending ? sql`ASC` : sql`DESC`
  const order = sort === 'role' ? sql`role` : sql`created_at`
  const result = await sql<MemberRow>`SELECT workspace_id, user_id, role, created_at FROM members
    WHERE workspace_id = ${workspaceId} ORDER BY ${order} ${direction}, user_id ${direction}
    LIMIT ${count} OFFSET ${offset}`.execute(db)
  return result.rows
}

/** The memberships of a user in all workspaces, oldest first. */
export async function selectMemberships(db: Db, userId: string, count: number): Promise<MemberRow[]> {
  const result = await sql<MemberRow>`SELECT workspace_id, user_id, role, created_at FROM members
    WHERE user_id = ${userId} ORDER BY created_at, workspace_id LIMIT ${count}`.execute(db)
  return result.rows
}

/** The workspaces that a user owns, at most 10,000. Owners are few: only the operator passes WORKSPACES_PER_USER. */
export async function selectOwned(db: Db, userId: string): Promise<string[]> {
  const result = await sql<{ workspace_id: string }>`SELECT workspace_id FROM members
    WHERE user_id = ${userId} AND role = 'owner' ORDER BY workspace_id LIMIT 10000`.execute(db)
  return result.rows.map((row) => row.workspace_id)
}

export async function selectMemberFolders(db: Db, workspaceId: string, userIds: string[]): Promise<MemberFolderRow[]> {
  const result = await sql<MemberFolderRow>`SELECT user_id, folder_id, access FROM member_folders
    WHERE workspace_id = ${workspaceId} AND user_id = ANY(${userIds}::text[]) ORDER BY folder_id`.execute(db)
  return result.rows
}

/** Folders that some member may not read, whatever their access level. */
export async function selectDeniedFolders(db: Db, workspaceId: string): Promise<string[]> {
  const result = await sql<{ folder_id: string }>`SELECT DISTINCT folder_id FROM member_folders
    WHERE workspace_id = ${workspaceId} AND access = 'none' ORDER BY folder_id`.execute(db)
  return result.rows.map((row) => row.folder_id)
}

export async function countMemberRows(db: Db, workspaceId: string): Promise<number> {
  const result = await sql<{ count: bigint }>`
    SELECT count(*) FROM members WHERE workspace_id = ${workspaceId}`.execute(db)
  return Number(result.rows[0]?.count ?? 0)
}

/**
 * Locks the owners of a workspace until the transaction ends and returns their ids: concurrent changes of owners run one
 * after another, and each sees what the one before has left.
 */
export async function lockOwners(db: Db, workspaceId: string): Promise<string[]> {
  const result = await sql<{ user_id: string }>`SELECT user_id FROM members
    WHERE workspace_id = ${workspaceId} AND role = 'owner' ORDER BY user_id FOR UPDATE`.execute(db)
  return result.rows.map((row) => row.user_id)
}

/** Inserts a member; undefined when the user is a member already. */
export async function insertMember(
  db: Db,
  row: { workspace_id: string; user_id: string; role: Role },
): Promise<MemberRow | undefined> {
  const result = await sql<MemberRow>`INSERT INTO members (workspace_id, user_id, role)
    VALUES (${row.workspace_id}, ${row.user_id}, ${row.role})
    ON CONFLICT (workspace_id, user_id) DO NOTHING
    RETURNING workspace_id, user_id, role, created_at`.execute(db)
  return result.rows[0]
}

export async function updateRole(db: Db, workspaceId: string, userId: string, role: Role): Promise<boolean> {
  const result = await sql`UPDATE members SET role = ${role}, updated_at = now()
    WHERE workspace_id = ${workspaceId} AND user_id = ${userId} RETURNING user_id`.execute(db)
  return result.rows.length > 0
}

export async function replaceMemberFolders(
  db: Db,
  workspaceId: string,
  userId: string,
  folders: Omit<MemberFolderRow, 'user_id'>[],
): Promise<void> {
  await sql`DELETE FROM member_folders WHERE workspace_id = ${workspaceId} AND user_id = ${userId}`.execute(db)
  await sql`INSERT INTO member_folders (workspace_id, user_id, folder_id, access)
    SELECT ${workspaceId}, ${userId}, folder_id, access FROM unnest(
      ${folders.map(({ folder_id }) => folder_id)}::text[],
      ${folders.map(({ access }) => access)}::text[]) AS given (folder_id, access)`.execute(db)
}

/** Deletes a member, and with the row the folder access and the personal keys. */
export async function deleteMember(db: Db, workspaceId: string, userId: string): Promise<boolean> {
  const result = await sql`DELETE FROM members
    WHERE workspace_id = ${workspaceId} AND user_id = ${userId} RETURNING user_id`.execute(db)
  return result.rows.length > 0
}
