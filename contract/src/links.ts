import { z } from 'zod'
import { instant, instantOrEmpty, listing, listParameter, taggedRead, taggedWrite } from './common.ts'
import { linkFilters } from './link-filters.ts'
import { errorCodes, operation } from './operation.ts'
import { tag } from './tags.ts'

const text = z.string().nullable()

/** A counter is always sent. `.meta` states its default, because `.default()` would make the field optional in OpenAPI. */
const counter = z.number().meta({ default: 0 })

const testVariant = z.strictObject({ url: z.string(), percentage: z.number().min(10).max(90) })

export const link = z
  .strictObject({
    id: z.string().describe('Unique id of the short link.'),
    domain: z.string().describe('Host of the short link.'),
    key: z.string().describe('Slug of the short link.'),
    url: z.string().describe('Destination.'),
    trackConversion: z.boolean(),
    externalId: text.describe(
      'Id of the link in your own database, unique in the workspace; prefix it with `ext_` in queries.',
    ),
    tenantId: text.describe('Id of the tenant in your system that created the link.'),
    programId: text,
    partnerId: text,
    archived: z.boolean(),
    expiresAt: instantOrEmpty,
    expiredUrl: text,
    disabledAt: instantOrEmpty,
    password: text,
    proxy: z.boolean().describe('Whether previews show the title, description, image and video of the link.'),
    title: text,
    description: text,
    image: text,
    video: text,
    rewrite: z.boolean(),
    doIndex: z.boolean(),
    ios: text,
    android: text,
    geo: z.record(z.string(), z.url()).nullable().describe('Destinations by country code.'),
    publicStats: z.boolean(),
    tags: z.array(tag).nullable(),
    folderId: text,
    webhookIds: z.array(z.string()),
    comments: text,
    shortLink: z.url().describe('The full short URL.'),
    qrCode: z.url().describe('URL of the QR code for this link.'),
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
    clicks: counter,
    leads: counter,
    conversions: counter,
    sales: counter,
    saleAmount: counter.describe("Sales amount in the smallest unit of the workspace's currency, such as cents."),
    lastClicked: instantOrEmpty,
    createdAt: instant,
    updatedAt: instant,
    tagId: text.meta({ deprecated: true }),
    projectId: z.string().meta({ deprecated: true }),
  })
  .meta({ id: 'Link' })
export type Link = z.infer<typeof link>

const destination = z.string().max(32_000)
const address = destination.nullish()
const words = (most: number) => z.string().max(most).nullish()
const several = z.union([z.string(), z.array(z.string()).max(100)])
const utm = words(255).describe('Value added to the destination as this query parameter; null removes the parameter.')
const when = z
  .string()
  .max(100)
  .nullish()
  .describe('Time as a date, a date and time, or words such as `in 3 days`; null for none.')

/** Link fields that can be set on creation and changed later. */
const settings = {
  externalId: z
    .string()
    .min(1)
    .max(255)
    .nullish()
    .describe('Id of the link in your own database, unique in the workspace. It is stored unchanged.'),
  tenantId: words(255).describe("Id of the link's tenant in your system."),
  programId: words(255),
  partnerId: words(255),
  trackConversion: z.boolean().optional().describe('Passes the click id to the destination, to track leads and sales.'),
  archived: z.boolean().optional().describe('Hides the link from the list; it still redirects.'),
  publicStats: z.boolean().optional().meta({ deprecated: true }),
  tagId: words(255).describe('Use `tagIds`.').meta({ deprecated: true }),
  tagIds: several.optional().describe('Tag ids, which replace the current tags.'),
  tagNames: several.optional().describe('Tag names, which replace the current tags if `tagIds` is omitted.'),
  folderId: words(255).describe('Folder id; null for no folder.'),
  comments: words(10_000).describe('Internal notes, which visitors do not see.'),
  expiresAt: when,
  disabledAt: when.describe('A time, even a future one, disables the link immediately; null enables it again.'),
  expiredUrl: address.describe('Destination after `expiresAt`, instead of the page for expired links.'),
  password: words(190).describe('Password that visitors must enter before they are redirected.'),
  proxy: z.boolean().optional().describe('Shows the title, description, image and video of the link in previews.'),
  title: words(500),
  description: words(1_000),
  image: address.describe(
    'URL, or a base64 data URL of a PNG, JPEG, GIF or WebP image, up to 32,000 characters. Previews show only a URL.',
  ),
  video: address,
  rewrite: z.boolean().optional().describe('Shows the destination in a frame under the short URL.'),
  ios: address.describe('Destination for visitors with iOS; overrides `geo` and `url`.'),
  android: address.describe('Destination for visitors with Android; overrides `geo` and `url`.'),
  geo: z
    .record(z.string(), destination)
    .refine((geo) => Object.keys(geo).length <= 250, 'it has more than 250 countries')
    .nullish()
    .describe('Destinations by two-letter country code, at most 250; overrides `url`.'),
  doIndex: z.boolean().optional().describe('Lets search engines index the short URL.'),
  utm_source: utm,
  utm_medium: utm,
  utm_campaign: utm,
  utm_term: utm,
  utm_content: utm,
  ref: words(255).describe('Value added to the destination as the query parameter `ref`.'),
  webhookIds: z.array(z.string()).max(100).nullish().meta({ deprecated: true }),
  testVariants: z
    .array(z.strictObject({ url: destination, percentage: z.number().min(10).max(90) }))
    .min(2)
    .max(4)
    .nullish()
    .describe('A/B test: destinations and their shares. The best destination becomes `url` at `testCompletedAt`.'),
  testStartedAt: when,
  testCompletedAt: when,
}

