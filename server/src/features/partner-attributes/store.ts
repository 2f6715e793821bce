import { sql } from 'kysely'
import { type AllWorkspacesClickHouse, atOnce, query } from '../../platform/clickhouse.ts'
import { locks } from '../../platform/locks.ts'
import type { AllWorkspacesDb } from '../../platform/postgres.ts'

/* Triggers on partners and their tags append to `partner_attribute_changes` in PostgreSQL. */

export type AttributeChange = { number: bigint; workspace_id: string; partner_id: string }

/** The oldest changes, or those of the given partners. */
export async function selectAttributeChanges(
  db: AllWorkspacesDb,
  range: { count: number } | { ids: string[] },
): Promise<AttributeChange[]> {
  const named = 'ids' in range ? sql`WHERE partner_id = ANY(${range.ids}::text[])` : sql``
  const result = await sql<AttributeChange>`SELECT number, workspace_id, partner_id
    FROM partner_attribute_changes ${named} ORDER BY number ${'count' in range ? sql`LIMIT ${range.count}` : sql``}`.execute(
    db,
  )
  return result.rows
}

export async function insertAttributeChanges(
  db: AllWorkspacesDb,
  partners: Pick<AttributeChange, 'workspace_id' | 'partner_id'>[],
): Promise<void> {
  await sql`INSERT INTO partner_attribute_changes (workspace_id, partner_id) SELECT * FROM unnest(
    ${partners.map((partner) => partner.workspace_id)}::text[],
    ${partners.map((partner) => partner.partner_id)}::text[])`.execute(db)
}

export async function deleteAttributeChanges(db: AllWorkspacesDb, numbers: bigint[]): Promise<void> {
  await sql`DELETE FROM partner_attribute_changes WHERE number = ANY(${numbers}::bigint[])`.execute(db)
}

/** A number that is higher than those of all attributes written before. */
export async function nextAttributesVersion(db: AllWorkspacesDb): Promise<bigint> {
  const result = await sql<{ version: bigint }>`SELECT nextval('partner_attribute_versions') AS version`.execute(db)
  return result.rows[0]?.version ?? 0n
}

/** Locks the attributes in ClickHouse until the transaction ends; waits at most five seconds, or not at all. */
export async function lockAttributes(db: AllWorkspacesDb, isWaiting: boolean): Promise<boolean> {
  await sql`SET LOCAL idle_in_transaction_session_timeout = '40s'`.execute(db)
  if (isWaiting) {
    await sql`SET LOCAL lock_timeout = '5s'`.execute(db)
    await sql`SELECT pg_advisory_xact_lock(${locks.partnerAttributes})`.execute(db)
    return true
  }
  const result = await sql<{ taken: boolean }>`
    SELECT pg_try_advisory_xact_lock(${locks.partnerAttributes}) AS taken`.execute(db)
  return result.rows[0]?.taken ?? false
}

export type PartnerAttributesRow = { workspace_id: string; partner_id: string; group_id: string; tag_ids: string[] }

/** Inserts the groups and tags of partners; a newer version replaces an older one. */
export async function insertPartnerAttributes(
  clickhouse: AllWorkspacesClickHouse,
  rows: PartnerAttributesRow[],
  version: bigint,
): Promise<void> {
  const values = rows.map((row) => ({ ...row, version: String(version) }))
  const table = 'partner_attributes'
  await clickhouse.insert({ table, values, format: 'JSONEachRow', clickhouse_settings: atOnce })
}

export function selectPartnerAttributes(
  clickhouse: AllWorkspacesClickHouse,
  values: { workspaceIds: string[]; partnerIds: string[] },
): Promise<PartnerAttributesRow[]> {
  return query(
    clickhouse,
    `SELECT workspace_id, partner_id, group_id, tag_ids FROM partner_attributes FINAL
WHERE workspace_id IN {workspaceIds:Array(String)} AND partner_id IN {partnerIds:Array(String)}`,
    values,
  )
}

/** The partners whose attributes were written with a version after `version`, ordered by id. */
export function selectLaterPartners(
  clickhouse: AllWorkspacesClickHouse,
  values: { version: bigint; after: string; count: number },
): Promise<Pick<PartnerAttributesRow, 'workspace_id' | 'partner_id'>[]> {
  return query(
    clickhouse,
    `SELECT DISTINCT workspace_id, partner_id FROM partner_attributes
WHERE version > {version:UInt64} AND partner_id > {after:String} ORDER BY partner_id LIMIT {count:UInt32}`,
    values,
  )
}
