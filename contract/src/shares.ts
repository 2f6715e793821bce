import { z } from 'zod'
import { advancedFilter, instant, listing } from './common.ts'
import { eventFilters } from './events.ts'
import { operation, type PublicOperation } from './operation.ts'
import { publicColumns, publicGroupings, statsPassword } from './public-stats.ts'
import { label } from './tags.ts'

/** Filters that visitors may add: they reveal nothing about a single visitor. */
export const publicFilters = ['continent', 'country', 'device', 'browser', 'os', 'trigger', 'referer'] as const

/** Periods by name, as the dashboard has them: days are whole days in the page's time zone, the last one is today. */
export const namedPeriods = [
  ...(['today', 'yesterday', '24h', '7d', '30d', '90d', '1y', 'wtd', 'mtd', 'qtd', 'ytd', 'all'] as const),
] as const
export type NamedPeriod = (typeof namedPeriods)[number]

const subject = {
  viewId: z.string().max(100).optional().describe('Id of a saved view of the screen `analytics`.'),
  linkId: z
    .string()
    .max(200)
    .optional()
    .describe('Id of the link, or your own id prefixed with `ext_`, instead of a view.'),
  folderId: z.string().max(100).optional().describe('Id of the folder, instead of a view.'),
}
const title = label(100)
  .nullable()
  .describe(
    'Title of the page and of its previews. If null, the page has the short link as title, or none: never the name of the view or folder.',
  )
const password = z
  .string()
  .min(1)
  .max(200)
  .nullable()
  .describe('Password that visitors must send; null for none. A new password ends all visits.')
const endsAt = z.iso
  .datetime({ offset: true })
  .nullable()
  .describe('Time from which the page no longer exists; null for no end.')
const showConversions = z
  .boolean()
  .describe('Whether the page shows leads, sales and their amounts. If false, the server sends only clicks.')

export const share = z
  .strictObject({
    id: z.string().describe('The secret of the address: whoever has it can open the page.'),
    url: z.url().describe('Address of the public page.'),
    viewId: z.string().nullable(),
    linkId: z.string().nullable(),
    folderId: z.string().nullable(),
    name: z.string().describe('Name of the view or folder, or the short link. Visitors see the title instead.'),
    title: z.string().nullable(),
    hasPassword: z.boolean(),
    endsAt: instant.nullable(),
    showConversions,
    userId: z.string().nullable().describe('The user who created the share; null for a key or a former user.'),
    createdAt: instant,
    updatedAt: instant,
  })
  .meta({ id: 'Share' })
export type Share = z.infer<typeof share>

export const newShare = z
  .object({
    ...subject,
    title: title.default(null),
    password: password.default(null),
    endsAt: endsAt.default(null),
    showConversions: showConversions.default(false),
  })
  .meta({ id: 'NewShare' })
export type NewShare = z.output<typeof newShare>

export const sharePatch = z
  .object({
    title: title.optional(),
    password: password.optional(),
    endsAt: endsAt.optional(),
    showConversions: showConversions.optional(),
  })
  .meta({ id: 'SharePatch' })
export type SharePatch = z.infer<typeof sharePatch>

const params = z.object({ id: z.string().max(200).describe('Id of the share.') })

export const listShares = operation({
  id: 'listShares',
  method: 'get',
  path: '/shares',
  summary: 'List shares',
  description: 'Lists the public pages of the workspace, or of one view, link or folder, newest first.',
  tag: 'Shares',
  scope: 'analytics.read',
  query: z.object({ ...subject, ...listing(100, ['createdAt'], 'desc') }),
  response: z.array(share),
})
export type SharesQuery = z.output<typeof listShares.query>

export const createShare = operation({
  id: 'createShare',
  method: 'post',
  path: '/shares',
  summary: 'Share statistics',
  description:
    'Creates a public page with the statistics of a saved view, a link or a folder. Also requires the scope `analytics.read` and, for a link or folder, `links.write`.',
  tag: 'Shares',
  scope: 'views.write',
  body: newShare,
  status: 201,
  response: share,
})

export const getShare = operation({
  id: 'getShare',
  method: 'get',
  path: '/shares/{id}',
  summary: 'Retrieve a share',
  tag: 'Shares',
  scope: 'analytics.read',
  params,
  response: share,
})

export const updateShare = operation({
  id: 'updateShare',
  method: 'patch',
  path: '/shares/{id}',
  summary: 'Update a share',
  description: 'Changes apply at once. To end a page and be able to continue it, set `endsAt` to now.',
  tag: 'Shares',
  scope: 'views.write',
  params,
  body: sharePatch,
  response: share,
})

export const deleteShare = operation({
  id: 'deleteShare',
  method: 'delete',
  path: '/shares/{id}',
  summary: 'Delete a share',
  description: 'Ends the page. A new share of the same statistics has another address.',
  tag: 'Shares',
  scope: 'views.write',
  params,
  response: z.strictObject({ id: z.string() }),
})

const pageParams = z.object({
  id: z
    .string()
    .max(100)
    .describe('Id of the share. Also the id of a link or folder whose statistics are public (`publicStats`).'),
})
const open = {
  kind: 'public',
  tag: 'Shares',
  params: pageParams,
  query: z.object({}),
  contents: ['application/json'],
  requestsPerMinute: 120,
} as const

