import { boundedSum } from '@tributary/contract/common'
import type { Ctx } from '../../platform/context.ts'
import { partnersByNumber } from '../partners/service.ts'
import { customerConversions } from '../track/service.ts'
import type { Detail } from './commission.ts'
import { existsPersonalData, selectOfCustomer } from './erase-store.ts'
import { selectDecisions } from './store.ts'

type Reading = Pick<Ctx, 'db' | 'workspaceId'>

const rowsAtOnce = 200

/** Reads the commissions of a customer with what is stored to explain them. */
export async function* readCustomerCommissions(ctx: Reading, customerId: string): AsyncGenerator<object> {
  for (let after = 0n; ; ) {
    const rows = await selectOfCustomer(ctx.db, ctx.workspaceId, customerId, { after, count: rowsAtOnce })
    const numbers = [...new Set(rows.map((row) => row.partner_number))]
    const partners = numbers.length === 0 ? new Map() : await partnersByNumber(ctx, numbers)
    for (const row of rows) {
      yield {
        id: `cm_${row.id}`,
        type: row.type,
        status: row.status,
        partnerId: partners.get(row.partner_number)?.id ?? null,
        amount: boundedSum(row.amount),
        earnings: boundedSum(row.earnings),
        currency: row.currency,
        quantity: row.quantity,
        invoiceId: row.invoice_id,
        description: row.description,
        metadata: row.metadata,
        detail: row.why,
        createdAt: row.created_at.toISOString(),
        updatedAt: row.updated_at.toISOString(),
        paidAt: row.paid_at?.toISOString() ?? null,
      }
    }
    const last = rows.at(-1)
    if (!last || rows.length < rowsAtOnce) return
    after = last.number
  }
}

/** Why leads, sales and refunds earned nothing, by their number. */
export async function readDecisions(
  ctx: Reading,
  numbers: bigint[],
): Promise<Map<bigint, { reason: string | null; detail: Detail | null }>> {
  const rows = numbers.length === 0 ? [] : await selectDecisions(ctx.db, ctx.workspaceId, numbers)
  return new Map(rows.map(({ conversion_number, reason, detail }) => [conversion_number, { reason, detail }]))
}

/** Whether values of an erased customer are left in commissions and decisions. */
export async function isDataLeft(ctx: Reading, customerId: string): Promise<boolean> {
  const numbers = await customerConversions(ctx, [customerId])
  return existsPersonalData(ctx.db, ctx.workspaceId, customerId, numbers)
}
