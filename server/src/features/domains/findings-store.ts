import { sql } from 'kysely'
import type { AllWorkspacesDb, Db } from '../../platform/postgres.ts'
import type { Findings } from './inspect.ts'

export type StoredFindings = { slug: string; findings: Findings; checked_at: Date }

/** Reads what was found for this domain; undefined after it was renamed. */
export async function selectFindings(
  db: Db,
  workspaceId: string,
  { id, slug }: { id: string; slug: string },
): Promise<StoredFindings | undefined> {
  const result = await sql<StoredFindings>`SELECT slug, findings, checked_at FROM domain_findings
    WHERE workspace_id = ${workspaceId} AND domain_id = ${id} AND slug = ${slug}`.execute(db)
  return result.rows[0]
}

/** Stores what was found, unless the domain was deleted meanwhile. */
export async function upsertFindings(db: Db, workspaceId: string, id: string, found: StoredFindings): Promise<void> {
  await sql`INSERT INTO domain_findings (workspace_id, domain_id, slug, findings, checked_at)
    SELECT workspace_id, id, ${found.slug}, ${JSON.stringify(found.findings)}::jsonb, ${found.checked_at}
    FROM domains WHERE workspace_id = ${workspaceId} AND id = ${id} FOR KEY SHARE
    ON CONFLICT (domain_id) DO UPDATE
    SET slug = EXCLUDED.slug, findings = EXCLUDED.findings, checked_at = EXCLUDED.checked_at`.execute(db)
}

/** Creates the setup page of a domain; a former link to it ends. False if the domain was deleted meanwhile. */
export async function upsertSetupPage(
  db: Db,
  workspaceId: string,
  page: { domainId: string; hash: Buffer; expiresAt: Date },
): Promise<boolean> {
  const result = await sql`INSERT INTO domain_setup_pages (workspace_id, domain_id, hash, expires_at)
    SELECT workspace_id, id, ${page.hash}::bytea, ${page.expiresAt}::timestamptz
    FROM domains WHERE workspace_id = ${workspaceId} AND id = ${page.domainId} FOR KEY SHARE
    ON CONFLICT (domain_id) DO UPDATE SET hash = EXCLUDED.hash, expires_at = EXCLUDED.expires_at`.execute(db)
  return result.numAffectedRows === 1n
}

export async function deleteSetupPageRow(db: Db, workspaceId: string, domainId: string): Promise<void> {
  await sql`DELETE FROM domain_setup_pages WHERE workspace_id = ${workspaceId} AND domain_id = ${domainId}`.execute(db)
}

/** Finds a setup page by its secret alone, because its reader has no workspace. */
export async function selectSetupPage(
  db: AllWorkspacesDb,
  hash: Buffer,
  now: Date,
): Promise<{ workspaceId: string; domainId: string } | undefined> {
  const result = await sql<{ workspaceId: string; domainId: string }>`
    SELECT workspace_id AS "workspaceId", domain_id AS "domainId" FROM domain_setup_pages
    WHERE hash = ${hash} AND expires_at > ${now}`.execute(db)
  return result.rows[0]
}
