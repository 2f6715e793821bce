import { z } from 'zod'
import { instant } from './common.ts'
import { link, linkBody } from './links.ts'
import { operation } from './operation.ts'
import { linkProps, partnerLink, partnerName } from './partners.ts'

const url = z.string().max(32_000)
const open = { tag: 'Partners' } as const
const fields = {
  ...partnerName,
  key: z.string().max(190).optional().describe('Slug of the short link; 7 random characters when omitted.'),
  comments: z.string().max(10_000).nullish(),
  linkProps: linkProps.optional().describe('Further settings of the link.'),
}

export const newPartnerLink = z
  .object({ ...fields, url: url.nullish().describe("Destination; the program's URL when omitted.") })
  .meta({ id: 'NewPartnerLink' })
export type NewPartnerLink = z.infer<typeof newPartnerLink>

export const createPartnerLink = operation({
  ...open,
  id: 'createPartnerLink',
  method: 'post',
  path: '/partners/links',
  summary: 'Create a link of a partner',
  description: "Creates a link on the program's domain, to a page that the partner's group allows.",
  scope: 'partners.write',
  body: newPartnerLink,
  ...linkBody,
  status: 201,
  response: link,
})

export const upsertPartnerLink = operation({
  ...open,
  id: 'upsertPartnerLink',
  method: 'put',
  path: '/partners/links/upsert',
  summary: 'Create or update a link of a partner',
  description: "Updates the partner's newest link with this destination, or creates one if none has it.",
  scope: 'partners.write',
  body: z.object({ ...fields, url }).meta({ id: 'PartnerLinkUpsert' }),
  ...linkBody,
  response: link,
})

export const retrievePartnerLinks = operation({
  ...open,
  id: 'retrievePartnerLinks',
  method: 'get',
  path: '/partners/links',
  summary: "List a partner's links",
  description:
    'Returns the newest 1,000 links of the partner; fewer if their URLs have more than 8,000,000 bytes together.',
  scope: 'partners.read',
  query: z.object(partnerName),
  response: z.array(partnerLink),
})

const counted = {
  clicks: z.number().meta({ default: 0 }),
  leads: z.number().meta({ default: 0 }),
  sales: z.number().meta({ default: 0 }),
  saleAmount: z.number().meta({ default: 0 }),
  earnings: z.number().meta({ default: 0 }).describe("Commissions in the smallest unit of the program's currency."),
}
const text = z.string().nullable()

export const partnerCount = z.strictObject(counted).meta({ id: 'PartnerAnalyticsCount' })
const partnerSeries = z.strictObject({ start: z.string(), ...counted }).meta({ id: 'PartnerAnalyticsTimeseries' })
const partnerTopLink = z
  .strictObject({
    link: z.string().describe('Equal to `id`.'),
    id: z.string(),
    domain: z.string(),
    key: z.string(),
    shortLink: z.string(),
    url: z.string(),
    title: text,
    comments: text,
    folderId: text,
    partnerId: text,
    createdAt: instant,
    ...counted,
  })
  .meta({ id: 'PartnerAnalyticsTopLink' })

export const retrievePartnerAnalytics = operation({
  ...open,
  id: 'retrievePartnerAnalytics',
  method: 'get',
  path: '/partners/analytics',
  summary: "Retrieve a partner's analytics",
  description: 'Counts clicks, leads, sales and earnings of a partner, in total, over time or by link.',
  scope: 'partners.read',
  limit: 'analytics',
  query: z.object({
    ...partnerName,
    interval: z
      .enum(['24h', '7d', '30d', '90d', '1y', 'mtd', 'qtd', 'ytd', 'all'])
      .optional()
      .describe('Period that ends now; `24h` when omitted.'),
    start: z.string().optional().describe('Start of the period, which wins over `interval`.'),
    end: z.string().optional().describe('End of the period, by default now. Used only with `start`.'),
    timezone: z.string().default('UTC'),
    query: z.string().max(10_000).optional().describe('Only events whose metadata meets this condition.'),
    groupBy: z.enum(['count', 'timeseries', 'top_links']).default('count'),
  }),
  response: z.union([partnerCount, z.array(partnerSeries), z.array(partnerTopLink)]),
})
export type PartnerAnalyticsQuery = z.output<typeof retrievePartnerAnalytics.query>
export type PartnerAnalytics = z.output<typeof retrievePartnerAnalytics.response>
