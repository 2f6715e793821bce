import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { locks } from '../../platform/locks.ts'
import type { AllWorkspacesDb, Db } from '../../platform/postgres.ts'
import { isInReadableFolder, type TotalsFilter } from './where.ts'

/* Triggers on `links` and `link_tags` append to `link_total_changes`; a count is the sum of both tables. */

const allLinks = '*'
const anyTag = ''
const dimensions = sql`workspace_id, tag_id, domain, folder_id, user_id, archived`

export async function sumTotals(db: Db, workspaceId: string, filter: TotalsFilter): Promise<number> {
  const tagId = filter.tagId ?? (filter.tagged ? anyTag : allLinks)
  const result = await sql<{ count: bigint }>`SELECT coalesce(sum(count), 0)::bigint AS count
    FROM ${storedFragment(workspaceId, filter, sql`tag_id = ${tagId}`)} AS stored`.execute(db)
  return Number(result.rows[0]?.count ?? 0)
}

/** The number of all links of the workspace, including archived ones. */
export function sumAllTotals(db: Db, workspaceId: string): Promise<number> {
  return sumTotals(db, workspaceId, { archived: true, tagged: false, hiddenFolders: [] })
}

export type GroupPage = { ascending: boolean; offset: number; count: number }

export async function sumTotalsBy(
  db: Db,
  workspaceId: string,
  filter: TotalsFilter,
  page: GroupPage & { groupBy: 'domain' | 'userId' | 'folderId' },
): Promise<{ group: string | null; count: number }[]> {
  const tagId = filter.tagId ?? (filter.tagged ? anyTag : allLinks)
  const columns = { domain: sql`domain`, userId: sql`nullif(user_id, '')`, folderId: sql`nullif(folder_id, '')` }
  const stored = storedFragment(workspaceId, filter, sql`tag_id = ${tagId}`)
  return selectGroups(db, sql`SELECT ${columns[page.groupBy]} AS group, count FROM ${stored} AS stored`, page)
}

/** Sums links by tag; links without a tag, which are all links except those with a tag, have the group null. */
export async function sumTotalsByTag(
  db: Db,
  workspaceId: string,
  filter: Omit<TotalsFilter, 'tagId'>,
  page: GroupPage,
): Promise<{ group: string | null; count: number }[]> {
  const stored = storedFragment(workspaceId, filter, filter.tagged ? sql`tag_id NOT IN ('*', '')` : sql`true`)
  const counted = sql`SELECT CASE WHEN tag_id NOT IN ('*', '') THEN tag_id END AS group,
    CASE tag_id WHEN '' THEN -count ELSE count END AS count FROM ${stored} AS stored`
  return selectGroups(db, counted, page)
}

function storedFragment(workspaceId: string, filter: Omit<TotalsFilter, 'tagId'>, tags: RawBuilder<SqlBool>) {
  const conditions = [sql<SqlBool>`workspace_id = ${workspaceId}`, tags]
  if (filter.hiddenFolders.length > 0) conditions.push(isInReadableFolder(sql`folder_id`, filter.hiddenFolders))
  if (!filter.archived) conditions.push(sql`NOT archived`)
  if (filter.domain !== undefined) conditions.push(sql`domain = ${filter.domain}`)
  if (filter.folderId !== undefined) conditions.push(sql`folder_id = ${filter.folderId ?? ''}`)
  if (filter.userId !== undefined) conditions.push(sql`user_id = ${filter.userId}`)
  const where = sql.join(conditions, sql` AND `)
  return sql`(SELECT ${dimensions}, count FROM link_totals WHERE ${where}
    UNION ALL SELECT ${dimensions}, change FROM link_total_changes WHERE ${where})`
}

async function selectGroups(db: Db, rows: RawBuilder<unknown>, { ascending, offset, count }: GroupPage) {
  const result = await sql<{ group: string | null; count: bigint }>`
    SELECT "group", sum(count)::bigint AS count FROM (${rows}) AS grouped GROUP BY 1 HAVING sum(count) > 0
    ORDER BY 2 ${ascending ? sql`ASC` : sql`DESC`}, 1 LIMIT ${count} OFFSET ${offset}`.execute(db)
  return result.rows.map(({ group, count }) => ({ group, count: Number(count) }))
}

