import type { CustomerErasure } from '@tributary/contract/customer-data'
import type { Ctx } from '../../platform/context.ts'
import { notFound } from '../../platform/errors.ts'
import { isCommissionDataLeft } from '../commissions/service.ts'
import { type Customer, customersById } from '../customers/service.ts'
import { isTrackedDataLeft } from '../track/service.ts'
import { isCustomerEventLeft } from '../webhooks/service.ts'

/** A part of an erasure: the tables whose data about a customer it erases, and whether some is left. */
type Part = { tables: readonly string[]; isLeft?(ctx: Ctx, customer: Customer): Promise<boolean> }

/** What an erasure covers: the transaction of `DELETE /customers/{id}` first, then a job each. */
export const parts: Record<string, Part> = {
  customer: { tables: ['customers', 'idempotency_keys', 'audit_entries', 'audit_person_keys'] },
  events: {
    tables: [
      ...['conversions', 'lead_events', 'sale_events', 'unattributed_leads', 'unattributed_sales'],
      'click_events',
    ],
    isLeft: isTrackedDataLeft,
  },
  commissions: {
    tables: ['commissions', 'commission_details', 'commission_decisions'],
    isLeft: (ctx, { id }) => isCommissionDataLeft(ctx, id),
  },
  webhookEvents: {
    tables: ['webhook_events', 'webhook_deliveries', 'webhook_attempts'],
    isLeft: (ctx, { id }) => isCustomerEventLeft(ctx, id),
  },
}

export async function getErasure(ctx: Ctx, id: string): Promise<CustomerErasure> {
  const customer = (await customersById(ctx, [id])).get(id)
  if (!customer?.erased_at) throw notFound('deleted customer', id)
  const left: string[] = []
  for (const [name, part] of Object.entries(parts)) if (await part.isLeft?.(ctx, customer)) left.push(name)
  return {
    id,
    status: left.length === 0 ? 'erased' : 'erasing',
    requestedAt: customer.erased_at.toISOString(),
    left,
  }
}
