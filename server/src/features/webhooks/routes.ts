import * as contract from '@tributary/contract/webhooks'
import { route } from '../../platform/http.ts'
import { getDelivery, listDeliveries, replayDelivery, replayFailed, sendTest } from './deliveries.ts'
import { createWebhook, deleteWebhook, getWebhook, listWebhooks, rotateSecret, updateWebhook } from './service.ts'

export const webhooksRoutes = [
  route(contract.listWebhooks, (ctx, { query }) => listWebhooks(ctx, query)),
  route(contract.createWebhook, (ctx, { body }) => createWebhook(ctx, body)),
  route(contract.getWebhook, (ctx, { params }) => getWebhook(ctx, params.id)),
  route(contract.updateWebhook, (ctx, { params, body }) => updateWebhook(ctx, params.id, body)),
  route(contract.deleteWebhook, (ctx, { params }) => deleteWebhook(ctx, params.id)),
  route(contract.rotateWebhookSecret, (ctx, { params }) => rotateSecret(ctx, params.id)),
  route(contract.testWebhook, (ctx, { params, body }) => sendTest(ctx, params.id, body.event)),
  route(contract.listDeliveries, async (ctx, { params, query }, { setHeader }) => {
    const { deliveries, next } = await listDeliveries(ctx, params.id, query)
    if (next) setHeader('X-Next-Cursor', next)
    return deliveries
  }),
  route(contract.getDelivery, (ctx, { params }) => getDelivery(ctx, params.id, params.eventId)),
  route(contract.replayDelivery, (ctx, { params }) => replayDelivery(ctx, params.id, params.eventId)),
  route(contract.replayFailed, (ctx, { params, body }) => replayFailed(ctx, params.id, body.since)),
]
