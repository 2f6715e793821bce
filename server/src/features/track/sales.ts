import { mostConverted, type NewSale, type SaleResult } from '@tributary/contract/track'
import { type GroupedCall, openGroupCommit, SeparateCallsError } from '../../platform/batches.ts'
import type { Ctx } from '../../platform/context.ts'
import { AppError, invalid } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { transaction } from '../../platform/postgres.ts'
import {
  type Customer,
  countSale,
  countSales,
  findCustomer,
  findCustomers,
  lockCustomer,
  makeCustomer,
} from '../customers/service.ts'
import { convert, exchangeRates, type Money } from '../money/service.ts'
import { conversionSettings } from '../workspaces/service.ts'
import { findClick, type KnownClick, requireClick } from './clicks.ts'
import { attributeClick, personFields, presentPerson, recordLead } from './leads.ts'
import { recordConversion, recordConversions } from './record.ts'
import { lockInvoices, selectLead, selectLeads, selectSale, selectSoldInvoices } from './record-store.ts'
import { takeBackSale } from './refunds.ts'
import type { ConversionRow, NewConversion } from './store.ts'

const directLead = 'Direct sale'

/**
 * Records a sale. A repeated invoice returns the first sale. An unknown customer's sale without a click is ignored. A
 * secret key's sale replaces a page's sale of the same invoice, which is refunded.
 */
export async function trackSale(ctx: Ctx, input: NewSale): Promise<SaleResult> {
  const given = input.clickId ? await requireClick(ctx, input.clickId) : null
  return (await trackInGroup(ctx, input)) ?? trackAlone(ctx, given, input)
}

/** Records a sale in its own transaction, whatever its customer, lead and invoice. */
function trackAlone(ctx: Ctx, given: KnownClick | null, input: NewSale): Promise<SaleResult> {
  return transaction(ctx, async (ctx) => {
    if (input.invoiceId) await lockInvoices(ctx.db, ctx.workspaceId, [input.invoiceId])
    const earlier = input.invoiceId ? await selectSale(ctx.db, ctx.workspaceId, input.invoiceId) : undefined
    const isReplaced = earlier?.from_page && !ctx.actor.isPublishable
    if (earlier && !isReplaced) return presentSale(ctx, earlier)
    const known = await findCustomer(ctx, input.customerExternalId)
    if ((!known && !given) || input.amount === 0) return answer(input.eventName, known ?? null, null)
    const customer = known ?? (await makeCustomer(ctx, personFields(input), given))
    const attribution = await attributeSale(ctx, customer, given, input)
    if (earlier) await takeBackSale(ctx, earlier)
    const money = await convertSale(ctx, input)
    const isFirst = customer.first_sale_at === null
    const sale = await recordConversion(ctx, buildSale(ctx, customer, attribution, input, { ...money, isFirst }))
    // A server of the previous release takes no lock, so it may have recorded this invoice first.
    if (!sale)
      return presentSale(ctx, (await selectSale(ctx.db, ctx.workspaceId, input.invoiceId as string)) as ConversionRow)
    await countSale(ctx, customer.id, { sales: 1, amount: Number(sale.amount), at: sale.created_at })
    return answer(sale.event_name, customer, sale)
  })
}

type Candidate = { call: GroupedCall<NewSale>; customer: Customer; money: Money }

/**
 * Records sales of known customers that have a lead, in one transaction. Other sales, such as a repeated invoice, get no
 * result here and are tracked alone. Both ways lock the invoices first, then the customers.
 */
