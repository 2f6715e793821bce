import type { CommissionExplanation } from '@tributary/contract/commissions'
import { boundedSum } from '@tributary/contract/common'
import type { Ctx } from '../../platform/context.ts'
import { badRequest, notFound } from '../../platform/errors.ts'
import { postingsOfCommission } from '../ledger/service.ts'
import { linksByNumber } from '../links/service.ts'
import { requireProgram } from '../programs/service.ts'
import { type Conversion, conversionsByNumber, findConversion, refundsOfSale } from '../track/service.ts'
import type { Detail } from './commission.ts'
import { codeText, commissionText, nothingText, waitingText } from './explanation-text.ts'
import { type DetailedRow, selectCommissionsById, selectOfConversion } from './list-store.ts'
import { parseCommissionId } from './locked.ts'
import { selectWaitReason } from './queue-store.ts'
import { selectDecisions } from './store.ts'

const mostRefunds = 1_000

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
    return { ...nothing, outcome: 'waiting', reason: waitsFor ?? null, text: waitingText(waitsFor) }
  }
  const reason = decision ? decision.reason : 'no_partner'
  return { ...nothing, reason, text: nothingText(reason ?? 'changed', decision?.detail?.why ?? null, conversion) }
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
    text: commissionText(row, detail) + codeText(conversion),
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
    refunds: refunds.slice(-mostRefunds).map(({ id, amount, created_at }) => {
      return { eventId: id, amount: boundedSum(amount), createdAt: created_at.toISOString() }
    }),
    postings: [],
  }
}
