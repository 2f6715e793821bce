import type { Link } from '@tributary/contract/links'
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { locks } from '../../platform/locks.ts'
import type { AllWorkspacesDb, Db } from '../../platform/postgres.ts'
import { linkTagsLock, lockLinkTags } from './totals-store.ts'
import { buildConditions, isInReadableFolder, type LinkFilter } from './where.ts'

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
  deleted_at: Date | null
  banned_at: Date | null
  sealed_password: Buffer | null
  webhook_ids: string[]
  version: bigint
  test_winner_at: Date | null
  created_at: Date
  updated_at: Date
  tag_ids: string[]
} & CounterColumns

export type CounterColumns = {
  clicks: bigint
  leads: bigint
  conversions: bigint
  sales: bigint
  /** A PostgreSQL numeric, as text because it may exceed the range of JavaScript numbers. */
  sale_amount: string
  last_clicked: Date | null
}

export type LinkColumns = Omit<
  LinkRow,
  keyof CounterColumns | 'number' | 'tag_ids' | 'version' | 'created_at' | 'updated_at'
>
export type NewLinkRow = Pick<LinkColumns, 'id' | 'workspace_id' | 'domain' | 'key' | 'lookup_key' | 'url'> &
  Partial<LinkColumns>
export type LinkSelector = { id: string } | { externalId: string } | { domain: string; lookupKey: string }

type Tables = { links: NewLinkRow & { number?: bigint; version?: bigint; updated_at?: Date } }

const counters = sql`coalesce(c.clicks, 0) AS clicks, coalesce(c.leads, 0) AS leads,
  coalesce(c.conversions, 0) AS conversions, coalesce(c.sales, 0) AS sales,
  coalesce(c.sale_amount, 0) AS sale_amount, c.last_clicked`
const linkColumnsFragment = sql`l.*, ${counters},
  ARRAY(SELECT t.tag_id FROM link_tags t WHERE t.link_number = l.number ORDER BY t.position) AS tag_ids`
const linkTablesFragment = sql`links l LEFT JOIN link_counters c ON c.link_number = l.number`

/** Inserts a link. Returns its number, or undefined when its domain and key or its external id are taken. */
export async function insertLink(db: Db, row: NewLinkRow): Promise<bigint | undefined> {
  const link = await db
    .withTables<Tables>()
    .insertInto('links')
    .values(jsonColumns(row))
    .onConflict((conflict) => conflict.doNothing())
    .returning('number')
    .executeTakeFirst()
  if (!link?.number) return undefined
  await sql`INSERT INTO link_counters (link_number, workspace_id)
    VALUES (${link.number}, ${row.workspace_id})`.execute(db)
  return link.number
}

/** Updates a link. May violate the unique indexes `links_domain_key` and `links_external_id`. */
export async function updateLink(
  db: Db,
  workspaceId: string,
  number: bigint,
  columns: Partial<LinkColumns>,
): Promise<void> {
  await db
    .withTables<Tables>()
    .updateTable('links')
    .set({ ...jsonColumns(columns), version: sql`nextval('link_versions')`, updated_at: sql`now()` })
    .where('workspace_id', '=', workspaceId)
    .where('number', '=', number)
    .execute()
}

/** Moves links to another domain. May violate the unique index `links_domain_key`. */
export async function moveToDomain(db: Db, workspaceId: string, numbers: bigint[], domain: string): Promise<void> {
  await sql`UPDATE links SET domain = ${domain}, version = nextval('link_versions'), updated_at = now()
    WHERE workspace_id = ${workspaceId} AND number = ANY(${numbers}::bigint[])`.execute(db)
}

/** Deletes links, which frees their keys and external ids. Returns the numbers of links that this call deleted. */
export async function deleteLinks(db: Db, workspaceId: string, numbers: bigint[]): Promise<bigint[]> {
  const result = await sql<{ number: bigint }>`
    UPDATE links SET deleted_at = now(), version = nextval('link_versions')
    WHERE workspace_id = ${workspaceId} AND number = ANY(${numbers}::bigint[]) AND deleted_at IS NULL
    RETURNING number`.execute(db)
  return result.rows.map((row) => row.number)
}

/** Gives links, including deleted ones, a new version. Returns the numbers that exist. */
export async function renewVersions(db: Db, workspaceId: string, numbers: bigint[]): Promise<bigint[]> {
  const result = await sql<{ number: bigint }>`UPDATE links SET version = nextval('link_versions')
    WHERE workspace_id = ${workspaceId} AND number = ANY(${numbers}::bigint[]) RETURNING number`.execute(db)
  return result.rows.map((row) => row.number)
}

