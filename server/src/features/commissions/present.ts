import type { Commission } from '@tributary/contract/commissions'
import { boundedSum } from '@tributary/contract/common'
import type { Ctx } from '../../platform/context.ts'
import { type Customer, customersById, presentCustomerTo } from '../customers/service.ts'
import { type PartnerSummary, summarizePartners } from '../partners/service.ts'
import type { CommissionRow } from './store.ts'

/** Presents commissions with their partners and customers, as far as the actor may read these. */
export async function presentCommissions(ctx: Ctx, rows: CommissionRow[]): Promise<Commission[]> {
  const partners = await summarizePartners(
    ctx,
    rows.map(({ partner_number }) => partner_number),
  )
  const customers = await customersById(
    ctx,
    rows.flatMap(({ customer_id }) => customer_id ?? []),
  )
  return rows.map((row) => presentOne(ctx, row, partners.get(row.partner_number) as PartnerSummary, customers))
}

function presentOne(
  ctx: Pick<Ctx, 'actor'>,
  row: CommissionRow,
  partner: PartnerSummary,
  customers: Map<string, Customer>,
): Commission {
  const isErased = row.customer_id !== null && customers.get(row.customer_id)?.erased_at != null
  return {
    id: `cm_${row.id}`,
    type: row.type,
    amount: boundedSum(row.amount),
    earnings: boundedSum(row.earnings),
    currency: row.currency,
    status: row.status,
    invoiceId: row.invoice_id,
    description: row.description,
    quantity: row.quantity,
    userId: row.actor?.startsWith('user ') ? row.actor.slice(5) : null,
    metadata: isErased ? null : row.metadata,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    paidAt: row.paid_at?.toISOString() ?? null,
    partner,
    customer: row.customer_id === null ? null : presentCustomerTo(ctx, customers.get(row.customer_id), row.customer_id),
  }
}
