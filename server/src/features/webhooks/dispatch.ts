import { sleep } from '../../platform/clock.ts'
import type { Platform } from '../../platform/context.ts'
import { type DeliverySlots, openSlots } from './slots.ts'

type Work<Delivery extends { webhook_id: string; event_id: string }> = {
  /** Claims deliveries that are due and have a free slot. */
  take(platform: Platform, slots: DeliverySlots): Promise<Delivery[]>
  /** Returns the duration of the call in milliseconds. */
  deliver(platform: Platform, delivery: Delivery): Promise<number>
}

const pollIntervalMs = 250
// A pause between two queries, so that one returns more than a single delivery when receivers are quick; longer while
// PostgreSQL is slow.
const restMs = 20
const callsInAll = 500

/** Delivers until disposed. Calls in progress get time to end; those that hang are retried later. */
export function startDispatch<Delivery extends { webhook_id: string; event_id: string }>(
  platform: Platform,
  { take, deliver }: Work<Delivery>,
): AsyncDisposable {
  const stopping = new AbortController()
  const slots = openSlots({
    perWebhook: platform.config.WEBHOOK_CONCURRENCY,
    perWorkspace: platform.config.WEBHOOK_WORKSPACE_CONCURRENCY,
    inAll: callsInAll,
  })
  const underWay = new Set<Promise<void>>()
  let roomMade = new AbortController()

  async function begin(): Promise<void> {
    roomMade = new AbortController()
    for (const delivery of await take(platform, slots)) {
      const calling = deliver(platform, delivery)
        .catch((error: unknown) => {
          const about = { error, webhookId: delivery.webhook_id, eventId: delivery.event_id }
          platform.log.warn(about, 'webhook delivery interrupted, will retry')
          return 0
        })
        .then((tookMs) => {
          underWay.delete(calling)
          if (slots.ended(delivery.webhook_id, tookMs)) roomMade.abort()
        })
      underWay.add(calling)
    }
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const started = performance.now()
      await begin().catch((error: unknown) => {
        platform.log.warn({ error }, 'could not read webhook deliveries, will retry')
      })
      await sleep(Math.max(restMs, 2 * (performance.now() - started)), stopping.signal)
      await sleep(pollIntervalMs, AbortSignal.any([stopping.signal, roomMade.signal]))
    }
  }

  const running = run()
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort()
      await running
      const patience = new AbortController()
      await Promise.race([Promise.all(underWay), sleep(platform.config.SHUTDOWN_GRACE_MS, patience.signal)])
      patience.abort()
    },
  }
}
