import { retrieveAnalytics } from '@tributary/contract/analytics'
import { listDomains } from '@tributary/contract/domains'
import type { NotificationKind } from '@tributary/contract/notifications'
import type { Access } from '@tributary/contract/operation'
import type { Role } from '@tributary/contract/permissions'
import { getToken } from '@tributary/contract/tokens'
import { getWebhook } from '@tributary/contract/webhooks'
import { type Ctx, requirePermission } from '../../platform/context.ts'
import { AppError } from '../../platform/errors.ts'

/** The operation that returns what a notification is about: only those who may call it get the notification. */
const operations: Record<NotificationKind, Access & { path: string }> = {
  domain_broken: listDomains,
  webhook_disabled: getWebhook,
  key_expiring: getToken,
  clicks_unusual: retrieveAnalytics,
  weekly_report: retrieveAnalytics,
}

/** Owners and admins hear of what stops working; everybody hears of their own keys, and owners and admins of all others. */
export function isOnByDefault(kind: NotificationKind, role: Role): boolean {
  if (kind === 'key_expiring') return true
  return (kind === 'domain_broken' || kind === 'webhook_disabled') && (role === 'owner' || role === 'admin')
}

/** Whether the caller's role and the workspace's plan allow to see what these notifications are about. */
export function isAvailable(ctx: Pick<Ctx, 'actor' | 'plan'>, kind: NotificationKind): boolean {
  try {
    requirePermission(ctx, operations[kind])
    return true
  } catch (error) {
    if (error instanceof AppError) return false
    throw error
  }
}
