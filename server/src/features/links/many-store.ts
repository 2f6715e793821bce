import { sql } from 'kysely'
import type { Db } from '../../platform/postgres.ts'
import type { LinkColumns, LinkRow } from './store.ts'
import { lockLinkTags } from './totals-store.ts'
import { buildConditions, type LinkFilter } from './where.ts'

/* Statements over many links at once. */

/** SQL that selects the numbers of the links that match a filter. */
export function matchingFragment(workspaceId: string, filter: LinkFilter) {
  return sql<{ number: bigint }>`SELECT l.number FROM links l
    WHERE ${sql.join(buildConditions(workspaceId, filter), sql` AND `)}`
}

/** The first of the numbers whose links have at most this many bytes of text together, and at least one. */
export async function selectWithinBytes(
  db: Db,
  workspaceId: string,
  numbers: bigint[],
  mostBytes: number,
): Promise<bigint[]> {
  const sizes = sql.join(
    ['url', 'ios', 'android', 'expired_url', 'image', 'video', 'title', 'description', 'comments', 'geo'].map(
      (column) => sql`coalesce(octet_length(${sql.ref(column)}::text), 0)`,
    ),
    sql` + `,
  )
  const result = await sql<{ number: bigint }>`
    SELECT number FROM (
      SELECT number, sum(${sizes}) OVER (ORDER BY number) AS bytes, row_number() OVER (ORDER BY number) AS place
      FROM links WHERE workspace_id = ${workspaceId} AND number = ANY(${numbers}::bigint[])) AS sized
    WHERE place = 1 OR bytes <= ${mostBytes} ORDER BY number`.execute(db)
  return result.rows.map((row) => row.number)
}

/** Locks links that are not deleted, in ascending order to avoid deadlocks. Returns their numbers. */
export async function lockLinks(db: Db, workspaceId: string, numbers: bigint[]): Promise<bigint[]> {
  // The tag lock comes before the locks of tags, as when a tag is deleted.
  await lockLinkTags(db, workspaceId)
  const result = await sql<{ number: bigint }>`SELECT number FROM links
    WHERE workspace_id = ${workspaceId} AND number = ANY(${numbers}::bigint[]) AND deleted_at IS NULL
    ORDER BY number FOR UPDATE`.execute(db)
  return result.rows.map((row) => row.number)
}

/** A value of a column as JSON that PostgreSQL reads back into the column. */
export function columnJson(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString()
  return value instanceof Uint8Array ? `\\x${Buffer.from(value).toString('hex')}` : (value ?? null)
}

export type LinkValues = { link: LinkRow; values: Partial<Record<keyof LinkColumns, unknown>> }

/** Sets columns of many links, to values of their own, in one statement. */
export async function updateLinks(db: Db, workspaceId: string, changes: LinkValues[]): Promise<void> {
  const columns = [...new Set(changes.flatMap(({ values }) => Object.keys(values) as (keyof LinkColumns)[]))].sort()
  const rows = changes.map(({ link, values }) => ({
    number: String(link.number),
    ...Object.fromEntries(columns.map((name) => [name, columnJson(name in values ? values[name] : link[name])])),
  }))
  const set = columns.map((name) => sql`${sql.ref(name)} = given.${sql.ref(name)}`)
  await sql`UPDATE links l SET ${sql.join([...set, sql`version = nextval('link_versions'), updated_at = now()`])}
    FROM jsonb_array_elements(${JSON.stringify(rows)}::jsonb) AS item
      CROSS JOIN LATERAL jsonb_populate_record(NULL::links, item) AS given
    WHERE l.workspace_id = ${workspaceId} AND l.number = given.number`.execute(db)
}

/** Replaces the tags of many links. */
export async function replaceTagsOfLinks(
  db: Db,
  workspaceId: string,
  links: { number: bigint; tagIds: string[] }[],
): Promise<void> {
  const numbers = links.map(({ number }) => number)
  await sql`DELETE FROM link_tags WHERE workspace_id = ${workspaceId} AND link_number = ANY(${numbers}::bigint[])`.execute(
    db,
  )
  const rows = links.map(({ number, tagIds }) => ({ number: String(number), tag_ids: tagIds }))
  await sql`INSERT INTO link_tags (workspace_id, link_number, tag_id, position)
    SELECT ${workspaceId}, item.number, tag.id, tag.position
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS item (number bigint, tag_ids text[])
    CROSS JOIN LATERAL unnest(item.tag_ids) WITH ORDINALITY AS tag (id, position)`.execute(db)
}

/**
 * Restores deleted links whose address and external id are free. Returns their numbers. May violate the indexes
 * `links_domain_key` and `links_external_id` when another transaction takes one at the same time.
 */
export async function restoreFreeLinks(db: Db, workspaceId: string, numbers: bigint[]): Promise<bigint[]> {
  const result = await sql<{ number: bigint }>`
    UPDATE links l SET deleted_at = NULL, version = nextval('link_versions'), updated_at = now()
    WHERE l.workspace_id = ${workspaceId} AND l.number = ANY(${numbers}::bigint[])
      AND l.deleted_at IS NOT NULL AND l.erased_at IS NULL
      AND NOT EXISTS (SELECT FROM links taken WHERE taken.domain = l.domain AND taken.lookup_key = l.lookup_key
        AND taken.deleted_at IS NULL)
      AND NOT EXISTS (SELECT FROM links taken WHERE taken.workspace_id = l.workspace_id
        AND taken.external_id = l.external_id AND taken.deleted_at IS NULL)
    RETURNING l.number`.execute(db)
  return result.rows.map((row) => row.number)
}
