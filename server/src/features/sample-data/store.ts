import { sql } from 'kysely'
import type { AllWorkspacesDb, Db } from '../../platform/postgres.ts'

/** What is done: the workspace, its links, its clicks, everything. */
export type SampleStep = 'new' | 'linked' | 'sent' | 'ready' | 'deleted'
export type SampleRow = {
  workspace_id: string
  sample_workspace_id: string
  slug: string
  step: SampleStep
  link_numbers: bigint[]
  step_at: Date
  created_at: Date
}

export async function selectSample(db: Db, workspaceId: string): Promise<SampleRow | undefined> {
  const result = await sql<SampleRow>`SELECT * FROM sample_data WHERE workspace_id = ${workspaceId}`.execute(db)
  return result.rows[0] && readRow(result.rows[0])
}

/** Starts sample data, also after an earlier one was deleted. */
export async function insertSample(
  db: Db,
  workspaceId: string,
  { sampleWorkspaceId, slug }: { sampleWorkspaceId: string; slug: string },
): Promise<SampleRow> {
  const result = await sql<SampleRow>`INSERT INTO sample_data (workspace_id, sample_workspace_id, slug)
    VALUES (${workspaceId}, ${sampleWorkspaceId}, ${slug})
    ON CONFLICT (workspace_id) DO UPDATE SET sample_workspace_id = EXCLUDED.sample_workspace_id, slug = EXCLUDED.slug,
      step = 'new', link_numbers = '{}', due_at = now(), step_at = now(), created_at = now()
    RETURNING *`.execute(db)
  return readRow(result.rows[0] as SampleRow)
}

/** Moves the sample data to its next step, unless it was replaced or deleted meanwhile. */
export async function updateStep(
  db: Db,
  workspaceId: string,
  sampleWorkspaceId: string,
  step: SampleStep,
): Promise<boolean> {
  const result = await sql`UPDATE sample_data SET step = ${step}, step_at = now(), due_at = now()
    WHERE workspace_id = ${workspaceId} AND sample_workspace_id = ${sampleWorkspaceId} AND step <> 'deleted'`.execute(
    db,
  )
  return Number(result.numAffectedRows ?? 0) > 0
}

/** Claims sample data that is not complete; no other worker claims it before `until`. */
export async function claimSample(db: AllWorkspacesDb, now: Date, until: Date): Promise<SampleRow | undefined> {
  const result = await sql<SampleRow>`UPDATE sample_data SET due_at = ${until}
    WHERE workspace_id = (SELECT workspace_id FROM sample_data
      WHERE step IN ('new', 'linked', 'sent') AND due_at <= ${now}
      ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING *`.execute(db)
  return result.rows[0] && readRow(result.rows[0])
}

/** Records the created links, in the transaction that creates them. */
export async function recordLinks(db: Db, workspaceId: string, numbers: bigint[]): Promise<void> {
  await sql`UPDATE sample_data SET link_numbers = ${numbers}::bigint[] WHERE workspace_id = ${workspaceId}`.execute(db)
}

export async function postponeSample(db: Db, workspaceId: string, until: Date): Promise<void> {
  await sql`UPDATE sample_data SET due_at = ${until} WHERE workspace_id = ${workspaceId}`.execute(db)
}

/** PostgreSQL's arrays of large numbers arrive as texts. */
function readRow(row: SampleRow): SampleRow {
  return { ...row, link_numbers: row.link_numbers.map((number) => BigInt(number)) }
}
