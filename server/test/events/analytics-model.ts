import { clockIn } from './local-time.ts'
import { type Kind, type ModelEvent, type ModelQuery, matching, type World } from './model.ts'

export type Counts = { clicks: number; leads: number; sales: number; saleAmount: number }
export type Unit = 'hour' | 'day' | 'month'
export type AnalyticsCase = {
  about: Omit<ModelQuery, 'kind'>
  kinds: Kind[]
  groupBy: string
  timezone: string
  unit: Unit
}

const hourMs = 3_600_000

/** Computes the expected rows of GET /analytics, by row key, without empty groups. */
export function modelAnalytics(world: World, { about, kinds, groupBy, timezone, unit }: AnalyticsCase) {
  const groups = new Map<string, Counts>()
  const findKeys = keysBy(groupBy, namesIn(timezone, unit))
  for (const kind of kinds) {
    for (const event of matching(world, { ...about, kind })) {
      for (const key of findKeys(event)) {
        const counts = groups.get(key) ?? { clicks: 0, leads: 0, sales: 0, saleAmount: 0 }
        if (kind === 'clicks') counts.clicks += 1
        if (kind === 'leads') counts.leads += 1
        counts.sales += event.sales
        counts.saleAmount += event.amount
        groups.set(key, counts)
      }
    }
  }
  for (const [key, counts] of groups) if (Object.values(counts).every((count) => count === 0)) groups.delete(key)
  return groups
}

/** Returns the names of all hours, days or months in a period, by local time. */
export function periodNames(from: number, to: number, timezone: string, unit: Unit): Set<string> {
  const nameBucket = namesIn(timezone, unit)
  const names = new Set<string>()
  const step = unit === 'hour' ? quarterMs : 6 * hourMs
  for (let at = from; at < to; at += step) names.add(nameBucket(at))
  return names.add(nameBucket(to - 1))
}

const unitLengths: Record<Unit, number> = { hour: 13, day: 10, month: 7 }
const quarterMs = hourMs / 4
const known = new Map<string, Map<number, string>>()

/** Caches by quarter of an hour, by which all time zones differ. */
function namesIn(timezone: string, unit: Unit): (at: number) => string {
  const names = known.get(`${timezone} ${unit}`) ?? new Map<number, string>()
  known.set(`${timezone} ${unit}`, names)
  return (at) => {
    const quarter = Math.floor(at / quarterMs)
    const name = names.get(quarter) ?? clockIn(timezone, quarter * quarterMs).slice(0, unitLengths[unit])
    names.set(quarter, name)
    return name
  }
}

/** Returns the row key of an actual response row. */
export function keyOfRow(row: Record<string, unknown>, groupBy: string, unit: Unit): string {
  const { clicks: _, leads: __, sales: ___, saleAmount: ____, ...own } = row
  if (groupBy === 'timeseries') return String(own.start).replace('T', ' ').slice(0, unitLengths[unit])
  if (groupBy === 'top_links') return String(own.id)
  if (groupBy === 'top_folders') return String(own.folderId ?? '')
  if (groupBy === 'top_link_tags') return String(own.tagId ?? '')
  if (groupBy === 'top_partners') return String(own.partnerId)
  if (groupBy === 'top_groups') return String(own.groupId)
  if (groupBy === 'top_partner_tags') return String(own.partnerTagId)
  return Object.values(own)
    .filter((value) => value !== '*')
    .join('|')
}

function keysBy(groupBy: string, nameBucket: (at: number) => string): (event: ModelEvent) => string[] {
  switch (groupBy) {
    case 'count':
      return () => ['']
    case 'timeseries':
      return ({ at }) => [nameBucket(at)]
    case 'continents':
      return ({ facts }) => continents.filter((continent) => continent === facts.continent)
    case 'trigger':
    case 'triggers':
      return ({ facts }) => triggers.filter((trigger) => trigger === facts.trigger)
    case 'regions':
      return ({ facts }) => [`${facts.country}|${facts.region}`]
    case 'cities':
      return ({ facts }) => [`${facts.country}|${facts.region}|${facts.city}`]
    case 'top_links':
      return ({ link }) => [link.id]
    case 'top_urls':
      return ({ facts }) => [facts.url]
    case 'top_base_urls':
      return ({ facts }) => [facts.url.split(/[?#]/)[0] ?? '']
    case 'top_folders':
      return ({ link }) => [link.folderId]
    case 'top_link_tags':
      return ({ link }) => (link.tagIds.length > 0 ? link.tagIds : [''])
    case 'top_domains':
      return ({ link }) => [link.domain]
    case 'top_partners':
      return ({ link }) => (link.partnerId === '' ? [] : [link.partnerId])
    case 'top_groups':
      return ({ link }) => (link.groupId === '' ? [] : [link.groupId])
    case 'top_partner_tags':
      return ({ link }) => link.partnerTagIds
    default: {
      const column = columns[groupBy] as keyof ModelEvent['facts']
      return ({ facts }) => [facts[column]]
    }
  }
}

const continents = ['AF', 'AN', 'AS', 'EU', 'NA', 'OC', 'SA']
const triggers = ['qr', 'link', 'pageview', 'deeplink']
const columns: Record<string, string> = {
  countries: 'country',
  devices: 'device',
  browsers: 'browser',
  os: 'os',
  referers: 'referer',
  referer_urls: 'refererUrl',
  utm_sources: 'utm_source',
  utm_mediums: 'utm_medium',
  utm_campaigns: 'utm_campaign',
  utm_terms: 'utm_term',
  utm_contents: 'utm_content',
}
