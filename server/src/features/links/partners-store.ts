import { sql } from 'kysely'
import type { AllWorkspacesDb, Db } from '../../platform/postgres.ts'
import type { CounterColumns, LinkRow } from './store.ts'
import { isInReadableFolder } from './where.ts'

type PartnerLinkRow = Pick<LinkRow, 'id' | 'domain' | 'key' | 'url'> &
  Omit<CounterColumns, 'last_clicked'> & { partner_id: string }

/** Reads the newest links of each partner, up to `most`, except for those in hidden folders. */
export async function selectLinksOfPartners(
  db: Db,
  workspaceId: string,
  partnerIds: string[],
  most: { links: number; urlBytes: number },
  hiddenFolders: string[],
): Promise<PartnerLinkRow[]> {
  const result = await sql<PartnerLinkRow>`SELECT l.id, l.partner_id, l.domain, l.key, l.url,
      coalesce(c.clicks, 0) AS clicks, coalesce(c.leads, 0) AS leads, coalesce(c.conversions, 0) AS conversions,
      coalesce(c.sales, 0) AS sales, coalesce(c.sale_amount, 0) AS sale_amount
    FROM unnest(${partnerIds}::text[]) AS partner (id)
    CROSS JOIN LATERAL (
      SELECT newest.*, sum(octet_length(url)) OVER (ORDER BY number DESC) AS bytes, row_number() OVER (ORDER BY number DESC) AS place
      FROM (SELECT number, id, partner_id, domain, key, url FROM links
        WHERE workspace_id = ${workspaceId} AND partner_id = partner.id AND deleted_at IS NULL
        AND ${isInReadableFolder(sql`folder_id`, hiddenFolders)} ORDER BY number DESC LIMIT ${most.links}) AS newest
    ) l LEFT JOIN link_counters c ON c.link_number = l.number
    WHERE place = 1 OR bytes <= ${most.urlBytes} ORDER BY l.number DESC`.execute(db)
  return result.rows
}

/** SQL condition that a link belongs to a partner and is neither deleted nor disabled; the arguments are SQL. */
export function ownedBy({
  workspace,
  number,
  partnerId,
}: Record<'workspace' | 'number' | 'partnerId', string>): string {
  return `EXISTS (SELECT FROM links l WHERE l.workspace_id = ${workspace} AND l.number = ${number}
    AND l.partner_id = ${partnerId} AND l.deleted_at IS NULL AND l.disabled_at IS NULL)`
}

/** Locks links of a partner until the transaction ends: all, or those that were disabled at one of these times. */
export async function lockPartnerLinks(
  db: Db,
  workspaceId: string,
  partnerId: string,
  { disabledAt, count }: { disabledAt?: (Date | null)[]; count: number },
): Promise<bigint[]> {
  const times = disabledAt?.filter((time) => time !== null) ?? []
  const enabled = disabledAt?.includes(null) ? sql`disabled_at IS NULL` : sql`false`
  const chosen = disabledAt ? sql`(disabled_at = ANY(${times}::timestamptz[]) OR ${enabled})` : sql`true`
  const result = await sql<{ number: bigint }>`SELECT number FROM links
    WHERE workspace_id = ${workspaceId} AND partner_id = ${partnerId} AND deleted_at IS NULL AND ${chosen}
    ORDER BY number LIMIT ${count} FOR UPDATE`.execute(db)
  return result.rows.map((row) => row.number)
}

export async function setDisabled(db: Db, workspaceId: string, numbers: bigint[], at: Date | null): Promise<void> {
  await sql`UPDATE links SET disabled_at = ${at}, version = nextval('link_versions'), updated_at = now()
    WHERE workspace_id = ${workspaceId} AND number = ANY(${numbers}::bigint[])`.execute(db)
}

export async function moveLinks(
  db: Db,
  workspaceId: string,
  numbers: bigint[],
  { id, tenantId }: { id: string; tenantId: string | null },
): Promise<void> {
  await sql`UPDATE links SET partner_id = ${id}, tenant_id = coalesce(${tenantId}, tenant_id),
      version = nextval('link_versions'), updated_at = now()
    WHERE workspace_id = ${workspaceId} AND number = ANY(${numbers}::bigint[])`.execute(db)
}

export async function countLinksOfPartner(db: Db, workspaceId: string, partnerId: string): Promise<number> {
  const result = await sql<{ count: bigint }>`SELECT count(*) FROM links
    WHERE workspace_id = ${workspaceId} AND partner_id = ${partnerId} AND deleted_at IS NULL`.execute(db)
  return Number(result.rows[0]?.count ?? 0)
}

export type LinkOwner = { partnerId: string } | { programId: string }

/** SQL that selects the numbers of all links of a partner or a program, including deleted links. */
export function ownedLinksFragment(workspaceId: string, owner: LinkOwner) {
  const isOwned = 'partnerId' in owner ? sql`partner_id = ${owner.partnerId}` : sql`program_id = ${owner.programId}`
  return sql`SELECT number FROM links WHERE workspace_id = ${workspaceId} AND ${isOwned}`
}

type PartnerOfLink = { number: bigint; workspaceId: string; partnerId: string }

/** The partners of those of the links, of any workspace, that have one. */
export async function selectPartnersOfLinks(db: AllWorkspacesDb, numbers: bigint[]): Promise<PartnerOfLink[]> {
  const result = await sql<PartnerOfLink>`SELECT number, workspace_id AS "workspaceId", partner_id AS "partnerId"
    FROM links WHERE number = ANY(${numbers}::bigint[]) AND partner_id IS NOT NULL`.execute(db)
  return result.rows
}

/** Sums the clicks on all links of partners, including deleted links. */
export async function sumClicksOfPartners(
  db: AllWorkspacesDb,
  partners: Pick<PartnerOfLink, 'workspaceId' | 'partnerId'>[],
): Promise<{ workspaceId: string; partnerId: string; clicks: number }[]> {
  const result = await sql<{ workspaceId: string; partnerId: string; clicks: number }>`
    SELECT l.workspace_id AS "workspaceId", l.partner_id AS "partnerId",
      sum(coalesce(c.clicks, 0))::double precision AS clicks
    FROM unnest(
      ${partners.map((partner) => partner.workspaceId)}::text[], ${partners.map((partner) => partner.partnerId)}::text[]
    ) AS named (workspace_id, partner_id)
    JOIN links l ON l.workspace_id = named.workspace_id AND l.partner_id = named.partner_id
    LEFT JOIN link_counters c ON c.link_number = l.number
    GROUP BY l.workspace_id, l.partner_id`.execute(db)
  return result.rows
}

/** The numbers of partners' links, oldest first. */
export async function selectPartnerLinkNumbers(
  db: Db,
  workspaceId: string,
  partnerIds: string[],
  most: number,
): Promise<bigint[]> {
  const result = await sql<{ number: bigint }>`
    SELECT number FROM links
    WHERE workspace_id = ${workspaceId} AND partner_id = ANY(${partnerIds}::text[]) AND deleted_at IS NULL
    ORDER BY number LIMIT ${most}`.execute(db)
  return result.rows.map(({ number }) => number)
}
