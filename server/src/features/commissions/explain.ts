import type { CommissionExplanation } from '@tributary/contract/commissions'
import { boundedSum } from '@tributary/contract/common'
import type { Ctx } from '../../platform/context.ts'
import { badRequest, notFound } from '../../platform/errors.ts'
import { postingsOfCommission } from '../ledger/service.ts'
import { linksByNumber } from '../links/service.ts'
import { requireProgram } from '../programs/service.ts'
import { type Conversion, conversionsByNumber, findConversion, refundsOfSale } from '../track/service.ts'
import type { Detail } from './commission.ts'
import { type DetailedRow, selectCommissionsById, selectOfConversion } from './list-store.ts'
import { parseCommissionId } from './locked.ts'
import { selectWaitReason, type WaitReason } from './queue-store.ts'
import { selectDecisions } from './store.ts'

/** Why a commission has its amount. */
export async function explainCommission(ctx: Ctx, id: string): Promise<CommissionExplanation> {
  await requireProgram(ctx)
  const uuid = parseCommissionId(id)
  const [row] = uuid ? await selectCommissionsById(ctx.db, ctx.workspaceId, [uuid]) : []
  if (!row) throw notFound('commission', id)
  const [conversion] = row.conversion_number === null ? [] : await conversionsByNumber(ctx, [row.conversion_number])
  return explainRow(ctx, row, conversion)
}

/** Why a lead, sale or refund earned a commission, or why nothing. */
export async function explainEvent(
  ctx: Ctx,
  { eventId, invoiceId }: { eventId?: string; invoiceId?: string },
): Promise<CommissionExplanation> {
  await requireProgram(ctx)
  if (!eventId === !invoiceId) throw badRequest('Send either `eventId` or `invoiceId` in the query.')
  const conversion = await findConversion(ctx, { id: eventId, invoiceId })
  if (!conversion)
    throw notFound(eventId ? 'lead, sale or refund' : 'sale with the invoice', eventId ?? invoiceId ?? '')
  const [row] = await selectOfConversion(ctx.db, ctx.workspaceId, conversion.number)
  if (row) return explainRow(ctx, row, conversion)
  const [decision] = await selectDecisions(ctx.db, ctx.workspaceId, [conversion.number])
  const nothing = await describe(ctx, conversion.link_number, conversion, decision?.detail ?? null)
  const isWaiting = !decision && conversion.partner_id !== null
  if (isWaiting) {
    const waitsFor = await selectWaitReason(ctx.db, ctx.workspaceId, conversion.number)
    const text = waitsFor ? waitTexts[waitsFor] : 'The event is not decided yet. Ask again in a few seconds.'
    return { ...nothing, outcome: 'waiting', reason: waitsFor ?? null, text }
  }
  const reason = decision ? decision.reason : 'no_partner'
  return { ...nothing, reason, text: texts[reason as keyof typeof texts] ?? texts.changed }
}

async function explainRow(
  ctx: Ctx,
  row: DetailedRow,
  conversion: Conversion | undefined,
): Promise<CommissionExplanation> {
  const detail: Detail = row.why ?? { why: null }
  const postings = await postingsOfCommission(ctx, row.number)
  return {
    ...(await describe(ctx, row.link_number, conversion, detail)),
    outcome: 'commission',
    text: summarize(row, detail) + describeCode(conversion),
    commissionId: `cm_${row.id}`,
    earnings: boundedSum(row.earnings),
    dueAt: row.due_at.toISOString(),
    postings: postings.map(({ kind, amount, createdAt }) => {
      return { kind, amount: boundedSum(amount), createdAt: createdAt.toISOString() }
    }),
  }
}

/** The parts of an explanation that commissions and undecided events share. */
async function describe(
  ctx: Ctx,
  linkNumber: bigint | null,
  conversion: Conversion | undefined,
  detail: Detail | null,
): Promise<CommissionExplanation> {
  const links = linkNumber === null ? new Map() : await linksByNumber(ctx, [linkNumber])
  const refunds = conversion?.kind === 'sale' ? await refundsOfSale(ctx, conversion.number) : []
  const { edit, clawback, exchange } = detail ?? {}
  return {
    outcome: 'nothing',
    reason: null,
    text: '',
    commissionId: null,
    eventId: conversion?.id ?? null,
    linkId: links.get(linkNumber)?.id ?? null,
    clickId: conversion?.click_id ?? null,
    attribution: conversion?.attribution ?? null,
    earnings: 0,
    dueAt: null,
    reasoning: detail?.why ?? null,
    exchange: exchange ?? null,
    edit: edit
      ? {
          amount: Number(edit.amount),
          of: Number(edit.of),
          earnings: edit.earnings === null ? null : Number(edit.earnings),
        }
      : null,
    clawback: clawback ? { ...clawback, before: Number(clawback.before), after: Number(clawback.after) } : null,
    refunds: refunds.map(({ id, amount, created_at }) => {
      return { eventId: id, amount: boundedSum(amount), createdAt: created_at.toISOString() }
    }),
    postings: [],
  }
}

function summarize({ type, status, description }: DetailedRow, { why, edit, clawback }: Detail): string {
  const change = edit ? ' It was changed by hand afterwards.' : ''
  if (clawback) return `A refund lowered the earnings of ${clawback.commissionId} after it was paid out.${change}`
  if (!why) return `A ${type} commission that was created by hand${description ? `: ${description}` : ''}.`
  const lines = why.lines.map(({ formula, earnings }) => `${formula} = ${earnings}`)
  const cap = why.cap && why.cap.left < sum(why.lines) ? `, limited by the spend limit to ${why.cap.left}` : ''
  const now = status === 'refunded' ? ' It is refunded.' : ''
  return `Version ${why.reward?.version} of the reward: ${lines.join(', ')}${cap}.${change}${now}`
}

function describeCode(conversion: Conversion | undefined): string {
  if (conversion?.attribution !== 'discount_code') return ''
  const code = conversion.metadata === null ? undefined : JSON.parse(conversion.metadata).discountCode
  return ` The ${conversion.kind} belongs to the partner by the discount code${code ? ` ${code}` : ''}.`
}

function sum(lines: { earnings: number }[]): number {
  return lines.reduce((total, { earnings }) => total + earnings, 0)
}

const waitTexts: Record<WaitReason, string> = {
  no_country: "The reward depends on the customer's country, which is known once the click is stored.",
  no_exchange_rate: "There is no exchange rate from the sale's currency to the program's. The event is tried again.",
  earlier_event: 'An earlier event of the customer is not decided yet.',
  failed: 'Deciding the event failed. It is tried again; the log of the worker has the error.',
}

const texts = {
  changed: 'The refund changed the commission of its sale.',
  no_partner: 'The event belongs to no partner.',
  no_reward: 'Neither the partner nor its group has a reward for this event.',
  window_over: "The time in which the customer's sales earn a commission is over.",
  capped: 'The spend limit of the reward was reached.',
  not_enrolled: 'The partner did not exist or did not earn commissions when the event was decided.',
  self_referral: 'The partner referred itself.',
  zero: 'The terms give zero for this event.',
  voided: 'The first commission for this customer is fraud or canceled, so that further ones earn nothing.',
  duplicate_lead: 'The partner has a lead commission for this customer already.',
  no_sale: 'The sale of the refund is unknown.',
  no_commission: 'The sale of the refund had earned no commission.',
  unchanged: 'The refund does not change the earnings of its sale.',
}
