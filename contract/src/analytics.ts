import { z } from '@hono/zod-openapi'
import { instant } from './common.ts'
import { eventFilters } from './events.ts'
import { operation } from './operation.ts'

const counts = {
  clicks: z.number(),
  leads: z.number(),
  sales: z.number(),
  saleAmount: z.number().describe('In cents.'),
}
const text = z.string()
const everything = z.literal('*')

const rowShapes = {
  continents: { continent: z.enum(['AF', 'AN', 'AS', 'EU', 'NA', 'OC', 'SA']) },
  countries: { country: text, region: everything, city: everything },
  regions: { country: text, region: text, city: everything },
  cities: { country: text, region: text, city: text },
  devices: { device: text },
  browsers: { browser: text },
  os: { os: text },
  trigger: { trigger: text },
  triggers: { trigger: text },
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
  top_urls: { url: text },
  utm_sources: { utm_source: text },
  utm_mediums: { utm_medium: text },
  utm_campaigns: { utm_campaign: text },
  utm_terms: { utm_term: text },
  utm_contents: { utm_content: text },
} as const

export const groupings = ['count', ...(Object.keys(rowShapes) as (keyof typeof rowShapes)[])] as const
export type Grouping = (typeof groupings)[number]

export const analyticsCount = z.strictObject(counts).meta({ id: 'AnalyticsCount' })
export type AnalyticsCount = z.infer<typeof analyticsCount>

const rows = Object.values(rowShapes).map((shape) => z.strictObject({ ...shape, ...counts }))
export type AnalyticsRow = AnalyticsCount & Record<string, string | number | null>
const analyticsRow = z.union(rows as [(typeof rows)[0], (typeof rows)[0]]) as unknown as z.ZodType<
  AnalyticsRow,
  AnalyticsRow
>

export const analyticsQuery = z.object({
  event: z.enum(['clicks', 'leads', 'sales', 'composite']).default('clicks').describe('Kind of event.'),
  groupBy: z.enum(groupings).default('count').describe('One total, or a row for each value of this.'),
  ...eventFilters,
})
export type AnalyticsQuery = z.infer<typeof analyticsQuery>

export const retrieveAnalytics = operation({
  id: 'retrieveAnalytics',
  method: 'get',
  path: '/analytics',
  summary: 'Retrieve analytics',
  description: 'How many clicks, leads and sales there were: one total, or a list by what `groupBy` names, most first.',
  tag: 'Analytics',
  scope: 'analytics.read',
  limit: 'analytics',
  plan: 'pro',
  query: analyticsQuery,
  response: z.union([analyticsCount, z.array(analyticsRow)]),
})
