import type { Ctx } from '../../platform/context.ts'
import { deleteFinishedEvents, selectStoredBytes } from './deliveries-store.ts'
import { webhookMetrics } from './metrics.ts'

const deletedAtOnce = 500

/**
 * Whether these event bodies fit into the workspace's WEBHOOK_STORAGE_MEGABYTES. Deletes the oldest events without
 * pending deliveries to make room.
 */
export async function hasRoom(ctx: Ctx, bodies: string[]): Promise<boolean> {
  const limit = ctx.config.WEBHOOK_STORAGE_MEGABYTES * 1_000_000
  const needed = bodies.reduce((sum, body) => sum + Buffer.byteLength(body), 0)
  for (;;) {
    if ((await selectStoredBytes(ctx.db, ctx.workspaceId)) + needed <= limit) return true
    if ((await deleteFinishedEvents(ctx.db, ctx.workspaceId, deletedAtOnce)) === 0) break
  }
  webhookMetrics(ctx).eventsDropped.inc(bodies.length)
  const about = { workspaceId: ctx.workspaceId, events: bodies.length }
  ctx.log.warn(about, 'webhook events dropped, pending events have reached WEBHOOK_STORAGE_MEGABYTES')
  return false
}
