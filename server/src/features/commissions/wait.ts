import type { Ctx } from '../../platform/context.ts'
import { convert } from '../money/service.ts'
import type { Conversion } from '../track/service.ts'
import type { Batch, QueuedEvent } from './batch.ts'
import { type Postponed, selectFirstWaiting, type WaitReason } from './queue-store.ts'
import { isCountryUnknown } from './unknown-country.ts'

/** Separates events that can't be decided yet, and later events of the same customers, which wait behind them. */
export async function splitUndecidable(
  ctx: Ctx,
  batch: Batch,
  events: QueuedEvent[],
): Promise<{ decidable: QueuedEvent[]; waiting: Postponed[] }> {
  const customers = [...new Set(events.map(({ conversion }) => conversion.customer_id))]
  const numbers = events.map(({ conversion }) => conversion.number)
  const firstWaiting = await selectFirstWaiting(ctx.db, ctx.workspaceId, customers, numbers)
  const decidable: QueuedEvent[] = []
  const waiting: Postponed[] = []
  for (const event of events) {
    const { number, customer_id: customerId } = event.conversion
    const first = firstWaiting.get(customerId)
    const isBehind = first !== undefined && first < number
    const waitsFor = isBehind ? 'earlier_event' : findWait(batch, event)
    if (waitsFor === undefined) decidable.push(event)
    else {
      if (!isBehind) firstWaiting.set(customerId, number)
      waiting.push({ number, customerId, waitsFor })
    }
  }
  return { decidable, waiting }
}

function findWait(batch: Batch, event: QueuedEvent): WaitReason | undefined {
  if (!hasExchangeRate(batch, event.conversion)) return 'no_exchange_rate'
  return isCountryUnknown(batch, event) ? 'no_country' : undefined
}

function hasExchangeRate({ currency, rates }: Batch, conversion: Conversion): boolean {
  if (conversion.kind === 'refund' || conversion.currency === null) return true
  return convert({ amount: 0n, currency: conversion.currency }, currency, rates) !== undefined
}
