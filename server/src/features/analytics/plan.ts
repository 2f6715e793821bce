import type { Grouping } from '@tributary/contract/analytics'
import type { EventFilter } from '../events/service.ts'
import { groupingColumns } from './groupings.ts'
import type { Rollup } from './store.ts'

/** The tables that answer an analytics query: one of the rollups, or the event rows. */
export type Plan = 'workspace' | 'links' | 'dimension' | 'rows'
export type CountQuery = {
  groupBy: Exclude<Grouping, 'top_groups' | 'top_partner_tags'>
  filter: EventFilter
  visitors: boolean
  /** The starts of a time series' buckets, in Unix seconds. */
  edges: number[]
}

const linkFilters = ['domain', 'linkId', 'tenantId', 'tagIds', 'folderId', 'partnerId', 'root']
/** Dimensions with one column, so that the rollup can be filtered by its value. */
const plainDimensions = ['continent', 'country', 'device', 'browser', 'os', 'trigger', 'referer'].concat([
  'utm_source',
  'utm_medium',
  'utm_campaign',
  'utm_term',
  'utm_content',
])
const dimensionGroupings: Partial<Record<Grouping, string>> = {
  regions: 'region',
  cities: 'city',
  ...Object.fromEntries(
    Object.entries(groupingColumns).flatMap(([grouping, { keys }]) => {
      const [key, second] = Object.keys(keys)
      return key && !second && plainDimensions.includes(key) ? [[grouping, key]] : []
    }),
  ),
}
const rollupByPlan = { workspace: 'workspaceCounts', links: 'linkCounts', dimension: 'dimensionCounts' } as const
const bucketSeconds: Record<Exclude<Plan, 'rows'>, number> = {
  workspace: 15 * 60,
  links: 60 * 60,
  dimension: 24 * 60 * 60,
}

/** Chooses the coarsest rollup that can answer the query; queries with other filters read the event rows. */
export function planFor(query: CountQuery): Plan {
  const { groupBy, filter, visitors, edges } = query
  if (visitors) return 'rows'
  const used = listFilters(filter)
  const fits = (plan: Exclude<Plan, 'rows'>) => edges.slice(1).every((edge) => edge % bucketSeconds[plan] === 0)
  const isTotal = groupBy === 'count' || groupBy === 'timeseries'
  if (isTotal && used.length === 0) return fits('workspace') ? 'workspace' : 'rows'
  const isOfLinks = isTotal || groupBy === 'top_links' || groupingColumns[groupBy].attribute !== undefined
  if (isOfLinks && used.every((name) => linkFilters.includes(name))) return fits('links') ? 'links' : 'rows'
  return findDimension(query) !== undefined && fits('dimension') ? 'dimension' : 'rows'
}

/** The rollup dimension that answers the query: its grouping or, for a total, its filter. */
function findDimension({ groupBy, filter }: CountQuery): string | undefined {
  if ((filter.bots ?? 'exclude') !== 'exclude') return undefined
  const [used, ...others] = listFilters(filter)
  if (others.length > 0) return undefined
  const isTotal = groupBy === 'count' || groupBy === 'timeseries'
  const dimension = isTotal ? used : dimensionGroupings[groupBy]
  if (dimension === undefined || (used !== undefined && used !== dimension)) return undefined
  return used === undefined || plainDimensions.includes(used) ? dimension : undefined
}

/**
 * The range of whole rollup buckets within a period, in Unix seconds; event rows cover the rest at both ends. The first
 * hour of 1970 has counts without a time, and no bucket is later than 2106.
 */
export function rollupFor(plan: Plan, query: CountQuery, period: { from: Date; to: Date }): Rollup | undefined {
  if (plan === 'rows') return undefined
  const step = bucketSeconds[plan]
  const from = Math.ceil(Math.max(period.from.getTime() / 1000, 3_600) / step) * step
  const to = Math.floor(Math.min(period.to.getTime() / 1000, 2 ** 32 - 1) / step) * step
  if (from >= to) return undefined
  const isAll = from * 1000 === period.from.getTime() && to * 1000 === period.to.getTime()
  return {
    name: rollupByPlan[plan],
    dimension: plan === 'dimension' ? findDimension(query) : undefined,
    from,
    to,
    isAll,
  }
}

/** The dimensions that a query filters by; `qr` is a filter on `trigger`. */
function listFilters({ lists = {}, linkNumbers = [], ...flags }: EventFilter): string[] {
  const used = Object.keys(lists)
  if (linkNumbers.length > 0) used.push('linkId')
  if (flags.qr !== undefined) used.push('trigger')
  if (flags.root !== undefined) used.push('root')
  if (flags.customerId || flags.saleType || flags.query?.trim()) used.push('conversion')
  return used
}
