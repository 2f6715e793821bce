import { v7 } from 'uuid'
import { convert } from '../money/service.ts'
import { bindVersion, choiceAt, decideReward, type RewardEvent } from '../rewards/service.ts'
import type { Conversion } from '../track/service.ts'
import { applyRefund } from './apply-refund.ts'
import {
  addTotals,
  type Batch,
  type Changes,
  type CustomerFacts,
  keyKinds,
  noChanges,
  type PairState,
  type PartnerState,
  pairKey,
  type QueuedEvent,
} from './batch.ts'
import { findCap, spendingKey } from './caps.ts'
import type { Commission, Detail } from './commission.ts'
import { judgeMove } from './move.ts'
import { findReviewReason } from './review.ts'
import { isCountryUnknown } from './unknown-country.ts'

const noPair: PairState = { binding: null, isVoid: false, hasLead: false }

// More would exceed the memory of a worker: an event with many products and conditions has a long explanation.
const mostDetail = 4_000_000

/**
 * Decides leads, sales and refunds in order. Takes and returns values; `batch` advances with each event. The events of a
 * partner after its move stay undecided: the next batch loads the terms and caps of the new group for them. So do events
 * that need what was not loaded, because an event before them bound their customer, and the last events when the
 * explanations get too long. Where partners share a cap (`isShared`), every event after an undecided one is left too.
 */
export function decideBatch(batch: Batch, events: QueuedEvent[], { isShared = false } = {}): Changes {
  const changes = noChanges()
  let detail = 0
  for (const event of events) {
    const { conversion, partnerNumber } = event
    const isAfterStop = isShared ? changes.stopped.size > 0 : changes.stopped.has(partnerNumber)
    const isStopped = isAfterStop || changes.moves.has(partnerNumber) || detail > mostDetail
    const decided = isStopped ? undefined : decideOne(batch, changes, event)
    if (decided === undefined) {
      changes.undecided.push(conversion.number)
      changes.stopped.add(partnerNumber)
      continue
    }
    detail += estimateLength(decided)
    judgeMove(batch, changes, partnerNumber)
  }
  return changes
}

function decideOne(batch: Batch, changes: Changes, event: QueuedEvent): Detail | undefined {
  if (event.conversion.kind !== 'refund') return decideEvent(batch, changes, event)
  applyRefund(batch, changes, event)
  return { why: null }
}

/** About how many characters an explanation has as JSON. */
function estimateLength({ why }: Detail): number {
  const conditions = (why?.conditions ?? []).reduce((sum, { value }) => sum + 200 + String(value).length, 0)
  return 1_000 + conditions + (why?.lines.length ?? 0) * 400
}

/**
 * Decides a lead or sale; returns the explanation. Undefined when the version that an earlier event of the batch bound
 * its customer to needs more than was loaded.
 */
function decideEvent(batch: Batch, changes: Changes, queued: QueuedEvent): Detail | undefined {
  if (isCountryUnknown(batch, queued)) return undefined
  const { conversion: recorded, partnerNumber } = queued
  // The metadata of a customer who was just erased may still be in PostgreSQL.
  const isErased = batch.customers.get(recorded.customer_id)?.isErased
  const conversion = isErased ? { ...recorded, metadata: null } : recorded
  const partner = batch.partners.get(partnerNumber) as PartnerState
  const { event, exchange } = buildEvent(batch, partner, conversion)
  const key = pairKey(partnerNumber, conversion.customer_id)
  const pair = batch.pairs.get(key) ?? noPair
  const timeline = batch.timelines.get(partnerNumber)?.[event.kind]
  const cap = findCap(batch, partner, conversion, event, pair)
  const spending = cap && batch.spending.get(spendingKey(cap))
  if (cap && !spending) return undefined
  const history = {
    binding: pair.binding,
    isVoid: pair.isVoid,
    hasLeadCommission: pair.hasLead,
    spent: spending?.amount ?? 0n,
  }
  const decision = decideReward(event, history, choiceAt(timeline, event.at))
  const decided = { conversionNumber: conversion.number, partnerNumber }
  const detail: Detail = { why: decision.why, ...(exchange && { exchange }) }
  const sold = { amount: conversion.amount, left: conversion.amount, counted: event.amount }
  countEvent(batch, changes, partnerNumber, conversion, event.amount)
  if ('reason' in decision) {
    changes.decisions.push({ ...decided, reason: decision.reason, detail })
    batch.sales.set(conversion.number, { ...sold, commission: null })
    return detail
  }
  const { earnings, version, binds, dueAt } = decision
  const emails = { customer: event.customer?.email, partner: event.partner.email }
  const statusReason = findReviewReason(conversion, emails)
  const commission = newCommission(conversion, partnerNumber, {
    type: event.kind,
    status: statusReason === null ? 'pending' : 'hold',
    statusReason,
    amount: event.kind === 'sale' ? event.amount : 0n,
    earnings,
    currency: batch.currency,
    rewardVersion: version.number,
    dueAt,
    detail,
  })
  changes.created.push(commission)
  changes.keys.push({ source: conversion.number, kind: keyKinds.conversion, commission })
  changes.decisions.push({ ...decided, reason: null, detail: null })
  changes.postings.push(earnedPosting(commission))
  addTotals(batch, changes, partnerNumber, { commissions: earnings })
  if (spending) {
    spending.amount += earnings
    spending.added += earnings
  }
  const binding = binds ? { ...bindVersion(timeline, version), ...binds } : pair.binding
  const hasLead = pair.hasLead || event.kind === 'lead'
  batch.pairs.set(key, { binding, isVoid: pair.isVoid, hasLead })
  if (binds)
    changes.bindings.push({
      ...{ partnerNumber, customerId: conversion.customer_id, rewardVersion: version.number },
      ...binds,
      commission,
    })
  batch.sales.set(conversion.number, { ...sold, commission })
  return detail
}

