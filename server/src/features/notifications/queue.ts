import type { NotificationKind } from '@tributary/contract/notifications'
import type { Platform } from '../../platform/context.ts'
import { transaction } from '../../platform/postgres.ts'
import type { DomainBroken } from '../domains/messages.ts'
import { takeExpiring } from '../tokens/service.ts'
import type { WebhookDisabled } from '../webhooks/messages.ts'
import { findRecipients, type Member } from './recipients.ts'
import { insertNotifications } from './store.ts'

type NewNotification = {
  workspaceId: string
  kind: NotificationKind
  subject: string
  occasion: string
  facts?: object
  isConcerned?: (member: Member) => boolean
}

// What happens within a minute comes in one e-mail, such as several domains of one DNS provider.
const gatherMs = 60_000
const keysAtOnce = 10

/** Queues a notification for everyone who gets this kind. Of repeated calls for one occasion, the first one counts. */
export async function queueNotification(
  platform: Platform,
  { workspaceId, kind, isConcerned, facts = {}, ...about }: NewNotification,
): Promise<void> {
  const recipients = await findRecipients(platform, workspaceId, kind, isConcerned)
  if (recipients.length === 0) return
  const now = platform.now()
  const due_at = new Date(now.getTime() + gatherMs)
  await insertNotifications(platform.db, workspaceId, recipients, { kind, facts, ...about, due_at, created_at: now })
}

export async function queueBrokenDomains(platform: Platform, messages: DomainBroken[]): Promise<void> {
  for (const { workspaceId, domainId, since } of messages)
    await queueNotification(platform, { workspaceId, kind: 'domain_broken', subject: domainId, occasion: since })
}

export async function queueDisabledWebhooks(platform: Platform, messages: WebhookDisabled[]): Promise<void> {
  for (const { workspaceId, webhookId, at = '' } of messages)
    await queueNotification(platform, { workspaceId, kind: 'webhook_disabled', subject: webhookId, occasion: at })
}

/**
 * Queues warnings about keys that expire soon, in the transaction that marks the keys as warned of: a personal key
 * concerns its owner, any other key those who see all keys. Returns whether there may be more.
 */
export function queueExpiringKeys(platform: Platform): Promise<boolean> {
  return transaction(platform, async (ctx) => {
    const { keys, isFull } = await takeExpiring(ctx, keysAtOnce)
    for (const { id, workspace_id, user_id, expires_at, expiry_warnings } of keys) {
      await queueNotification(ctx, {
        workspaceId: workspace_id,
        kind: 'key_expiring',
        subject: id,
        occasion: `${expires_at.toISOString()} ${expiry_warnings === 1 ? '7d' : '1d'}`,
        isConcerned: ({ userId, role }) => (user_id ? userId === user_id : role === 'owner' || role === 'admin'),
      })
    }
    return isFull
  })
}
