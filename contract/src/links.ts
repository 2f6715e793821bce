import { z } from '@hono/zod-openapi'
import { booleanText, instant, instantOrEmpty, pageNumber, pageSize, sortOrder } from './common.ts'
import { operation } from './operation.ts'
import { tag } from './tags.ts'

const text = z.string().nullable()

const testVariant = z.strictObject({ url: z.string(), percentage: z.number().min(10).max(90) })

export const link = z
  .strictObject({
    id: z.string().describe('Unique id of the short link.'),
    domain: z.string().describe('Host of the short link.'),
    key: z.string().describe('Slug of the short link.'),
    url: z.string().describe('Destination.'),
    trackConversion: z.boolean(),
    externalId: text.describe('Id in your own database, unique in the workspace; prefix it with `ext_` in queries.'),
    tenantId: text.describe('Id of the tenant in your system that created the link.'),
    programId: text,
    partnerId: text,
    archived: z.boolean(),
    expiresAt: instantOrEmpty,
    expiredUrl: text,
    disabledAt: instantOrEmpty,
    password: text,
    proxy: z.boolean().describe('Whether title, description, image and video make a custom preview.'),
    title: text,
    description: text,
    image: text,
    video: text,
    rewrite: z.boolean(),
    doIndex: z.boolean(),
    ios: text,
    android: text,
    geo: z.record(z.string(), z.url()).nullable().describe('Country code to destination.'),
    publicStats: z.boolean(),
    tags: z.array(tag).nullable(),
    folderId: text,
    webhookIds: z.array(z.string()),
    comments: text,
    shortLink: z.url().describe('The whole short address.'),
    qrCode: z.url().describe('Address of its QR code.'),
    utm_source: text,
    utm_medium: text,
    utm_campaign: text,
    utm_term: text,
    utm_content: text,
    testVariants: z.array(testVariant).min(2).max(4).nullable().optional(),
    testStartedAt: instantOrEmpty,
    testCompletedAt: instantOrEmpty,
    userId: text,
    workspaceId: z.string(),
    clicks: z.number().default(0),
    leads: z.number().default(0),
    conversions: z.number().default(0),
    sales: z.number().default(0),
    saleAmount: z.number().default(0).describe('In cents.'),
    lastClicked: instantOrEmpty,
    createdAt: instant,
    updatedAt: instant,
    tagId: text.meta({ deprecated: true }),
    projectId: z.string().meta({ deprecated: true }),
  })
  .meta({ id: 'Link' })
export type Link = z.infer<typeof link>

export const newLink = z
  .object({
    url: z.string().max(32_000).describe('Destination: an absolute http or https address.'),
    domain: z.string().max(190).optional().describe("Host; the workspace's primary domain when omitted."),
    key: z.string().max(190).optional().describe('Slug; a random one of 7 characters when omitted.'),
    externalId: z.string().min(1).max(255).nullish(),
    trackConversion: z.boolean().default(false),
  })
  .meta({ id: 'NewLink' })
export type NewLink = z.infer<typeof newLink>

export const createLink = operation({
  id: 'createLink',
  method: 'post',
  path: '/links',
  summary: 'Create a link',
  tag: 'Links',
  scope: 'links.write',
  body: newLink,
  response: link,
})

export const listLinks = operation({
  id: 'getLinks',
  method: 'get',
  path: '/links',
  summary: 'List links',
  tag: 'Links',
  scope: 'links.read',
  query: z.object({
    domain: z.string().optional().describe('Only links of this host.'),
    search: z.string().optional().describe('Only links whose short address or destination contains this.'),
    showArchived: booleanText.default(false),
    page: pageNumber,
    pageSize: pageSize(100),
    sortBy: z.enum(['createdAt']).default('createdAt'),
    sortOrder: sortOrder.default('desc'),
  }),
  response: z.array(link),
})
