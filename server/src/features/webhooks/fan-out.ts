import type { Trigger } from '@tributary/contract/webhooks'
import { chunks } from '../../platform/batches.ts'
import { asSystem, type Ctx, type Platform } from '../../platform/context.ts'
import { transaction } from '../../platform/postgres.ts'
import {
  dropWaiting,
  eraseEvents,
  insertDeliveries,
  insertEvents,
  releaseEvents,
  selectWaiting,
} from './deliveries-store.ts'
import { isInScope } from './scope.ts'
import type {
  ErasedCustomer,
  FindListening,
  WebhookDraft,
  WebhookDrafts,
  WebhookRelease,
  WebhookSource,
} from './service.ts'
import { hasRoom } from './storage.ts'
import { type ListenerRow, selectListeners, selectListening } from './store.ts'

const releasedAtOnce = 100

/** Stores webhook events and one delivery per subscribed webhook. A redelivered message changes nothing. */
export async function fanOut<Body>(platform: Platform, source: WebhookSource<Body>, bodies: Body[]): Promise<void> {
  const findListening: FindListening = (triggers, workspaceIds) =>
    selectListening(platform.db, [...triggers], workspaceIds)
  for await (const { workspaceId, build } of source.read(platform, bodies, findListening)) {
    const ctx = asSystem(platform, workspaceId)
    const waiting = await enqueue(ctx, build)
    // The click facts of waiting events may have been stored since the events were read.
    if (source.rebuild && waiting.length > 0) await release(ctx, source.rebuild, waiting)
  }
}

/** Makes waiting deliveries due once the click facts of their events are known. */
export async function releaseWaiting<Body>(
  platform: Platform,
  { readIds, rebuild }: WebhookRelease<Body>,
  bodies: Body[],
): Promise<void> {
  for (const [workspaceId, mine] of Map.groupBy(bodies.map(readIds), (body) => body.workspaceId)) {
    const ids = mine.flatMap((body) => body.ids)
    for (const part of chunks(ids, releasedAtOnce)) await release(asSystem(platform, workspaceId), rebuild, part)
  }
}

async function release(ctx: Ctx, rebuild: WebhookRelease<unknown>['rebuild'], ids: string[]): Promise<void> {
  const waiting = await selectWaiting(ctx.db, ctx.workspaceId, ids)
  if (waiting.length === 0) return
  const build = await rebuild(ctx, waiting)
  await transaction(ctx, async (ctx) => {
    const bodies = (await build(ctx)).map(({ event }) => ({ id: event.id, body: JSON.stringify(event) }))
    if (bodies.length === 0) return
    const hasSpace = await hasRoom(
      ctx,
      bodies.map(({ body }) => body),
    )
    if (hasSpace) return releaseEvents(ctx.db, ctx.workspaceId, bodies, ctx.now())
    return dropWaiting(
      ctx.db,
      ctx.workspaceId,
      bodies.map(({ id }) => id),
    )
  })
}

/** Erases the bodies of the customers' stored webhook events; their pending deliveries fail. */
export async function eraseCustomerEvents(platform: Pick<Platform, 'db'>, erased: ErasedCustomer[]): Promise<void> {
  for (const [workspaceId, customers] of Map.groupBy(erased, (customer) => customer.workspaceId)) {
    const ids = customers.map(({ customerId }) => customerId)
    await transaction(platform, ({ db }) => eraseEvents(db, workspaceId, ids))
  }
}

/** Stores events with their deliveries. Returns the ids of events that wait until the data of their click is stored. */
async function enqueue(ctx: Ctx, build: WebhookDrafts['build']): Promise<string[]> {
  return transaction(ctx, async (ctx) => {
    const drafts = (await build(ctx)).sort(byTime)
    const triggers = new Set<Trigger>(drafts.map(({ event }) => event.event))
    const listeners = await selectListeners(ctx.db, ctx.workspaceId, [...triggers])
    const events = drafts.flatMap((draft) => {
      const { event, customerId, waitsFor } = draft
      const webhookIds = listeners.filter((listener) => isSubscribed(listener, draft)).map(({ id }) => id)
      const body = waitsFor ? null : JSON.stringify(event)
      return webhookIds.length === 0 ? [] : [{ ...event, customerId, body, waitsFor, webhookIds }]
    })
    if (events.length === 0) return []
    const bodies = events.flatMap(({ body }) => body ?? [])
    if (!(await hasRoom(ctx, bodies))) return []
    await insertEvents(ctx.db, ctx.workspaceId, events)
    await insertDeliveries(ctx.db, ctx.workspaceId, events, ctx.now())
    return events.flatMap(({ id, waitsFor }) => (waitsFor ? [id] : []))
  })
}

/** Whether a webhook gets this event. A webhook gets no events from before its creation. */
function isSubscribed(listener: ListenerRow, { event, link }: WebhookDraft): boolean {
  const isOlder = listener.created_at.toISOString() <= event.createdAt
  return isOlder && listener.triggers.includes(event.event) && isInScope(listener, link)
}

/** Sorts events by time: two workers that insert the same events in the same order can't deadlock. */
function byTime({ event: a }: WebhookDraft, { event: b }: WebhookDraft): number {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? -1 : 1
  return a.id < b.id ? -1 : 1
}
