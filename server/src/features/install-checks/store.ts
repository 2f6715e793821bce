import type { InspectedPage } from '@tributary/contract/install-checks'
import { sql } from 'kysely'
import type { AllWorkspacesDb, Db } from '../../platform/postgres.ts'

type Report = { reported_at: Date; host: string; path: string; version: string; is_off: boolean }
type NewCheck = { id: string; url: string; page: InspectedPage; created_at: Date }
export type InstallCheckRow = NewCheck & { [Field in keyof Report]: Report[Field] | null }

export async function insertCheck(
  db: Db,
  workspaceId: string,
  { id, url, page, created_at }: NewCheck,
): Promise<InstallCheckRow> {
  const result = await sql<InstallCheckRow>`INSERT INTO install_checks (id, workspace_id, url, page, created_at)
    VALUES (${id}, ${workspaceId}, ${url}, ${JSON.stringify(page)}::jsonb, ${created_at}) RETURNING *`.execute(db)
  return result.rows[0] as InstallCheckRow
}

/** Deletes all but the newest checks. */
export async function deleteOldChecks(db: Db, workspaceId: string, count: number): Promise<void> {
  await sql`DELETE FROM install_checks WHERE workspace_id = ${workspaceId} AND id IN (
    SELECT id FROM install_checks WHERE workspace_id = ${workspaceId}
    ORDER BY created_at DESC OFFSET ${count})`.execute(db)
}

export async function selectCheck(db: Db, workspaceId: string, id: string): Promise<InstallCheckRow | undefined> {
  const result = await sql<InstallCheckRow>`SELECT * FROM install_checks
    WHERE workspace_id = ${workspaceId} AND id = ${id}`.execute(db)
  return result.rows[0]
}

/** Stores the report of a check created after a time. Returns its workspace; undefined without such a check. */
export async function updateReport(
  db: AllWorkspacesDb,
  id: string,
  after: Date,
  { reported_at, host, path, version, is_off }: Report,
): Promise<string | undefined> {
  const result = await sql<{ workspace_id: string }>`UPDATE install_checks
    SET reported_at = ${reported_at}, host = ${host}, path = ${path}, version = ${version}, is_off = ${is_off}
    WHERE id = ${id} AND created_at > ${after} RETURNING workspace_id`.execute(db)
  return result.rows[0]?.workspace_id
}
