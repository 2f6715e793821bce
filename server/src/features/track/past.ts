import type { Ctx } from '../../platform/context.ts'
import { newId } from '../../platform/ids.ts'
import { type Customer, countSale } from '../customers/service.ts'
import { recordConversion } from './record.ts'
import { convertSale } from './sales.ts'
import type { NewConversion } from './store.ts'

/** A lead or sale of an earlier time; its click is stored already. */
export type PastEvent = { customer: Customer; linkNumber: bigint; clickId: string; eventName: string; at: Date }
export type PastSale = PastEvent & { amount: number; currency: string; invoiceId: string; isFirst: boolean }

export async function recordLeadOfPast(ctx: Ctx, event: PastEvent): Promise<void> {
  await recordConversion(ctx, { ...sharedFields(ctx, event), kind: 'lead' })
}

export async function recordSaleOfPast(ctx: Ctx, sale: PastSale): Promise<void> {
  const money = await convertSale(ctx, sale)
  const recorded = await recordConversion(ctx, {
    ...{ ...sharedFields(ctx, sale), kind: 'sale', amount: money.amount, currency: money.currency },
    ...{ original_amount: BigInt(sale.amount), original_currency: sale.currency, invoice_id: sale.invoiceId },
    is_first: sale.isFirst,
  })
  if (recorded) await countSale(ctx, sale.customer.id, { sales: 1, amount: Number(recorded.amount), at: sale.at })
}

function sharedFields(
  ctx: Ctx,
  { customer, linkNumber, clickId, eventName, at }: PastEvent,
): Omit<NewConversion, 'kind'> {
  return {
    ...{ id: newId('evt'), workspace_id: ctx.workspaceId, customer_id: customer.id, event_name: eventName },
    ...{ link_number: linkNumber, click_id: clickId, attribution: 'last_click', created_at: at },
  }
}