export async function replaceTags(db: Db, workspaceId: string, number: bigint, tagIds: string[]): Promise<void> {
  await sql`DELETE FROM link_tags WHERE workspace_id = ${workspaceId} AND link_number = ${number}`.execute(db)
  if (tagIds.length === 0) return
  await sql`INSERT INTO link_tags (workspace_id, link_number, tag_id, position)
    SELECT ${workspaceId}, ${number}, tag_id, position
    FROM unnest(${tagIds}::text[]) WITH ORDINALITY AS given (tag_id, position)`.execute(db)
}

/** Reads a link and locks its row until the transaction ends. */
export async function selectLinkForUpdate(
  db: Db,
  workspaceId: string,
  selector: LinkSelector,
): Promise<LinkRow | undefined> {
  // The tag lock comes before the locks of tags, as when a tag is deleted.
  const result = await sql<{
    number: bigint
  }>`SELECT l.number FROM (SELECT ${linkTagsLock(workspaceId)}) AS locked, links l
    WHERE l.workspace_id = ${workspaceId} AND ${selected(selector)} FOR UPDATE OF l`.execute(db)
  const number = result.rows[0]?.number
  return number === undefined ? undefined : (await selectLinksByNumber(db, workspaceId, [number]))[0]
}

export async function selectLink(db: Db, workspaceId: string, selector: LinkSelector): Promise<LinkRow | undefined> {
  const result = await sql<LinkRow>`SELECT ${linkColumnsFragment} FROM ${linkTablesFragment}
    WHERE l.workspace_id = ${workspaceId} AND ${selected(selector)}`.execute(db)
  return result.rows[0]
}

/** Reads links by number, including deleted links, because events still refer to them. */
export async function selectLinksByNumber(db: Db, workspaceId: string, numbers: bigint[]): Promise<LinkRow[]> {
  const result = await sql<LinkRow>`SELECT ${linkColumnsFragment} FROM ${linkTablesFragment}
    WHERE l.workspace_id = ${workspaceId} AND l.number = ANY(${numbers}::bigint[])`.execute(db)
  return result.rows
}

/** The numbers of the workspace's links with these ids, including deleted links, except for those in hidden folders. */
export async function selectNumbersById(
  db: Db,
  workspaceId: string,
  ids: string[],
  hiddenFolders: string[],
): Promise<bigint[]> {
  const result = await sql<{ number: bigint }>`
    SELECT number FROM links WHERE workspace_id = ${workspaceId} AND id = ANY(${ids}::text[])
    AND ${isInReadableFolder(sql`folder_id`, hiddenFolders)}`.execute(db)
  return result.rows.map((row) => row.number)
}

/** Those of the links, including deleted ones, that are in one of the folders. */
export async function selectNumbersInFolders(
  db: Db,
  workspaceId: string,
  numbers: bigint[],
  folderIds: string[],
): Promise<bigint[]> {
  const result = await sql<{ number: bigint }>`SELECT number FROM links
    WHERE workspace_id = ${workspaceId} AND number = ANY(${numbers}::bigint[])
    AND folder_id = ANY(${folderIds}::text[])`.execute(db)
  return result.rows.map((row) => row.number)
}

/** The newest link with this destination. Blocks concurrent upserts of the destination until the transaction ends. */
export async function selectNewestByUrl(
  db: Db,
  workspaceId: string,
  url: string,
  { partnerId, hiddenFolders }: { partnerId?: string; hiddenFolders: string[] },
): Promise<LinkRow | undefined> {
  const mine = partnerId === undefined ? sql`true` : sql`l.partner_id = ${partnerId}`
  await lockLinkTags(db, workspaceId)
  await lockNames(db, workspaceId, [url])
  const result = await sql<LinkRow>`SELECT ${linkColumnsFragment} FROM ${linkTablesFragment}
    WHERE l.workspace_id = ${workspaceId} AND md5(l.url) = md5(${url}) AND l.url = ${url} AND l.deleted_at IS NULL AND ${mine}
      AND ${isInReadableFolder(sql`l.folder_id`, hiddenFolders)}
    ORDER BY l.number DESC LIMIT 1`.execute(db)
  return result.rows[0]
}

/** A batch of a domain's links that were created up to the time `at`, for jobs that process all of them. */
export async function selectNumbersOfDomain(
  db: Db,
  workspaceId: string,
  domain: string,
  at: string | undefined,
  count: number,
): Promise<bigint[]> {
  const result = await sql<{ number: bigint }>`SELECT number FROM links
    WHERE workspace_id = ${workspaceId} AND domain = ${domain} AND deleted_at IS NULL
    AND created_at <= coalesce(${at ?? null}::timestamptz, now()) LIMIT ${count}`.execute(db)
  return result.rows.map((row) => row.number)
}

