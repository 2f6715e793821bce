import { sql } from 'kysely'
import type { AllWorkspacesDb, Db } from '../../platform/postgres.ts'

export type DeletionRow = {
  former_id: string
  name: string
  slug: string
  deleted_by: string | null
  deleted_at: Date
  step: string
  erased_rows: bigint
  erased_at: Date | null
}

/** Marks a workspace as deleted and frees its slug; false when it is deleted already. */
export async function markDeleted(db: Db, workspaceId: string): Promise<boolean> {
  const result = await sql`UPDATE workspaces SET deleted_at = now(), slug = id
    WHERE id = ${workspaceId} AND deleted_at IS NULL RETURNING id`.execute(db)
  return result.rows.length > 0
}

export async function insertDeletion(
  db: Db,
  row: Pick<DeletionRow, 'former_id' | 'name' | 'slug' | 'deleted_by'>,
): Promise<DeletionRow> {
  const result = await sql<DeletionRow>`INSERT INTO workspace_deletions (former_id, name, slug, deleted_by)
    VALUES (${row.former_id}, ${row.name}, ${row.slug}, ${row.deleted_by}) RETURNING *`.execute(db)
  return result.rows[0] as DeletionRow
}

export async function selectDeletion(db: Db, userId: string, idOrSlug: string): Promise<DeletionRow | undefined> {
  const result = await sql<DeletionRow>`SELECT * FROM workspace_deletions
    WHERE deleted_by = ${userId} AND (former_id = ${idOrSlug} OR slug = ${idOrSlug})
    ORDER BY deleted_at DESC LIMIT 1`.execute(db)
  return result.rows[0]
}

/** Deletions to work on: data is left, or late events of the day after have not been erased yet. */
export async function selectOpenDeletions(
  db: AllWorkspacesDb,
  { sweptBefore, count }: { sweptBefore: Date; count: number },
): Promise<DeletionRow[]> {
  const result = await sql<DeletionRow>`SELECT * FROM workspace_deletions
    WHERE swept_at IS NULL AND (erased_at IS NULL OR erased_at < ${sweptBefore})
    ORDER BY deleted_at LIMIT ${count}`.execute(db)
  return result.rows
}

/** Which of these workspaces were deleted. */
export async function selectDeletedIds(db: AllWorkspacesDb, ids: string[]): Promise<string[]> {
  const result = await sql<{ former_id: string }>`SELECT former_id FROM workspace_deletions
    WHERE former_id = ANY(${ids}::text[])`.execute(db)
  return result.rows.map(({ former_id }) => former_id)
}

/** Locks a deletion until the transaction ends; false when another worker has locked it. */
export async function lockDeletion(db: Db, workspaceId: string): Promise<boolean> {
  const result = await sql`SELECT former_id FROM workspace_deletions
    WHERE former_id = ${workspaceId} FOR UPDATE SKIP LOCKED`.execute(db)
  return result.rows.length > 0
}

export async function addErased(db: Db, workspaceId: string, step: string, rows: number): Promise<void> {
  await sql`UPDATE workspace_deletions SET step = ${step}, erased_rows = erased_rows + ${rows}
    WHERE former_id = ${workspaceId}`.execute(db)
}

/** Ends the erasure, or after it the sweep of late events. */
export async function finishDeletion(db: Db, workspaceId: string): Promise<void> {
  await sql`UPDATE workspace_deletions SET step = '', erased_at = coalesce(erased_at, now()),
    swept_at = CASE WHEN erased_at IS NULL THEN NULL ELSE now() END
    WHERE former_id = ${workspaceId}`.execute(db)
}

/** Deletes the row of a deleted workspace. */
export async function dropWorkspace(db: Db, workspaceId: string): Promise<void> {
  await sql`DELETE FROM workspaces WHERE id = ${workspaceId} AND deleted_at IS NOT NULL`.execute(db)
}

/** Whether this workspace is deleted, but not all of its data is erased. */
export async function existsOpenDeletion(db: Db, workspaceId: string): Promise<boolean> {
  const result =
    await sql`SELECT FROM workspace_deletions WHERE former_id = ${workspaceId} AND erased_at IS NULL`.execute(db)
  return result.rows.length > 0
}
