import type { Ctx } from '../../platform/context.ts'
import { type Customer, rememberCode } from '../customers/service.ts'
import { findCodeOwner } from '../discount-codes/service.ts'
import type { AttributedCode } from './attribution.ts'
import { selectLead } from './record-store.ts'

const longest = 100

/** The discount code in the metadata of a lead or sale; null when it has none that could exist. */
export function readCode(metadata: Record<string, unknown> | null | undefined): string | null {
  const code = metadata?.discountCode
  if (typeof code !== 'string') return null
  const text = code.trim()
  return /^[\w-]+$/.test(text) && text.length <= longest ? text : null
}

/** Finds the enabled discount code in the metadata of a lead or sale, or else that of the customer's deferred lead. */
export async function findCode(
  ctx: Ctx,
  metadata: Record<string, unknown> | null | undefined,
  customer: Customer | undefined,
): Promise<AttributedCode | null> {
  const code = readCode(metadata)
  const given = code === null ? undefined : await findCodeOwner(ctx, code)
  return given ?? (customer ? findDeferredCode(ctx, customer) : null)
}

/** The code of a deferred lead stands until a lead of the customer is recorded, which later events follow. */
async function findDeferredCode(ctx: Ctx, { id, deferred_code }: Customer): Promise<AttributedCode | null> {
  if (deferred_code === null || (await selectLead(ctx.db, ctx.workspaceId, id))) return null
  return (await findCodeOwner(ctx, deferred_code)) ?? null
}

/** Saves the enabled code of a deferred lead. An unknown code leaves the one that is saved. */
export async function deferCode(
  ctx: Ctx,
  customer: Customer,
  metadata: Record<string, unknown> | null | undefined,
): Promise<void> {
  const code = readCode(metadata)
  if (code !== null && (await findCodeOwner(ctx, code))) await rememberCode(ctx, customer, code)
}
