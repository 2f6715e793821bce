import { sql } from 'kysely'
import { locks } from '../../platform/locks.ts'
import type { AllWorkspacesDb, Db } from '../../platform/postgres.ts'

export type DomainRow = {
  id: string
  workspace_id: string
  slug: string
  verified: boolean
  is_primary: boolean
  archived: boolean
  placeholder: string | null
  expired_url: string | null
  not_found_url: string | null
  logo: string | null
  asset_links: string | null
  apple_app_site_association: string | null
  check_at: Date
  checks: number
  checked_at: Date | null
  check_result: string | null
  updated_at: Date
  created_at: Date
}
export type NewDomainRow = Pick<DomainRow, 'id' | 'workspace_id' | 'slug' | 'verified'> &
  Partial<Omit<DomainRow, 'is_primary'>>
export type DomainChanges = Partial<Omit<DomainRow, 'id' | 'workspace_id' | 'created_at'>>
type Tables = { domains: NewDomainRow & Partial<DomainRow> }

/**
 * Locks domain changes of these workspaces until the transaction ends. All callers lock workspaces in the same order,
 * so that two transactions never deadlock.
 */
export async function lockDomains(db: Db, ...workspaceIds: string[]): Promise<void> {
  for (const workspaceId of [...new Set(workspaceIds)].sort()) {
    await sql`SELECT pg_advisory_xact_lock(hashtextextended(${workspaceId}, ${locks.domains}))`.execute(db)
  }
}

/** PostgreSQL's time at the start of the transaction. */
export async function selectNow(db: Db): Promise<Date> {
  const result = await sql<{ now: Date }>`SELECT now()`.execute(db)
  return result.rows[0]?.now as Date
}

/** Inserts a domain; a workspace's first domain becomes primary. Undefined when the name is taken. */
export async function insertDomain(db: Db, row: NewDomainRow): Promise<DomainRow | undefined> {
  const inserted = await db
    .withTables<Tables>()
    .insertInto('domains')
    .values({
      ...row,
      is_primary: sql<boolean>`NOT EXISTS (SELECT FROM domains WHERE workspace_id = ${row.workspace_id} AND is_primary)`,
    })
    .onConflict((conflict) => conflict.column('slug').doNothing())
    .returningAll()
    .executeTakeFirst()
  return inserted as DomainRow | undefined
}

export async function countDomains(db: Db, workspaceId: string): Promise<number> {
  const result = await sql<{ count: bigint }>`
    SELECT count(*) FROM domains WHERE workspace_id = ${workspaceId}`.execute(db)
  return Number(result.rows[0]?.count ?? 0)
}

/** Whether another workspace has a verified parent domain or subdomain of this domain. */
export async function isRelated(db: Db, workspaceId: string, slug: string): Promise<boolean> {
  const labels = slug.split('.')
  const above = labels.map((_, index) => labels.slice(index).join('.')).slice(1)
  const below = `${[...slug]
    .reverse()
    .join('')
    .replaceAll(/[\\%_]/g, '\\$&')}.%`
  const result = await sql`SELECT 1 FROM domains WHERE workspace_id <> ${workspaceId} AND verified
    AND (slug = ANY(${above}::text[]) OR reverse(slug) LIKE ${below}) LIMIT 1`.execute(db)
  return result.rows.length > 0
}

/** The workspace of a verified, active host, and whether a TLS certificate was allowed for the host before. */
export async function selectCertificateHolder(
  db: AllWorkspacesDb,
  host: string,
): Promise<{ workspaceId: string; isKnown: boolean } | undefined> {
  const result = await sql<{ workspaceId: string; isKnown: boolean }>`
    SELECT d.workspace_id AS "workspaceId", c.host IS NOT NULL AS "isKnown"
    FROM domains d LEFT JOIN certificate_hosts c ON c.workspace_id = d.workspace_id AND c.host = d.slug
    WHERE d.slug = ${host} AND d.verified AND NOT d.archived`.execute(db)
  return result.rows[0]
}

