import type { Platform } from '../../platform/context.ts'
import { sendEmail } from '../../platform/email.ts'
import { hashPartition } from '../../platform/ids.ts'
import { publish } from '../../platform/outbox.ts'
import { transaction } from '../../platform/postgres.ts'
import { findUserByEmail } from '../auth/service.ts'
import { memberAccess } from '../members/service.ts'
import { requireWorkspace } from '../workspaces/service.ts'
import type { Called } from './call.ts'
import type { DueDelivery } from './deliveries-store.ts'
import { type WebhookDisabled, webhookDisabledMessage } from './messages.ts'
import { webhookMetrics } from './metrics.ts'
import { disabledNotice } from './notice.ts'
import { isGivenUp } from './schedule.ts'
import { disableWebhook, lockWebhooks, selectWebhook } from './store.ts'

/** Disables a webhook whose receiver answered 410, or whose calls have all failed for five days. */
export async function disableIfHopeless(platform: Platform, delivery: DueDelivery, called: Called): Promise<void> {
  const { workspace_id: workspaceId, webhook_id: webhookId } = delivery
  const reason = reasonToDisable(delivery, called)
  if (!reason) return
  const isDisabled = await transaction({ ...platform, workspaceId }, async (ctx) => {
    await lockWebhooks(ctx.db, workspaceId)
    const failingSince = reason === 'failing' ? delivery.failing_since : null
    if (!(await disableWebhook(ctx.db, delivery, { reason, now: called.endedAt, failingSince }))) return false
    const partition = hashPartition(workspaceId, ctx.config.EVENT_PARTITIONS)
    const at = called.endedAt.toISOString()
    await publish(ctx, webhookDisabledMessage({ workspaceId, webhookId, at, reason }, partition))
    return true
  })
  if (!isDisabled) return
  webhookMetrics(platform).disabled.inc({ reason })
  platform.log.info({ workspaceId, webhookId, reason }, 'webhook disabled')
}

function reasonToDisable({ failing_since, tries }: DueDelivery, { outcome, endedAt }: Called) {
  if (outcome === 'gone') return 'gone'
  if (outcome === 'delivered' || !failing_since) return undefined
  return isGivenUp(failing_since, { tries: tries + 1, endedAt }) ? 'failing' : undefined
}

/**
 * E-mails the contacts of workspaces about disabled webhooks; skips webhooks that were enabled again or deleted
 * meanwhile, and contacts who get a notification.
 */
export async function sendDisabledEmails(platform: Platform, messages: WebhookDisabled[]): Promise<void> {
  for (const { workspaceId, webhookId, reason } of messages) {
    const webhook = await selectWebhook(platform.db, workspaceId, webhookId)
    if (!webhook?.disabled_at || reason === 'gone') continue
    const { name: workspaceName, slug, contact_email: to } = await requireWorkspace(platform, workspaceId)
    if (to && (await isNotified(platform, workspaceId, to))) continue
    if (to) await sendEmail(platform, { to, ...disabledNotice(webhook, workspaceName, platform.config.API_URL) })
    else {
      const remedy = `tributary workspace set ${slug} --contact-email <address>`
      platform.log.warn({ workspaceId, webhookId, remedy }, 'webhook disabled, but the workspace has no contact e-mail')
    }
  }
}

/** Whether this is the address of an owner or admin: they get the notification, unless they turned it off. */
async function isNotified(platform: Platform, workspaceId: string, email: string): Promise<boolean> {
  const user = await findUserByEmail(platform, email)
  if (!user?.isEmailVerified) return false
  const access = await memberAccess(platform, workspaceId, user.id)
  return access?.role === 'owner' || access?.role === 'admin'
}
