import { z } from 'zod'
import { booleanDefault, booleanText, instant, listParameter } from './common.ts'
import { botsFilter, eventFilters } from './events.ts'
import { folder } from './folders.ts'
import { group } from './groups.ts'
import { operation } from './operation.ts'
import { partnerTag } from './partner-tags.ts'
import { tag } from './tags.ts'

export const continents = ['AF', 'AN', 'AS', 'EU', 'NA', 'OC', 'SA'] as const
export const triggers = ['qr', 'link', 'pageview', 'deeplink'] as const

const counts = {
  clicks: z.number(),
  leads: z.number(),
  sales: z.number().describe('Number of sales, without fully refunded sales.'),
  saleAmount: z.number().describe('Sales amount in cents, minus refunds.'),
}
const visitors = z
  .number()
  .optional()
  .describe(
    'Number of visitors: distinct combinations of address, device, browser and system. Only with `visitors=true`.',
  )
const text = z.string()
const everything = z.literal('*')
const trigger = { trigger: z.enum(triggers) }
const url = { url: text }

/** The fields that identify a row, for each `groupBy` value. */
const rowShapes = {
  timeseries: { start: text.describe('Start of the hour, day or month, in the requested time zone.') },
  continents: { continent: z.enum(continents) },
  countries: { country: text, region: everything, city: everything },
  regions: { country: text, region: text, city: everything },
  cities: { country: text, region: text, city: text },
  devices: { device: text },
  browsers: { browser: text },
  os: { os: text },
  trigger,
  triggers: trigger,
  referers: { referer: text },
  referer_urls: { refererUrl: text },
  top_links: {
    link: text.meta({ deprecated: true }),
    id: text,
    domain: text,
    key: text,
    shortLink: z.url(),
    url: text,
    title: text.nullable(),
    comments: text.nullable(),
    folderId: text.nullable(),
    partnerId: text.nullable(),
    createdAt: instant,
  },
  top_urls: url,
  top_base_urls: url,
  top_folders: {
    folderId: text.nullable().describe('Folder id; null for links without a folder.'),
    folder: folder.pick({ id: true, name: true, accessLevel: true }).strict().nullable(),
  },
  top_link_tags: {
    tagId: text.nullable().describe('Tag id; null for links without a tag.'),
    tag: z.strictObject(tag.shape).nullable(),
  },
  top_domains: { domain: text },
  top_partners: {
    partnerId: text.describe('Id of the partner of the link.'),
    partner: z
      .strictObject({
        id: text,
        name: text,
        email: text.nullable(),
        image: text.nullable(),
        payoutsEnabledAt: instant.nullable(),
        country: text.nullable(),
      })
      .nullable()
      .describe('Null for a partner that does not exist. Only id and name without the scope `partners.read`.'),
  },
  top_groups: {
    groupId: text.describe("Id of the partner's present group."),
    group: group.pick({ id: true, name: true, slug: true, color: true }).strict().nullable(),
  },
  top_partner_tags: {
    partnerTagId: text.describe('Id of a tag that the partner has now.'),
    partnerTag: partnerTag.pick({ id: true, name: true }).strict().nullable(),
  },
  utm_sources: { utm_source: text },
  utm_mediums: { utm_medium: text },
  utm_campaigns: { utm_campaign: text },
  utm_terms: { utm_term: text },
  utm_contents: { utm_content: text },
} as const

export const groupings = ['count', ...(Object.keys(rowShapes) as (keyof typeof rowShapes)[])] as const
export type Grouping = (typeof groupings)[number]

export const analyticsCount = z.strictObject({ ...counts, visitors }).meta({ id: 'AnalyticsCount' })
export type AnalyticsCount = z.infer<typeof analyticsCount>

/** Schema of a response row, for each `groupBy` value. */
export const analyticsRows = Object.fromEntries(
  Object.entries(rowShapes).map(([grouping, shape]) => [
    grouping,
    z.strictObject({ ...shape, ...counts, ...(grouping === 'timeseries' && { visitors }) }),
  ]),
) as unknown as Record<Exclude<Grouping, 'count'>, z.ZodType<AnalyticsRow>>
export type AnalyticsRow = AnalyticsCount & Record<string, string | number | object | null | undefined>

const countNames = [...Object.keys(counts), 'visitors']
const fieldNames = (row: object) =>
  Object.keys(row)
    .filter((name) => !countNames.includes(name))
    .sort()
    .join()
/** Response schemas by their field names; `groupBy` values with the same fields share the last schema, such as cities. */
const rowsByNames = new Map(
  Object.entries(rowShapes).map(([grouping, shape]) => [fieldNames(shape), grouping as Listed]),
)
type Listed = keyof typeof rowShapes

/** Validates rows by the field names of the first. A union would try every schema on each of up to 5,000 rows. */
const analyticsRowList = z
  .custom<AnalyticsRow[]>((rows) => {
    if (!Array.isArray(rows)) return false
    const grouping = rows[0] && typeof rows[0] === 'object' ? rowsByNames.get(fieldNames(rows[0])) : undefined
    return rows.length === 0 || (grouping !== undefined && z.array(analyticsRows[grouping]).safeParse(rows).success)
  }, 'it matches no `groupBy` rows')
  .meta({
    type: 'array',
    items: {
      anyOf: [...new Set(rowsByNames.values())].map((grouping) => {
        const { $schema: _, ...shape } = z.toJSONSchema(analyticsRows[grouping])
        return shape as { type: 'object' }
      }),
    },
  })

