import type { OperationAnswer } from '@tributary/contract/client'
import type { FilterName } from './event-search.ts'

type Batch = OperationAnswer<'retrieveAnalyticsBatch'>
export type Dimension = Exclude<keyof Batch, 'count' | 'timeseries' | 'trigger'>
export type Row = NonNullable<Batch['countries']>[number]

/** For each dimension, the field of a row that identifies it, and the filter that takes its value. */
const definitions: Record<Dimension, { field: string; filter?: FilterName }> = {
  top_links: { field: 'id', filter: 'linkId' },
  top_folders: { field: 'folderId', filter: 'folderId' },
  top_link_tags: { field: 'tagId', filter: 'tagId' },
  top_domains: { field: 'domain', filter: 'domain' },
  top_urls: { field: 'url', filter: 'url' },
  // The API filters by whole URLs only.
  top_base_urls: { field: 'url' },
  referers: { field: 'referer', filter: 'referer' },
  referer_urls: { field: 'refererUrl', filter: 'refererUrl' },
  utm_campaigns: { field: 'utm_campaign', filter: 'utm_campaign' },
  utm_sources: { field: 'utm_source', filter: 'utm_source' },
  utm_mediums: { field: 'utm_medium', filter: 'utm_medium' },
  utm_terms: { field: 'utm_term', filter: 'utm_term' },
  utm_contents: { field: 'utm_content', filter: 'utm_content' },
  countries: { field: 'country', filter: 'country' },
  regions: { field: 'region', filter: 'region' },
  cities: { field: 'city', filter: 'city' },
  continents: { field: 'continent', filter: 'continent' },
  devices: { field: 'device', filter: 'device' },
  browsers: { field: 'browser', filter: 'browser' },
  os: { field: 'os', filter: 'os' },
  triggers: { field: 'trigger', filter: 'trigger' },
  top_partners: { field: 'partnerId', filter: 'partnerId' },
  top_groups: { field: 'groupId', filter: 'groupId' },
  top_partner_tags: { field: 'partnerTagId', filter: 'partnerTagId' },
}
export const dimensions = Object.keys(definitions) as Dimension[]

/** Cards of the page, each with the dimensions between which it switches. */
export const cards = {
  links: ['top_links', 'top_folders', 'top_link_tags', 'top_domains'],
  sources: ['referers', 'referer_urls'],
  campaigns: ['utm_campaigns', 'utm_sources', 'utm_mediums', 'utm_terms', 'utm_contents'],
  locations: ['countries', 'regions', 'cities', 'continents'],
  devices: ['devices', 'browsers', 'os', 'triggers'],
  destinations: ['top_urls', 'top_base_urls'],
  partners: ['top_partners', 'top_groups', 'top_partner_tags'],
} as const satisfies Record<string, readonly [Dimension, ...Dimension[]]>
export type CardName = keyof typeof cards
export const cardNames = Object.keys(cards) as CardName[]

/** The dimension that lists the values of a filter. */
export function filterDimension(filter: FilterName): Dimension {
  return dimensions.find((dimension) => definitions[dimension].filter === filter) as Dimension
}

/** The filter that takes the values of a dimension; undefined where the API has none. */
export function dimensionFilter(dimension: Dimension): FilterName | undefined {
  return definitions[dimension].filter
}

/** The value of a row as its filter takes it; undefined for what has no value, such as links without a folder. */
export function rowValue(dimension: Dimension, row: Row): string | undefined {
  const value = row[definitions[dimension].field]
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Distinguishes the rows of a dimension: cities of the same name are in different regions. */
export function rowKey(dimension: Dimension, row: Row): string {
  const parts = dimension === 'cities' ? [row.country, row.region, row.city] : [row[definitions[dimension].field]]
  return parts.map(String).join('\t')
}

/** The filter of a row; undefined where the API has none. */
export function rowFilter(dimension: Dimension, row: Row): { name: FilterName; value: string } | undefined {
  const { filter } = definitions[dimension]
  const value = rowValue(dimension, row)
  return filter && value !== undefined ? { name: filter, value } : undefined
}
