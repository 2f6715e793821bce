import type { Grouping } from '@tributary/contract/analytics'
import type { EventFilter } from '../events/service.ts'
import { isOfLinks, isTotal, valueGroupings } from './groupings.ts'
import type { Range, RollupName } from './store.ts'

/** The tables that answer an analytics query: one of the rollups, or the event rows. */
export type Plan = 'workspace' | 'links' | 'dimension' | 'rows'
export type CountQuery = {
  groupBy: Grouping
  filter: EventFilter
  visitors: boolean
  /** The starts of a time series' buckets, in Unix seconds. */
  edges: number[]
}

const linkFilters = [
  'domain',
  'linkId',
  'tenantId',
  'tagIds',
  'folderId',
  'partnerId',
  'groupId',
  'partnerTagId',
  'root',
]
/** Filters by a dimension with one column, so that the rollup can be filtered by its value. */
const dimensionByFilter: Record<string, string> = {
  ...Object.fromEntries(
    ['continent', 'country', 'device', 'browser', 'os', 'trigger', 'referer', 'url']
      .concat(['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content'])
      .map((name) => [name, name]),
  ),
  refererUrl: 'referer_url',
}
/** The first day from which a rollup has all events, where it is not the first of all. */
export type FirstDays = Partial<Record<RollupName, string>>

const [quarter, hour, day] = [900, 3_600, 86_400]
/** The length of a rollup's bucket in seconds, or a calendar month. */
const bucketSizes: Record<RollupName, number | 'month'> = {
  workspaceCounts: quarter,
  linkCounts: hour,
  linkDays: day,
  linkMonths: 'month',
  dimensionCounts: day,
  dimensionMonths: 'month',
}
const longMs = 7 * day * 1000
/** The rollups of each plan, the finest first. */
const rollupsByPlan: Record<Plan, RollupName[]> = {
  workspace: ['workspaceCounts'],
  links: ['linkCounts', 'linkDays', 'linkMonths'],
  dimension: ['dimensionCounts', 'dimensionMonths'],
  rows: [],
}

/** Chooses the coarsest rollup that can answer the query; queries with other filters read the event rows. */
export function planFor(query: CountQuery): Plan {
  const { groupBy, filter, visitors, edges } = query
  if (visitors) return 'rows'
  const used = listFilters(filter)
  const fits = (plan: Plan) => fitsEdges(rollupsByPlan[plan][0], edges)
  if (isTotal(groupBy) && used.length === 0) return fits('workspace') ? 'workspace' : 'rows'
  if ((isTotal(groupBy) || isOfLinks(groupBy)) && used.every((name) => linkFilters.includes(name)))
    return fits('links') ? 'links' : 'rows'
  return chooseDimension(query) !== undefined && fits('dimension') ? 'dimension' : 'rows'
}

function fitsEdges(rollup: RollupName | undefined, edges: number[]): boolean {
  return rollup !== undefined && edges.slice(1).every((edge) => findBucket(rollup, edge).start === edge)
}

/** The bucket that a Unix second is in. */
function findBucket(rollup: RollupName, second: number): { start: number; end: number } {
  const size = bucketSizes[rollup]
  if (size !== 'month') {
    const start = Math.floor(second / size) * size
    return { start, end: start + size }
  }
  const at = new Date(second * 1000)
  const monthStart = (months: number) => Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + months) / 1000
  return { start: monthStart(0), end: monthStart(1) }
}

/** The rollup dimension that answers the query: its grouping or, for a total, its filter. */
export function chooseDimension({ groupBy, filter }: Pick<CountQuery, 'groupBy' | 'filter'>): string | undefined {
  if ((filter.bots ?? 'exclude') !== 'exclude' || isOfLinks(groupBy)) return undefined
  const [used, ...others] = listFilters(filter)
  if (others.length > 0) return undefined
  const filtered = used === undefined ? undefined : dimensionByFilter[used]
  const dimension = isTotal(groupBy) ? filtered : valueGroupings[groupBy].dimension
  return used === undefined || filtered === dimension ? dimension : undefined
}

/**
 * The ranges of whole rollup buckets within a period, each within the one before; event rows cover the rest at both
 * ends. No event is later than now, so the last buckets of an open period count as whole. The first hour of 1970 has
 * counts without a time, and no bucket is later than 2106.
 */
export function rangesFor(
  plan: Plan,
  edges: number[],
  period: { from: Date; to: Date; isOpen?: boolean },
  firstDays: FirstDays = {},
): Range[] {
  const ranges: Range[] = []
  const end = period.to.getTime() / 1000
  let from = Math.max(period.from.getTime() / 1000, hour)
  let to = Math.min(period.isOpen ? findBucket('linkMonths', end).end : end, 2 ** 32 - 1)
  for (const rollup of rollupsByPlan[plan]) {
    if (rollup === 'linkCounts' && daysSuffice(edges, period, firstDays)) continue
    from = Math.max(from, Date.parse(firstDays[rollup] ?? '1970-01-01') / 1000)
    const first = findBucket(rollup, from)
    from = first.start === from ? from : first.end
    to = findBucket(rollup, to).start
    if (from < to && fitsEdges(rollup, edges)) ranges.push({ rollup, from, to })
  }
  return ranges
}

/** Whether days of links leave so few events at both ends that these are fewer rows than the hours of all links. */
function daysSuffice(edges: number[], { from, to }: { from: Date; to: Date }, { linkDays = '1970-01-01' }: FirstDays) {
  return to.getTime() - from.getTime() > longMs && from >= new Date(linkDays) && fitsEdges('linkDays', edges)
}

/** The dimensions that a query filters by; `qr` is a filter on `trigger`. */
function listFilters({ lists = {}, linkNumbers = [], hiddenFolders, ...flags }: EventFilter): string[] {
  const used = Object.keys(lists)
  if (hiddenFolders.length > 0) used.push('folderId')
  if (linkNumbers.length > 0) used.push('linkId')
  if (flags.qr !== undefined) used.push('trigger')
  if (flags.root !== undefined) used.push('root')
  if (flags.customerId || flags.saleType || flags.query?.trim()) used.push('conversion')
  return used
}
