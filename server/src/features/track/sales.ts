import { mostConverted, type NewSale, type SaleResult } from '@tributary/contract/track'
import type { Ctx } from '../../platform/context.ts'
import { AppError, invalid } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { transaction } from '../../platform/postgres.ts'
import { type Customer, countSale, findCustomer, lockCustomer, makeCustomer } from '../customers/service.ts'
import { convert, exchangeRates, type Money } from '../money/service.ts'
import { conversionSettings } from '../workspaces/service.ts'
import { findClick, requireClick } from './clicks.ts'
import { attributeClick, personFields, presentPerson, recordLead } from './leads.ts'
import { recordConversion } from './record.ts'
import { takeBackSale } from './refunds.ts'
import { type ConversionRow, lockInvoice, selectLead, selectSale } from './store.ts'

const directLead = 'Direct sale'

/**
 * Records a sale. A repeated invoice returns the first sale. An unknown customer's sale without a click is ignored. A
 * secret key's sale replaces a page's sale of the same invoice, which is refunded.
 */
export async function trackSale(ctx: Ctx, input: NewSale): Promise<SaleResult> {
  const given = input.clickId ? await requireClick(ctx, input.clickId) : null
  return transaction(ctx, async (ctx) => {
    if (input.invoiceId) await lockInvoice(ctx.db, ctx.workspaceId, input.invoiceId)
    const earlier = input.invoiceId ? await selectSale(ctx.db, ctx.workspaceId, input.invoiceId) : undefined
    const isReplaced = earlier?.from_page && !ctx.actor.isPublishable
    if (earlier && !isReplaced) return presentSale(ctx, earlier)
    const known = await findCustomer(ctx, input.customerExternalId)
    if ((!known && !given) || input.amount === 0) return answer(input.eventName, known ?? null, null)
    const customer = known ?? (await makeCustomer(ctx, personFields(input), given))
    const attribution = await attributeSale(ctx, customer, given, input)
    if (earlier) await takeBackSale(ctx, earlier)
    const sale = await recordSale(ctx, customer, attribution, input)
    // A server of the previous release takes no lock, so it may have recorded this invoice first.
    if (!sale)
      return presentSale(ctx, (await selectSale(ctx.db, ctx.workspaceId, input.invoiceId as string)) as ConversionRow)
    await countSale(ctx, customer.id, { sales: 1, amount: Number(sale.amount), at: sale.created_at })
    return answer(sale.event_name, customer, sale)
  })
}

/** The columns that a sale copies from its lead: the click, its link and its known facts. */
type AttributedTo = Pick<
  ConversionRow,
  'link_number' | 'click_id' | 'attribution' | 'partner_id' | 'click_facts' | 'click_facts_at'
>

/** Attributes a sale to the customer's latest or named lead. Without a lead, records one for the click. */
async function attributeSale(
  ctx: Ctx,
  customer: Customer,
  given: Awaited<ReturnType<typeof requireClick>> | null,
  { leadEventName, customerExternalId }: NewSale,
): Promise<AttributedTo> {
  const lead = await selectLead(ctx.db, ctx.workspaceId, customer.id, leadEventName ?? undefined)
  if (lead) return followLead(lead, lead.link_number === null ? lead.attribution : 'lead')
  if (leadEventName && !given) {
    throw new AppError('not_found', `Customer ${customerExternalId} has no lead named ${leadEventName}.`)
  }
  const stored = customer.click_id ? await findClick(ctx, customer.click_id) : null
  const found = await attributeClick(ctx, given, stored)
  if (found.reason === 'no_click') {
    throw new AppError(
      'not_found',
      `Customer ${customerExternalId} has neither a lead nor a click. Track a lead first.`,
    )
  }
  const made = await recordLead(ctx, customer, found, { eventName: leadEventName ?? directLead })
  return followLead(made, found.reason)
}

function followLead(lead: ConversionRow, attribution: string): AttributedTo {
  const { link_number, click_id, partner_id, click_facts, click_facts_at } = lead
  return { link_number, click_id, attribution, partner_id, click_facts, click_facts_at }
}

async function recordSale(
  ctx: Ctx,
  customer: Customer,
  attribution: Awaited<ReturnType<typeof attributeSale>>,
  input: NewSale,
): Promise<ConversionRow | undefined> {
  const converted = await convertSale(ctx, input)
  return recordConversion(ctx, {
    id: newId('evt'),
    workspace_id: ctx.workspaceId,
    kind: 'sale',
    customer_id: customer.id,
    event_name: input.eventName,
    ...attribution,
    amount: converted.amount,
    currency: converted.currency,
    original_amount: BigInt(input.amount),
    original_currency: input.currency,
    payment_processor: input.paymentProcessor,
    invoice_id: input.invoiceId ?? null,
    from_page: ctx.actor.isPublishable ?? false,
    is_first: customer.first_sale_at === null,
    metadata: input.metadata ? JSON.stringify(input.metadata) : null,
    created_at: ctx.now(),
  })
}

/** Converts a sale's amount to the workspace's currency. */
export async function convertSale(ctx: Ctx, sale: Pick<NewSale, 'amount' | 'currency'>): Promise<Money> {
  const { currency } = await conversionSettings(ctx)
  const converted = convert({ ...sale, amount: BigInt(sale.amount) }, currency, exchangeRates(ctx))
  if (!converted) {
    throw invalid(
      `\`currency\` in the body is ${sale.currency}, which has no exchange rate. Use another currency, or ask the operator to add its exchange rate.`,
    )
  }
  if (converted.amount > mostConverted) {
    throw invalid(
      `\`amount\` in the body is ${sale.amount} ${sale.currency}, which is more than ${mostConverted} in the smallest unit of ${currency}, the currency of the workspace. Send a smaller amount, or divide the sale.`,
    )
  }
  return converted
}

async function presentSale(ctx: Ctx, sale: ConversionRow): Promise<SaleResult> {
  return answer(sale.event_name, (await lockCustomer(ctx, sale.customer_id)) ?? null, sale)
}

function answer(eventName: string, customer: Customer | null, sale: ConversionRow | null): SaleResult {
  return {
    eventName,
    customer: customer && { id: customer.id, ...presentPerson(customer) },
    sale: sale && {
      amount: Number(sale.amount),
      currency: sale.currency ?? '',
      paymentProcessor: sale.payment_processor ?? 'custom',
      invoiceId: sale.invoice_id,
      metadata: sale.metadata === null ? null : JSON.parse(sale.metadata),
    },
  }
}
