import type { Discount } from '@tributary/contract/discounts'
import { sql } from 'kysely'
import { type Db, deleteById, updateById } from '../../platform/postgres.ts'

export type DiscountRow = {
  number: bigint
  id: string
  workspace_id: string
  group_number: bigint
  type: Discount['type']
  /** The smallest unit of the program's currency, or hundredths of a percent. */
  amount: bigint
  max_duration: number | null
  provider: Discount['provider']
  coupon_id: string | null
  coupon_test_id: string | null
  description: string | null
  code_wins: boolean
  created_at: Date
  updated_at: Date
}
export type NewDiscountRow = Pick<
  DiscountRow,
  'id' | 'workspace_id' | 'group_number' | 'type' | 'amount' | 'provider'
> &
  DiscountChanges
export type DiscountChanges = Partial<
  Omit<DiscountRow, 'number' | 'id' | 'workspace_id' | 'group_number' | 'created_at' | 'updated_at'>
>

export async function selectDiscounts(
  db: Db,
  workspaceId: string,
  page: { groupNumbers?: bigint[]; ascending: boolean; offset: number; count: number },
): Promise<DiscountRow[]> {
  const mine = page.groupNumbers ? sql`group_number = ANY(${page.groupNumbers}::bigint[])` : sql`true`
  const result = await sql<DiscountRow>`SELECT * FROM discounts WHERE workspace_id = ${workspaceId} AND ${mine}
    ORDER BY number ${page.ascending ? sql`ASC` : sql`DESC`} LIMIT ${page.count} OFFSET ${page.offset}`.execute(db)
  return result.rows
}

export async function selectDiscount(db: Db, workspaceId: string, id: string): Promise<DiscountRow | undefined> {
  const result = await sql<DiscountRow>`
    SELECT * FROM discounts WHERE workspace_id = ${workspaceId} AND id = ${id}`.execute(db)
  return result.rows[0]
}

export async function selectDiscountsByGroup(
  db: Db,
  workspaceId: string,
  groupNumbers: bigint[],
): Promise<DiscountRow[]> {
  const result = await sql<DiscountRow>`SELECT * FROM discounts
    WHERE workspace_id = ${workspaceId} AND group_number = ANY(${groupNumbers}::bigint[])`.execute(db)
  return result.rows
}

export async function selectDiscountsByNumber(db: Db, workspaceId: string, numbers: bigint[]): Promise<DiscountRow[]> {
  const result = await sql<DiscountRow>`SELECT * FROM discounts
    WHERE workspace_id = ${workspaceId} AND number = ANY(${numbers}::bigint[])`.execute(db)
  return result.rows
}

/** SQL that selects whether codes of a discount come before clicks; the arguments are SQL. */
export function codeWinsSelection({ workspace, number }: Record<'workspace' | 'number', string>): string {
  return `SELECT d.code_wins FROM discounts d WHERE d.workspace_id = ${workspace} AND d.number = ${number}`
}

/** Inserts a discount. Undefined when its group has one. */
export async function insertDiscount(db: Db, row: NewDiscountRow): Promise<DiscountRow | undefined> {
  const inserted = await db
    .withTables<{ discounts: NewDiscountRow }>()
    .insertInto('discounts')
    .values(row)
    .onConflict((conflict) => conflict.column('group_number').doNothing())
    .returningAll()
    .executeTakeFirst()
  return inserted as DiscountRow | undefined
}

export function updateDiscountRow(db: Db, workspaceId: string, id: string, changes: DiscountChanges) {
  return updateById<DiscountRow>(db, 'discounts', workspaceId, id, changes)
}

export function deleteDiscountRow(db: Db, workspaceId: string, id: string): Promise<boolean> {
  return deleteById(db, 'discounts', workspaceId, id)
}

export async function deleteDiscountOfGroup(db: Db, workspaceId: string, groupNumber: bigint): Promise<void> {
  await sql`DELETE FROM discounts WHERE workspace_id = ${workspaceId} AND group_number = ${groupNumber}`.execute(db)
}
