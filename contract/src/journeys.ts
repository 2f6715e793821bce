import { z } from 'zod'
import { instant, pageSize, sortOrder } from './common.ts'
import { customerParams } from './customers.ts'
import { click } from './events.ts'
import { operation } from './operation.ts'
import { paymentProcessors } from './track.ts'

const journeyLink = z.strictObject({
  id: z.string(),
  domain: z.string(),
  key: z.string(),
  shortLink: z.string(),
  url: z.string(),
})
export type JourneyLink = z.infer<typeof journeyLink>
const link = journeyLink.nullable().describe('The link; null for an event without one.')
const journeyClick = click.omit({ ip: true })
export type JourneyClick = z.infer<typeof journeyClick>

const touch = z.strictObject({ click: journeyClick, link })
export type Touch = z.infer<typeof touch>

const journeyCommission = z.strictObject({
  id: z.string(),
  earnings: z.number().int().describe('What the partner earns. Negative for a clawback.'),
  currency: z.string(),
  status: z.string(),
  partnerId: z.string(),
})
export type JourneyCommission = z.infer<typeof journeyCommission>

const shared = { timestamp: instant, link }
const conversion = {
  ...shared,
  id: z.string(),
  eventName: z.string(),
  attribution: z
    .string()
    .describe('Why the event belongs to its link, such as `last_click`; or why to none, such as `outside_window`.'),
  clickId: z.string().nullable().describe('The click that the event is attributed to.'),
  metadata: z.record(z.string(), z.unknown()).nullable(),
  partner: z
    .strictObject({ id: z.string(), name: z.string() })
    .nullable()
    .describe('The partner who brought the event.'),
  commissions: z
    .array(journeyCommission)
    .nullable()
    .describe('What the event earned the partner; null without the scope `commissions.read`.'),
}
const payment = {
  ...conversion,
  amount: z
    .number()
    .int()
    .describe('In the smallest unit of `currency`, the currency of the workspace at that time; negative for a refund.'),
  currency: z.string(),
  originalAmount: z.number().int().nullable().describe('The amount as it was reported; positive also for a refund.'),
  originalCurrency: z.string().nullable(),
  invoiceId: z.string().nullable(),
  paymentProcessor: z.enum(paymentProcessors).nullable(),
  saleAmount: z.number().int().describe("The customer's sales minus refunds up to and including this event."),
}

export const journeyEvent = z
  .discriminatedUnion('event', [
    z.strictObject({ event: z.literal('click'), ...shared, click: journeyClick }),
    z.strictObject({
      event: z.literal('lead'),
      ...conversion,
      quantity: z.number().int().describe('How many leads this is.'),
    }),
    z.strictObject({ event: z.literal('sale'), ...payment }),
    z.strictObject({
      event: z.literal('refund'),
      ...payment,
      refundId: z.string().nullable(),
      isFull: z.boolean().describe('Whether nothing is left of the sale.'),
    }),
  ])
  .meta({ id: 'JourneyEvent' })
export type JourneyEvent = z.infer<typeof journeyEvent>

export const journey = z
  .strictObject({
    customerId: z.string(),
    firstTouch: touch.nullable().describe("The first of the customer's clicks that is known."),
    lastTouch: touch.nullable().describe("The last of the customer's clicks that is known."),
    events: z.array(journeyEvent),
  })
  .meta({ id: 'Journey' })
export type Journey = z.infer<typeof journey>

export const getJourney = operation({
  id: 'getCustomerJourney',
  method: 'get',
  path: '/customers/{id}/journey',
  summary: "Get a customer's journey",
  description:
    "Returns the clicks, leads, sales and refunds of a customer by time, one page at a time. Clicks are those that a lead or sale is attributed to, and the customer's first click; the last 1,000 of them at most. They need the scope `analytics.read`.",
  tag: 'Customers',
  scope: 'customers.read',
  limit: 'analytics',
  params: customerParams,
  query: z.object({
    cursor: z.string().max(1_000).optional().describe('`X-Next-Cursor` of the previous page.'),
    sortOrder: sortOrder.default('desc').describe('Newest events first (`desc`), or oldest first.'),
    pageSize: pageSize(50),
  }),
  response: journey,
  responseHeaders: { 'X-Next-Cursor': 'Cursor of the next page; absent on the last page.' },
})
export type JourneyQuery = z.output<typeof getJourney.query>
