import { sql } from 'kysely'
import type { Db } from '../../platform/postgres.ts'

export async function upsertPageReport(
  db: Db,
  workspaceId: string,
  { host, at }: { host: string; at: Date },
): Promise<void> {
  await sql`INSERT INTO page_reports (workspace_id, host, reported_at) VALUES (${workspaceId}, ${host}, ${at})
    ON CONFLICT (workspace_id) DO UPDATE SET host = EXCLUDED.host, reported_at = EXCLUDED.reported_at`.execute(db)
}

export async function existsPageReport(db: Db, workspaceId: string): Promise<boolean> {
  const result = await sql`SELECT FROM page_reports WHERE workspace_id = ${workspaceId}`.execute(db)
  return result.rows.length > 0
}

// A sale without an invoice has no index; a workspace without any sale has few customers.
const mostRead = 10_000

export async function selectTrackedKinds(db: Db, workspaceId: string): Promise<{ lead: boolean; sale: boolean }> {
  const result = await sql<{ lead: boolean; sale: boolean }>`SELECT
    EXISTS (SELECT FROM conversions WHERE workspace_id = ${workspaceId} AND kind = 'lead') AS lead,
    EXISTS (SELECT FROM conversions WHERE workspace_id = ${workspaceId} AND kind = 'sale' AND invoice_id IS NOT NULL)
      OR EXISTS (SELECT FROM (SELECT kind FROM conversions WHERE workspace_id = ${workspaceId}
        ORDER BY customer_id, created_at, number LIMIT ${mostRead}) AS oldest WHERE kind = 'sale') AS sale`.execute(db)
  return result.rows[0] ?? { lead: false, sale: false }
}
