import type { QrDesign } from '@tributary/contract/qr-designs'
import { sql } from 'kysely'
import type { Db } from '../../platform/postgres.ts'

/** The owner of a design: a link, a domain, or the workspace if both are null. */
export type DesignOwner = { linkNumber: bigint | null; domainId: string | null }
export type DesignRow = DesignOwner & { design: Partial<QrDesign>; scans: boolean }

const columns = sql`link_number AS "linkNumber", domain_id AS "domainId", design, scans`

/** Reads the most specific design: of the link, else of the domain, else of the workspace. */
export async function selectDesign(db: Db, workspaceId: string, owner: DesignOwner): Promise<DesignRow | undefined> {
  const result = await sql<DesignRow>`SELECT ${columns} FROM qr_designs WHERE workspace_id = ${workspaceId}
      AND (link_number = ${owner.linkNumber} OR domain_id = ${owner.domainId}
        OR (link_number IS NULL AND domain_id IS NULL))
    ORDER BY link_number IS NULL, domain_id IS NULL LIMIT 1`.execute(db)
  return result.rows[0]
}

/** Reads the design of exactly this owner. */
export async function selectOwnDesign(db: Db, workspaceId: string, owner: DesignOwner): Promise<DesignRow | undefined> {
  const result = await sql<DesignRow>`SELECT ${columns} FROM qr_designs
    WHERE workspace_id = ${workspaceId} AND ${isOwner(owner)}`.execute(db)
  return result.rows[0]
}

export async function insertDesign(
  db: Db,
  workspaceId: string,
  owner: DesignOwner,
  { design, scans }: { design: object; scans: boolean },
): Promise<void> {
  const target =
    owner.linkNumber !== null
      ? sql`(link_number) WHERE link_number IS NOT NULL`
      : owner.domainId !== null
        ? sql`(domain_id) WHERE domain_id IS NOT NULL`
        : sql`(workspace_id) WHERE link_number IS NULL AND domain_id IS NULL`
  await sql`INSERT INTO qr_designs (workspace_id, link_number, domain_id, design, scans)
    VALUES (${workspaceId}, ${owner.linkNumber}, ${owner.domainId}, ${JSON.stringify(design)}::jsonb, ${scans})
    ON CONFLICT ${target} DO UPDATE SET design = EXCLUDED.design, scans = EXCLUDED.scans, updated_at = now()`.execute(
    db,
  )
}

export async function deleteDesignRow(db: Db, workspaceId: string, owner: DesignOwner): Promise<void> {
  await sql`DELETE FROM qr_designs WHERE workspace_id = ${workspaceId} AND ${isOwner(owner)}`.execute(db)
}

function isOwner({ linkNumber, domainId }: DesignOwner) {
  return sql`link_number IS NOT DISTINCT FROM ${linkNumber}::bigint AND domain_id IS NOT DISTINCT FROM ${domainId}::text`
}
