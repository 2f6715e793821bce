import { z } from 'zod'
import { advancedFilter, booleanText, instant, pageNumber, sortOrder } from './common.ts'
import { customer } from './customers.ts'
import { link } from './links.ts'
import { defaultActors, operation, type StreamOperation } from './operation.ts'
import { paymentProcessors } from './track.ts'

export const intervals = ['24h', '7d', '30d', '90d', '1y', 'mtd', 'qtd', 'ytd', 'all'] as const
export type Interval = (typeof intervals)[number]

export const click = z
  .strictObject({
    id: z.string(),
    timestamp: instant,
    url: z.string().describe('Destination.'),
    country: z.string(),
    city: z.string(),
    region: z.string(),
    continent: z.string(),
    device: z.string(),
    browser: z.string(),
    os: z.string(),
    trigger: z.string().nullable().optional().describe('How the click came: `link`, `qr` or `pageview`.'),
    referer: z.string().describe('Host of the referrer.'),
    refererUrl: z.string(),
    qr: z.boolean(),
    ip: z.string(),
  })
  .meta({ id: 'Click' })

const deprecatedText = z.string().meta({ deprecated: true })

/** Deprecated copies of the click fields at the top level of every event, for old clients. */
const deprecatedFields = {
  click_id: deprecatedText,
  link_id: deprecatedText,
  domain: deprecatedText,
  key: deprecatedText,
  url: deprecatedText,
  continent: deprecatedText,
  country: deprecatedText,
  city: deprecatedText,
  device: deprecatedText,
  browser: deprecatedText,
  os: deprecatedText,
  qr: z.number().meta({ deprecated: true }),
  ip: deprecatedText,
}

export const clickEvent = z
  .strictObject({ event: z.literal('click'), timestamp: instant, click, link, ...deprecatedFields })
  .meta({ id: 'ClickEvent' })
export type ClickEvent = z.infer<typeof clickEvent>

export const leadEvent = z
  .strictObject({
    event: z.literal('lead'),
    timestamp: instant,
    eventId: z.string(),
    eventName: z.string(),
    metadata: z.record(z.string(), z.unknown()).nullable(),
    click,
    link,
    customer,
    ...deprecatedFields,
  })
  .meta({ id: 'LeadEvent' })
export type LeadEvent = z.infer<typeof leadEvent>

export const saleEvent = z
  .strictObject({
    event: z.literal('sale'),
    timestamp: instant,
    eventId: z.string(),
    eventName: z.string(),
    sale: z.strictObject({
      amount: z
        .number()
        .int()
        .describe('Amount in the smallest unit of the currency. Negative for a refund, which is a separate event.'),
      invoiceId: z.string().nullable(),
      paymentProcessor: z.enum(paymentProcessors),
      currency: z.string(),
    }),
    metadata: z.record(z.string(), z.unknown()).nullable(),
    link,
    click,
    customer,
    saleAmount: z.number().meta({ deprecated: true }),
    invoice_id: deprecatedText,
    payment_processor: deprecatedText,
    ...deprecatedFields,
  })
  .meta({ id: 'SaleEvent' })
export type SaleEvent = z.infer<typeof saleEvent>
export type TrackedEvent = ClickEvent | LeadEvent | SaleEvent

