import * as contract from '@tributary/contract/webhooks'
import { route } from '../../platform/http.ts'
import { getDelivery, listDeliveries, replayDelivery, replayFailed, sendTest } from './deliveries.ts'
import { webhookTag } from './present.ts'
import {
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhooks,
  rotateSecret,
  updateWebhook,
  type WebhookScopes,
} from './service.ts'

export const webhooksRoutes = (scopes: WebhookScopes) => [
  route(contract.listWebhooks, (ctx, { query }) => listWebhooks(ctx, scopes, query)),
  route(contract.createWebhook, (ctx, { body }) => createWebhook(ctx, scopes, body)),
  route(contract.getWebhook, async (ctx, { params }, { setHeader }) => {
    const webhook = await getWebhook(ctx, scopes, params.id)
    setHeader('ETag', webhookTag(webhook))
    return webhook
  }),
  route(contract.updateWebhook, async (ctx, { params, body }, { header, setHeader }) => {
    const webhook = await updateWebhook(ctx, scopes, params.id, body, header('if-match'))
    setHeader('ETag', webhookTag(webhook))
    return webhook
  }),
  route(contract.deleteWebhook, (ctx, { params }) => deleteWebhook(ctx, params.id)),
  route(contract.rotateWebhookSecret, (ctx, { params }) => rotateSecret(ctx, scopes, params.id)),
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
