import { z } from 'zod'
import { commission, commissionPartner } from './commissions.ts'
import { instant, listing, plainText, taggedRead, taggedWrite } from './common.ts'
import { customer } from './customers.ts'
import { discountCode } from './discount-codes.ts'
import { discount } from './discounts.ts'
import { click } from './events.ts'
import { link } from './links.ts'
import { operation } from './operation.ts'
import { partnerApplication } from './partner-applications.ts'
import { partner } from './partners.ts'
import { paymentProcessors } from './track.ts'

/** Webhook triggers. A new trigger also needs a line in `dataSchemas` and in the sample events. */
export const triggers = [
  'link.created',
  'link.updated',
  'link.deleted',
  'link.clicked',
  'lead.created',
  'sale.created',
  'sale.refunded',
  'partner.enrolled',
  'partner.application_submitted',
  'partner.merged',
  'partner.updated',
  'commission.created',
  'commission.updated',
  'discount_code.created',
  'discount_code.deleted',
] as const
export type Trigger = (typeof triggers)[number]

const earningPartner = z.object({
  ...commissionPartner.shape,
  ...partner.pick({
    totalClicks: true,
    totalLeads: true,
    totalConversions: true,
    totalSales: true,
    totalSaleAmount: true,
    totalCommissions: true,
  }).shape,
})
export type EarningPartner = z.infer<typeof earningPartner>
const commissionEvent = commission.omit({ paidAt: true }).extend({
  partner: earningPartner,
  link: link.pick({ id: true, shortLink: true, domain: true, key: true }).nullable(),
})
const lead = {
  eventName: z.string(),
  customer,
  click,
  link,
  partner: earningPartner.nullable(),
  metadata: z.record(z.string(), z.unknown()).nullable(),
}
const sale = {
  ...lead,
  sale: z.object({
    amount: z.number().int().describe('Amount in the smallest unit of the currency; negative for a refund.'),
    currency: z.string(),
    paymentProcessor: z.enum(paymentProcessors),
    invoiceId: z.string().nullable(),
  }),
}
const mergedPartner = z.object({ id: z.string(), tenantId: z.string().nullable(), email: z.string().nullable() })
const codeEvent = discountCode.omit({ discountId: true }).extend({
  discount: discount.pick({ id: true, amount: true, type: true, maxDuration: true, provider: true }).nullable(),
})
const dataSchemas = {
  'link.created': link,
  'link.updated': link,
  'link.deleted': link,
  'link.clicked': z.object({ click, link }),
  'lead.created': z.object(lead),
  'sale.created': z.object(sale),
  'sale.refunded': z.object(sale),
  'partner.enrolled': partner,
  'partner.application_submitted': partnerApplication,
  'partner.merged': z.object({
    sourcePartner: mergedPartner,
    targetPartner: mergedPartner,
    targetAlreadyEnrolled: z.boolean(),
  }),
  'partner.updated': partner,
  'commission.created': commissionEvent,
  'commission.updated': commissionEvent,
  'discount_code.created': codeEvent,
  'discount_code.deleted': codeEvent,
} satisfies Record<Trigger, z.ZodType>

const eventSchema = <Event extends Trigger>(event: Event) =>
  z.object({ id: z.string(), event: z.literal(event), createdAt: instant, data: dataSchemas[event] })

/** Schema of the request body, which is equal for every receiver and every attempt. */
export const webhookEvent = z.union(triggers.map(eventSchema))
export type WebhookData = { [Event in Trigger]: z.infer<(typeof dataSchemas)[Event]> }
export type WebhookEvent = {
  [Event in Trigger]: { id: string; event: Event; createdAt: string; data: WebhookData[Event] }
}[Trigger]

const callHeaders = z.object({
  'webhook-id': z.string().describe('Id of the event, equal for every attempt and every receiver.'),
  'webhook-timestamp': z.string().describe('Time of this attempt, in Unix seconds.'),
  'webhook-signature': z
    .string()
    .describe('Signature: `v1,` and an HMAC-SHA256 in base64; several signatures are separated by spaces.'),
})

/** Describes the request to a receiver as an OpenAPI webhook. */
export function webhookRoute(trigger: Trigger) {
  return {
    method: 'post' as const,
    path: trigger,
    summary: `Sent to webhooks that have the trigger ${trigger}`,
    tags: ['Webhooks'],
    request: {
      headers: callHeaders,
      body: { required: true, content: { 'application/json': { schema: eventSchema(trigger) } } },
    },
    responses: {
      '2XX': {
        description: 'The event was received. Any other status, or no response within 15 seconds, causes a retry.',
      },
      410: { description: 'The receiver no longer exists, and the webhook is disabled.' },
    },
  }
}

