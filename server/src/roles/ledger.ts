import { commissionIds } from '../features/commissions/service.ts'
import type { LedgerNames } from '../features/ledger/names.ts'
import { partnersByNumber, requirePartner } from '../features/partners/service.ts'
import { payoutsByNumber } from '../features/payouts/service.ts'
import { requireProgram } from '../features/programs/service.ts'

/** Finds the ids of partners, commissions and payouts for the ledger, which these features call to post. */
export const ledgerNames: LedgerNames = {
  async findPartner(ctx, partnerId) {
    await requireProgram(ctx)
    return partnerId === undefined ? undefined : (await requirePartner(ctx, { partnerId })).number
  },
  async partnerIds(ctx, numbers) {
    const partners = await partnersByNumber(ctx, numbers)
    return new Map([...partners].map(([number, { id }]) => [number, id]))
  },
  commissionIds,
  async payoutIds(ctx, numbers) {
    const payouts = await payoutsByNumber(ctx, numbers)
    return new Map([...payouts].map(([number, { id }]) => [number, `po_${id}`]))
  },
}
