import { sql } from 'kysely'
import type { AllWorkspacesDb, Db } from '../../platform/postgres.ts'
import type { Watch } from './judge-watch.ts'
import type { DomainRow } from './store.ts'

type Named = Pick<DomainRow, 'id' | 'slug'>

/** Claims verified domains that are due for a check; no other worker claims them before `until`. */
export async function claimWatched(db: AllWorkspacesDb, now: Date, until: Date, count: number): Promise<DomainRow[]> {
  const result = await sql<DomainRow>`
    UPDATE domains SET watch_at = ${until}
    WHERE id = ANY (ARRAY (
      SELECT id FROM domains WHERE verified AND NOT archived AND watch_at <= ${now}
      ORDER BY watch_at LIMIT ${count} FOR UPDATE SKIP LOCKED))
    RETURNING *`.execute(db)
  return result.rows
}

export async function setWatchTime(db: Db, workspaceId: string, id: string, at: Date): Promise<void> {
  await sql`UPDATE domains SET watch_at = ${at} WHERE workspace_id = ${workspaceId} AND id = ${id}`.execute(db)
}

/** Reads what earlier checks of this domain saw; undefined after it was renamed. */
export async function selectWatch(db: Db, workspaceId: string, { id, slug }: Named): Promise<Watch | undefined> {
  const result = await sql<Watch>`SELECT worked_at, failures, failing_since, broken_since, problem FROM domain_watches
    WHERE workspace_id = ${workspaceId} AND domain_id = ${id} AND slug = ${slug}`.execute(db)
  return result.rows[0]
}

/** Stores what a check saw; false when the domain was renamed or deleted meanwhile. */
export async function upsertWatch(db: Db, workspaceId: string, { id, slug }: Named, watch: Watch): Promise<boolean> {
  const result = await sql`INSERT INTO domain_watches
      (domain_id, workspace_id, slug, worked_at, failures, failing_since, broken_since, problem)
    SELECT id, workspace_id, slug, ${watch.worked_at}, ${watch.failures}, ${watch.failing_since}, ${watch.broken_since},
      ${watch.problem}
    FROM domains WHERE workspace_id = ${workspaceId} AND id = ${id} AND slug = ${slug} FOR UPDATE
    ON CONFLICT (domain_id) DO UPDATE SET slug = EXCLUDED.slug, worked_at = EXCLUDED.worked_at,
      failures = EXCLUDED.failures, failing_since = EXCLUDED.failing_since, broken_since = EXCLUDED.broken_since,
      problem = EXCLUDED.problem
    RETURNING domain_id`.execute(db)
  return result.rows.length > 0
}

export type BrokenRow = { slug: string; broken_since: Date; problem: string | null }

/** The domain with this id, if it is broken now. */
export async function selectBroken(db: Db, workspaceId: string, domainId: string): Promise<BrokenRow | undefined> {
  const result = await sql<BrokenRow>`SELECT w.slug, w.broken_since, w.problem
    FROM domain_watches w JOIN domains d ON d.id = w.domain_id AND d.slug = w.slug
    WHERE w.workspace_id = ${workspaceId} AND w.domain_id = ${domainId}
      AND w.broken_since IS NOT NULL AND d.verified AND NOT d.archived`.execute(db)
  return result.rows[0]
}
