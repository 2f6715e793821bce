import { sleep } from '../../platform/clock.ts'
import type { Platform } from '../../platform/context.ts'
import { type DeliverySlots, openLines } from './lines.ts'

type Work<Delivery extends { webhook_id: string; event_id: string }> = {
  /** What is due and may be called now. */
  take(platform: Platform, slots: DeliverySlots): Promise<Delivery[]>
  /** How long the call took. */
  deliver(platform: Platform, delivery: Delivery): Promise<number>
}

const pollIntervalMs = 250
// Between two queries, so that one brings more than a single delivery when receivers are quick; longer while PostgreSQL is slow.
const restMs = 20
const callsInAll = 500

/** Delivers what is due until disposed; calls under way are given time to end, those that hang are tried again later. */
export function startDispatch<Delivery extends { webhook_id: string; event_id: string }>(
  platform: Platform,
  { take, deliver }: Work<Delivery>,
): AsyncDisposable {
  const stopping = new AbortController()
  const slots = openLines({
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
          platform.log.warn(about, 'A delivery of a webhook was interrupted and is tried again')
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
        platform.log.warn({ error }, 'Deliveries of webhooks could not be read; they are asked for again')
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