/** Query filters that `GET /events` and `GET /analytics` share. */
export const eventFilters = {
  domain: advancedFilter('Host of the short link.'),
  key: z.string().optional().describe('Slug of the short link; requires `domain`.'),
  linkId: advancedFilter('Id of the short link.'),
  externalId: z.string().optional().describe("The link's id in your system, prefixed with `ext_`."),
  tenantId: advancedFilter('Tenant id of the link.'),
  tagId: advancedFilter("Id of one of the link's tags."),
  folderId: advancedFilter("Id of the link's folder."),
  partnerTagId: advancedFilter("Id of one of the partner's tags."),
  groupId: advancedFilter("Id of the partner's group."),
  partnerId: advancedFilter('Id of the partner.'),
  customerId: z.string().optional().describe('Id of the customer.'),
  interval: z
    .enum(intervals)
    .optional()
    .describe(
      'Period that ends now; `24h` when omitted. `7d`, `30d`, `90d` and `1y` are 7, 30, 90 and 365 days of 24 hours; `mtd`, `qtd` and `ytd` begin with the month, quarter or year in `timezone`. Ignored when `start` is given.',
    )
    .meta({ default: '24h' }),
  start: z
    .string()
    .max(100)
    .optional()
    .describe(
      'Start of the period: a date, a date and time, or words such as `3 hours ago`. Takes precedence over `interval`.',
    ),
  end: z
    .string()
    .max(100)
    .optional()
    .describe('End of the period, by default now. Used only with `start`; a date includes that whole day.'),
  timezone: z.string().max(100).default('UTC').describe('IANA time zone, such as `Europe/Berlin`.'),
  country: advancedFilter('Two-letter country code.'),
  city: advancedFilter('City.'),
  region: advancedFilter('ISO 3166-2 code, such as `US-CA`.'),
  continent: advancedFilter('Continent: `AF`, `AN`, `AS`, `EU`, `NA`, `OC` or `SA`.'),
  device: advancedFilter('Device type.'),
  browser: advancedFilter('Browser.'),
  os: advancedFilter('Operating system.'),
  trigger: advancedFilter('How the click came: `link`, `qr` or `pageview`.'),
  referer: advancedFilter('Host of the referrer.'),
  refererUrl: advancedFilter('URL of the referrer.'),
  url: advancedFilter('Destination.'),
  utm_source: advancedFilter('UTM source.'),
  utm_medium: advancedFilter('UTM medium.'),
  utm_campaign: advancedFilter('UTM campaign.'),
  utm_term: advancedFilter('UTM term.'),
  utm_content: advancedFilter('UTM content.'),
  root: booleanText.optional().describe('True: only clicks on bare domains. False: only clicks on links.'),
  saleType: z
    .enum(['new', 'recurring'])
    .optional()
    .describe('Only first purchases of customers, or only repeated ones.'),
  query: z.string().max(10_000).optional().describe("Search in metadata: `metadata['key']:'value'`."),
  programId: z.string().optional().meta({ deprecated: true }),
  tagIds: z.string().optional().meta({ deprecated: true }),
  qr: booleanText
    .optional()
    .describe('Deprecated, use `trigger`. True is `trigger=qr`, false is `trigger=link`.')
    .meta({ deprecated: true }),
} as const

const eventFiltersObject = z.object(eventFilters)
export type EventFilters = z.infer<typeof eventFiltersObject>

const attributedFilter = z
  .enum(['true', 'false', 'all'])
  .default('true')
  .describe(
    'Leads and sales attributed to a link (`true`, the default), those that are not (`false`), or both (`all`). Unattributed events have a `link` with the id `link_none` and the reason in `comments`.',
  )

/** Filter for bot clicks, our own addition to the API. */
export const botsFilter = z
  .enum(['exclude', 'include', 'only'])
  .default('exclude')
  .describe('Whether to include bot clicks. Leads and sales never come from bots.')

const eventKind = z.enum(['clicks', 'leads', 'sales']).default('clicks').describe('Event type.')

export const eventsQuery = z.object({
  event: eventKind,
  ...eventFilters,
  bots: botsFilter,
  attributed: attributedFilter,
  page: pageNumber,
  cursor: z
    .string()
    .max(1_000)
    .optional()
    .describe('Cursor, instead of `page`: `X-Next-Cursor` of the previous response, to continue after its last event.'),
  limit: z.coerce.number().int().min(1).max(1000).default(100).describe('Items per page.'),
  // Has no zod default, because the deprecated `order` applies when `sortOrder` is omitted.
  sortOrder: sortOrder.optional().describe('Sort order; `desc` when omitted.').meta({ default: 'desc' }),
  sortBy: z.enum(['timestamp']).default('timestamp'),
  order: sortOrder.optional().describe('Use `sortOrder`.').meta({ deprecated: true }).meta({ default: 'desc' }),
})
export type EventsQuery = z.infer<typeof eventsQuery>

export const listEvents = operation({
  id: 'listEvents',
  method: 'get',
  path: '/events',
  summary: 'List events',
  description: 'Lists the clicks, leads or sales of the workspace, newest first, one page at a time.',
  tag: 'Events',
  scope: 'analytics.read',
  limit: 'analytics',
  plan: 'business',
  query: eventsQuery,
  response: z.array(z.discriminatedUnion('event', [clickEvent, leadEvent, saleEvent])),
  responseHeaders: {
    'X-Next-Cursor':
      'Cursor of the next page; absent on the last page. In ascending order there is always a next page.',
    Link: 'URL of the next page, with `rel="next"`, if this page is full.',
  },
})

/** How a lead or sale got its link, or why it has none. */
export const attributionReasons = [
  ...(['last_click', 'first_click', 'stored_click', 'lead', 'discount_code', 'by_hand'] as const),
  ...(['outside_window', 'no_click'] as const),
] as const
export type AttributionReason = (typeof attributionReasons)[number]

