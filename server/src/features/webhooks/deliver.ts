import type { Platform } from '../../platform/context.ts'
import { liveWorkspaceCondition } from '../workspaces/service.ts'
import { type Called, callReceiver, timeoutMs } from './call.ts'
import {
  claimDeliveries,
  countDue,
  type DeliveryEnd,
  type DueDelivery,
  endDelivery,
  recordAttempt,
  selectDueWebhooks,
} from './deliveries-store.ts'
import { disableIfHopeless } from './disable.ts'
import { webhookMetrics } from './metrics.ts'
import { nextTry } from './schedule.ts'
import { openSecrets } from './secrets.ts'
import type { DeliverySlots } from './slots.ts'

// A worker's claim on a delivery expires after this time, so that another worker takes over when it died.
const leaseMs = timeoutMs + 10_000
const mostCounted = 100_000
const live = liveWorkspaceCondition({ workspace: 'webhooks.workspace_id' })

/** Claims due deliveries for the free slots, fairly across webhooks. Several workers can run this concurrently. */
export async function takeDue(platform: Pick<Platform, 'db' | 'now'>, slots: DeliverySlots): Promise<DueDelivery[]> {
  const room = slots.room()
  if (room.count === 0) return []
  const now = platform.now()
  const claim = { now, until: new Date(now.getTime() + leaseMs), count: room.count }
  const shares = slots.share(await selectDueWebhooks(platform.db, { now, ...room, live }))
  const taken = shares.size === 0 ? [] : await claimDeliveries(platform.db, shares, claim)
  slots.began(taken.map((delivery) => delivery.webhook_id))
  return taken
}

/** Sends a delivery to the webhook's URL and records the attempt. Returns the call's duration in milliseconds. */
export async function deliver(platform: Platform, delivery: DueDelivery): Promise<number> {
  const { url, event_id: eventId, body } = delivery
  if (body === null) {
    await endDelivery(platform.db, delivery)
    return 0
  }
  const secrets = openSecrets(platform.config.ENCRYPTION_KEYS, { ...delivery, id: delivery.webhook_id }, platform.now())
  const called = await callReceiver(platform, { url, eventId, body, secrets })
  const metrics = webhookMetrics(platform)
  metrics.attempts.inc({ outcome: called.outcome })
  metrics.callSeconds.observe({ outcome: called.outcome }, called.durationMs / 1_000)
  const attempt = {
    at: called.at,
    duration_ms: called.durationMs,
    response_status: called.responseStatus,
    response_excerpt: called.responseExcerpt,
    problem: called.problem,
  }
  await recordAttempt(platform.db, delivery, attempt, decideEnd(delivery, called))
  await disableIfHopeless(platform, delivery, called)
  return called.durationMs
}

function decideEnd({ started_at: startedAt, tries }: DueDelivery, called: Called): DeliveryEnd {
  if (called.outcome === 'delivered') return { status: 'delivered', due_at: null }
  const dueAt = nextTry({ ...called, startedAt, tries: tries + 1 })
  return dueAt ? { status: 'pending', due_at: dueAt } : { status: 'failed', due_at: null }
}

export async function measurePending(platform: Pick<Platform, 'db' | 'now' | 'metrics'>): Promise<void> {
  webhookMetrics(platform).pending.set(await countDue(platform.db, platform.now(), mostCounted))
}
