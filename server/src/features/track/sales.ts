import { mostConverted, type NewSale, type SaleResult } from '@tributary/contract/track'
import { type GroupedCall, openGroupCommit } from '../../platform/batches.ts'
import type { Ctx } from '../../platform/context.ts'
import { AppError, invalid } from '../../platform/errors.ts'
import { hashPartition, newId } from '../../platform/ids.ts'
import { wakeRelay } from '../../platform/outbox.ts'
import { isDeadlock, transaction } from '../../platform/postgres.ts'
import {
  buyersSelection,
  type Customer,
  countSale,
  findCustomer,
  lockCustomer,
  makeCustomer,
  rememberClick,
  saleCounting,
} from '../customers/service.ts'
import { codeSelection } from '../discount-codes/service.ts'
import { convert, exchangeRates, type Money } from '../money/service.ts'
import { conversionSettings, currencySelection, guessCurrency } from '../workspaces/service.ts'
import { type AttributedCode, preferCode, takesOver } from './attribution.ts'
import { findClick, type KnownClick, requireClick } from './clicks.ts'
import { findCode, readCode } from './codes.ts'
import { attributeClick, codeOrigin, personFields, presentPerson, recordLead } from './leads.ts'
import { conversionSubjectIn } from './messages.ts'
import { recordConversion } from './record.ts'
import { lockInvoices, selectLead, selectSale } from './record-store.ts'
import { takeBackSale } from './refunds.ts'
import { type NewSaleRow, openSaleRecording } from './sales-store.ts'
import type { ConversionRow, NewConversion } from './store.ts'

const insertSales = openSaleRecording({ currencySelection, buyersSelection, codeSelection, saleCounting })

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
    const code = await findCode(ctx, input.metadata, known)
    if ((!known && !given && !code) || input.amount === 0) return answer(input.eventName, known ?? null, null)
    const origin = given ?? codeOrigin(code)
    const customer = known ?? (await makeCustomer(ctx, personFields(input), origin))
    const attribution = await attributeSale(ctx, customer, { given, code }, input)
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

/**
 * Records sales of known customers that have a lead. Other sales, such as a repeated invoice or the first one with a
 * discount code, get no result here and are tracked alone.
 */
const trackInGroup = openGroupCommit<NewSale, SaleResult>(
  async (ctx, calls) => {
    const currency = await guessCurrency(ctx)
    const rates = exchangeRates(ctx)
    const rows = new Map<GroupedCall<NewSale>, NewSaleRow>()
    const invoices = new Set<string>()
    for (const [ordinal, call] of calls.entries()) {
      const { amount, invoiceId } = call.input
      const money = convert({ ...call.input, amount: BigInt(amount) }, currency, rates)
      const isRepeated = invoiceId && invoices.has(invoiceId)
      if (!money || amount === 0 || money.amount > mostConverted || isRepeated) continue
      if (invoiceId) invoices.add(invoiceId)
      rows.set(call, describeSale(call.ctx, call.input, money, ordinal))
    }
    const recorded = await insertGroup(ctx, [...rows.values()])
    return calls.map((call) => {
      const row = rows.get(call)
      const customer = row && recorded.get(row.id)
      return customer && answer(row.event_name, { ...customer, external_id: row.external_id }, row)
    })
  },
  { isOneStatement: true },
)

async function insertGroup(ctx: Ctx, rows: NewSaleRow[]): Promise<Map<string, Omit<Buyer, 'external_id'>>> {
  const subject = conversionSubjectIn(hashPartition(ctx.workspaceId, ctx.config.EVENT_PARTITIONS), 'sale')
  const traceparent = ctx.tracing?.traceparent() ?? null
  if (rows.length === 0) return new Map()
  try {
    const recorded = await insertSales(ctx.db, ctx.workspaceId, { subject, traceparent, rows })
    if (recorded.length > 0) wakeRelay(ctx)
    return new Map(recorded.map(({ id, customer_id, ...person }) => [id, { ...person, id: customer_id }]))
  } catch (error) {
    // A sale alone has a transaction, which is repeated after a deadlock.
    if (isDeadlock(error)) return new Map()
    throw error
  }
}

