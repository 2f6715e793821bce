import type { Ctx } from '../../platform/context.ts'
import { findCodeOwner } from '../discount-codes/service.ts'
import type { AttributedCode } from './attribution.ts'

const longest = 100

/** The discount code in the metadata of a lead or sale; null when it has none that could exist. */
export function readCode(metadata: Record<string, unknown> | null | undefined): string | null {
  const code = metadata?.discountCode
  if (typeof code !== 'string') return null
  const text = code.trim()
  return /^[\w-]+$/.test(text) && text.length <= longest ? text : null
}

/** Finds the enabled discount code in the metadata of a lead or sale. */
export async function findCode(
  ctx: Ctx,
  metadata: Record<string, unknown> | null | undefined,
): Promise<AttributedCode | null> {
  const code = readCode(metadata)
  return code === null ? null : ((await findCodeOwner(ctx, code)) ?? null)
}
