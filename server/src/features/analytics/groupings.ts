import type { AnalyticsCount, AnalyticsQuery, Grouping } from '@tributary/contract/analytics'
import { continents, triggers } from '@tributary/contract/analytics'
import type { LinkAttribute } from './store.ts'

/** Groups by a dimension of the event. */
type Values = {
  dimension: string
  /** The names of the dimension's parts in the API: a city has a country and a region. */
  fields: string[]
  /** Fixed values for finer parts, such as region `*` when grouping by country. */
  wholes?: Record<string, string>
  /** The values that the API contract allows; groups with other values are not returned. */
  closed?: readonly string[]
}
/** Groups by the link, or by a current attribute of it or its partner. */
type Links = { attribute: LinkAttribute }

export type Total = 'count' | 'timeseries'
export type ValueGrouping = keyof typeof valueGroupings
export type LinkGrouping = keyof typeof linkGroupings

const trigger: Values = { dimension: 'trigger', fields: ['trigger'], closed: triggers }
const plain = (dimension: string, field = dimension): Values => ({ dimension, fields: [field] })

export const valueGroupings = {
  continents: { ...plain('continent'), closed: continents },
  countries: { ...plain('country'), wholes: { region: '*', city: '*' } },
  regions: { dimension: 'region', fields: ['country', 'region'], wholes: { city: '*' } },
  cities: { dimension: 'city', fields: ['country', 'region', 'city'] },
  devices: plain('device'),
  browsers: plain('browser'),
  os: plain('os'),
  trigger,
  triggers: trigger,
  referers: plain('referer'),
  referer_urls: plain('referer_url', 'refererUrl'),
  top_urls: plain('url'),
  top_base_urls: plain('base_url', 'url'),
  utm_sources: plain('utm_source'),
  utm_mediums: plain('utm_medium'),
  utm_campaigns: plain('utm_campaign'),
  utm_terms: plain('utm_term'),
  utm_contents: plain('utm_content'),
} as const satisfies Partial<Record<Grouping, Values>> as Record<Exclude<Grouping, Total | LinkGrouping>, Values>

export const linkGroupings = {
  top_links: { attribute: 'link_number' },
  top_folders: { attribute: 'folder_id' },
  top_link_tags: { attribute: 'tag_ids' },
  top_domains: { attribute: 'domain' },
  top_partners: { attribute: 'partner_id' },
  top_groups: { attribute: 'group_id' },
  top_partner_tags: { attribute: 'partner_tag_ids' },
} as const satisfies Partial<Record<Grouping, Links>>

export function isTotal(groupBy: Grouping): groupBy is Total {
  return groupBy === 'count' || groupBy === 'timeseries'
}

export function isOfLinks(groupBy: Grouping): groupBy is LinkGrouping {
  return groupBy in linkGroupings
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
