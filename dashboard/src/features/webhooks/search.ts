import type { Trigger } from '@tributary/contract/webhooks'
import { triggers } from './triggers.ts'

const statuses = ['pending', 'delivered', 'failed'] as const
export type DeliveryStatus = (typeof statuses)[number]

/** What the address of a webhook's page says: filters of its deliveries, and the delivery that is open. */
export type DeliveriesSearch = { status?: DeliveryStatus; event?: Trigger; delivery?: string }

/** Reads the address; what it doesn't know is dropped. */
export function parseDeliveriesSearch({ status, event, delivery }: Record<string, unknown>): DeliveriesSearch {
  const knownStatus = statuses.find((name) => name === status)
  const knownEvent = triggers.find((name) => name === event)
  return {
    ...(knownStatus && { status: knownStatus }),
    ...(knownEvent && { event: knownEvent }),
    ...(typeof delivery === 'string' && /^[\w-]{1,100}$/.test(delivery) && { delivery }),
  }
}
