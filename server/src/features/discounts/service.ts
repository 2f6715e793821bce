import { boundedSum } from '@tributary/contract/common'
import type { CustomerDiscount } from '@tributary/contract/customers'
import type { Discount, DiscountPatch, DiscountsQuery, NewDiscount } from '@tributary/contract/discounts'
import type { Ctx } from '../../platform/context.ts'
import { conflict, invalid, notFound } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { transaction } from '../../platform/postgres.ts'
import { reportChange } from '../../platform/recording.ts'
import { groupsByNumber, requireDefaultGroup, requireGroup } from '../groups/service.ts'
import {
  codeWinsSelection,
  type DiscountChanges,
  type DiscountRow,
  deleteDiscountOfGroup,
  deleteDiscountRow,
  insertDiscount,
  selectDiscount,
  selectDiscounts,
  selectDiscountsByGroup,
  selectDiscountsByNumber,
  updateDiscountRow,
} from './store.ts'

type Reader = Pick<Ctx, 'db' | 'workspaceId'>

export async function listDiscounts(ctx: Ctx, query: DiscountsQuery): Promise<Discount[]> {
  await requireDefaultGroup(ctx)
  const rows = await selectDiscounts(ctx.db, ctx.workspaceId, {
    groupNumbers: query.groupId === undefined ? undefined : [(await requireGroup(ctx, query.groupId)).number],
    ascending: query.sortOrder === 'asc',
    offset: (query.page - 1) * query.pageSize,
    count: query.pageSize,
  })
  return presentAll(ctx, rows)
}

export async function getDiscount(ctx: Ctx, id: string): Promise<Discount> {
  return present(ctx, await requireDiscount(ctx, id))
}

export async function createDiscount(ctx: Ctx, input: NewDiscount): Promise<Discount> {
  const row = await transaction(ctx, async (ctx) => {
    const group = await requireGroup(ctx, input.groupId)
    return insertDiscount(ctx.db, {
      ...settingColumns(input),
      id: newId('disc'),
      workspace_id: ctx.workspaceId,
      group_number: group.number,
      type: input.type,
      amount: parseAmount(input.type, input.amount),
      provider: input.provider ?? 'custom',
    })
  })
  if (!row) throw conflict(`The group ${input.groupId} has a discount already. Change it with PATCH /discounts/{id}.`)
  return present(ctx, row)
}

export async function updateDiscount(ctx: Ctx, id: string, patch: DiscountPatch): Promise<Discount> {
  const row = await requireDiscount(ctx, id)
  const type = patch.type ?? row.type
  const amount = patch.amount ?? showAmount(row)
  const columns = { ...settingColumns(patch), type, amount: parseAmount(type, amount) }
  const changes = Object.entries(columns).filter(([name, value]) => value !== row[name as keyof DiscountRow])
  reportChange(ctx, { id, before: row, after: Object.fromEntries(changes) })
  if (changes.length === 0) return present(ctx, row)
  const updated = await updateDiscountRow(ctx.db, ctx.workspaceId, id, Object.fromEntries(changes))
  if (!updated) throw notFound('discount', id)
  return present(ctx, updated)
}

export async function deleteDiscount(ctx: Ctx, id: string): Promise<{ id: string }> {
  if (!(await deleteDiscountRow(ctx.db, ctx.workspaceId, id))) throw notFound('discount', id)
  return { id }
}

export function removeDiscountOfGroup(ctx: Reader, groupNumber: bigint): Promise<void> {
  return deleteDiscountOfGroup(ctx.db, ctx.workspaceId, groupNumber)
}

export async function requireDiscount(ctx: Reader, id: string): Promise<DiscountRow> {
  const row = await selectDiscount(ctx.db, ctx.workspaceId, id)
  if (!row) throw notFound('discount', id)
  return row
}

/** Reads the discounts of groups, by group number. */
export async function discountsByGroup(ctx: Reader, groupNumbers: bigint[]): Promise<Map<bigint, DiscountRow>> {
  if (groupNumbers.length === 0) return new Map()
  const numbers = [...new Set(groupNumbers)]
  const rows = await selectDiscountsByGroup(ctx.db, ctx.workspaceId, numbers)
  return new Map(rows.map((row) => [row.group_number, row]))
}

/** The discounts that the customers of groups' partners get, by group number. */
export async function customerDiscounts(ctx: Reader, groupNumbers: bigint[]): Promise<Map<bigint, CustomerDiscount>> {
  const rows = [...(await discountsByGroup(ctx, groupNumbers)).values()]
  return new Map(rows.map((row) => [row.group_number, presentForCustomer(row)]))
}

export async function discountsByNumber(ctx: Reader, numbers: bigint[]): Promise<Map<bigint, DiscountRow>> {
  if (numbers.length === 0) return new Map()
  const rows = await selectDiscountsByNumber(ctx.db, ctx.workspaceId, [...new Set(numbers)])
  return new Map(rows.map((row) => [row.number, row]))
}

/** The SQL that selects whether codes of a discount come before clicks; the arguments are SQL. */
export function precedenceSelection(columns: Record<'workspace' | 'number', string>): string {
  return codeWinsSelection(columns)
}

/** Money in the smallest unit, or percent. */
function showAmount({ type, amount }: Pick<DiscountRow, 'type' | 'amount'>): number {
  return type === 'flat' ? boundedSum(amount) : Number(amount) / 100
}

function parseAmount(type: Discount['type'], amount: number): bigint {
  if (type === 'flat') {
    if (!Number.isInteger(amount)) throw invalid(`\`amount\` in the body must be a whole number, not ${amount}.`)
    return BigInt(amount)
  }
  const hundredths = Math.round(amount * 100)
  if (amount > 100 || Math.abs(amount * 100 - hundredths) > 1e-6)
    throw invalid(`\`amount\` in the body must be a percentage up to 100 with up to two decimals, not ${amount}.`)
  return BigInt(hundredths)
}

function settingColumns(input: DiscountPatch): DiscountChanges {
  const columns = {
    max_duration: input.maxDuration,
    provider: input.provider,
    coupon_id: input.couponId,
    coupon_test_id: input.couponTestId,
    description: input.description,
    code_wins: input.codeWins,
  }
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined))
}

function presentForCustomer(row: DiscountRow): CustomerDiscount {
  return {
    id: row.id,
    amount: showAmount(row),
    type: row.type,
    maxDuration: row.max_duration,
    couponId: row.coupon_id,
    couponTestId: row.coupon_test_id,
    description: row.description,
  }
}

async function present(ctx: Reader, row: DiscountRow): Promise<Discount> {
  return (await presentAll(ctx, [row]))[0] as Discount
}

async function presentAll(ctx: Reader, rows: DiscountRow[]): Promise<Discount[]> {
  const groups = await groupsByNumber(
    ctx,
    rows.map((row) => row.group_number),
  )
  return rows.map((row) => ({
    ...presentForCustomer(row),
    groupId: groups.get(row.group_number)?.id ?? '',
    provider: row.provider,
    codeWins: row.code_wins,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }))
}
