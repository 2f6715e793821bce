import type { Ctx } from '../../platform/context.ts'
import { newId } from '../../platform/ids.ts'
import { type Customer, countSale } from '../customers/service.ts'
import { recordConversion } from './record.ts'
import { lockInvoices, selectLead, selectSale } from './record-store.ts'
import { convertSale } from './sales.ts'
import type { ConversionRow, NewConversion } from './store.ts'

/** A lead without a click, of a customer that a partner brought in another way. */
export type LeadByHand = {
  customer: Customer
  link: { number: bigint; partnerId: string }
  eventName: string
  metadata: Record<string, unknown> | null
  at: Date
}
export type SaleByHand = LeadByHand & {
  amount: number
  currency: string
  paymentProcessor: string
  invoiceId: string | null
}

const signUp = 'Sign up'

/** Records a lead; undefined when the customer has one with this event name. */
export function recordHandLead(ctx: Ctx, lead: LeadByHand): Promise<ConversionRow | undefined> {
  return recordConversion(ctx, { ...sharedFields(ctx, lead), kind: 'lead' })
}

/** Records a sale, and a lead before it if the customer has none. Undefined when the invoice is recorded already. */
export async function recordHandSale(ctx: Ctx, sale: SaleByHand): Promise<ConversionRow | undefined> {
  const { customer, invoiceId, amount, currency, paymentProcessor } = sale
  if (invoiceId) {
    await lockInvoices(ctx.db, ctx.workspaceId, [invoiceId])
    if (await selectSale(ctx.db, ctx.workspaceId, invoiceId)) return undefined
  }
  const money = await convertSale(ctx, { amount, currency })
  if (!(await selectLead(ctx.db, ctx.workspaceId, customer.id)))
    await recordHandLead(ctx, { ...sale, eventName: signUp, metadata: null })
  const recorded = await recordConversion(ctx, {
    ...sharedFields(ctx, sale),
    kind: 'sale',
    amount: money.amount,
    currency: money.currency,
    original_amount: BigInt(amount),
    original_currency: currency,
    payment_processor: paymentProcessor,
    invoice_id: invoiceId,
    is_first: customer.first_sale_at === null,
  })
  if (recorded) await countSale(ctx, customer.id, { sales: 1, amount: Number(recorded.amount), at: sale.at })
  return recorded
}

function sharedFields(ctx: Ctx, { customer, link, eventName, metadata, at }: LeadByHand): Omit<NewConversion, 'kind'> {
  return {
    id: newId('evt'),
    workspace_id: ctx.workspaceId,
    customer_id: customer.id,
    event_name: eventName,
    link_number: link.number,
    click_id: null,
    partner_id: link.partnerId,
    attribution: 'by_hand',
    metadata: metadata && JSON.stringify(metadata),
    created_at: at,
  }
}