function describeSale(ctx: Ctx, input: NewSale, money: Money, ordinal: number): NewSaleRow {
  const [id, at, amount] = [newId('evt'), ctx.now(), Number(money.amount)]
  const { workspaceId } = ctx
  const message = { id, workspaceId, kind: 'sale', quantity: 1, amount, currency: money.currency, saleNumber: null }
  return {
    id,
    ordinal,
    external_id: input.customerExternalId,
    lead_event_name: input.leadEventName ?? null,
    discount_code: readCode(input.metadata),
    event_name: input.eventName,
    amount,
    currency: money.currency,
    original_amount: input.amount,
    original_currency: input.currency,
    payment_processor: input.paymentProcessor,
    invoice_id: input.invoiceId ?? null,
    from_page: ctx.actor.isPublishable ?? false,
    metadata: input.metadata ? JSON.stringify(input.metadata) : null,
    created_at: at,
    message: { ...message, recordedAt: at.toISOString() },
  }
}

/** The columns that a sale copies from its lead: the click, its link and its known facts. */
type AttributedTo = Pick<
  ConversionRow,
  'link_number' | 'click_id' | 'attribution' | 'partner_id' | 'click_facts' | 'click_facts_at'
>

/**
 * Attributes a sale to the customer's latest or named lead, or to its discount code. Without a lead that has a link,
 * records one for the click or code.
 */
async function attributeSale(
  ctx: Ctx,
  customer: Customer,
  { given, code }: { given: KnownClick | null; code: AttributedCode | null },
  { leadEventName, customerExternalId }: NewSale,
): Promise<AttributedTo> {
  const lead = await selectLead(ctx.db, ctx.workspaceId, customer.id, leadEventName ?? undefined)
  if (lead && !(code && takesOver(code, lead.link_number))) return attributeToLead(lead)
  if (lead && code) return attributeToCode(ctx, customer, code, { isRecorded: lead.link_number !== null })
  if (leadEventName && !given && !code) {
    throw new AppError('not_found', `Customer ${customerExternalId} has no lead named ${leadEventName}.`)
  }
  const stored = customer.click_id ? await findClick(ctx, customer.click_id) : null
  const found = preferCode(await attributeClick(ctx, given, stored), code)
  if ('code' in found) return attributeToCode(ctx, customer, found.code, { eventName: leadEventName })
  if (found.reason === 'no_click') {
    throw new AppError(
      'not_found',
      `Customer ${customerExternalId} has neither a lead nor a click. Track a lead first.`,
    )
  }
  const made = await recordLead(ctx, customer, found, { eventName: leadEventName ?? directLead })
  return followLead(made, found.reason)
}

/** Records a lead for the code unless one of the customer is recorded, so that later sales without the code follow it. */
async function attributeToCode(
  ctx: Ctx,
  customer: Customer,
  code: AttributedCode,
  { isRecorded, eventName }: { isRecorded?: boolean; eventName?: string | null },
): Promise<AttributedTo> {
  const origin = codeOrigin(code)
  if (origin) await rememberClick(ctx, customer, origin)
  const attribution = { click: null, code, reason: 'discount_code' } as const
  if (!isRecorded) await recordLead(ctx, customer, attribution, { eventName: eventName ?? directLead })
  const { linkNumber: link_number, partnerId: partner_id } = code
  return {
    ...{ link_number, partner_id, attribution: attribution.reason },
    ...{ click_id: null, click_facts: null, click_facts_at: null },
  }
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

type Buyer = Pick<Customer, 'id' | 'name' | 'email' | 'avatar' | 'external_id'>
type Sold = Pick<ConversionRow, 'currency' | 'payment_processor' | 'invoice_id' | 'metadata'> & {
  amount: bigint | number
}

function answer(eventName: string, customer: Buyer | null, sale: Sold | null): SaleResult {
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