export const eventAttribution = z
  .strictObject({
    eventId: z.string(),
    attributed: z.boolean().describe('Whether the event has a link.'),
    reason: z
      .enum(attributionReasons)
      .describe(
        'How the event got its link: by the click of its request (`last_click`), by the first click of the customer (`first_click`, `stored_click`), by the lead of a sale (`lead`), by a discount code or by hand. Or why it has none: the click is older than the attribution window, or there is no click.',
      ),
    explanation: z.string().describe('The reason in a sentence.'),
    remedy: z.string().nullable().describe('What to change, so that later events of this kind are attributed.'),
    click: z
      .strictObject({
        id: z.string(),
        linkId: z.string().nullable().describe('Null if you may not read the link.'),
        clickedAt: instant.describe('Start of the hour of the click; the window counts hours.'),
        neededDays: z.number().int().describe('The shortest attribution window, in days, that includes the click.'),
      })
      .nullable()
      .describe("The event's click; for an event without a link, the first click of its customer."),
    attributionDays: z.number().int().describe("The workspace's present attribution window in days."),
    attributionModel: z.enum(['first-click', 'last-click']).describe("The workspace's present attribution model."),
  })
  .meta({ id: 'EventAttribution' })
export type EventAttribution = z.infer<typeof eventAttribution>

export const explainAttribution = operation({
  id: 'explainAttribution',
  method: 'get',
  path: '/events/{eventId}/attribution',
  summary: 'Explain the attribution of an event',
  description: 'Why a lead, sale or refund is attributed to its link, or why to none, and what to do about it.',
  tag: 'Events',
  scope: 'analytics.read',
  params: z.object({ eventId: z.string().max(100).describe('`eventId` of a lead or sale.') }),
  response: eventAttribution,
})

const { interval: _interval, start: _start, end: _end, timezone: _timezone, ...timelessFilters } = eventFilters
const streamQuery = z.object({
  event: eventKind,
  ...timelessFilters,
  bots: botsFilter,
  cursor: z.string().max(1_000).optional().describe('Id of the last received event, like the header `Last-Event-ID`.'),
})
export type StreamQuery = z.infer<typeof streamQuery>

export const streamEvents = {
  kind: 'stream',
  id: 'streamEvents',
  method: 'get',
  path: '/events/stream',
  summary: 'Follow events',
  description:
    'Streams new events as they are stored, as Server-Sent Events. Each has the JSON of `GET /events` and an id to resume from.',
  tag: 'Events',
  actors: defaultActors,
  scope: 'analytics.read',
  limit: 'analytics',
  plan: 'business',
  query: streamQuery,
  headers: z.object({
    'Last-Event-ID': z.string().max(1_000).optional().describe('Id of the last received event, to resume after it.'),
  }),
  contents: ['text/event-stream'],
  openPerActor: 5,
} as const satisfies StreamOperation

const clickColumns = [
  ...['event', 'timestamp', 'clickId', 'linkId', 'domain', 'key', 'shortLink', 'externalId', 'url', 'trigger', 'qr'],
  ...['country', 'region', 'city', 'continent', 'device', 'browser', 'os', 'referer', 'refererUrl', 'ip'],
  ...['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content'],
]
const leadColumns = [
  ...[...clickColumns, 'clickTimestamp', 'eventId', 'eventName'],
  ...['customerId', 'customerExternalId', 'customerName', 'customerEmail', 'metadata', 'notAttributed'],
]
/** Column names of an export by event type, in order. */
export const exportColumns = {
  clicks: [...clickColumns, 'bot'],
  leads: leadColumns,
  sales: [...leadColumns, 'amount', 'currency', 'invoiceId', 'paymentProcessor'],
}

const exportQuery = z.object({
  event: eventKind,
  ...eventFilters,
  bots: botsFilter,
  attributed: attributedFilter,
  sortOrder: sortOrder.default('desc'),
  format: z.enum(['csv', 'ndjson']).default('csv').describe('File format: CSV, or one JSON object per line.'),
})
export type ExportQuery = z.infer<typeof exportQuery>

export const exportEvents = {
  kind: 'stream',
  id: 'exportEvents',
  method: 'get',
  path: '/events/export',
  summary: 'Export events',
  description: 'Exports all events of a period as one file of any size.',
  tag: 'Events',
  actors: defaultActors,
  scope: 'analytics.read',
  limit: 'export',
  plan: 'business',
  query: exportQuery,
  contents: ['text/csv', 'application/x-ndjson'],
  openPerActor: 2,
} as const satisfies StreamOperation