const domainField = z
  .string()
  .max(190)
  .optional()
  .describe("Host of the short link; the workspace's primary domain when omitted.")
const keyField = z.string().max(190).optional().describe('Slug of the short link; 7 random characters when omitted.')

export const newLink = z
  .object({
    url: destination.describe('Destination URL: http, https or the scheme of an app.'),
    domain: domainField,
    key: keyField,
    keyLength: z.number().int().min(3).max(190).optional().describe('Length of a random slug.'),
    prefix: z.string().max(190).optional().describe('Prefix of a random slug, such as `/c/`.'),
    ...settings,
  })
  .meta({ id: 'NewLink' })
export type NewLink = z.infer<typeof newLink>

export const linkPatch = z
  .object({ url: destination.optional(), domain: domainField, key: keyField, ...settings })
  .meta({ id: 'LinkPatch' })
export type LinkPatch = z.infer<typeof linkPatch>

export const bulkPatch = linkPatch.omit({ domain: true, key: true, externalId: true }).meta({ id: 'BulkLinkPatch' })

export const linkError = z
  .strictObject({
    link: z
      .custom<unknown>((sent) => sent !== undefined)
      .meta({
        type: ['object', 'array', 'string', 'number', 'boolean', 'null'],
        description: 'The rejected item, as it was sent.',
      }),
    error: z.string(),
    code: z.enum(errorCodes),
  })
  .meta({ id: 'LinkError' })
export type LinkError = z.infer<typeof linkError>

// Body limits of link requests: twice the maximum link size, for clients that escape characters in JSON.
export const linkBody = { bodyLimit: 131_072, bodyValues: 1_000 } as const

const params = z.object({ linkId: z.string().describe('Id of the link, or its external id prefixed with `ext_`.') })

const grouping = z.enum(['domain', 'tagId', 'userId', 'folderId'])
const sorts = ['createdAt', 'clicks', 'saleAmount', 'lastClicked'] as const

export const listLinks = operation({
  id: 'getLinks',
  method: 'get',
  path: '/links',
  summary: 'List links',
  description: 'Lists links by page number, or after or before a link. Cursor pages are stable while links are added.',
  tag: 'Links',
  scope: 'links.read',
  query: z.object({
    ...linkFilters,
    sort: z.enum(sorts).optional().describe('Use `sortBy`.').meta({ deprecated: true }),
    startingAfter: z.string().optional().describe('Cursor: id of the link after which the page starts.'),
    endingBefore: z.string().optional().describe('Cursor: id of the link before which the page ends.'),
    ...listing(100, sorts, 'desc'),
  }),
  response: z.array(link),
})
export type LinksQuery = z.output<typeof listLinks.query>

export const countLinks = operation({
  id: 'getLinksCount',
  method: 'get',
  path: '/links/count',
  summary: 'Count links',
  description: 'Returns the number of links. `GET /links/groups` counts by domain, tag, user or folder.',
  tag: 'Links',
  scope: 'links.read',
  query: z.object({
    ...linkFilters,
    groupBy: grouping.optional().describe('Accepted without effect; `GET /links/groups` counts by group.'),
  }),
  response: z.number(),
})
export type LinksCountQuery = z.output<typeof countLinks.query>

const group = z
  .strictObject({
    domain: z.string().optional(),
    tagId: z.string().nullable().optional(),
    userId: z.string().nullable().optional(),
    folderId: z.string().nullable().optional(),
    count: z.number(),
  })
  .meta({ id: 'LinkGroup' })
export type LinkGroup = z.infer<typeof group>

export const groupLinks = operation({
  id: 'getLinkGroups',
  method: 'get',
  path: '/links/groups',
  summary: 'Count links by group',
  description: 'Counts links per domain, tag, user or folder. A link with several tags counts for each of them.',
  tag: 'Links',
  scope: 'links.read',
  query: z.object({ ...linkFilters, groupBy: grouping, ...listing(100, ['count'], 'desc') }),
  response: z.array(group),
})
export type LinkGroupsQuery = z.output<typeof groupLinks.query>

