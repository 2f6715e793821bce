import { eventKey, type FeedEvent } from './feed.ts'

/** A step of a customer: a click, lead, sale or refund. */
export type JourneyStep = { key: string; kind: 'click' | 'lead' | 'sale' | 'refund'; event: FeedEvent }

/**
 * The clicks, leads and sales of a customer in the order of their time, oldest first. A click comes before the lead of the
 * same moment. When some are missing because there are too many, the list begins after the gap.
 */
export function mergeJourney(
  lists: readonly (readonly FeedEvent[])[],
  limit: number,
): { steps: JourneyStep[]; isCut: boolean } {
  const cut = lists.filter((list) => list.length >= limit)
  const from = cut.map((list) => list.reduce((oldest, { timestamp }) => min(oldest, timestamp), '9')).reduce(max, '')
  const events = new Map(lists.flat().map((event) => [eventKey(event), event]))
  const steps = [...events.values()]
    .filter(({ timestamp }) => timestamp >= from)
    .map((event) => ({ key: eventKey(event), kind: stepKind(event), event }))
    .sort((a, b) => compare(a.event.timestamp, b.event.timestamp) || order.indexOf(a.kind) - order.indexOf(b.kind))
  return { steps, isCut: cut.length > 0 }
}

const order: readonly JourneyStep['kind'][] = ['click', 'lead', 'sale', 'refund']

function stepKind(event: FeedEvent): JourneyStep['kind'] {
  return event.event === 'sale' && event.sale.amount < 0 ? 'refund' : event.event
}

function compare(one: string, other: string): number {
  return one === other ? 0 : one < other ? -1 : 1
}

function min(one: string, other: string): string {
  return one < other ? one : other
}

function max(one: string, other: string): string {
  return one > other ? one : other
}
