import type { LinkState } from '@tributary/contract/link-filters'
import { type RawBuilder, type SqlBool, sql } from 'kysely'

export type LinkFilter = {
  domain?: string
  tagIds?: string[]
  folderId?: string | null
  /** Folders that the caller may not read. */
  hiddenFolders: string[]
  search?: string
  userId?: string
  partnerId?: string
  tenantId?: string
  state?: LinkState
  /** Created at or after `start`, and before `end`. */
  start?: string
  end?: string
  archived: boolean
  tagged: boolean
  ids?: string[]
}

/** A filter by the columns of the stored totals. */
export type TotalsFilter = Pick<
  LinkFilter,
  'domain' | 'folderId' | 'hiddenFolders' | 'userId' | 'archived' | 'tagged'
> & {
  tagId?: string
}

/** The filter of the stored totals; undefined when only the links themselves can tell their number. */
export function totalsFilter(given: LinkFilter): TotalsFilter | undefined {
  const { ids, search, tenantId, partnerId, state, start, end, tagIds, ...filter } = given
  if ([ids, search, tenantId, partnerId, state, start, end].some((value) => value !== undefined)) return undefined
  // A link with two of several tags would count twice.
  if (tagIds && tagIds.length !== 1) return undefined
  return { ...filter, tagId: tagIds?.[0] }
}

/** Each condition but `active` implies that of the index `links_special`, which has the few links that are not as most. */
const stateConditions: Record<LinkState, RawBuilder<SqlBool>> = {
  active: sql`NOT l.archived AND l.disabled_at IS NULL AND (l.expires_at IS NULL OR l.expires_at > now())`,
  archived: sql`l.archived`,
  expired: sql`l.expires_at <= now()`,
  disabled: sql`l.disabled_at IS NOT NULL`,
  password: sql`l.sealed_password IS NOT NULL`,
  test: sql`l.test_variants IS NOT NULL`,
}

/** The SQL conditions of a link list or count. */
export function buildConditions(workspaceId: string, filter: LinkFilter): RawBuilder<SqlBool>[] {
  const conditions = [sql<SqlBool>`l.workspace_id = ${workspaceId}`, sql<SqlBool>`l.deleted_at IS NULL`]
  if (filter.hiddenFolders.length > 0) conditions.push(isInReadableFolder(sql`l.folder_id`, filter.hiddenFolders))
  if (!filter.archived && filter.state !== 'archived') conditions.push(sql`NOT l.archived`)
  if (filter.state !== undefined) conditions.push(stateConditions[filter.state])
  if (filter.domain !== undefined) conditions.push(sql`l.domain = ${filter.domain}`)
  if (filter.folderId === null) conditions.push(sql`l.folder_id IS NULL`)
  else if (filter.folderId !== undefined) conditions.push(sql`l.folder_id = ${filter.folderId}`)
  if (filter.userId !== undefined) conditions.push(sql`l.user_id = ${filter.userId}`)
  if (filter.partnerId !== undefined) conditions.push(sql`l.partner_id = ${filter.partnerId}`)
  if (filter.start !== undefined) conditions.push(sql`l.created_at >= ${new Date(filter.start)}`)
  if (filter.end !== undefined) conditions.push(sql`l.created_at < ${new Date(filter.end)}`)
  if (filter.tenantId !== undefined) conditions.push(sql`l.tenant_id = ${filter.tenantId}`)
  if (filter.search !== undefined) conditions.push(containing(filter.search))
  if (filter.ids !== undefined) conditions.push(sql`l.id = ANY(${filter.ids}::text[])`)
  if (filter.tagged) conditions.push(sql`EXISTS (SELECT FROM link_tags t WHERE t.link_number = l.number)`)
  if (filter.tagIds !== undefined) {
    conditions.push(
      sql`l.number IN (SELECT t.link_number FROM link_tags t WHERE t.tag_id = ANY(${filter.tagIds}::text[]))`,
    )
  }
  return conditions
}

/** The SQL condition that a link is in no folder, or in one that is not hidden. */
export function isInReadableFolder(column: RawBuilder<unknown>, hidden: string[]): RawBuilder<SqlBool> {
  return sql`coalesce(${column}, '') <> ALL(${hidden}::text[])`
}

/** The SQL condition that a link's address or destination contains a text. */
export function containing(text: string): RawBuilder<SqlBool> {
  const pattern = text.replaceAll(/[\\%_]/g, '\\$&')
  // PostgreSQL and JavaScript have different lower cases of some letters, such as İ.
  return sql`l.search_text LIKE lower(${`%${pattern}%`})`
}
