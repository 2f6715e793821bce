import { boolean, bounded, choice, defaulting, deprecated, number, ours, type Shape, text } from './notation.ts'

/** A filter that accepts one value, several separated by commas, or a value after `-`. */
const advanced = text

/** Parameters that `GET /events` and `GET /analytics` have in common; all are optional. */
export const eventFilters: Shape = {
  domain: advanced,
  key: text,
  linkId: advanced,
  externalId: text,
  tenantId: advanced,
  tagId: advanced,
  folderId: advanced,
  partnerTagId: advanced,
  groupId: advanced,
  partnerId: advanced,
  customerId: text,
  interval: defaulting(choice('24h', '7d', '30d', '90d', '1y', 'mtd', 'qtd', 'ytd', 'all'), '24h'),
  start: ours(text, { maxLength: 100 }),
  end: ours(text, { maxLength: 100 }),
  timezone: ours(defaulting(text, 'UTC'), { maxLength: 100 }),
  country: advanced,
  city: advanced,
  region: advanced,
  continent: advanced,
  device: advanced,
  browser: advanced,
  os: advanced,
  trigger: advanced,
  referer: advanced,
  refererUrl: advanced,
  url: advanced,
  utm_source: advanced,
  utm_medium: advanced,
  utm_campaign: advanced,
  utm_term: advanced,
  utm_content: advanced,
  root: boolean,
  saleType: choice('new', 'recurring'),
  query: bounded(text, { maxLength: 10_000 }),
  programId: deprecated(text),
  tagIds: deprecated(text),
  qr: deprecated(boolean),
}

/** The 43 parameters of `GET /events`. */
export const eventsParameters: Shape = {
  event: defaulting(choice('clicks', 'leads', 'sales'), 'clicks'),
  ...eventFilters,
  page: ours(defaulting(number, 1), { minimum: 1 }),
  limit: ours(bounded(defaulting(number, 100), { maximum: 1_000 }), { minimum: 1 }),
  sortOrder: defaulting(choice('asc', 'desc'), 'desc'),
  sortBy: defaulting(choice('timestamp'), 'timestamp'),
  order: deprecated(defaulting(choice('asc', 'desc'), 'desc')),
}

/** Our own parameters of `GET /events`, which the specification does not have. */
export const eventsAdditions = ['cursor', 'bots', 'attributed']
export const analyticsAdditions = ['bots', 'visitors']

export const groupings = [
  ...['count', 'timeseries', 'continents', 'regions', 'countries', 'cities', 'devices', 'browsers', 'os'],
  ...['trigger', 'triggers', 'referers', 'referer_urls', 'top_folders', 'top_link_tags', 'top_domains'],
  ...['top_links', 'top_urls', 'top_base_urls', 'top_partners', 'top_groups', 'top_partner_tags'],
  ...['utm_sources', 'utm_mediums', 'utm_campaigns', 'utm_terms', 'utm_contents'],
]
