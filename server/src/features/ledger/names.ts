import type { Ctx } from '../../platform/context.ts'

/** Functions of other features that find the ids of rows that postings refer to; the role passes them in. */
export type LedgerNames = {
  /** Returns the number of a partner. Throws when the workspace has no program, or no such partner. */
  findPartner(ctx: Ctx, id: string | undefined): Promise<bigint | undefined>
  partnerIds(ctx: Ctx, numbers: bigint[]): Promise<Map<bigint, string>>
  commissionIds(ctx: Ctx, numbers: bigint[]): Promise<Map<bigint, string>>
  payoutIds(ctx: Ctx, numbers: bigint[]): Promise<Map<bigint, string>>
}
