import type { Ctx } from '../../platform/context.ts'
import { hashPartition } from '../../platform/ids.ts'
import { publish } from '../../platform/outbox.ts'
import { type DomainChanged, domainChangedMessage } from './messages.ts'
import { selectNow } from './store.ts'

/** The part of the request context that domain functions need; operator commands can provide it too. */
export type DomainCtx = Pick<Ctx, 'db' | 'config' | 'now' | 'workspaceId' | 'record'>

/** Publishes domain changes through the outbox. Call it in the transaction that makes the changes. */
export async function announce(
  ctx: Omit<DomainCtx, 'now'>,
  ...changes: Omit<DomainChanged, 'workspaceId' | 'at'>[]
): Promise<void> {
  if (changes.length === 0) return
  const { workspaceId } = ctx
  const partition = hashPartition(workspaceId, ctx.config.EVENT_PARTITIONS)
  const at = (await selectNow(ctx.db)).toISOString()
  await publish(ctx, ...changes.map((change) => domainChangedMessage({ workspaceId, at, ...change }, partition)))
}

export const changed = (slug: string) => ({ slug, deleted: false })