export const sharePage = z
  .discriminatedUnion('isLocked', [
    z.strictObject({ isLocked: z.literal(true) }),
    z.strictObject({
      isLocked: z.literal(false),
      title: z.string().nullable(),
      shortLink: z.string().nullable().describe('The short link, if one link is shared.'),
      period: z
        .enum(namedPeriods)
        .nullable()
        .describe(
          'Period of a request without one; null for all between `start` and `end`, which the owner has fixed.',
        ),
      start: instant.nullable().describe('Time before which requests can not begin.'),
      end: instant.nullable().describe('Time after which requests can not end.'),
      timezone: z.string().describe('Time zone of all dates.'),
      weekStart: z.number().int().min(0).max(6).describe('First day of the week; 0 is Sunday.'),
      currency: z.string().nullable().describe('Currency of amounts; null if the page shows no conversions.'),
      showConversions: z.boolean(),
      filter: z
        .partialRecord(z.enum(publicFilters), z.string())
        .describe("The owner's filters by fields that visitors may filter by; the owner may have set others."),
    }),
  ])
  .meta({ id: 'SharePage' })
export type SharePage = z.infer<typeof sharePage>

export const getSharePage = {
  ...open,
  id: 'getSharePage',
  method: 'get',
  path: '/shares/{id}/page',
  summary: 'Retrieve what a shared page shows',
  description:
    'Returns title, periods and time zone of a public page. Requires no key. Without the password of a page that has one, the response says only that it is locked.',
  headers: statsPassword,
  response: sharePage,
} as const satisfies PublicOperation

export const unlockShare = {
  ...open,
  id: 'unlockShare',
  method: 'post',
  path: '/shares/{id}/unlock',
  summary: 'Unlock a shared page',
  description:
    'Checks the password of a public page and sets a cookie, so that the browser need not send the password again for an hour. Ten wrong passwords per network are allowed in ten minutes.',
  body: z.strictObject({ password: z.string().min(1).max(200) }).meta({ id: 'ShareUnlock' }),
  bodyLimit: 4_096,
  bodyValues: 100,
  response: z.strictObject({ expiresAt: instant }),
} as const satisfies PublicOperation

const { interval, start, end } = eventFilters
export const shareAnalyticsQuery = z
  .strictObject({
    groupBy: z
      .array(z.enum(publicGroupings))
      .min(1)
      .max(publicGroupings.length)
      .describe('Dimensions to group by; the response has a field for each.'),
    interval: interval.describe('Period that ends now. Not for a page with a fixed period.'),
    start,
    end,
    continent: advancedFilter('Continent: `AF`, `AN`, `AS`, `EU`, `NA`, `OC` or `SA`.'),
    country: advancedFilter('Two-letter country code.'),
    device: advancedFilter('Device type.'),
    browser: advancedFilter('Browser.'),
    os: advancedFilter('Operating system.'),
    trigger: advancedFilter('How the click came: `link`, `qr` or `pageview`.'),
    referer: advancedFilter('Host of the referrer.'),
    limit: z.int().min(1).max(100).default(10).describe('Maximum rows of each dimension, highest first.'),
  })
  .meta({ id: 'ShareAnalyticsQuery' })
export type ShareAnalyticsQuery = z.output<typeof shareAnalyticsQuery>

const conversions = 'Only if the page shows conversions.'
const counts = {
  clicks: z.number().describe('Number of clicks, without bots.'),
  leads: z.number().optional().describe(conversions),
  sales: z.number().optional().describe(conversions),
  saleAmount: z.number().optional().describe(`Sales amount in cents, minus refunds. ${conversions}`),
}
const shareCount = z.strictObject(counts)
export type ShareCount = z.infer<typeof shareCount>
export type ShareRow = ShareCount & Partial<Record<(typeof publicColumns)[keyof typeof publicColumns], string>>

export type ShareAnalytics = { count?: ShareCount } & Partial<Record<keyof typeof publicColumns, ShareRow[]>>
export const shareAnalytics = z
  .strictObject({
    count: shareCount.optional(),
    ...Object.fromEntries(
      Object.entries(publicColumns).map(([grouping, column]) => [
        grouping,
        z.array(z.strictObject({ [column]: z.string(), ...counts })).optional(),
      ]),
    ),
  })
  .meta({ id: 'ShareAnalytics' }) as unknown as z.ZodType<ShareAnalytics>

export const retrieveShareAnalytics = {
  ...open,
  id: 'retrieveShareAnalytics',
  method: 'post',
  path: '/shares/{id}/analytics',
  summary: 'Retrieve shared analytics',
  description:
    "Counts what a public page shows, by several dimensions at once. The request's filters narrow the owner's and can't widen them. Requires no key and is rate limited per IP address.",
  headers: statsPassword,
  body: shareAnalyticsQuery,
  bodyLimit: 16_384,
  bodyValues: 100,
  response: shareAnalytics,
} as const satisfies PublicOperation

export const showShare = {
  ...open,
  id: 'showShare',
  method: 'get',
  path: '/share/{id}',
  summary: 'Show a shared page',
  description: 'Returns HTML for people. Requires no key; the page asks for the password, if there is one.',
  contents: ['text/html'],
} as const satisfies PublicOperation
