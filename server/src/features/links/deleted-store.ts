import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { AllWorkspacesDb, Db } from '../../platform/postgres.ts'
import { type LinkColumns, type LinkRow, selectLinksByNumber } from './store.ts'
import { lockLinkTags } from './totals-store.ts'
import { containing, isInReadableFolder } from './where.ts'

export type DeletedFilter = {
  /** Only links that were deleted after this time. */
  since: Date
  hiddenFolders: string[]
  domain?: string
  search?: string
}
type Page = { ascending: boolean; offset: number; count: number }

const restorable = sql<SqlBool>`l.deleted_at IS NOT NULL AND l.erased_at IS NULL`

/** Reads a page of deleted links by time of deletion: first finds their numbers, then reads their rows. */
export async function selectDeletedLinks(db: Db, workspaceId: string, filter: DeletedFilter, page: Page) {
  const conditions: RawBuilder<SqlBool>[] = [
    sql`l.workspace_id = ${workspaceId} AND ${restorable} AND l.deleted_at > ${filter.since}`,
  ]
  if (filter.hiddenFolders.length > 0) conditions.push(isInReadableFolder(sql`l.folder_id`, filter.hiddenFolders))
  if (filter.domain !== undefined) conditions.push(sql`l.domain = ${filter.domain}`)
  if (filter.search !== undefined) conditions.push(containing(filter.search))
  const direction = page.ascending ? sql`ASC` : sql`DESC`
  const result = await sql<{ number: bigint }>`SELECT l.number FROM links l
    WHERE ${sql.join(conditions, sql` AND `)} ORDER BY l.deleted_at ${direction}, l.number ${direction}
    LIMIT ${page.count} OFFSET ${page.offset}`.execute(db)
  const numbers = result.rows.map((row) => row.number)
  const rows = new Map((await selectLinksByNumber(db, workspaceId, numbers)).map((row) => [row.number, row]))
  return numbers.flatMap((number) => rows.get(number) ?? [])
}

/** Reads a link that was deleted after `since`. */
export async function selectDeletedLink(
  db: Db,
  workspaceId: string,
  id: string,
  since: Date,
): Promise<LinkRow | undefined> {
  const result = await sql<{ number: bigint }>`SELECT l.number FROM links l
    WHERE l.workspace_id = ${workspaceId} AND l.id = ${id} AND ${restorable} AND l.deleted_at > ${since}`.execute(db)
  const number = result.rows[0]?.number
  return number === undefined ? undefined : (await selectLinksByNumber(db, workspaceId, [number]))[0]
}

export type RestoredColumns = Partial<Pick<LinkColumns, 'partner_id' | 'tenant_id' | 'disabled_at'>>

/** Restores a link. False when it is not deleted. May violate the indexes `links_domain_key` and `links_external_id`. */
export async function restoreDeletedLink(
  db: Db,
  workspaceId: string,
  number: bigint,
  columns: RestoredColumns,
): Promise<boolean> {
  await lockLinkTags(db, workspaceId)
  const changes = Object.entries(columns).map(([name, value]) => sql`${sql.ref(name)} = ${value}`)
  const set = [sql`deleted_at = NULL, version = nextval('link_versions'), updated_at = now()`, ...changes]
  const result = await sql`UPDATE links SET ${sql.join(set)}
    WHERE workspace_id = ${workspaceId} AND number = ${number} AND deleted_at IS NOT NULL AND erased_at IS NULL`.execute(
    db,
  )
  return Number(result.numAffectedRows ?? 0) > 0
}

/**
 * Erases what only a restored link would need of up to `count` links that were deleted before a time. Their address,
 * destination, title and ids stay, because events, customers and commissions show them. Returns how many links.
 */
export async function eraseDeletedLinks(db: AllWorkspacesDb, before: Date, count: number): Promise<number> {
  const result = await sql`UPDATE links SET erased_at = now(), sealed_password = NULL, comments = NULL,
      description = NULL, image = NULL, video = NULL, ios = NULL, android = NULL, geo = NULL, expired_url = NULL,
      test_variants = NULL, webhook_ids = '{}'
    WHERE number IN (SELECT number FROM links
      WHERE deleted_at <= ${before} AND deleted_at IS NOT NULL AND erased_at IS NULL
      ORDER BY deleted_at LIMIT ${count} FOR UPDATE SKIP LOCKED)`.execute(db)
  return Number(result.numAffectedRows ?? 0)
}