/** Removes up to `count` links from a folder. Returns how many it removed. */
export async function leaveFolder(db: Db, workspaceId: string, folderId: string, count: number): Promise<number> {
  const result = await sql`UPDATE links SET folder_id = NULL, version = nextval('link_versions')
    WHERE number IN (SELECT number FROM links WHERE workspace_id = ${workspaceId} AND folder_id = ${folderId} LIMIT ${count})`.execute(
    db,
  )
  return Number(result.numAffectedRows ?? 0)
}

/** Replaces the set of links that a webhook is limited to. Returns those of the given ids that exist, sorted. */
export async function replaceWebhookOfLinks(db: Db, workspaceId: string, webhookId: string, linkIds: string[]) {
  const named = sql`workspace_id = ${workspaceId} AND webhook_ids <> '{}' AND webhook_ids @> ARRAY[${webhookId}]::text[]`
  const found = await sql<{ id: string }>`SELECT id FROM links
    WHERE workspace_id = ${workspaceId} AND id = ANY(${linkIds}::text[]) AND deleted_at IS NULL
    ORDER BY id FOR UPDATE`.execute(db)
  const ids = found.rows.map((row) => row.id)
  await sql`UPDATE links SET webhook_ids = array_remove(webhook_ids, ${webhookId})
    WHERE ${named} AND id <> ALL(${ids}::text[])`.execute(db)
  await sql`UPDATE links SET webhook_ids = webhook_ids || ${webhookId}::text
    WHERE workspace_id = ${workspaceId} AND id = ANY(${ids}::text[]) AND NOT webhook_ids @> ARRAY[${webhookId}]::text[]`.execute(
    db,
  )
  return ids
}

/** Finds a link for a visitor; `live` is the SQL condition that its workspace is not deleted. */
export async function selectLinkByAddress(db: AllWorkspacesDb, domain: string, key: string, live: string) {
  const result = await sql<LinkRow>`
    SELECT l.* FROM links l WHERE l.domain = ${domain} AND l.lookup_key = ${key} AND l.deleted_at IS NULL
      AND ${sql.raw(live)}`.execute(db)
  return result.rows[0]
}

/** Those of the keys that a link on the domain has. */
export async function selectTakenKeys(db: AllWorkspacesDb, domain: string, lookupKeys: string[]): Promise<Set<string>> {
  const result = await sql<{ lookup_key: string }>`SELECT lookup_key FROM links
    WHERE domain = ${domain} AND lookup_key = ANY(${lookupKeys}::text[]) AND deleted_at IS NULL`.execute(db)
  return new Set(result.rows.map((row) => row.lookup_key))
}

export async function selectDueTests(db: AllWorkspacesDb, now: Date): Promise<LinkRow[]> {
  const result = await sql<LinkRow>`SELECT l.* FROM links l
    WHERE l.test_completed_at <= ${now} AND l.test_variants IS NOT NULL AND l.test_winner_at IS NULL AND l.deleted_at IS NULL
    ORDER BY l.test_completed_at LIMIT 100`.execute(db)
  return result.rows
}

export type CountedRow = Pick<LinkRow, 'number' | 'id' | 'workspace_id' | 'domain' | 'key' | keyof CounterColumns> & {
  highest: bigint
}

export async function selectCounters(
  db: AllWorkspacesDb,
  workspaceId: string | undefined,
  after: bigint,
  count: number,
) {
  const mine = workspaceId === undefined ? sql`true` : sql`l.workspace_id = ${workspaceId}`
  const result = await sql<CountedRow>`SELECT l.number, l.id, l.workspace_id, l.domain, l.key,
      ${counters}, (SELECT max(number) FROM links) AS highest
    FROM ${linkTablesFragment} WHERE l.number > ${after} AND ${mine} ORDER BY l.number LIMIT ${count}`.execute(db)
  return result.rows
}

export type LinkSort = 'createdAt' | 'clicks' | 'saleAmount' | 'lastClicked'
export type LinkPage = {
  sort: LinkSort
  ascending: boolean
  /** The number of the last link on the previous page. */
  after?: bigint
  offset: number
  count: number
}

