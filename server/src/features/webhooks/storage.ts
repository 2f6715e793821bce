import { openByteCache } from '../../platform/byte-cache.ts'
import type { Ctx } from '../../platform/context.ts'
import { deleteFinishedEvents, selectStoredBytes } from './deliveries-store.ts'
import { webhookMetrics } from './metrics.ts'

const deletedAtOnce = 500
// With many pending events, a search for finished ones takes seconds, in which no workspace's events are stored. After
// a search that found few, the workspace's next one waits for a multiple of that time.
const restFactor = 20
const leastRestMs = 1_000
const mostRestMs = 60_000
const resting = openByteCache<{ since: number }>({ maxBytes: 1_000_000 })

/**
 * Whether these event bodies fit into the workspace's WEBHOOK_STORAGE_MEGABYTES. Deletes the oldest events without
 * pending deliveries to make room.
 */
export async function hasRoom(ctx: Ctx, bodies: string[]): Promise<boolean> {
  const limit = ctx.config.WEBHOOK_STORAGE_MEGABYTES * 1_000_000
  const needed = bodies.reduce((sum, body) => sum + Buffer.byteLength(body), 0)
  for (;;) {
    if ((await selectStoredBytes(ctx.db, ctx.workspaceId)) + needed <= limit) return true
    if ((await deleteSome(ctx)) === 0) break
  }
  webhookMetrics(ctx).eventsDropped.inc(bodies.length)
  const about = { workspaceId: ctx.workspaceId, events: bodies.length }
  ctx.log.warn(about, 'webhook events dropped, pending events have reached WEBHOOK_STORAGE_MEGABYTES')
  return false
}

async function deleteSome({ db, workspaceId }: Ctx): Promise<number> {
  if (resting.has(workspaceId)) return 0
  const since = performance.now()
  const deleted = await deleteFinishedEvents(db, workspaceId, deletedAtOnce)
  const restMs = Math.max(restFactor * (performance.now() - since), deleted === 0 ? leastRestMs : 1)
  if (deleted < deletedAtOnce) resting.set(workspaceId, { since }, { ttl: Math.ceil(Math.min(restMs, mostRestMs)) })
  return deleted
}