const linkScopes = ['workspace', 'folders', 'links'] as const
const disabledReasons = ['asked', 'gone', 'failing'] as const

export const webhook = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    url: z.string(),
    triggers: z.array(z.enum(triggers)),
    linkScope: z
      .enum(linkScopes)
      .describe('Links whose events are sent: all links, links in folders, or selected links.'),
    folderIds: z.array(z.string()),
    disabledAt: instant.nullable(),
    disabledReason: z
      .enum(disabledReasons)
      .nullable()
      .describe(
        'Why the webhook is disabled. `asked`: by an API call. `gone`: by status 410. `failing`: after five days without success.',
      ),
    failingSince: instant.nullable().describe('Time since which every delivery has failed.'),
    createdAt: instant,
    updatedAt: instant,
  })
  .meta({ id: 'Webhook' })
export type Webhook = z.infer<typeof webhook>

const name = plainText(80).min(1)
const url = z.string().max(2_000).describe('URL of the receiver: public, https or http.')
const someTriggers = z.array(z.enum(triggers)).min(1).max(triggers.length)
const folderIds = z.array(z.string()).max(100).describe('Folder ids for the scope `folders`.')
const linkIds = z
  .array(z.string())
  .max(1_000)
  .describe('Link ids for the scope `links`. The webhook is added to the `webhookIds` of these links.')

export const newWebhook = z
  .object({
    name,
    url,
    triggers: someTriggers,
    linkScope: z.enum(linkScopes).default('workspace'),
    folderIds: folderIds.default([]),
    linkIds: linkIds.default([]),
  })
  .meta({ id: 'NewWebhook' })
export type NewWebhook = z.infer<typeof newWebhook>

export const webhookPatch = z
  .object({
    name: name.optional(),
    url: url.optional(),
    triggers: someTriggers.optional(),
    linkScope: z.enum(linkScopes).optional(),
    folderIds: folderIds.optional(),
    linkIds: linkIds.optional(),
    disabled: z.boolean().optional().describe('False enables the webhook again and resets its failures.'),
  })
  .meta({ id: 'WebhookPatch' })
export type WebhookPatch = z.infer<typeof webhookPatch>

const secret = z.string().describe('Secret that signs deliveries. It is shown only in this response.')
export const webhookWithSecret = z.strictObject({ ...webhook.shape, secret }).meta({ id: 'WebhookWithSecret' })
export type WebhookWithSecret = z.infer<typeof webhookWithSecret>

const deliveryStatuses = ['pending', 'delivered', 'failed'] as const
export const delivery = z
  .strictObject({
    eventId: z.string().describe('Event id, the header `webhook-id` of the delivery.'),
    event: z.enum(triggers),
    status: z.enum(deliveryStatuses),
    waitingFor: z
      .enum(['click'])
      .nullable()
      .describe(
        '`click`: the first attempt waits until the click of the lead or sale is stored with its location and device.',
      ),
    attempts: z.number().int(),
    responseStatus: z.number().int().nullable().describe('HTTP status of the last attempt; null without a response.'),
    lastAttemptAt: instant.nullable(),
    nextAttemptAt: instant.nullable(),
    createdAt: instant,
  })
  .meta({ id: 'WebhookDelivery' })
export type Delivery = z.infer<typeof delivery>

export const attempt = z
  .strictObject({
    number: z.number().int(),
    url: z.string(),
    at: instant.describe('Time of the attempt, to the second, as in the header `webhook-timestamp`.'),
    durationMs: z.number().int(),
    responseStatus: z.number().int().nullable(),
    responseExcerpt: z.string().nullable().describe('The first 1,000 characters of the response.'),
    problem: z.string().nullable().describe('Why the attempt failed.'),
  })
  .meta({ id: 'WebhookAttempt' })
export type Attempt = z.infer<typeof attempt>

export const deliveryInFull = z
  .strictObject({
    ...delivery.shape,
    body: z
      .string()
      .nullable()
      .describe(
        'Request body; null after the customer in it was erased, and for callers who may not read every folder or who lack a scope that reads the data of the event.',
      ),
    log: z.array(attempt).describe('All attempts, newest first.'),
  })
  .meta({ id: 'WebhookDeliveryInFull' })
export type DeliveryInFull = z.infer<typeof deliveryInFull>

const shared = { tag: 'Webhooks' } as const
const params = z.object({ id: z.string().describe('Id of the webhook.') })
const deliveryParams = z.object({ ...params.shape, eventId: z.string().describe('Id of the event.') })

export const listWebhooks = operation({
  ...shared,
  id: 'listWebhooks',
  method: 'get',
  path: '/webhooks',
  summary: 'List webhooks',
  scope: 'webhooks.read',
  query: z.object(listing(100, ['createdAt', 'name'], 'asc')),
  response: z.array(webhook),
})
export type WebhooksQuery = z.output<typeof listWebhooks.query>

