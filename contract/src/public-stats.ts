import { z } from 'zod'
import { intervals } from './events.ts'
import { operation, type PublicOperation } from './operation.ts'

/** Values of `groupBy` that reveal nothing about a single visitor. */
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

/** The field of a response row, by `groupBy` value. */
export const publicColumns = {
  timeseries: 'start',
  continents: 'continent',
  countries: 'country',
  devices: 'device',
  browsers: 'browser',
  os: 'os',
  triggers: 'trigger',
  referers: 'referer',
} as const satisfies Partial<Record<(typeof publicGroupings)[number], string>>

const publicStatsQuery = z.object({
  domain: z.string().max(190).optional().describe('Host of the short link; requires `key`.'),
  key: z.string().max(190).optional().describe('Slug of the short link; requires `domain`.'),
  folderId: z.string().max(100).optional().describe('Id of the folder, instead of a link.'),
  groupBy: z
    .enum(publicGroupings)
    .default('count')
    .describe(
      'Dimension to group by; the result has one row per value. `count` does not group: the result is one total.',
    ),
  interval: z.enum(intervals).default('24h').describe('Period that ends now, as in `GET /analytics`.'),
  timezone: z.string().max(100).default('UTC').describe('IANA time zone, such as `Europe/Berlin`.'),
})
export type PublicStatsQuery = z.output<typeof publicStatsQuery>

const clicks = z.number().describe('Number of clicks, without bots.')
const value = z.string().optional()
const publicRow = z.strictObject({
  start: value.describe('Start of the hour, day or month.'),
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

export const statsPassword = z.object({
  'X-Stats-Password': z.string().max(200).optional().describe('Password of the statistics, if one is set.'),
})

export const retrievePublicStats = {
  kind: 'public',
  id: 'retrievePublicStats',
  method: 'get',
  path: '/public-stats',
  summary: 'Retrieve public statistics',
  description:
    'Counts clicks of a link or folder whose statistics are public. Requires no key and is rate limited per IP address. Returns up to 100 rows, highest first.',
  tag: 'Public statistics',
  query: publicStatsQuery,
  headers: statsPassword,
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
    'Makes the statistics of a link or folder public or private. The field `publicStats` of a link does the same.',
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
        .describe('Password that visitors must send. Null removes the password; if omitted, it stays unchanged.'),
    })
    .meta({ id: 'PublicStatsChange' }),
  response: publicStatsSettings,
})
export type PublicStatsChange = z.output<typeof changePublicStats.body>
