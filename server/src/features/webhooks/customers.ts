import type { Attempt } from '@tributary/contract/webhooks'
import type { Ctx } from '../../platform/context.ts'
import { selectAttemptsByDelivery, selectCustomerEvents, selectDeliveriesOfEvents } from './customers-store.ts'
import { presentAttempt } from './present.ts'

export type CustomerEvent = {
  id: string
  event: string
  createdAt: string
  /** Null while the event waits for the facts of its click. */
  body: unknown
  deliveries: { webhookId: string; status: string; log: Attempt[] }[]
}

const eventsAtOnce = 50

/** Reads the stored webhook events about a customer with their deliveries. */
export async function* readCustomerEvents(
  { db, workspaceId }: Pick<Ctx, 'db' | 'workspaceId'>,
  customerId: string,
): AsyncGenerator<CustomerEvent> {
  for (let after = ''; ; ) {
    const events = await selectCustomerEvents(db, workspaceId, customerId, { after, count: eventsAtOnce })
    const ids = events.map(({ id }) => id)
    const deliveries = await selectDeliveriesOfEvents(db, workspaceId, ids)
    const numbers = deliveries.map(({ number }) => number)
    const attempts = Map.groupBy(
      await selectAttemptsByDelivery(db, workspaceId, numbers),
      (attempt) => attempt.delivery_number,
    )
    for (const { id, event, created_at, body } of events) {
      const own = deliveries.filter((delivery) => delivery.event_id === id)
      yield {
        id,
        event,
        createdAt: created_at.toISOString(),
        body: body === null ? null : JSON.parse(body),
        deliveries: own.map(({ webhook_id, status, number }) => {
          return { webhookId: webhook_id, status, log: (attempts.get(number) ?? []).map(presentAttempt) }
        }),
      }
    }
    const last = ids.at(-1)
    if (last === undefined || ids.length < eventsAtOnce) return
    after = last
  }
}
