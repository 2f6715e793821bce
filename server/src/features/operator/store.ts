import { sql } from 'kysely'
import type { AllWorkspacesDb } from '../../platform/postgres.ts'

export type RunKind = 'backup' | 'verify'
export type RunDetails = { location?: string; bytes?: number; encrypted?: boolean; problem?: string }
export type RunRow = { is_successful: boolean; details: RunDetails; started_at: Date; finished_at: Date }

export async function insertRun(db: AllWorkspacesDb, kind: RunKind, run: RunRow): Promise<void> {
  await sql`INSERT INTO maintenance_runs (kind, is_successful, details, started_at, finished_at)
    VALUES (${kind}, ${run.is_successful}, ${JSON.stringify(run.details)}::jsonb, ${run.started_at},
      ${run.finished_at})`.execute(db)
}

/** Deletes all but the last `most` runs of each kind. */
export async function pruneRuns(db: AllWorkspacesDb, most: number): Promise<void> {
  await sql`DELETE FROM maintenance_runs WHERE id IN (
    SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY kind, is_successful ORDER BY finished_at DESC) AS rank
      FROM maintenance_runs) ranked WHERE rank > ${most})`.execute(db)
}

/** The last run of a kind with this result; with `isSuccessful` undefined, whatever its result. */
export async function selectLastRun(
  db: AllWorkspacesDb,
  kind: RunKind,
  isSuccessful?: boolean,
): Promise<RunRow | undefined> {
  const isSought = isSuccessful === undefined ? sql`true` : sql`is_successful = ${isSuccessful}`
  const result = await sql<RunRow>`SELECT is_successful, details, started_at, finished_at FROM maintenance_runs
    WHERE kind = ${kind} AND ${isSought} ORDER BY finished_at DESC LIMIT 1`.execute(db)
  return result.rows[0]
}

export type ReleaseRow = { version: string; url: string | null; source: 'operator' | 'fetched'; known_at: Date }

export async function selectRelease(db: AllWorkspacesDb): Promise<ReleaseRow | undefined> {
  const result = await sql<ReleaseRow>`SELECT version, url, source, known_at FROM known_release
    WHERE version IS NOT NULL`.execute(db)
  return result.rows[0]
}

export async function replaceRelease(db: AllWorkspacesDb, row: ReleaseRow): Promise<void> {
  await sql`INSERT INTO known_release (version, url, source, known_at)
    VALUES (${row.version}, ${row.url}, ${row.source}, ${row.known_at})
    ON CONFLICT (is_only) DO UPDATE SET version = EXCLUDED.version, url = EXCLUDED.url, source = EXCLUDED.source,
      known_at = EXCLUDED.known_at`.execute(db)
}

/** Claims the fetch of the newest version; false if a process has claimed it since `before`. */
export async function claimFetch(db: AllWorkspacesDb, before: Date, now: Date): Promise<boolean> {
  const result = await sql`INSERT INTO known_release AS known (fetched_at) VALUES (${now})
    ON CONFLICT (is_only) DO UPDATE SET fetched_at = EXCLUDED.fetched_at
    WHERE known.fetched_at IS NULL OR known.fetched_at < ${before} RETURNING is_only`.execute(db)
  return result.rows.length > 0
}
