import type { MoveRule, PartnerGroup } from '@tributary/contract/groups'
import { sql } from 'kysely'
import type { AllWorkspacesDb, Db } from '../../platform/postgres.ts'

export type GroupRow = {
  number: bigint
  id: string
  workspace_id: string
  name: string
  slug: string
  color: string | null
  is_default: boolean
  default_links: PartnerGroup['defaultLinks']
  additional_links: PartnerGroup['additionalLinks']
  max_partner_links: number
  holding_period_days: PartnerGroup['holdingPeriodDays']
  auto_approve: boolean
  move_rules: MoveRule[]
  created_at: Date
  updated_at: Date
  deleted_at: Date | null
}
export type NewGroupRow = Pick<GroupRow, 'id' | 'workspace_id' | 'name' | 'slug'> & GroupChanges
export type GroupChanges = Partial<
  Omit<GroupRow, 'number' | 'id' | 'workspace_id' | 'created_at' | 'updated_at' | 'deleted_at'>
>
type Tables = {
  partner_groups: Omit<NewGroupRow, 'updated_at'> & { number?: bigint; updated_at?: Date; deleted_at?: Date }
}

export async function selectGroups(
  db: Db,
  workspaceId: string,
  page: { search?: string; sort: 'name' | 'createdAt'; ascending: boolean; offset: number; count: number },
): Promise<GroupRow[]> {
  const found = page.search ? sql`strpos(lower(name), lower(${page.search})) > 0` : sql`true`
  const direction = page.ascending ? sql`ASC` : sql`DESC`
  const order = page.sort === 'name' ? sql`lower(name) ${direction}, number ${direction}` : sql`number ${direction}`
  const result = await sql<GroupRow>`SELECT * FROM partner_groups
    WHERE workspace_id = ${workspaceId} AND deleted_at IS NULL AND ${found}
    ORDER BY ${order} LIMIT ${page.count} OFFSET ${page.offset}`.execute(db)
  return result.rows
}

/** Reads a group by id, or the default group. In a transaction, locks its row against deletion until it ends. */
export async function selectGroup(
  db: Db,
  workspaceId: string,
  by: { id: string } | { isDefault: true },
): Promise<GroupRow | undefined> {
  const named = 'id' in by ? sql`id = ${by.id}` : sql`is_default`
  const rowLock = db.isTransaction ? sql`FOR SHARE` : sql``
  const result = await sql<GroupRow>`SELECT * FROM partner_groups
    WHERE workspace_id = ${workspaceId} AND ${named} AND deleted_at IS NULL ${rowLock}`.execute(db)
  return result.rows[0]
}

/** Reads groups by number, including deleted ones. */
export async function selectGroupsByNumber(db: Db, workspaceId: string, numbers: bigint[]): Promise<GroupRow[]> {
  const result = await sql<GroupRow>`SELECT * FROM partner_groups
    WHERE workspace_id = ${workspaceId} AND number = ANY(${numbers}::bigint[])`.execute(db)
  return result.rows
}

/** The ids of groups of any workspace, including deleted ones. */
export async function selectGroupIds(db: AllWorkspacesDb, numbers: bigint[]) {
  const result = await sql<Pick<GroupRow, 'number' | 'id'>>`
    SELECT number, id FROM partner_groups WHERE number = ANY(${numbers}::bigint[])`.execute(db)
  return result.rows
}

/**
 * Reads groups by number, including deleted ones, and all groups with move rules, oldest first. Those that partners may
 * move to are locked against deletion until the transaction ends; one that is being deleted is none of them.
 */
export async function selectGroupsWithRules(
  db: Db,
  workspaceId: string,
  numbers: bigint[],
): Promise<(GroupRow & { is_target: boolean })[]> {
  const result = await sql<GroupRow & { is_target: boolean }>`
    SELECT g.*, EXISTS (SELECT FROM partner_groups target WHERE target.workspace_id = ${workspaceId}
        AND target.number = g.number AND target.deleted_at IS NULL AND target.move_rules <> '[]'
        FOR KEY SHARE SKIP LOCKED) AS is_target
    FROM partner_groups g WHERE g.workspace_id = ${workspaceId}
      AND (g.number = ANY(${numbers}::bigint[]) OR (g.deleted_at IS NULL AND g.move_rules <> '[]'))
    ORDER BY g.number`.execute(db)
  return result.rows
}

export async function selectGroupsById(db: Db, workspaceId: string, ids: string[]): Promise<GroupRow[]> {
  const result = await sql<GroupRow>`SELECT * FROM partner_groups
    WHERE workspace_id = ${workspaceId} AND id = ANY(${ids}::text[]) AND deleted_at IS NULL`.execute(db)
  return result.rows
}

export async function countGroups(db: Db, workspaceId: string): Promise<number> {
  const result = await sql<{ count: bigint }>`SELECT count(*) FROM partner_groups
    WHERE workspace_id = ${workspaceId} AND deleted_at IS NULL`.execute(db)
  return Number(result.rows[0]?.count ?? 0)
}

/** How many groups the program has had, including deleted ones, whose rows stay. Counts up to `most`. */
export async function countGroupsEver(db: Db, workspaceId: string, most: number): Promise<number> {
  const result = await sql<{ count: bigint }>`SELECT count(*) FROM (SELECT FROM partner_groups
    WHERE workspace_id = ${workspaceId} LIMIT ${most}) AS groups`.execute(db)
  return Number(result.rows[0]?.count ?? 0)
}

export async function countGroupsWithRules(db: Db, workspaceId: string): Promise<number> {
  const result = await sql<{ count: bigint }>`SELECT count(*) FROM partner_groups
    WHERE workspace_id = ${workspaceId} AND deleted_at IS NULL AND move_rules <> '[]'`.execute(db)
  return Number(result.rows[0]?.count ?? 0)
}

/** Inserts a group. Undefined when its slug is taken. */
export async function insertGroup(db: Db, row: NewGroupRow): Promise<GroupRow | undefined> {
  const inserted = await db
    .withTables<Tables>()
    .insertInto('partner_groups')
    .values(jsonColumns(row))
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst()
  return inserted as GroupRow | undefined
}

/** Updates a group. May violate the unique index `partner_groups_slug`. Undefined when it does not exist. */
export async function updateGroupRow(db: Db, workspaceId: string, id: string, changes: GroupChanges) {
  const row = await db
    .withTables<Tables>()
    .updateTable('partner_groups')
    .set({ ...jsonColumns(changes), updated_at: sql<Date>`now()` })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .returningAll()
    .executeTakeFirst()
  return row as GroupRow | undefined
}

/** Marks a group as deleted. Waits for transactions that use it. */
export async function deleteGroupRow(db: Db, workspaceId: string, number: bigint): Promise<void> {
  await sql`UPDATE partner_groups SET deleted_at = now()
    WHERE workspace_id = ${workspaceId} AND number = ${number}`.execute(db)
}

/** Locks a group until the transaction ends, after all transactions that use it. */
export async function lockGroup(db: Db, workspaceId: string, id: string): Promise<GroupRow | undefined> {
  const result = await sql<GroupRow>`SELECT * FROM partner_groups
    WHERE workspace_id = ${workspaceId} AND id = ${id} AND deleted_at IS NULL FOR UPDATE`.execute(db)
  return result.rows[0]
}

function jsonColumns<Row extends GroupChanges>(row: Row): Row {
  const json = Object.entries(row).map(([name, value]) => [name, Array.isArray(value) ? JSON.stringify(value) : value])
  return Object.fromEntries(json) as Row
}
