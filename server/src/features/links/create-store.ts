import { CompiledQuery } from 'kysely'
import { locks } from '../../platform/locks.ts'
import { outboxInsert, outboxNotify } from '../../platform/outbox.ts'
import { type Db, prepareOnce } from '../../platform/postgres.ts'
import type { LinkRow } from './store.ts'

/** A link to insert; `change`, `event` and `link` are the parts of its message, which the statement completes. */
export type NewItem = {
  row: InsertedColumns
  /** Whether the client chose no domain, so that the row's domain must be the primary one. */
  is_default: boolean
  tag_ids: string[]
  change: object
  event: object
  link: object
  /** The audit log's entry, when the statement inserts it. */
  entry: object | null
}
export type InsertedRow = Pick<LinkRow, 'id' | 'number' | 'version' | 'created_at'>

/** The columns of a link without any setting. */
export const unsetColumns = {
  track_conversion: false,
  external_id: null,
  tenant_id: null,
  program_id: null,
  partner_id: null,
  archived: false,
  expires_at: null,
  expired_url: null,
  disabled_at: null,
  proxy: false,
  title: null,
  description: null,
  image: null,
  video: null,
  rewrite: false,
  do_index: false,
  ios: null,
  android: null,
  geo: null,
  public_stats: false,
  folder_id: null,
  comments: null,
  utm_source: null,
  utm_medium: null,
  utm_campaign: null,
  utm_term: null,
  utm_content: null,
  test_variants: null,
  test_started_at: null,
  test_completed_at: null,
  webhook_ids: [] as string[],
}

/** The columns that creation writes; PostgreSQL fills the others. */
const insertedColumns = [
  ...(['id', 'workspace_id', 'user_id', 'domain', 'key', 'lookup_key', 'url', 'sealed_password'] as const),
  ...(Object.keys(unsetColumns) as (keyof typeof unsetColumns)[]),
]
type InsertedColumns = Pick<LinkRow, Exclude<(typeof insertedColumns)[number], 'sealed_password'>> & {
  sealed_password: string | null
}

export type Creation = (
  db: Db,
  workspaceId: string,
  input: {
    sharedDomain: string
    subject: string
    traceparent: string | null
    items: NewItem[]
  },
) => Promise<InsertedRow[]>

/** SQL conditions of other features on `given`, the row to insert, and `item`; `$1` is the workspace. */
export type CreationConditions = { domain: string; folder: string; webhooks: string; tags: string; partner: string }

/**
 * Returns the function that inserts links with their counters, tags, messages and audit entries in one statement, and
 * skips each link that does not meet a condition or whose address or external id is taken. `insertEntries` is the SQL
 * that inserts the entry of each link in `made`.
 */
export function openCreation(
  { domain, folder, webhooks, tags, partner }: CreationConditions,
  insertEntries: (parts: Record<'from' | 'entry', string>) => string,
): Creation {
  const columns = insertedColumns.join(', ')
  const createdAt = `to_char(made.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
  const tagged = {
    condition: `AND CASE WHEN cardinality(item.tag_ids) = 0 THEN true
      WHEN pg_advisory_xact_lock_shared(hashtextextended($1, ${locks.linkTags}))::text IS NULL THEN false
      ELSE ${tags} END`,
    insert: `, tagged AS (
      INSERT INTO link_tags (workspace_id, link_number, tag_id, position)
      SELECT $1, made.number, tag.id, tag.position FROM made JOIN item ON item.row ->> 'id' = made.id
      CROSS JOIN LATERAL unnest(item.tag_ids) WITH ORDINALITY AS tag (id, position))`,
  }
  const buildText = ({ condition, insert }: typeof tagged) => `WITH item AS MATERIALIZED (
      SELECT * FROM jsonb_to_recordset($2::jsonb) AS item (
        row jsonb, is_default boolean, tag_ids text[], change jsonb, event jsonb, link jsonb, entry jsonb)
    ), made AS (
      INSERT INTO links (${columns})
      SELECT ${insertedColumns.map((column) => `given.${column}`).join(', ')}
      FROM item CROSS JOIN LATERAL jsonb_populate_record(NULL::links, item.row) AS given
      WHERE given.workspace_id = $1 AND ${domain} AND ${folder} AND ${webhooks} AND ${partner} ${condition}
      ON CONFLICT DO NOTHING
      RETURNING number, id, version, created_at
    ), counted AS (
      INSERT INTO link_counters (link_number, workspace_id) SELECT number, $1 FROM made
    ) ${insert}, published AS (
      ${outboxInsert(`SELECT $1, $4, item.change || jsonb_build_object('linkNumber', made.number::text,
        'version', made.version, 'event', item.event || jsonb_build_object('link', item.link
          || jsonb_build_object('createdAt', ${createdAt}, 'updatedAt', ${createdAt}))), $5
      FROM made JOIN item ON item.row ->> 'id' = made.id`)}
    ), audited AS (
      ${insertEntries({ from: `made JOIN item ON item.row ->> 'id' = made.id`, entry: 'item.entry' })}
    )
    SELECT made.*, CASE WHEN $6::boolean THEN ${outboxNotify}::text END AS notified FROM made`
  const texts = {
    tagged: prepareOnce('create_tagged_links', buildText(tagged)),
    // An insert of no tags would still run the trigger on tags.
    untagged: prepareOnce('create_links', buildText({ condition: '', insert: '' })),
  }
  return async (db, workspaceId, { sharedDomain, subject, traceparent, items }) => {
    const values = [workspaceId, JSON.stringify(items), sharedDomain, subject, traceparent, db.isTransaction]
    const hasTags = items.some(({ tag_ids }) => tag_ids.length > 0)
    const text = hasTags ? texts.tagged : texts.untagged
    const result = await db.executeQuery<InsertedRow>(CompiledQuery.raw(text, values))
    return result.rows
  }
}