export const analyticsQuery = z.object({
  event: z
    .enum(['clicks', 'leads', 'sales', 'composite'])
    .default('clicks')
    .describe('Events to count; other counts are 0. `composite` counts all.'),
  groupBy: z
    .enum(groupings)
    .default('count')
    .describe(
      'Dimension to group by; the result has one row per value. `count` does not group: the result is one total.',
    ),
  bots: botsFilter,
  visitors: booleanDefault(false).describe(
    'Adds `visitors` to `count` and `timeseries`. Slower, because it reads every click.',
  ),
  ...eventFilters,
})
export type AnalyticsQuery = z.infer<typeof analyticsQuery>

export const mostGroupings = 20
const { qr: _, tagIds: __, programId: ___, ...filters } = analyticsQuery.shape
const flag = z.union([z.boolean(), booleanText])

export const analyticsBatchQuery = z.strictObject({
  ...filters,
  groupBy: z
    .array(z.enum(groupings))
    .min(1)
    .max(mostGroupings)
    .describe(`Dimensions to group by, ${mostGroupings} at most; the response has a field for each.`),
  limit: z.int().min(1).max(1_000).default(100).describe('Maximum rows of each dimension, highest first.'),
  visitors: flag
    .default(false)
    .describe('Adds `visitors` to `count` and `timeseries`, which must then be the only dimensions.'),
  root: flag.optional().describe('True: only clicks on bare domains. False: only clicks on links.'),
})
export type AnalyticsBatchQuery = z.infer<typeof analyticsBatchQuery>

export const analyticsBatch = z
  .strictObject(
    Object.fromEntries(
      groupings.map((grouping) => [
        grouping,
        (grouping === 'count' ? analyticsCount : z.array(analyticsRows[grouping])).optional(),
      ]),
    ),
  )
  .meta({ id: 'AnalyticsBatch' }) as unknown as z.ZodType<AnalyticsBatch>
export type AnalyticsBatch = { count?: AnalyticsCount } & Partial<Record<Exclude<Grouping, 'count'>, AnalyticsRow[]>>

export const retrieveAnalytics = operation({
  id: 'retrieveAnalytics',
  method: 'get',
  path: '/analytics',
  summary: 'Retrieve analytics',
  description:
    'Counts clicks, leads and sales: one total, a gapless series of hours, days or months, or up to 5,000 rows by `groupBy`, highest first.',
  tag: 'Analytics',
  scope: 'analytics.read',
  limit: 'analytics',
  plan: 'pro',
  query: analyticsQuery,
  response: z.union([analyticsCount, analyticsRowList]),
})

export const retrieveAnalyticsBatch = operation({
  id: 'retrieveAnalyticsBatch',
  method: 'post',
  path: '/analytics/batch',
  summary: 'Retrieve several analytics at once',
  description:
    'Counts the events of one period and filter by up to 20 dimensions, for a screen that shows them together. Counts as one request. Each field of the response equals the response of `GET /analytics` with that `groupBy`, up to `limit` rows.',
  tag: 'Analytics',
  scope: 'analytics.read',
  limit: 'analytics',
  plan: 'pro',
  body: analyticsBatchQuery,
  response: analyticsBatch,
})

const { interval, start, end, timezone } = eventFilters
export const linkStatsQuery = z.object({
  linkIds: listParameter('Ids of the links, or their external ids prefixed with `ext_`.', 100).meta({ maxItems: 100 }),
  interval,
  start,
  end,
  timezone,
  series: booleanDefault(false).describe('Adds the counts of each hour, day or month of the period.'),
})
export type LinkStatsQuery = z.infer<typeof linkStatsQuery>

export const linkStats = z
  .strictObject({
    linkId: z.string(),
    ...counts,
    series: z
      .array(z.strictObject({ ...rowShapes.timeseries, ...counts }))
      .optional()
      .describe('Only with `series=true`.'),
  })
  .meta({ id: 'LinkStats' })
export type LinkStats = z.infer<typeof linkStats>

export const retrieveLinkStats = operation({
  id: 'retrieveLinkStats',
  method: 'get',
  path: '/links/stats',
  summary: 'Retrieve the counts of several links',
  description:
    'Counts the clicks, leads and sales of up to 100 links in a period, in the order of `linkIds`. Links that do not exist are omitted.',
  tag: 'Analytics',
  scope: 'analytics.read',
  limit: 'analytics',
  plan: 'pro',
  query: linkStatsQuery,
  response: z.array(linkStats),
})

const { domain, linkId, folderId, tagId } = eventFilters
export const visitorsNowQuery = z.object({ domain, linkId, folderId, tagId })
export type VisitorsNowQuery = z.infer<typeof visitorsNowQuery>

export const visitorsNow = z
  .strictObject({
    visitors: z
      .number()
      .describe('Number of visitors: distinct combinations of address, device, browser and system, without bots.'),
    countedAt: instant.describe('End of the five minutes; up to two seconds ago.'),
  })
  .meta({ id: 'VisitorsNow' })
export type VisitorsNow = z.infer<typeof visitorsNow>

export const retrieveVisitorsNow = operation({
  id: 'retrieveVisitorsNow',
  method: 'get',
  path: '/analytics/visitors-now',
  summary: 'Count visitors now',
  description:
    'Counts the visitors of the last five minutes, as `GET /analytics` does with `visitors=true`. The count is cached for two seconds, so poll it as often as that.',
  tag: 'Analytics',
  scope: 'analytics.read',
  limit: 'standard',
  plan: 'pro',
  query: visitorsNowQuery,
  response: visitorsNow,
})
