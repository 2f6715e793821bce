import { type RawBuilder, type SqlBool, sql } from 'kysely'

export type LinkFilter = {
  domain?: string
  tagIds?: string[]
  folderId?: string | null
  /** Folders that the caller may not read. */
  hiddenFolders: string[]
  search?: string
  userId?: string
  tenantId?: string
  archived: boolean
  tagged: boolean
}

/** A filter by the columns of the stored totals. */
export type TotalsFilter = Pick<
  LinkFilter,
  'domain' | 'folderId' | 'hiddenFolders' | 'userId' | 'archived' | 'tagged'
> & {
  tagId?: string
}

/** The filter of the stored totals; undefined when only the links themselves can tell their number. */
export function totalsFilter({ search, tenantId, tagIds, ...filter }: LinkFilter): TotalsFilter | undefined {
  // A link with two of several tags would count twice.
  if (search !== undefined || tenantId !== undefined || (tagIds && tagIds.length !== 1)) return undefined
  return { ...filter, tagId: tagIds?.[0] }
}

/** The SQL conditions of a link list or count. */
export function buildConditions(workspaceId: string, filter: LinkFilter): RawBuilder<SqlBool>[] {
  const conditions = [sql<SqlBool>`l.workspace_id = ${workspaceId}`, sql<SqlBool>`l.deleted_at IS NULL`]
  if (filter.hiddenFolders.length > 0) conditions.push(isInReadableFolder(sql`l.folder_id`, filter.hiddenFolders))
  if (!filter.archived) conditions.push(sql`NOT l.archived`)
  if (filter.domain !== undefined) conditions.push(sql`l.domain = ${filter.domain}`)
  if (filter.folderId === null) conditions.push(sql`l.folder_id IS NULL`)
  else if (filter.folderId !== undefined) conditions.push(sql`l.folder_id = ${filter.folderId}`)
  if (filter.userId !== undefined) conditions.push(sql`l.user_id = ${filter.userId}`)
  if (filter.tenantId !== undefined) conditions.push(sql`l.tenant_id = ${filter.tenantId}`)
  if (filter.search !== undefined) conditions.push(containing(filter.search))
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

function containing(text: string): RawBuilder<SqlBool> {
  const pattern = text.replaceAll(/[\\%_]/g, '\\$&')
  // PostgreSQL and JavaScript have different lower cases of some letters, such as İ.
  return sql`l.search_text LIKE lower(${`%${pattern}%`})`
}