/** Records a TLS certificate; false when the workspace's daily limit is reached. Call it holding `lockDomains`. */
export async function insertCertificate(db: Db, workspaceId: string, host: string, most: number): Promise<boolean> {
  const isRecent = sql`allowed_at > now() - interval '1 day'`
  await sql`DELETE FROM certificate_hosts c WHERE workspace_id = ${workspaceId} AND NOT ${isRecent}
    AND NOT EXISTS (SELECT FROM domains d WHERE d.workspace_id = c.workspace_id AND d.slug = c.host)`.execute(db)
  const result = await sql`INSERT INTO certificate_hosts (workspace_id, host)
    SELECT ${workspaceId}, ${host} WHERE ${most} > (
      SELECT count(*) FROM certificate_hosts WHERE workspace_id = ${workspaceId} AND ${isRecent})
    ON CONFLICT (workspace_id, host) DO UPDATE SET host = excluded.host RETURNING host`.execute(db)
  return result.rows.length > 0
}

/** The SQL condition that a link's domain is the default one, or one that the workspace may use. */
export function linkDomainCondition({ workspace, domain, isDefault, shared }: DomainColumns): string {
  return `CASE WHEN ${isDefault} THEN ${domain} = coalesce(
      (SELECT d.slug FROM domains d WHERE d.workspace_id = ${workspace} AND d.is_primary), ${shared})
    ELSE ${domain} = ${shared} OR EXISTS (
      SELECT FROM domains d WHERE d.workspace_id = ${workspace} AND d.slug = ${domain}) END`
}

export type DomainColumns = Record<'workspace' | 'domain' | 'isDefault' | 'shared', string>

export async function selectPrimaryDomain(db: Db, workspaceId: string): Promise<string | undefined> {
  const row = await db
    .withTables<Tables>()
    .selectFrom('domains')
    .select('slug')
    .where('workspace_id', '=', workspaceId)
    .where('is_primary', '=', true)
    .executeTakeFirst()
  return row?.slug
}

export async function selectDomain(db: Db, workspaceId: string, slug: string): Promise<DomainRow | undefined> {
  const row = await db
    .withTables<Tables>()
    .selectFrom('domains')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('slug', '=', slug)
    .executeTakeFirst()
  return row as DomainRow | undefined
}

type Selection = {
  archived: boolean
  search?: string
  sort: 'createdAt' | 'slug'
  ascending: boolean
  offset: number
  count: number
}

export async function selectDomains(db: Db, workspaceId: string, selection: Selection): Promise<DomainRow[]> {
  let query = db.withTables<Tables>().selectFrom('domains').selectAll().where('workspace_id', '=', workspaceId)
  if (!selection.archived) query = query.where('archived', '=', false)
  if (selection.search) query = query.where('slug', 'like', `%${selection.search.replaceAll(/[\\%_]/g, '\\$&')}%`)
  const direction = selection.ascending ? 'asc' : 'desc'
  query = query.orderBy(selection.sort === 'slug' ? 'slug' : 'created_at', direction).orderBy('id', direction)
  const rows = await query.offset(selection.offset).limit(selection.count).execute()
  return rows as DomainRow[]
}

/** Finds a domain by host alone, because a visitor's request has no workspace. */
export async function selectDomainBySlug(db: AllWorkspacesDb, slug: string): Promise<DomainRow | undefined> {
  const row = await db
    .withTables<Tables>()
    .selectFrom('domains')
    .selectAll()
    .where('slug', '=', slug)
    .executeTakeFirst()
  return row as DomainRow | undefined
}

/** Finds a domain by id; `live` is the SQL condition that its workspace is not deleted. */
export async function selectDomainById(
  db: Db,
  workspaceId: string,
  id: string,
  live: string,
): Promise<DomainRow | undefined> {
  const result = await sql<DomainRow>`SELECT d.* FROM domains d
    WHERE d.workspace_id = ${workspaceId} AND d.id = ${id} AND ${sql.raw(live)}`.execute(db)
  return result.rows[0]
}

/** Finds a domain for a visitor; `live` is the SQL condition that its workspace is not deleted. */
export async function selectLiveDomain(
  db: AllWorkspacesDb,
  slug: string,
  live: string,
): Promise<DomainRow | undefined> {
  const result = await sql<DomainRow>`SELECT d.* FROM domains d WHERE d.slug = ${slug} AND ${sql.raw(live)}`.execute(db)
  return result.rows[0]
}

