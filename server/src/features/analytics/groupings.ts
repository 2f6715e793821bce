import type { AnalyticsCount, AnalyticsQuery, Grouping } from '@tributary/contract/analytics'
import { continents, triggers } from '@tributary/contract/analytics'
import type { CountKey, LinkAttribute } from './store.ts'

/** What to group events by: event columns with their names in the API, or an attribute of the link. */
export type Groups = {
  keys: Partial<Record<CountKey, string>>
  attribute?: LinkAttribute
  /** Fixed values for finer columns, such as region `*` when grouping by country. */
  wholes?: Record<string, string>
  /** The values that the API contract allows; groups with other values are not returned. */
  closed?: readonly string[]
}

const trigger: Groups = { keys: { trigger: 'trigger' }, closed: triggers }

export const groupingColumns: Record<Exclude<Grouping, 'top_groups' | 'top_partner_tags'>, Groups> = {
  count: { keys: {} },
  timeseries: { keys: { start: 'start' } },
  continents: { keys: { continent: 'continent' }, closed: continents },
  countries: { keys: { country: 'country' }, wholes: { region: '*', city: '*' } },
  regions: { keys: { country: 'country', region: 'region' }, wholes: { city: '*' } },
  cities: { keys: { country: 'country', region: 'region', city: 'city' } },
  devices: { keys: { device: 'device' } },
  browsers: { keys: { browser: 'browser' } },
  os: { keys: { os: 'os' } },
  trigger,
  triggers: trigger,
  referers: { keys: { referer: 'referer' } },
  referer_urls: { keys: { referer_url: 'refererUrl' } },
  top_links: { keys: { link_number: 'link' } },
  top_urls: { keys: { url: 'url' } },
  top_base_urls: { keys: { base_url: 'url' } },
  top_folders: { keys: {}, attribute: 'folder_id' },
  top_link_tags: { keys: {}, attribute: 'tag_ids' },
  top_domains: { keys: {}, attribute: 'domain' },
  top_partners: { keys: {}, attribute: 'partner_id' },
  utm_sources: { keys: { utm_source: 'utm_source' } },
  utm_mediums: { keys: { utm_medium: 'utm_medium' } },
  utm_campaigns: { keys: { utm_campaign: 'utm_campaign' } },
  utm_terms: { keys: { utm_term: 'utm_term' } },
  utm_contents: { keys: { utm_content: 'utm_content' } },
}

export const kindsByEvent = {
  clicks: ['clicks'],
  leads: ['leads'],
  sales: ['sales'],
  composite: ['clicks', 'leads', 'sales'],
} as const satisfies Record<AnalyticsQuery['event'], readonly string[]>

/** The measure to sort groups by, highest first. */
export const measureByEvent: Record<AnalyticsQuery['event'], keyof Omit<AnalyticsCount, 'visitors'>> = {
  clicks: 'clicks',
  leads: 'leads',
  sales: 'saleAmount',
  composite: 'clicks',
}
