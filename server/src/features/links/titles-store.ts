import { sql } from 'kysely'
import type { AllWorkspacesDb, Db } from '../../platform/postgres.ts'
import type { LinkRow } from './store.ts'
import { isInReadableFolder } from './where.ts'

export type LinkTitleRow = Pick<
  LinkRow,
  'number' | 'id' | 'domain' | 'key' | 'url' | 'title' | 'comments' | 'folder_id' | 'partner_id' | 'created_at'
>

const mostBytes = 16_000_000

/** Reads what a list of many links shows of each, in order up to `mostBytes` of text, including deleted links. */
export async function selectLinkTitles(db: Db, workspaceId: string, numbers: bigint[]): Promise<LinkTitleRow[]> {
  const result = await sql<LinkTitleRow>`
    SELECT number, id, domain, key, url, title, comments, folder_id, partner_id, created_at FROM (
      SELECT links.*, sum(octet_length(url) + coalesce(octet_length(title), 0) + coalesce(octet_length(comments), 0))
        OVER (ORDER BY place) AS bytes
      FROM unnest(${numbers}::bigint[]) WITH ORDINALITY AS asked (asked_number, place)
      JOIN links ON number = asked_number AND workspace_id = ${workspaceId}) AS links
    WHERE bytes <= ${mostBytes} ORDER BY bytes`.execute(db)
  return result.rows
}

/** The numbers of links that are named by id or by external id, except for those in hidden folders. */
export async function selectNumbersByName(
  db: Db,
  workspaceId: string,
  { ids, externalIds, hiddenFolders }: { ids: string[]; externalIds: string[]; hiddenFolders: string[] },
): Promise<Pick<LinkRow, 'number' | 'id' | 'external_id'>[]> {
  const isReadable = isInReadableFolder(sql`folder_id`, hiddenFolders)
  const result = await sql<Pick<LinkRow, 'number' | 'id' | 'external_id'>>`
    SELECT number, id, external_id FROM links WHERE workspace_id = ${workspaceId} AND id = ANY(${ids}::text[]) AND ${isReadable}
    UNION ALL
    SELECT number, id, external_id FROM links
    WHERE workspace_id = ${workspaceId} AND external_id = ANY(${externalIds}::text[]) AND deleted_at IS NULL
    AND ${isReadable}`.execute(db)
  return result.rows
}

/** Finds a link by id for a visitor; `live` is the SQL condition that its workspace is not deleted. */
export async function selectVisitedLink(db: AllWorkspacesDb, id: string, live: string): Promise<LinkRow | undefined> {
  const result = await sql<LinkRow>`
    SELECT l.* FROM links l WHERE l.id = ${id} AND l.deleted_at IS NULL AND ${sql.raw(live)}`.execute(db)
  return result.rows[0]
}