/** Adds up to `count` changes to the totals. Returns how many; 0 while another process does it. */
export async function foldChanges(db: AllWorkspacesDb, count: number): Promise<number> {
  const turn = await sql<{ taken: boolean }>`SELECT pg_try_advisory_xact_lock(${locks.linkTotals}) AS taken`.execute(db)
  if (!turn.rows[0]?.taken) return 0
  const folded = await sql<{ rows: bigint; emptied: string[] | null }>`
    WITH taken AS (
      DELETE FROM link_total_changes WHERE (workspace_id, tag_id, number) IN (
        SELECT workspace_id, tag_id, number FROM link_total_changes LIMIT ${count}) RETURNING *
    ), folded AS (
      INSERT INTO link_totals AS known (${dimensions}, count)
      SELECT ${dimensions}, sum(change) FROM taken GROUP BY ${dimensions} HAVING sum(change) <> 0
      ON CONFLICT (${dimensions}) DO UPDATE SET count = known.count + excluded.count
      RETURNING workspace_id, count
    )
    SELECT (SELECT count(*) FROM taken) AS rows,
      (SELECT array_agg(DISTINCT workspace_id) FROM folded WHERE count = 0) AS emptied`.execute(db)
  const [{ rows, emptied } = { rows: 0n, emptied: null }] = folded.rows
  if (emptied) await sql`DELETE FROM link_totals WHERE workspace_id = ANY(${emptied}) AND count = 0`.execute(db)
  return Number(rows)
}

export type TotalDifference = {
  workspaceId: string
  tagId: string
  domain: string
  folderId: string
  userId: string
  archived: boolean
  stored: bigint
  counted: bigint
}

/** Counts all links, of one workspace or of all, and returns the totals that differ. One snapshot, so always exact. */
export async function selectTotalDifferences(db: AllWorkspacesDb, workspaceId?: string): Promise<TotalDifference[]> {
  const result = await sql<TotalDifference>`${differences(workspaceId)} SELECT * FROM differences`.execute(db)
  return result.rows
}

/** Appends the changes that make the totals equal to the counted links. Returns the differences that it repaired. */
export async function repairTotalDifferences(db: AllWorkspacesDb, workspaceId?: string): Promise<TotalDifference[]> {
  // Two repairs at the same time would both append the same change.
  await sql`SELECT pg_advisory_xact_lock(${locks.linkTotals})`.execute(db)
  const result = await sql<TotalDifference>`${differences(workspaceId)}, repaired AS (
      INSERT INTO link_total_changes (${dimensions}, change)
      SELECT "workspaceId", "tagId", domain, "folderId", "userId", archived, counted - stored FROM differences)
    SELECT * FROM differences`.execute(db)
  return result.rows
}

function differences(workspaceId: string | undefined) {
  const mine = workspaceId === undefined ? sql`true` : sql`workspace_id = ${workspaceId}`
  const linkDimensions = sql`l.domain, coalesce(l.folder_id, ''), coalesce(l.user_id, ''), l.archived`
  return sql`WITH counted AS (
      SELECT l.workspace_id, '*', ${linkDimensions}, count(*) FROM links l
      WHERE l.deleted_at IS NULL AND ${mine} GROUP BY 1, 2, 3, 4, 5, 6
      UNION ALL
      SELECT l.workspace_id, t.tag_id, ${linkDimensions}, count(*) FROM (
        SELECT link_number, tag_id FROM link_tags WHERE ${mine}
        UNION ALL SELECT DISTINCT link_number, '' FROM link_tags WHERE ${mine}
      ) t JOIN links l ON l.number = t.link_number
      WHERE l.deleted_at IS NULL GROUP BY 1, 2, 3, 4, 5, 6
    ), stored AS (
      SELECT ${dimensions}, sum(count) FROM (
        SELECT ${dimensions}, count FROM link_totals WHERE ${mine}
        UNION ALL SELECT ${dimensions}, change FROM link_total_changes WHERE ${mine}
      ) parts GROUP BY ${dimensions}
    ), differences AS (
      SELECT workspace_id AS "workspaceId", tag_id AS "tagId", domain, folder_id AS "folderId", user_id AS "userId",
        archived, coalesce(k.count, 0)::bigint AS stored, coalesce(c.count, 0)::bigint AS counted
      FROM counted c (${dimensions}, count) FULL JOIN stored k (${dimensions}, count) USING (${dimensions})
      WHERE coalesce(k.count, 0) <> coalesce(c.count, 0)
    )`
}

/** Blocks the deletion of tags of this workspace until the transaction ends, so that the tags of its links stay. */
export async function lockLinkTags(db: Db, workspaceId: string): Promise<void> {
  await sql`SELECT ${linkTagsLock(workspaceId)}`.execute(db)
}

export function linkTagsLock(workspaceId: string): RawBuilder<unknown> {
  return sql`pg_advisory_xact_lock_shared(hashtextextended(${workspaceId}, ${locks.linkTags}))`
}