/** Holds locks on names in a workspace until the transaction ends; takes them in sorted order to avoid deadlocks. */
export async function lockNames(db: Db, workspaceId: string, names: string[]): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(name, ${locks.linkNames}))
    FROM unnest(${names.map((name) => `${workspaceId} ${name}`).sort()}::text[]) name`.execute(db)
}

const sortColumns: Record<LinkSort, RawBuilder<unknown>> = {
  createdAt: sql`l.number`,
  clicks: sql`c.clicks`,
  saleAmount: sql`c.sale_amount`,
  lastClicked: sql`coalesce(c.last_clicked, '-infinity'::timestamptz)`,
}

/** Reads a page of links: first finds their numbers, then reads the full rows of this page only. */
export async function selectLinks(db: Db, workspaceId: string, filter: LinkFilter, page: LinkPage): Promise<LinkRow[]> {
  const byCounter = page.sort !== 'createdAt'
  const direction = page.ascending ? sql`ASC` : sql`DESC`
  const order = byCounter
    ? sql`${sortColumns[page.sort]} ${direction}, l.number ${direction}`
    : sql`l.number ${direction}`
  const conditions = buildConditions(workspaceId, filter)
  if (byCounter) conditions.push(sql`c.workspace_id = ${workspaceId}`)
  if (page.after !== undefined) conditions.push(beyondFragment(page))
  const result = await sql<LinkRow>`
    WITH page AS (
      SELECT l.number FROM links l ${byCounter ? sql`JOIN link_counters c ON c.link_number = l.number` : sql``}
      WHERE ${sql.join(conditions, sql` AND `)} ORDER BY ${order} LIMIT ${page.count} OFFSET ${page.offset}
    )
    SELECT ${linkColumnsFragment} FROM ${linkTablesFragment} WHERE l.workspace_id = ${workspaceId} AND l.number IN (SELECT number FROM page)
    ORDER BY ${order}`.execute(db)
  return result.rows
}

export async function countLinks(db: Db, workspaceId: string, filter: LinkFilter): Promise<number> {
  const result = await sql<{ count: bigint }>`SELECT count(*) FROM links l
    WHERE ${sql.join(buildConditions(workspaceId, filter), sql` AND `)}`.execute(db)
  return Number(result.rows[0]?.count ?? 0)
}

export async function countAllLinks(db: Db, workspaceId: string): Promise<number> {
  const result = await sql<{ count: bigint }>`
    SELECT count(*) FROM links WHERE workspace_id = ${workspaceId} AND deleted_at IS NULL`.execute(db)
  return Number(result.rows[0]?.count ?? 0)
}

export async function countLinksBy(
  db: Db,
  workspaceId: string,
  filter: LinkFilter,
  page: { groupBy: 'domain' | 'tagId' | 'userId' | 'folderId'; ascending: boolean; offset: number; count: number },
): Promise<{ group: string | null; count: number }[]> {
  const columns = { domain: sql`l.domain`, tagId: sql`t.tag_id`, userId: sql`l.user_id`, folderId: sql`l.folder_id` }
  const tags = page.groupBy === 'tagId' ? sql`LEFT JOIN link_tags t ON t.link_number = l.number` : sql``
  const result = await sql<{ group: string | null; count: bigint }>`
    SELECT ${columns[page.groupBy]} AS group, count(*) FROM links l ${tags}
    WHERE ${sql.join(buildConditions(workspaceId, filter), sql` AND `)}
    GROUP BY 1 ORDER BY 2 ${page.ascending ? sql`ASC` : sql`DESC`}, 1
    LIMIT ${page.count} OFFSET ${page.offset}`.execute(db)
  return result.rows.map(({ group, count }) => ({ group, count: Number(count) }))
}

function beyondFragment({ sort, ascending, after }: LinkPage): RawBuilder<SqlBool> {
  const comparison = ascending ? sql`>` : sql`<`
  if (sort === 'createdAt') return sql`l.number ${comparison} ${after}`
  return sql`(${sortColumns[sort]}, l.number) ${comparison} (
    SELECT ${sortColumns[sort]}, c.link_number FROM link_counters c WHERE c.link_number = ${after})`
}

function selected(selector: LinkSelector): RawBuilder<SqlBool> {
  const there = sql`l.deleted_at IS NULL`
  if ('id' in selector) return sql`l.id = ${selector.id} AND ${there}`
  if ('externalId' in selector) return sql`l.external_id = ${selector.externalId} AND ${there}`
  return sql`l.domain = ${selector.domain} AND l.lookup_key = ${selector.lookupKey} AND ${there}`
}

/** Serializes JSON columns, because the driver would write lists as PostgreSQL arrays. */
function jsonColumns<T extends Partial<LinkColumns>>(columns: T): T {
  const { geo, test_variants } = columns
  return {
    ...columns,
    ...(geo !== undefined && { geo: geo && JSON.stringify(geo) }),
    ...(test_variants !== undefined && { test_variants: test_variants && JSON.stringify(test_variants) }),
  }
}

export async function existsLink(db: Db, workspaceId: string): Promise<boolean> {
  const result =
    await sql`SELECT FROM links WHERE workspace_id = ${workspaceId} AND deleted_at IS NULL LIMIT 1`.execute(db)
  return result.rows.length > 0
}
