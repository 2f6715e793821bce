import { z } from 'zod'
import { intervals } from './events.ts'
import { operation, type PublicOperation } from './operation.ts'

/** Groupings that tell nothing of a single visitor. */
export const publicGroupings = [
  'count',
  'timeseries',
  'continents',
  'countries',
  'devices',
  'browsers',
  'os',
  'triggers',
  'referers',
] as const

const publicStatsQuery = z.object({
  domain: z.string().max(190).optional().describe('Host of the short link; needs `key`.'),
  key: z.string().max(190).optional().describe('Slug of the short link; needs `domain`.'),
  folderId: z.string().max(100).optional().describe('Id of the folder, instead of a link.'),
  groupBy: z.enum(publicGroupings).default('count').describe('One total, or a row for each value of this.'),
  interval: z.enum(intervals).default('24h').describe('Period up to now, as in `GET /analytics`.'),
  timezone: z.string().max(100).default('UTC').describe('IANA time zone, such as `Europe/Berlin`.'),
})
export type PublicStatsQuery = z.output<typeof publicStatsQuery>

const clicks = z.number().describe('Clicks by people.')
const value = z.string().optional()
const publicRow = z.strictObject({
  start: value.describe('When the hour, day or month begins.'),
  continent: value,
  country: value,
  device: value,
  browser: value,
  os: value,
  trigger: value,
  referer: value,
  clicks,
})
export type PublicRow = z.infer<typeof publicRow>

export const publicStats = z
  .union([z.strictObject({ clicks }), z.array(publicRow).max(100)])
  .meta({ id: 'PublicStats' })
export type PublicStats = z.infer<typeof publicStats>

export const retrievePublicStats = {
  kind: 'public',
  id: 'retrievePublicStats',
  method: 'get',
  path: '/public-stats',
  summary: 'Retrieve public statistics',
  description:
    'How many clicks a link or the links of a folder had, if their owner has made that public. Needs no key; each address has a rate limit. Lists have the most first, 100 rows at most.',
  tag: 'Public statistics',
  query: publicStatsQuery,
  headers: z.object({
    'X-Stats-Password': z.string().max(200).optional().describe('The password, when the statistics have one.'),
  }),
  response: publicStats,
  contents: ['application/json'],
  requestsPerMinute: 120,
} as const satisfies PublicOperation

const publicStatsSettings = z
  .strictObject({
    linkId: z.string().nullable(),
    folderId: z.string().nullable(),
    enabled: z.boolean(),
    hasPassword: z.boolean(),
  })
  .meta({ id: 'PublicStatsSettings' })
export type PublicStatsSettings = z.infer<typeof publicStatsSettings>

export const changePublicStats = operation({
  id: 'changePublicStats',
  method: 'put',
  path: '/public-stats',
  summary: 'Change public statistics',
  description:
    'Makes the statistics of a link or folder public, or ends that. `publicStats` of a link is the same switch.',
  tag: 'Public statistics',
  scope: 'links.write',
  body: z
    .object({
      linkId: z.string().max(200).optional().describe('Id of the link, or your own id prefixed with `ext_`.'),
      folderId: z.string().max(100).optional().describe('Id of the folder, instead of a link.'),
      enabled: z.boolean().default(true),
      password: z
        .string()
        .min(1)
        .max(200)
        .nullish()
        .describe('Visitors must send it. Null removes it; when omitted it stays as it is.'),
    })
    .meta({ id: 'PublicStatsChange' }),
  response: publicStatsSettings,
})
export type PublicStatsChange = z.output<typeof changePublicStats.body>
