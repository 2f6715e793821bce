import type { WebhookData } from '@tributary/contract/webhooks'
import type { Ctx } from '../../platform/context.ts'
import { hashPartition, newId } from '../../platform/ids.ts'
import { publish } from '../../platform/outbox.ts'
import { type PartnerChanged, partnerChangedMessage } from './messages.ts'

/** Publishes what happened to a partner, in the caller's transaction. */
export async function publishPartner<Type extends PartnerChanged['event']['event']>(
  ctx: Ctx,
  type: Type,
  data: WebhookData[Type],
): Promise<void> {
  const event = { id: newId('evt'), event: type, createdAt: ctx.now().toISOString(), data } as PartnerChanged['event']
  const partition = hashPartition(ctx.workspaceId, ctx.config.EVENT_PARTITIONS)
  await publish(ctx, partnerChangedMessage({ workspaceId: ctx.workspaceId, event }, partition))
}