export const createWebhook = operation({
  ...shared,
  id: 'createWebhook',
  method: 'post',
  path: '/webhooks',
  summary: 'Create a webhook',
  description:
    'Only this response contains the secret. The caller needs the scopes that read the events of its triggers.',
  scope: 'webhooks.write',
  body: newWebhook,
  status: 201,
  response: webhookWithSecret,
})

const single = { ...shared, path: '/webhooks/{id}', params, response: webhook } as const

export const getWebhook = operation({
  ...single,
  id: 'getWebhook',
  method: 'get',
  summary: 'Retrieve a webhook',
  scope: 'webhooks.read',
  ...taggedRead,
})

export const updateWebhook = operation({
  ...single,
  id: 'updateWebhook',
  method: 'patch',
  summary: 'Update a webhook',
  description: 'Changes other than a new name or disabling need the scopes that read the events of its triggers.',
  scope: 'webhooks.write',
  body: webhookPatch,
  ...taggedWrite,
})

export const deleteWebhook = operation({
  ...shared,
  id: 'deleteWebhook',
  method: 'delete',
  path: '/webhooks/{id}',
  summary: 'Delete a webhook',
  description: 'Deletes the webhook with all its deliveries, including pending ones.',
  scope: 'webhooks.write',
  params,
  response: z.strictObject({ id: z.string() }),
})

export const rotateWebhookSecret = operation({
  ...shared,
  id: 'rotateWebhookSecret',
  method: 'post',
  path: '/webhooks/{id}/rotate-secret',
  summary: 'Rotate the secret of a webhook',
  description: 'Creates a new secret. For 24 hours deliveries are signed with both the new and the old secret.',
  scope: 'webhooks.write',
  params,
  response: webhookWithSecret,
})

export const testWebhook = operation({
  ...shared,
  id: 'testWebhook',
  method: 'post',
  path: '/webhooks/{id}/test',
  summary: 'Send a test event',
  description: 'Queues an event with sample data; `GET /webhooks/{id}/deliveries` shows its result.',
  scope: 'webhooks.write',
  params,
  body: z.object({ event: z.enum(triggers).default('link.created') }).default({ event: 'link.created' }),
  status: 202,
  response: delivery,
})

export const listDeliveries = operation({
  ...shared,
  id: 'listWebhookDeliveries',
  method: 'get',
  path: '/webhooks/{id}/deliveries',
  summary: 'List deliveries of a webhook',
  description: 'Lists deliveries of the last 30 days, newest first, by page number or cursor.',
  scope: 'webhooks.read',
  params,
  query: z.object({
    status: z.enum(deliveryStatuses).optional(),
    event: z.enum(triggers).optional(),
    ...listing(50, ['createdAt'], 'desc'),
    limit: z.coerce.number().int().min(1).max(100).optional().describe('Use `pageSize`.').meta({ deprecated: true }),
    cursor: z
      .string()
      .max(100)
      .optional()
      .describe(
        'Cursor, instead of `page`: `X-Next-Cursor` of the previous response, to continue after its last delivery.',
      ),
  }),
  response: z.array(delivery),
  responseHeaders: { 'X-Next-Cursor': 'Cursor of the next page; absent on the last page.' },
})
export type DeliveriesQuery = z.output<typeof listDeliveries.query>

export const getDelivery = operation({
  ...shared,
  id: 'getWebhookDelivery',
  method: 'get',
  path: '/webhooks/{id}/deliveries/{eventId}',
  summary: 'Retrieve a delivery',
  description: 'Returns a delivery with its request body and every attempt.',
  scope: 'webhooks.read',
  params: deliveryParams,
  response: deliveryInFull,
})

export const replayDelivery = operation({
  ...shared,
  id: 'replayWebhookDelivery',
  method: 'post',
  path: '/webhooks/{id}/deliveries/{eventId}/replay',
  summary: 'Replay a delivery',
  description: 'Sends an event again, even a delivered one, with the same `webhook-id` and a new retry schedule.',
  scope: 'webhooks.write',
  params: deliveryParams,
  status: 202,
  response: delivery,
})

export const replayFailed = operation({
  ...shared,
  id: 'replayFailedWebhookDeliveries',
  method: 'post',
  path: '/webhooks/{id}/replay',
  summary: 'Replay failed deliveries',
  description: 'Sends every failed event since a time again.',
  scope: 'webhooks.write',
  params,
  body: z.object({ since: z.iso.datetime({ offset: true }).describe('Start time as ISO 8601, at most 30 days ago.') }),
  status: 202,
  response: z.strictObject({ replayed: z.number().int() }),
})
