import { v7 } from 'uuid'
import type { Ctx, Platform } from '../../platform/context.ts'
import type { Db } from '../../platform/postgres.ts'
import {
  addToOpenPayouts,
  cancelPayoutRows,
  countUnderWay,
  insertOpenPayouts,
  lockOpenPayouts,
  lockPayoutRows,
  movePayoutRows,
  type PayoutChange,
  type PayoutRow,
  selectPayoutNumber,
  selectPayouts,
  selectPayoutsOfPartners,
} from './store.ts'

export type Payout = PayoutRow

/** Locks the open payouts of partners, opening those that are missing. Lock the partners before. */
export async function openPayouts(
  db: Db,
  workspaceId: string,
  owners: { partnerNumber: bigint; currency: string }[],
): Promise<Payout[]> {
  if (owners.length === 0) return []
  const unique = new Map(owners.map((owner) => [`${owner.partnerNumber} ${owner.currency}`, owner]))
  await insertOpenPayouts(
    db,
    workspaceId,
    [...unique.values()].map((owner) => ({ id: v7(), ...owner })),
  )
  const found = await lockOpenPayouts(db, workspaceId, [...new Set(owners.map(({ partnerNumber }) => partnerNumber))])
  return found.filter(({ partner_number, currency }) => unique.has(`${partner_number} ${currency}`))
}

/** Locks payouts until the transaction ends. Lock the partners before, and commissions afterwards. */
export async function lockPayouts(db: Db, workspaceId: string, numbers: bigint[]): Promise<Map<bigint, Payout>> {
  if (numbers.length === 0) return new Map()
  const rows = await lockPayoutRows(db, workspaceId, [...new Set(numbers)])
  return new Map(rows.map((row) => [row.number, row]))
}

export function lockPartnerPayouts(db: Db, workspaceId: string, partnerNumber: bigint): Promise<Payout[]> {
  return lockOpenPayouts(db, workspaceId, [partnerNumber])
}

export async function addToPayouts(db: Db, workspaceId: string, changes: PayoutChange[]): Promise<void> {
  if (changes.length > 0) await addToOpenPayouts(db, workspaceId, changes)
}

export async function cancelPayouts(db: Db, workspaceId: string, numbers: bigint[]): Promise<void> {
  if (numbers.length > 0) await cancelPayoutRows(db, workspaceId, numbers)
}

/** Whether money of the partner is on its way, or came back. */
export async function hasMoneyUnderWay(db: Db, workspaceId: string, partnerNumber: bigint): Promise<boolean> {
  return (await countUnderWay(db, workspaceId, partnerNumber)) > 0
}

export function movePayouts(db: Db, workspaceId: string, from: bigint, to: bigint): Promise<void> {
  return movePayoutRows(db, workspaceId, from, to)
}

export async function payoutsByNumber(ctx: Pick<Ctx, 'db' | 'workspaceId'>, numbers: bigint[]) {
  if (numbers.length === 0) return new Map<bigint, Payout>()
  const rows = await selectPayouts(ctx.db, ctx.workspaceId, [...new Set(numbers)])
  return new Map(rows.map((row) => [row.number, row]))
}

/** The number of a payout by its id; undefined when there is none. */
export async function findPayout(ctx: Pick<Ctx, 'db' | 'workspaceId'>, id: string): Promise<bigint | undefined> {
  const uuid = /^po_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(id)?.[1]
  return uuid ? selectPayoutNumber(ctx.db, ctx.workspaceId, uuid) : undefined
}

/** The payouts of partners of any workspace. */
export function payoutsOfPartners({ db }: Pick<Platform, 'db'>, partnerNumbers: bigint[]) {
  return selectPayoutsOfPartners(db, partnerNumbers)
}
