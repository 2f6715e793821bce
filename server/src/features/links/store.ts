import type { Link } from '@tributary/contract/links'
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Db } from '../../platform/postgres.ts'

export type LinkRow = {
  number: bigint
  id: string
  workspace_id: string
  domain: string
  key: string
  lookup_key: string
  url: string
  track_conversion: boolean
  external_id: string | null
  tenant_id: string | null
  program_id: string | null
  partner_id: string | null
  archived: boolean
  expires_at: Date | null
  expired_url: string | null
  disabled_at: Date | null
  proxy: boolean
  title: string | null
  description: string | null
  image: string | null
  video: string | null
  rewrite: boolean
  do_index: boolean
  ios: string | null
  android: string | null
  geo: Record<string, string> | null
  public_stats: boolean
  folder_id: string | null
  comments: string | null
  utm_source: string | null
  utm_medium: string | null
  utm_campaign: string | null
  utm_term: string | null
  utm_content: string | null
  test_variants: Link['testVariants']
  test_started_at: Date | null
  test_completed_at: Date | null
  user_id: string | null
  created_at: Date
  updated_at: Date
} & CounterColumns

type CounterColumns = {
  clicks: bigint
  leads: bigint
  conversions: bigint
  sales: bigint
  sale_amount: bigint
  last_clicked: Date | null
}

export type NewLinkRow = Pick<
  LinkRow,
  'id' | 'workspace_id' | 'domain' | 'key' | 'lookup_key' | 'url' | 'track_conversion' | 'external_id'
>

export type ClickCount = { linkNumber: bigint; clicks: number; lastClicked: Date }
export type LinkSelection = {
  domain?: string
  search?: string
  archived: boolean
  ascending: boolean
  offset: number
  count: number
}

const counters = sql`coalesce(c.clicks, 0) AS clicks, coalesce(c.leads, 0) AS leads,
  coalesce(c.conversions, 0) AS conversions, coalesce(c.sales, 0) AS sales,
  coalesce(c.sale_amount, 0) AS sale_amount, c.last_clicked`

/** Fails on the constraints `links_domain_key` and `links_external_id`. */
export async function insertLink(db: Db, row: NewLinkRow): Promise<LinkRow> {
  const result = await sql<LinkRow>`
    WITH link AS (
      INSERT INTO links (id, workspace_id, domain, key, lookup_key, url, track_conversion, external_id)
      VALUES (${row.id}, ${row.workspace_id}, ${row.domain}, ${row.key}, ${row.lookup_key}, ${row.url},
        ${row.track_conversion}, ${row.external_id})
      RETURNING *
    ), c AS (
      INSERT INTO link_counters (link_number, workspace_id) SELECT number, workspace_id FROM link RETURNING *
    )
    SELECT link.*, ${counters} FROM link JOIN c ON c.link_number = link.number`.execute(db)
  return result.rows[0] as LinkRow
}

export async function selectLinks(db: Db, workspaceId: string, selection: LinkSelection): Promise<LinkRow[]> {
  const conditions = [sql<SqlBool>`l.workspace_id = ${workspaceId}`]
  if (!selection.archived) conditions.push(sql`NOT l.archived`)
  if (selection.domain) conditions.push(sql`l.domain = ${selection.domain}`)
  if (selection.search) conditions.push(containing(selection.search))
  const direction = selection.ascending ? sql`ASC` : sql`DESC`
  const result = await sql<LinkRow>`
    SELECT l.*, ${counters} FROM links l LEFT JOIN link_counters c ON c.link_number = l.number
    WHERE ${sql.join(conditions, sql` AND `)}
    ORDER BY l.created_at ${direction}, l.number ${direction}
    LIMIT ${selection.count} OFFSET ${selection.offset}`.execute(db)
  return result.rows
}

function containing(text: string): RawBuilder<SqlBool> {
  const pattern = `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`
  return sql`(l.domain || '/' || l.key ILIKE ${pattern} OR l.url ILIKE ${pattern})`
}

export async function selectLinksByNumber(db: Db, workspaceId: string, numbers: bigint[]): Promise<LinkRow[]> {
  const result = await sql<LinkRow>`
    SELECT l.*, ${counters} FROM links l LEFT JOIN link_counters c ON c.link_number = l.number
    WHERE l.workspace_id = ${workspaceId} AND l.number = ANY(${numbers}::bigint[])`.execute(db)
  return result.rows
}

/** Numbers of those links of the workspace that have one of these ids. */
export async function selectLinkNumbers(
  db: Db,
  workspaceId: string,
  by: { ids: string[] } | { externalId: string } | { domain: string; lookupKey: string },
): Promise<bigint[]> {
  const condition =
    'ids' in by
      ? sql`id = ANY(${by.ids})`
      : 'externalId' in by
        ? sql`external_id = ${by.externalId}`
        : sql`domain = ${by.domain} AND lookup_key = ${by.lookupKey}`
  const result = await sql<{ number: bigint }>`
    SELECT number FROM links WHERE workspace_id = ${workspaceId} AND ${condition}`.execute(db)
  return result.rows.map((row) => row.number)
}

// NOTE every workspace: a visitor brings only the address; the domain belongs to one workspace.
export async function selectLinkByAddress(db: Db, domain: string, key: string): Promise<LinkRow | undefined> {
  const result = await sql<LinkRow>`
    SELECT l.* FROM links l WHERE l.domain = ${domain} AND l.lookup_key = ${key}`.execute(db)
  return result.rows[0]
}

// NOTE every workspace: one batch of the log holds clicks of many; link numbers are unique across them.
export async function addClickCounts(db: Db, counts: ClickCount[]): Promise<void> {
  await sql`
    UPDATE link_counters c
    SET clicks = c.clicks + n.clicks, last_clicked = greatest(c.last_clicked, n.last_clicked)
    FROM unnest(
      ${counts.map((count) => count.linkNumber)}::bigint[],
      ${counts.map((count) => count.clicks)}::bigint[],
      ${counts.map((count) => count.lastClicked)}::timestamptz[]
    ) AS n (link_number, clicks, last_clicked)
    WHERE c.link_number = n.link_number`.execute(db)
}
