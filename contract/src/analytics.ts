import { z } from 'zod'
import { booleanDefault, instant } from './common.ts'
import { botsFilter, eventFilters } from './events.ts'
import { folder } from './folders.ts'
import { operation } from './operation.ts'
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
  top_partners: { partnerId: text, partner: z.null() },
  top_groups: { groupId: text, group: z.null() },
  top_partner_tags: { partnerTagId: text, partnerTag: z.null() },
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

/** Validates a row by its field names. A union would try every schema on each of up to 5,000 rows. */
const analyticsRow = z
  .custom<AnalyticsRow>((row) => {
    const grouping = row !== null && typeof row === 'object' ? rowsByNames.get(fieldNames(row)) : undefined
    return grouping !== undefined && analyticsRows[grouping].safeParse(row).success
  }, 'it matches no `groupBy` row')
  .meta({
    type: 'object',
    anyOf: [...new Set(rowsByNames.values())].map((grouping) => {
      const { $schema: _, ...shape } = z.toJSONSchema(analyticsRows[grouping])
      return shape as { type: 'object' }
    }),
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
  response: z.union([analyticsCount, z.array(analyticsRow)]),
})