/** Debits the program's expenses and credits what it owes the partner. */
export function earnedPosting(commission: Commission) {
  return {
    kind: 'earned' as const,
    debit: { kind: 'expense' as const, partnerNumber: null },
    credit: { kind: 'accrued' as const, partnerNumber: commission.partnerNumber },
    amount: commission.earnings,
    commission,
  }
}

type Given = Pick<
  Commission,
  'type' | 'status' | 'statusReason' | 'amount' | 'earnings' | 'currency' | 'rewardVersion' | 'dueAt' | 'detail'
>

function newCommission(conversion: Conversion, partnerNumber: bigint, given: Given): Commission {
  return {
    number: null,
    id: v7(),
    partnerNumber,
    quantity: conversion.quantity,
    conversionNumber: conversion.number,
    customerId: conversion.customer_id,
    linkNumber: conversion.link_number,
    payoutNumber: null,
    payoutStatus: null,
    invoiceId: conversion.invoice_id,
    description: null,
    metadata: conversion.metadata,
    actor: null,
    createdAt: conversion.created_at,
    ...given,
  }
}

/** Builds the event in the program's currency. */
export function buildEvent(
  batch: Batch,
  partner: PartnerState,
  conversion: Conversion,
): { event: RewardEvent; exchange?: Detail['exchange'] } {
  const customer = batch.customers.get(conversion.customer_id)
  const { amount, exchange } = inProgramCurrency(batch, conversion)
  const event: RewardEvent = {
    kind: conversion.kind === 'lead' ? 'lead' : 'sale',
    amount,
    originalAmount: conversion.original_amount ?? conversion.amount,
    currency: batch.currency,
    quantity: conversion.quantity,
    at: conversion.created_at,
    metadata: conversion.metadata === null ? null : JSON.parse(conversion.metadata),
    customer: customer
      ? {
          id: customer.id,
          country: customer.country,
          email: customer.email,
          createdAt: customer.createdAt,
          firstSaleAt: firstSaleBy(customer, conversion.created_at),
          source: customer.isTracked ? 'tracked' : 'submitted',
        }
      : null,
    partner: {
      status: partner.status,
      country: partner.country,
      email: partner.email,
      totals: { ...partner.totals },
      holdingPeriodDays: partner.holdingPeriodDays,
    },
    isFirst: conversion.is_first,
  }
  return { event, exchange }
}

/** The first sale as of the event: after a backlog, the customer may have bought since. */
function firstSaleBy({ firstSaleAt }: Pick<CustomerFacts, 'firstSaleAt'>, at: Date): Date | null {
  return firstSaleAt && firstSaleAt <= at ? firstSaleAt : null
}

/** Amounts are stored in the workspace's currency, which may differ from the program's. */
function inProgramCurrency(
  { currency, rates }: Pick<Batch, 'currency' | 'rates'>,
  conversion: Pick<Conversion, 'amount' | 'currency'>,
): { amount: bigint; exchange?: Detail['exchange'] } {
  const { amount } = conversion
  const from = conversion.currency ?? currency
  if (from === currency) return { amount }
  const converted = convert({ amount, currency: from }, currency, rates)
  if (!converted) throw new Error(`There is no exchange rate from ${from} to ${currency}`)
  return { amount: converted.amount, exchange: { amount: Number(amount), currency: from, date: rates.date } }
}

function countEvent(
  batch: Batch,
  changes: Changes,
  partnerNumber: bigint,
  conversion: Conversion,
  saleAmount: bigint,
): void {
  if (conversion.kind === 'lead') addTotals(batch, changes, partnerNumber, { leads: BigInt(conversion.quantity) })
  else addTotals(batch, changes, partnerNumber, { sales: 1n, saleAmount, conversions: conversion.is_first ? 1n : 0n })
}