const trackInGroup = openGroupCommit<NewSale, SaleResult>(async (ctx, calls) => {
  const candidates = await findCandidates(ctx, calls)
  if (candidates.length === 0) return []
  const requested = candidates.map(({ call: { input }, customer }) => {
    return { customerId: customer.id, eventName: input.leadEventName ?? undefined }
  })
  const leads = await selectLeads(ctx.db, ctx.workspaceId, requested)
  const sales = new Map<GroupedCall<NewSale>, { customer: Customer; row: NewConversion }>()
  const totals = new Map<string, { id: string; sales: number; amount: bigint; at: Date }>()
  for (const [index, { call, customer, money }] of candidates.entries()) {
    const lead = leads[index]
    if (!lead) continue
    const before = totals.get(customer.id)
    const isFirst = customer.first_sale_at === null && !before
    const row = buildSale(call.ctx, customer, attributeToLead(lead), call.input, { ...money, isFirst })
    const { sales: count = 0, amount = 0n, at = row.created_at } = before ?? {}
    totals.set(customer.id, { id: customer.id, sales: count + 1, amount: amount + money.amount, at })
    sales.set(call, { customer, row })
  }
  if (sales.size === 0) return []
  const rows = [...sales.values()].map(({ row }) => row)
  const recorded = new Map((await recordConversions(ctx, rows)).map((row) => [row.id, row]))
  // A server of an earlier release takes no lock, so it may have recorded one of the invoices.
  if (recorded.size < rows.length) throw new SeparateCallsError()
  await countSales(ctx, [...totals.values()])
  return calls.map((call) => {
    const { customer, row } = sales.get(call) ?? {}
    return customer && row && answer(row.event_name, customer, recorded.get(row.id) ?? null)
  })
})

/** Locks the invoices and customers of sales; returns the sales that are new, convertible and of a known customer. */
async function findCandidates(ctx: Ctx, calls: GroupedCall<NewSale>[]): Promise<Candidate[]> {
  const { currency } = await conversionSettings(ctx)
  const invoices = new Set(calls.flatMap(({ input }) => input.invoiceId ?? []))
  if (invoices.size > 0) {
    await lockInvoices(ctx.db, ctx.workspaceId, [...invoices])
    for (const sold of await selectSoldInvoices(ctx.db, ctx.workspaceId, [...invoices])) invoices.delete(sold)
  }
  const externalIds = calls.map(({ input }) => input.customerExternalId)
  const customers = await findCustomers(ctx, externalIds)
  return calls.flatMap((call) => {
    const { customerExternalId, amount, invoiceId } = call.input
    const customer = customers.get(customerExternalId)
    const money = convert({ ...call.input, amount: BigInt(amount) }, currency, exchangeRates(ctx))
    if (!customer || !money || amount === 0 || money.amount > mostConverted) return []
    // Of several sales with the same invoice, the first is recorded.
    return invoiceId && !invoices.delete(invoiceId) ? [] : [{ call, customer, money }]
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
  given: KnownClick | null,
  { leadEventName, customerExternalId }: NewSale,
): Promise<AttributedTo> {
  const lead = await selectLead(ctx.db, ctx.workspaceId, customer.id, leadEventName ?? undefined)
  if (lead) return attributeToLead(lead)
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

function attributeToLead(lead: ConversionRow): AttributedTo {
  return followLead(lead, lead.link_number === null ? lead.attribution : 'lead')
}

function followLead(lead: ConversionRow, attribution: string): AttributedTo {
  const { link_number, click_id, partner_id, click_facts, click_facts_at } = lead
  return { link_number, click_id, attribution, partner_id, click_facts, click_facts_at }
}

function buildSale(
  ctx: Ctx,
  customer: Customer,
  attribution: AttributedTo,
  input: NewSale,
  { amount, currency, isFirst }: Money & { isFirst: boolean },
): NewConversion {
  return {
    id: newId('evt'),
    workspace_id: ctx.workspaceId,
    kind: 'sale',
    customer_id: customer.id,
    event_name: input.eventName,
    ...attribution,
    amount,
    currency,
    original_amount: BigInt(input.amount),
    original_currency: input.currency,
    payment_processor: input.paymentProcessor,
    invoice_id: input.invoiceId ?? null,
    from_page: ctx.actor.isPublishable ?? false,
    is_first: isFirst,
    metadata: input.metadata ? JSON.stringify(input.metadata) : null,
    created_at: ctx.now(),
  }
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
