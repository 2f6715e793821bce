import { choiceAt, findVersion, type RewardEvent } from '../rewards/service.ts'
import type { Conversion } from '../track/service.ts'
import type { Batch, PairState, PartnerState, Spending } from './batch.ts'

export type Cap = Pick<Spending, 'rewardNumber' | 'scope' | 'periodStart'>

/** The cap of the event's reward in the event's period; undefined without a cap. */
export function findCap(
  batch: Pick<Batch, 'timelines'>,
  partner: PartnerState,
  conversion: Pick<Conversion, 'customer_id'>,
  event: RewardEvent,
  pair: PairState | undefined,
): Cap | undefined {
  const choice = choiceAt(batch.timelines.get(partner.number)?.[event.kind], event.at)
  const who = { partnerNumber: partner.number, customerId: conversion.customer_id, groupNumber: partner.groupNumber }
  const found = findVersion(event, pair?.binding ?? null, choice, who)
  return found?.cap ? { rewardNumber: found.version.rewardNumber, ...found.cap } : undefined
}

export function spendingKey({ rewardNumber, scope, periodStart }: Cap): string {
  return `${rewardNumber} ${scope} ${periodStart.toISOString()}`
}