export async function selectVerifiedSlugs(db: AllWorkspacesDb, slugs: string[]): Promise<string[]> {
  const rows = await db
    .withTables<Tables>()
    .selectFrom('domains')
    .select('slug')
    .where('slug', 'in', slugs)
    .where('verified', '=', true)
    .execute()
  return rows.map((row) => row.slug)
}

export async function existsVerifiedDomain(db: Db, workspaceId: string): Promise<boolean> {
  const result = await sql`SELECT FROM domains WHERE workspace_id = ${workspaceId} AND verified LIMIT 1`.execute(db)
  return result.rows.length > 0
}

export async function changeDomain(
  db: Db,
  workspaceId: string,
  id: string,
  changes: DomainChanges,
): Promise<DomainRow | undefined> {
  const row = await db
    .withTables<Tables>()
    .updateTable('domains')
    .set(changes)
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
  return row as DomainRow | undefined
}

/** Unsets the workspace's primary domain and returns its name. */
export async function unsetPrimary(db: Db, workspaceId: string, now: Date): Promise<string | undefined> {
  const row = await db
    .withTables<Tables>()
    .updateTable('domains')
    .set({ is_primary: false, updated_at: now })
    .where('workspace_id', '=', workspaceId)
    .where('is_primary', '=', true)
    .returning('slug')
    .executeTakeFirst()
  return row?.slug
}

/** Makes the workspace's oldest domain primary when no domain is, and returns its name. */
export async function choosePrimary(db: Db, workspaceId: string, now: Date): Promise<string | undefined> {
  const result = await sql<{ slug: string }>`
    UPDATE domains SET is_primary = true, updated_at = ${now}
    WHERE id = (SELECT id FROM domains WHERE workspace_id = ${workspaceId} ORDER BY created_at, id LIMIT 1)
      AND NOT EXISTS (SELECT FROM domains WHERE workspace_id = ${workspaceId} AND is_primary)
    RETURNING slug`.execute(db)
  return result.rows[0]?.slug
}

export async function removeDomain(
  db: Db,
  workspaceId: string,
  by: { slug: string; id?: string },
): Promise<DomainRow | undefined> {
  let query = db
    .withTables<Tables>()
    .deleteFrom('domains')
    .where('workspace_id', '=', workspaceId)
    .where('slug', '=', by.slug)
  if (by.id !== undefined) query = query.where('id', '=', by.id)
  return (await query.returningAll().executeTakeFirst()) as DomainRow | undefined
}

/** Claims unverified domains that are due for a DNS check; no other worker claims them before `until`. */
export async function claimDueDomains(
  db: AllWorkspacesDb,
  now: Date,
  until: Date,
  count: number,
): Promise<DomainRow[]> {
  const result = await sql<DomainRow>`
    UPDATE domains SET check_at = ${until}
    WHERE id = ANY (ARRAY (
      SELECT id FROM domains WHERE NOT verified AND check_at <= ${now}
      ORDER BY check_at LIMIT ${count} FOR UPDATE SKIP LOCKED))
    RETURNING *`.execute(db)
  return result.rows
}

/** Records a DNS check of a domain; undefined when it was renamed, deleted or verified meanwhile. */
export async function noteCheck(
  db: Db,
  { workspace_id, id, slug }: DomainRow,
  note: Pick<DomainRow, 'verified' | 'check_at' | 'checks' | 'checked_at' | 'check_result'> & { updated_at?: Date },
): Promise<DomainRow | undefined> {
  const row = await db
    .withTables<Tables>()
    .updateTable('domains')
    .set(note)
    .where('workspace_id', '=', workspace_id)
    .where('id', '=', id)
    .where('slug', '=', slug)
    .where('verified', '=', false)
    .returningAll()
    .executeTakeFirst()
  return row as DomainRow | undefined
}

export async function hastenCheck(db: Db, workspaceId: string, id: string, at: Date): Promise<void> {
  await db
    .withTables<Tables>()
    .updateTable('domains')
    .set({ check_at: at })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('verified', '=', false)
    .where('check_at', '>', at)
    .execute()
}
