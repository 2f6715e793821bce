import { v7 } from 'uuid'
import { roundShare } from '../money/service.ts'
import type { Conversion } from '../track/service.ts'
import { addTotals, type Batch, type Changes, keyKinds, type QueuedEvent } from './batch.ts'
import { type Commission, countedEarnings, isFrozen, owedAccount } from './commission.ts'
import { amountLeft, earningsFor, type SaleLeft } from './refund.ts'
import { correctCommission, endCommission } from './transitions.ts'

/** Applies a refund to the commission of its sale: posts the difference, or claws it back once the money is under way. */
export function applyRefund(batch: Batch, changes: Changes, { conversion, partnerNumber }: QueuedEvent): void {
  const sale = batch.sales.get(conversion.sale_number ?? 0n)
  const decided = { conversionNumber: conversion.number, partnerNumber }
  if (!sale) {
    changes.decisions.push({ ...decided, reason: 'no_sale', detail: null })
    return
  }
  const before = { amount: sale.amount, left: sale.left }
  sale.left = conversion.is_full ? 0n : sale.left + conversion.amount
  const after = { amount: sale.amount, left: sale.left }
  const { commission } = sale
  const isFull = conversion.is_full
  const saleAmount = share(sale.counted, after) - share(sale.counted, before)
  addTotals(batch, changes, partnerNumber, { sales: isFull ? -1n : 0n, saleAmount })
  if (!commission) {
    changes.decisions.push({ ...decided, reason: 'no_commission', detail: null })
    return
  }
  const left = amountLeft(commission, after)
  const earnings = earningsFor(commission, left)
  if (isFrozen(commission)) {
    const owed = { before: earningsFor(commission, amountLeft(commission, before)), after: earnings }
    const isSame = owed.before === owed.after
    if (!isSame) addClawback(batch, changes, conversion, buildClawback(conversion, commission, owed))
    changes.decisions.push({ ...decided, reason: isSame ? 'unchanged' : null, detail: null })
    return
  }
  const counted = countedEarnings(commission)
  correctCommission(changes, commission, left, earnings)
  if (earnings === 0n && owedAccount(commission)) endCommission(changes, commission, 'refunded')
  // Later events of the batch see the total that `correctCommission` only records.
  const partner = batch.partners.get(commission.partnerNumber)
  if (partner) partner.totals.commissions += countedEarnings(commission) - counted
  changes.decisions.push({ ...decided, reason: null, detail: null })
}

type Owed = { before: bigint; after: bigint }

function buildClawback(refund: Conversion, commission: Commission, owed: Owed): Commission {
  const difference = owed.after - owed.before
  return {
    ...commission,
    number: null,
    id: v7(),
    type: 'custom',
    status: 'pending',
    amount: difference,
    earnings: difference,
    quantity: 1,
    conversionNumber: refund.number,
    payoutNumber: null,
    payoutStatus: null,
    invoiceId: null,
    description: 'order_canceled',
    metadata: null,
    dueAt: refund.created_at,
    createdAt: refund.created_at,
    statusReason: null,
    detail: {
      why: null,
      clawback: {
        commissionId: `cm_${commission.id}`,
        refundId: refund.id,
        before: String(owed.before),
        after: String(owed.after),
      },
    },
  }
}

function addClawback(batch: Batch, changes: Changes, refund: Conversion, clawback: Commission): void {
  changes.created.push(clawback)
  changes.keys.push({ source: refund.number, kind: keyKinds.refund, commission: clawback })
  changes.postings.push({
    kind: 'corrected',
    debit: { kind: 'expense', partnerNumber: null },
    credit: { kind: 'accrued', partnerNumber: clawback.partnerNumber },
    amount: clawback.earnings,
    commission: clawback,
  })
  addTotals(batch, changes, clawback.partnerNumber, { commissions: clawback.earnings })
}

/** The part of an amount that is left, so that all refunds together take exactly the whole. */
function share(counted: bigint, { amount, left }: SaleLeft): bigint {
  if (left <= 0n) return 0n
  return left === amount ? counted : roundShare(counted, left, amount)
}
