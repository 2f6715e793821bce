import type { Attempt, Delivery, Webhook } from '@tributary/contract/webhooks'
import { entityTag } from '../../platform/validation.ts'
import type { AttemptRow, DeliveryRow } from './deliveries-store.ts'
import type { WebhookRow } from './store.ts'

/** Builds the API's webhook from its row, without the ids of deleted folders. `folders` has the existing ones. */
export function presentWebhook(row: WebhookRow, folders: Set<string>): Webhook {
  return {
    id: row.id,
    name: row.name,
    url: row.url,
    triggers: row.triggers,
    linkScope: row.scope,
    folderIds: row.folder_ids.filter((id) => folders.has(id)),
    disabledAt: row.disabled_at?.toISOString() ?? null,
    disabledReason: row.disabled_reason,
    failingSince: row.failing_since?.toISOString() ?? null,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }
}

/** The entity tag of a webhook, which failing deliveries do not change. */
export function webhookTag(webhook: Webhook): string {
  return entityTag(webhook, ['failingSince'])
}

/** Builds the API's delivery from its row. `nextAttemptAt` is null while the webhook is disabled. */
export function presentDelivery(row: DeliveryRow, { disabled_at }: Pick<WebhookRow, 'disabled_at'>): Delivery {
  return {
    eventId: row.event_id,
    event: row.event,
    status: row.status,
    waitingFor: row.waits_for,
    attempts: row.attempts,
    responseStatus: row.response_status,
    lastAttemptAt: row.last_attempt_at?.toISOString() ?? null,
    nextAttemptAt: row.status === 'pending' && disabled_at === null ? (row.due_at?.toISOString() ?? null) : null,
    createdAt: row.created_at.toISOString(),
  }
}

export function presentAttempt(row: AttemptRow): Attempt {
  return {
    number: row.number,
    url: row.url,
    at: row.at.toISOString(),
    durationMs: row.duration_ms,
    responseStatus: row.response_status,
    responseExcerpt: row.response_excerpt,
    problem: row.problem,
  }
}
