import type { NewRefund, RefundResult } from '@tributary/contract/track'
import type { Ctx } from '../../platform/context.ts'
import { conflict, invalid, notFound } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { transaction } from '../../platform/postgres.ts'
import { countSale, lockCustomer } from '../customers/service.ts'
import { roundShare } from '../money/service.ts'
import { recordConversion } from './record.ts'
import { lockSale, type RefundRow, selectRefunds, selectSale } from './record-store.ts'
import type { ConversionRow } from './store.ts'

// Each refund and explanation of a sale reads all its refunds.
const mostRefunds = 10_000

/** Records a refund. Locks the sale, so that concurrent refunds never exceed its amount. */
export async function trackRefund(ctx: Ctx, input: NewRefund): Promise<RefundResult> {
  return transaction(ctx, async (ctx) => {
    const sale = await selectSale(ctx.db, ctx.workspaceId, input.invoiceId)
    if (!sale) throw notFound('sale with the invoice', input.invoiceId)
    await lockSale(ctx.db, ctx.workspaceId, sale.number)
    const before = await selectRefunds(ctx.db, ctx.workspaceId, sale.number)
    const repeated = input.refundId ? before.find(({ refund_id }) => refund_id === input.refundId) : undefined
    if (repeated) return answer(sale, before, repeated)
    const refund = await recordRefund(ctx, sale, before, input)
    return answer(sale, [...before, refund], refund)
  })
}

/** Refunds the rest of a sale that a page reported, because a sale reported with a secret key replaces it. */
export async function takeBackSale(ctx: Ctx, sale: ConversionRow): Promise<void> {
  await lockSale(ctx.db, ctx.workspaceId, sale.number)
  const before = await selectRefunds(ctx.db, ctx.workspaceId, sale.number)
  if (!before.some(({ is_full }) => is_full)) await recordRefund(ctx, sale, before, {})
}

async function recordRefund(
  ctx: Ctx,
  sale: ConversionRow,
  before: RefundRow[],
  input: Pick<Partial<NewRefund>, 'amount' | 'refundId' | 'metadata'>,
): Promise<ConversionRow> {
  const part = decideRefund(sale, before, input)
  if (before.length >= mostRefunds && !part.isFull)
    throw conflict(`Invoice ${sale.invoice_id} has ${before.length} refunds. Only one of all that is left can follow.`)
  // lockCustomer returns undefined for an erased customer, whose metadata and click facts must not be stored.
  const customer = await lockCustomer(ctx, sale.customer_id)
  const refund = await recordConversion(ctx, {
    id: newId('evt'),
    workspace_id: ctx.workspaceId,
    kind: 'refund',
    customer_id: sale.customer_id,
    event_name: sale.event_name,
    link_number: sale.link_number,
    click_id: sale.click_id,
    attribution: sale.attribution,
    partner_id: sale.partner_id,
    click_facts: customer && sale.click_facts,
    click_facts_at: sale.click_facts_at,
    amount: -part.amount,
    currency: sale.currency,
    original_amount: part.original,
    original_currency: sale.original_currency,
    payment_processor: sale.payment_processor,
    invoice_id: sale.invoice_id,
    refund_id: input.refundId ?? null,
    // `is_first` and metadata are copied from the sale, so that filters that match the sale match the refund too.
    is_first: sale.is_first,
    is_full: part.isFull,
    sale_number: sale.number,
    metadata: customer && (input.metadata ? JSON.stringify(input.metadata) : sale.metadata),
    created_at: ctx.now(),
  })
  if (!refund) throw conflict(`The refund ${input.refundId} belongs to another invoice.`)
  const sales = part.isFull ? -1 : 0
  await countSale(ctx, sale.customer_id, { sales, amount: -Number(part.amount), at: sale.created_at })
  return refund
}

type Sale = Pick<ConversionRow, 'amount' | 'original_amount' | 'original_currency' | 'invoice_id'>
type Refund = Pick<ConversionRow, 'amount' | 'original_amount'>

/** The refunded amount in both currencies. The last refund takes what is left, so that rounding leaves no remainder. */
function decideRefund(sale: Sale, before: Refund[], input: Pick<NewRefund, 'amount'>) {
  const total = sale.original_amount ?? sale.amount
  const left = total - before.reduce((sum, refund) => sum + (refund.original_amount ?? 0n), 0n)
  const amountLeft = sale.amount + before.reduce((sum, refund) => sum + refund.amount, 0n)
  if (left === 0n) throw conflict(`Invoice ${sale.invoice_id} is fully refunded already.`)
  const original = input.amount ? BigInt(input.amount) : left
  if (original > left) {
    throw invalid(
      `\`amount\` in the body is ${original}, but only ${left} ${sale.original_currency} are not refunded yet.`,
    )
  }
  const isFull = original === left
  const share = roundShare(sale.amount, original, total)
  return { original, isFull, amount: isFull || share > amountLeft ? amountLeft : share }
}

function answer(sale: ConversionRow, refunds: RefundRow[], refund: RefundRow): RefundResult {
  const upTo = refunds.filter(({ number }) => number <= refund.number)
  const currency = sale.currency ?? ''
  return {
    refund: {
      id: refund.id,
      amount: Number(-refund.amount),
      currency,
      invoiceId: sale.invoice_id ?? '',
      refundId: refund.refund_id,
      isFull: refund.is_full,
    },
    sale: { amount: Number(upTo.reduce((left, { amount }) => left + amount, sale.amount)), currency },
  }
}
