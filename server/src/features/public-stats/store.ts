import { sql } from 'kysely'
import type { AllWorkspacesDb, Db } from '../../platform/postgres.ts'

export type PublicStatsRow = {
  subject_id: string
  workspace_id: string
  enabled: boolean
  sealed_password: Buffer | null
}

export async function selectPublicStats(db: AllWorkspacesDb, subjectId: string): Promise<PublicStatsRow | undefined> {
  const result = await sql<PublicStatsRow>`
    SELECT subject_id, workspace_id, enabled, sealed_password FROM public_stats
    WHERE subject_id = ${subjectId}`.execute(db)
  return result.rows[0]
}

/** Stores settings of public statistics. An undefined password keeps the stored one; null removes it. */
export async function upsertPublicStats(
  db: Db,
  workspaceId: string,
  subjectId: string,
  { enabled, password }: { enabled: boolean; password?: Buffer | null },
): Promise<PublicStatsRow> {
  const sealed = password === undefined ? sql`public_stats.sealed_password` : sql`excluded.sealed_password`
  const result = await sql<PublicStatsRow>`
    INSERT INTO public_stats (subject_id, workspace_id, enabled, sealed_password)
    VALUES (${subjectId}, ${workspaceId}, ${enabled}, ${password ?? null})
    ON CONFLICT (subject_id) DO UPDATE
    SET enabled = excluded.enabled, sealed_password = ${sealed}, updated_at = now()
    WHERE public_stats.workspace_id = ${workspaceId}
    RETURNING subject_id, workspace_id, enabled, sealed_password`.execute(db)
  return result.rows[0] as PublicStatsRow
}