export const getLink = operation({
  id: 'getLinkInfo',
  method: 'get',
  path: '/links/info',
  summary: 'Get a link',
  description: 'Finds a link by `linkId`, by `externalId`, or by `domain` and `key`.',
  tag: 'Links',
  scope: 'links.read',
  query: z.object({
    linkId: z.string().optional(),
    externalId: z.string().optional().describe('Your own id of the link, prefixed with `ext_`.'),
    domain: z.string().optional(),
    key: z.string().optional(),
  }),
  response: link,
  ...taggedRead,
})
export type LinkSelector = z.output<typeof getLink.query>

export const createLink = operation({
  id: 'createLink',
  method: 'post',
  path: '/links',
  summary: 'Create a link',
  tag: 'Links',
  scope: 'links.write',
  body: newLink,
  ...linkBody,
  response: link,
})

export const upsertLink = operation({
  id: 'upsertLink',
  method: 'put',
  path: '/links/upsert',
  summary: 'Create or update a link',
  description: 'Updates the newest link with this destination, or creates a link if none has it.',
  tag: 'Links',
  scope: 'links.write',
  body: newLink,
  ...linkBody,
  response: link,
})

export const updateLink = operation({
  id: 'updateLink',
  method: 'patch',
  path: '/links/{linkId}',
  summary: 'Update a link',
  description: 'Updates a link. Omitted fields stay unchanged; null removes a value.',
  tag: 'Links',
  scope: 'links.write',
  params,
  body: linkPatch,
  ...linkBody,
  response: link,
  ...taggedWrite,
})

export const deleteLink = operation({
  id: 'deleteLink',
  method: 'delete',
  path: '/links/{linkId}',
  summary: 'Delete a link',
  description: 'The link stops working within a second. Its events stay and show the link as it was.',
  tag: 'Links',
  scope: 'links.write',
  params,
  response: z.strictObject({ id: z.string() }),
})

export const bulkCreateLinks = operation({
  id: 'bulkCreateLinks',
  method: 'post',
  path: '/links/bulk',
  summary: 'Create many links',
  description:
    'Creates up to 100 links. In the response, an error replaces each rejected item; the other links are created.',
  tag: 'Links',
  scope: 'links.write',
  bodyLimit: 1_048_576,
  bodyValues: 30_000,
  body: z
    .array(z.unknown())
    .min(1)
    .max(100)
    .meta({ type: 'array', items: { $ref: '#/components/schemas/NewLink' } }),
  response: z.array(z.union([link, linkError])),
})

const linkCheck = z
  .strictObject({
    error: z.string().nullable().describe('Why the link would be rejected; null if it would be created.'),
    code: z.enum(errorCodes).nullable(),
  })
  .meta({ id: 'LinkCheck' })
export type LinkCheck = z.infer<typeof linkCheck>

export const checkLinks = operation({
  id: 'checkLinks',
  method: 'post',
  path: '/links/bulk/check',
  summary: 'Check many links',
  description:
    'Says which of up to 100 links `POST /links/bulk` would reject, and why. Creates nothing. The response has one item per link, in their order.',
  tag: 'Links',
  scope: 'links.write',
  isAudited: false,
  bodyLimit: bulkCreateLinks.bodyLimit,
  bodyValues: bulkCreateLinks.bodyValues,
  body: bulkCreateLinks.body,
  response: z.array(linkCheck),
})

export const bulkUpdateLinks = operation({
  id: 'bulkUpdateLinks',
  method: 'patch',
  path: '/links/bulk',
  summary: 'Update many links',
  description:
    'Applies one change to up to 100 links and returns the updated ones. Links that do not exist are skipped. If the change is invalid for one link, no link is updated.',
  tag: 'Links',
  scope: 'links.write',
  ...linkBody,
  body: z
    .object({
      linkIds: z.array(z.string()).max(100).optional(),
      externalIds: z
        .array(z.string())
        .max(100)
        .optional()
        .describe('External ids of the links, without prefix; used if `linkIds` is omitted.'),
      data: bulkPatch,
    })
    .meta({ id: 'BulkLinkUpdate' }),
  response: z.array(link),
})
export type BulkUpdate = z.output<typeof bulkUpdateLinks.body>

export const bulkDeleteLinks = operation({
  id: 'bulkDeleteLinks',
  method: 'delete',
  path: '/links/bulk',
  summary: 'Delete many links',
  description: 'Deletes up to 100 links; links that do not exist are skipped.',
  tag: 'Links',
  scope: 'links.write',
  query: z.object({ linkIds: listParameter('Ids of the links, or their external ids prefixed with `ext_`.', 100) }),
  response: z.strictObject({ deletedCount: z.number() }),
})
