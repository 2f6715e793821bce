import { sleep } from '../../platform/clock.ts'
import type { Platform } from '../../platform/context.ts'
import { type DeliverySlots, openSlots } from './slots.ts'

type Work<Delivery extends { webhook_id: string; event_id: string }> = {
  /** Claims due deliveries for the free slots. */
  take(platform: Platform, slots: DeliverySlots): Promise<Delivery[]>
  /** Sends a delivery to the webhook's URL. Returns the call's duration in milliseconds. */
  deliver(platform: Platform, delivery: Delivery): Promise<number>
}

const pollIntervalMs = 250
// Minimum pause between queries for due deliveries, so that one query claims several; grows when PostgreSQL is slow.
const restMs = 20
const callsInAll = 500

/** Sends due deliveries until disposed. Disposal waits SHUTDOWN_GRACE_MS for open calls; the rest is retried later. */
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
