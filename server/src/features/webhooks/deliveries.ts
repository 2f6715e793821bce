import { sampleEvent } from '@tributary/contract/webhook-samples'
import type { DeliveriesQuery, Delivery, DeliveryInFull, Trigger } from '@tributary/contract/webhooks'
import type { Ctx, Platform } from '../../platform/context.ts'
import { invalid, notFound } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { transaction } from '../../platform/postgres.ts'
import { seal, unseal } from '../../platform/seal.ts'
import {
  deleteEventsBefore,
  deletePieceOfDeleted,
  insertDeliveries,
  insertEvents,
  restartDeliveries,
  selectAttempts,
  selectDeliveries,
  selectDelivery,
  selectFailed,
} from './deliveries-store.ts'
import { canReadEvent } from './permissions.ts'
import { presentAttempt, presentDelivery } from './present.ts'
import { requireWebhook } from './service.ts'
import type { WebhookRow } from './store.ts'

const retentionMs = 30 * 86_400_000
const replayedAtOnce = 1_000
const prunedAtOnce = 500

export async function listDeliveries(
  ctx: Ctx,
  id: string,
  query: DeliveriesQuery,
): Promise<{ deliveries: Delivery[]; next?: string }> {
  const webhook = await requireWebhook(ctx, id)
  const { cursor, page, status, event, limit: size = query.pageSize } = query
  const found = await selectDeliveries(ctx.db, ctx.workspaceId, id, {
    status,
    event,
    ascending: query.sortOrder === 'asc',
    after: cursor === undefined ? undefined : openCursor(ctx, id, cursor),
    offset: cursor === undefined ? (page - 1) * size : 0,
    count: size + 1,
  })
  const rows = found.slice(0, size)
  const last = rows.at(-1)
  return {
    deliveries: rows.map((row) => presentDelivery(row, webhook)),
    ...(found.length > size && last && { next: sealCursor(ctx, id, last.number) }),
  }
}

export async function getDelivery(ctx: Ctx, id: string, eventId: string): Promise<DeliveryInFull> {
  const webhook = await requireWebhook(ctx, id)
  const row = await requireDelivery(ctx, id, eventId)
  const attempts = await selectAttempts(ctx.db, ctx.workspaceId, row.number)
  const shown = { ...presentDelivery(row, webhook), body: row.body, log: attempts.map(presentAttempt) }
  return canReadEvent(ctx, row.event) ? shown : withoutTexts(shown)
}

/** Receivers may repeat the body in their responses. */
function withoutTexts(delivery: DeliveryInFull): DeliveryInFull {
  return { ...delivery, body: null, log: delivery.log.map((attempt) => ({ ...attempt, responseExcerpt: null })) }
}

export async function replayDelivery(ctx: Ctx, id: string, eventId: string): Promise<Delivery> {
  const webhook = await requireEnabled(ctx, id)
  const { number } = await requireDelivery(ctx, id, eventId)
  const [row] = await restartDeliveries(ctx.db, ctx.workspaceId, [number], ctx.now())
  if (row) return presentDelivery(row, webhook)
  throw invalid(`The event ${eventId} can't be sent again: its customer was erased.`)
}

/** Restarts failed deliveries in small batches; skips deliveries that a concurrent replay has locked. */
export async function replayFailed(ctx: Ctx, id: string, since: string): Promise<{ replayed: number }> {
  await requireEnabled(ctx, id)
  const now = ctx.now()
  const from = new Date(since)
  if (from.getTime() < now.getTime() - retentionMs) {
    throw invalid('`since` in the body must be at most 30 days ago: deliveries are kept for that long.')
  }
  let replayed = 0
  for (;;) {
    const step = await transaction(ctx, async ({ db, workspaceId }) => {
      const numbers = await selectFailed(db, workspaceId, id, { since: from, now, count: replayedAtOnce })
      return restartDeliveries(db, workspaceId, numbers, now)
    })
    replayed += step.length
    if (step.length < replayedAtOnce) return { replayed }
  }
}

export async function sendTest(ctx: Ctx, id: string, trigger: Trigger): Promise<Delivery> {
  const webhook = await requireEnabled(ctx, id)
  const now = ctx.now()
  const event = sampleEvent(newId('evt'), trigger, now, { workspaceId: ctx.workspaceId, apiUrl: ctx.config.API_URL })
  const replay = { ...event, customerId: null, body: JSON.stringify(event), webhookIds: [id] }
  await transaction(ctx, async ({ db, workspaceId }) => {
    await insertEvents(db, workspaceId, [replay])
    await insertDeliveries(db, workspaceId, [replay], now)
  })
  return presentDelivery(await requireDelivery(ctx, id, event.id), webhook)
}

/** Deletes one batch of expired events and of deleted webhooks' deliveries. Returns whether more may be left. */
export async function pruneSome({ db, now }: Pick<Platform, 'db' | 'now'>): Promise<boolean> {
  const ofDeleted = await deletePieceOfDeleted(db, prunedAtOnce)
  const old = await deleteEventsBefore(db, new Date(now().getTime() - retentionMs), prunedAtOnce)
  return ofDeleted > 0 || old === prunedAtOnce
}

async function requireDelivery(ctx: Ctx, id: string, eventId: string) {
  const row = await selectDelivery(ctx.db, ctx.workspaceId, id, eventId)
  if (!row) throw notFound('delivery', eventId)
  return row
}

async function requireEnabled(ctx: Ctx, id: string): Promise<WebhookRow> {
  const webhook = await requireWebhook(ctx, id)
  if (webhook.disabled_at === null) return webhook
  throw invalid(`The webhook ${id} is disabled. Enable it first: PATCH /webhooks/${id} with {"disabled": false}.`)
}

/** Encrypts the delivery number in a cursor: in plain text it would reveal how many deliveries all workspaces have. */
function sealCursor(ctx: Ctx, id: string, number: bigint): string {
  return seal(ctx.config.ENCRYPTION_KEYS, sealPurpose(ctx, id), String(number)).toString('base64url')
}

function openCursor(ctx: Ctx, id: string, cursor: string): bigint {
  try {
    return BigInt(unseal(ctx.config.ENCRYPTION_KEYS, sealPurpose(ctx, id), Buffer.from(cursor, 'base64url')))
  } catch {
    throw invalid('`cursor` in the query does not come from this list. Pass the cursor back unchanged.')
  }
}

function sealPurpose({ workspaceId }: Ctx, id: string): string {
  return `webhook deliveries ${workspaceId} ${id}`
}
