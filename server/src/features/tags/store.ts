import type { Tag } from '@tributary/contract/tags'
import { sql } from 'kysely'
import { locks } from '../../platform/locks.ts'
import { type Db, deleteById, updateById } from '../../platform/postgres.ts'

export type TagRow = Tag & { workspace_id: string; created_at: Date; updated_at: Date }
type NewTagRow = Tag & { workspace_id: string }
export type TagSelection = {
  ids?: string[]
  search?: string
  sortBy: 'name' | 'createdAt'
  ascending: boolean
  offset: number
  count: number
}

export async function selectTags(db: Db, workspaceId: string, selection: TagSelection): Promise<TagRow[]> {
  const conditions = [sql`workspace_id = ${workspaceId}`]
  if (selection.ids) conditions.push(sql`id = ANY(${selection.ids})`)
  if (selection.search) conditions.push(sql`strpos(lower(name), lower(${selection.search})) > 0`)
  const direction = selection.ascending ? sql`ASC` : sql`DESC`
  const order = selection.sortBy === 'name' ? sql`lower(name)` : sql`created_at`
  const result = await sql<TagRow>`
    SELECT * FROM tags WHERE ${sql.join(conditions, sql` AND `)}
    ORDER BY ${order} ${direction}, id ${direction}
    LIMIT ${selection.count} OFFSET ${selection.offset}`.execute(db)
  return result.rows
}

export async function countTags(db: Db, workspaceId: string): Promise<number> {
  const result = await sql<{ count: bigint }>`
    SELECT count(*) FROM tags WHERE workspace_id = ${workspaceId}`.execute(db)
  return Number(result.rows[0]?.count ?? 0)
}

/** Inserts a tag. Undefined when its name is taken. */
export async function insertTag(db: Db, row: NewTagRow): Promise<TagRow | undefined> {
  const result = await sql<TagRow>`
    INSERT INTO tags (id, workspace_id, name, color) VALUES (${row.id}, ${row.workspace_id}, ${row.name}, ${row.color})
    ON CONFLICT (workspace_id, lower(name)) DO NOTHING RETURNING *`.execute(db)
  return result.rows[0]
}

/** Reads tags by id. In a transaction, locks their rows against deletion until it ends. */
export async function selectTagsByIds(db: Db, workspaceId: string, ids: string[]): Promise<TagRow[]> {
  const result = await sql<TagRow>`
    SELECT * FROM tags t WHERE workspace_id = ${workspaceId} AND id = ANY(${ids}) ${rowLock(db)}`.execute(db)
  return result.rows
}

/** The SQL condition that all of these tags exist; locks their rows against deletion until the transaction ends. */
export function existingTags({ workspace, ids }: Record<'workspace' | 'ids', string>): string {
  return `cardinality(${ids}) = (SELECT count(*) FROM (
    SELECT FROM tags t WHERE t.workspace_id = ${workspace} AND t.id = ANY(${ids}) FOR KEY SHARE) known)`
}

export async function selectTagsByIdOrName(
  db: Db,
  workspaceId: string,
  { ids, names }: Record<'ids' | 'names', string[]>,
): Promise<TagRow[]> {
  const result = await sql<TagRow>`SELECT * FROM tags WHERE workspace_id = ${workspaceId} AND (id = ANY(${ids}::text[])
    OR lower(name) IN (SELECT lower(name) FROM unnest(${names}::text[]) AS requested (name)))`.execute(db)
  return result.rows
}

/** Reads tags by name, with the 1-based index of the name. In a transaction, locks their rows against deletion. */
export async function selectTagsByNames(
  db: Db,
  workspaceId: string,
  names: string[],
): Promise<{ id: string; index: bigint }[]> {
  const result = await sql<{ id: string; index: bigint }>`
    SELECT t.id, requested.index FROM unnest(${names}::text[]) WITH ORDINALITY AS requested (name, index)
    JOIN tags t ON t.workspace_id = ${workspaceId} AND lower(t.name) = lower(requested.name)
    ORDER BY requested.index ${rowLock(db)}`.execute(db)
  return result.rows
}

function rowLock(db: Db) {
  return db.isTransaction ? sql`FOR KEY SHARE OF t` : sql``
}

/** Updates a tag. Undefined when it does not exist. */
export function updateTagRow(
  db: Db,
  workspaceId: string,
  id: string,
  changes: { name?: string; color?: Tag['color'] },
) {
  return updateById<TagRow>(db, 'tags', workspaceId, id, changes)
}

export function deleteTagRow(db: Db, workspaceId: string, id: string): Promise<boolean> {
  return deleteById(db, 'tags', workspaceId, id)
}

/** Waits for running changes of links and blocks new ones until the transaction ends: a trigger counts links by tag. */
export async function lockTagging(db: Db, workspaceId: string): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${workspaceId}, ${locks.linkTags}))`.execute(db)
}

type NamedTag = { workspaceId: string; tagId: string }

export async function selectMissingTags(db: Db, named: NamedTag[]): Promise<NamedTag[]> {
  const result = await sql<NamedTag>`
    SELECT DISTINCT named.workspace_id AS "workspaceId", named.id AS "tagId"
    FROM unnest(
      ${named.map((tag) => tag.workspaceId)}::text[],
      ${named.map((tag) => tag.tagId)}::text[]
    ) AS named (workspace_id, id)
    LEFT JOIN tags t ON t.workspace_id = named.workspace_id AND t.id = named.id
    WHERE t.id IS NULL`.execute(db)
  return result.rows
}
