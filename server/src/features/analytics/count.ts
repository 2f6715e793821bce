import type { AnalyticsBatch, AnalyticsQuery, Grouping } from '@tributary/contract/analytics'
import type { QueryLimits } from '../../platform/clickhouse.ts'
import type { Ctx } from '../../platform/context.ts'
import { buildWhere, type EventFilter, filterConditions, resolveQuery } from '../events/service.ts'
import { hiddenFolders } from '../folders/service.ts'
import { findDimension, foldedDimensions, isUrlDimension, rollupStarts } from '../rollups/service.ts'
import { type Bucket, chooseUnit, listBuckets } from './buckets.ts'
import {
  isOfLinks,
  isTotal,
  kindsByEvent,
  type LinkGrouping,
  linkGroupings,
  measureByEvent,
  type Total,
  type ValueGrouping,
  valueGroupings,
} from './groupings.ts'
import { chooseDimension, type FirstDays, type Plan, planFor, rangesFor } from './plan.ts'
import { presentGroups, presentSeries, presentTotal, sumTotals } from './present.ts'
import {
  type Counting,
  linkDimension,
  selectFirstBucket,
  selectLinkCounts,
  selectTotals,
  selectValues,
  startDimension,
  type Total as TotalCount,
  totalDimension,
  type ValueCount,
} from './store.ts'

export type CountInput = Omit<AnalyticsQuery, 'groupBy'>
type Options = { groupings: Grouping[]; limit: number; limits: QueryLimits; plan?: Plan }
type Answers = AnalyticsBatch
/** A query with its period and filters resolved. */
type Resolved = {
  query: CountInput
  period: { from: Date; to: Date; isOpen: boolean }
  filter: EventFilter
  wheres: Counting['wheres']
  buckets: Bucket[]
  options: Options
  limits: QueryLimits
  starts: Awaited<ReturnType<typeof rollupStarts>>
  inTurn: ReturnType<typeof openTurns>
}

/**
 * Counts events by each of the groupings. Groupings of one kind that read the same tables share a statement. Statements
 * that read rollups run at once, those that read all event rows in turn; `plan` overrides which tables they read.
 */
export async function countGroupings(ctx: Ctx, query: CountInput, options: Options): Promise<Answers> {
  const { event: _, bots, visitors, ...filters } = query
  const { limits } = options
  const { period, filter: requested } = await resolveQuery(ctx, filters)
  const filter = { ...requested, bots }
  const buckets = options.groupings.includes('timeseries') ? await seriesBuckets(ctx, query, period, limits) : []
  const wheres = Object.fromEntries(
    kindsByEvent[query.event].map((kind) => [kind, buildWhere(ctx.workspaceId, period, filter, kind)]),
  )
  const starts = await rollupStarts(ctx)
  const inTurn = openTurns(limits)
  const resolved: Resolved = { query, period, filter, wheres, buckets, options, limits, starts, inTurn }
  const edges = buckets.map(({ second }) => second)
  const planned = new Map<string, { plan: Plan; groupings: Grouping[] }>()
  for (const groupBy of new Set(options.groupings)) {
    const plan = options.plan ?? planFor({ groupBy, filter, visitors, edges: groupBy === 'timeseries' ? edges : [] })
    const kind = plan === 'rows' && readsRowsOnly(resolved, groupBy) ? 'rows' : findKind(groupBy, visitors)
    // Dimensions with another first day have other ranges, and so a statement of their own.
    const name = `${kind} ${plan} ${readFirstDays(resolved, [groupBy]).dimensionCounts ?? ''}`
    const shared = planned.get(name) ?? { plan, groupings: [] }
    planned.set(name, { plan, groupings: [...shared.groupings, groupBy] })
  }
  const parts = [...planned.values()].map(({ plan, groupings }) => countTogether(ctx, resolved, plan, groupings))
  return Object.assign({}, ...(await Promise.all(parts)))
}

/** Answers groupings of one kind by one plan, or by event rows where the plan's rollup does not count all values. */
async function countTogether(ctx: Ctx, resolved: Resolved, plan: Plan, groupings: Grouping[]): Promise<Answers> {
  const ranges = rangesFor(plan, [], resolved.period, readFirstDays(resolved, groupings))
  const dimensionBy = new Map(
    groupings.map((groupBy) => [groupBy, chooseDimension({ groupBy, filter: resolved.filter })]),
  )
  const dimensions = [...dimensionBy.values()].filter((name) => name !== undefined)
  const finding =
    plan === 'dimension' ? foldedDimensions(ctx, dimensions, ranges, resolved.limits) : Promise.resolve<string[]>([])
  const [answers, folded] = await Promise.all([ask(ctx, resolved, plan, groupings), finding])
  const inexact = groupings.filter((groupBy) => folded.includes(dimensionBy.get(groupBy) ?? ''))
  return inexact.length === 0 ? answers : { ...answers, ...(await ask(ctx, resolved, 'rows', inexact)) }
}

function ask(ctx: Ctx, resolved: Resolved, plan: Plan, groupings: Grouping[]): Promise<Answers> {
  const [first] = groupings
  const count = (limits: QueryLimits) => {
    const within = { ...resolved, limits }
    if (plan === 'rows' && groupings.length > 1 && groupings.every((groupBy) => readsRowsOnly(resolved, groupBy)))
      return countRows(ctx, within, groupings)
    if (first === undefined || isTotal(first)) return countTotals(ctx, within, plan, groupings as Total[])
    if (isOfLinks(first)) return countLinks(ctx, within, plan, groupings as LinkGrouping[])
    return countValues(ctx, within, plan, groupings as ValueGrouping[])
  }
  const readsRollup = countingBy(resolved, plan, groupings).ranges.length > 0
  return readsRollup ? count(resolved.limits) : resolved.inTurn(count)
}

/** Runs counts one after another, all within the time limit of one query. After a failure the rest do not run. */
function openTurns(limits: QueryLimits) {
  const started = performance.now()
  let last: Promise<unknown> = Promise.resolve()
  return <T>(count: (limits: QueryLimits) => Promise<T>): Promise<T> => {
    const turn = last.then(() => {
      const { max_execution_time: seconds } = limits
      if (!seconds) return count(limits)
      const left = seconds - Math.floor((performance.now() - started) / 1000)
      return count({ ...limits, max_execution_time: Math.max(1, left) })
    })
    last = turn
    return turn
  }
}

/** Whether event rows alone answer a grouping, so that it shares their statement with others. */
function readsRowsOnly({ query }: Resolved, groupBy: Grouping): boolean {
  return !query.visitors && (groupBy === 'top_links' || !isOfLinks(groupBy))
}

function findKind(groupBy: Grouping, visitors: boolean): string {
  if (isTotal(groupBy)) return `total ${visitors && groupBy}`
  return isOfLinks(groupBy) ? 'links' : 'values'
}

/** Answers totals, links and values together from event rows, which are read once. */
async function countRows(ctx: Ctx, resolved: Resolved, groupings: Grouping[]): Promise<Answers> {
  const { buckets, limits } = resolved
  const isSeries = groupings.includes('timeseries')
  const totals = isSeries ? startDimension : totalDimension
  const groups = groupings.filter((groupBy) => !isTotal(groupBy))
  const names = new Set(groups.map(findName))
  const dimensions = [
    ...(groups.length < groupings.length ? [totals] : []),
    ...[...names].map((name) => (name === linkDimension.name ? linkDimension : findDimension(name))),
  ]
  const edges = isSeries ? buckets.map(({ second }) => second) : []
  const counting = { ...countingBy(resolved, 'rows', groupings), dimensions, edges, ...top(resolved) }
  const found = Map.groupBy(await selectValues(ctx.clickhouse, counting, limits), readName)
  const rows = (found.get(totals.name) ?? []).map((row) => ({ ...row, start: row.value }))
  return {
    ...presentTotals(resolved, groupings, rows),
    ...(await presentAll(ctx, groups as (LinkGrouping | ValueGrouping)[], (groupBy) => found.get(findName(groupBy)))),
  }
}

function findName(groupBy: Exclude<Grouping, Total>): string {
  return isOfLinks(groupBy) ? linkGroupings[groupBy].attribute : valueGroupings[groupBy].dimension
}

async function countTotals(ctx: Ctx, resolved: Resolved, plan: Plan, groupings: Total[]): Promise<Answers> {
  const { query, filter, buckets, limits } = resolved
  const isSeries = groupings.includes('timeseries')
  const edges = isSeries ? buckets.map(({ second }) => second) : []
  const filtered = plan === 'dimension' ? chooseDimension({ groupBy: 'count', filter }) : undefined
  const rows = await selectTotals(
    ctx.clickhouse,
    {
      ...countingBy(resolved, plan, groupings, edges),
      keys: isSeries ? ['start'] : [],
      dimension: filtered === undefined ? undefined : findDimension(filtered),
      edges,
      visitors: query.visitors,
    },
    limits,
  )
  return presentTotals(resolved, groupings, rows)
}

function presentTotals({ query, buckets }: Resolved, groupings: Grouping[], rows: TotalCount[]): Answers {
  return {
    ...(groupings.includes('count') && { count: presentTotal(sumTotals(rows), query.visitors) }),
    ...(groupings.includes('timeseries') && { timeseries: presentSeries(buckets, rows, query.visitors) }),
  }
}

async function countLinks(ctx: Ctx, resolved: Resolved, plan: Plan, groupings: LinkGrouping[]): Promise<Answers> {
  const attributes = groupings.map((groupBy) => linkGroupings[groupBy].attribute)
  const counting = { ...countingBy(resolved, plan, groupings), attributes, ...top(resolved) }
  const found = Map.groupBy(await selectLinkCounts(ctx.clickhouse, counting, resolved.limits), readName)
  return presentAll(ctx, groupings, (groupBy) => found.get(linkGroupings[groupBy].attribute))
}

async function countValues(ctx: Ctx, resolved: Resolved, plan: Plan, groupings: ValueGrouping[]): Promise<Answers> {
  const names = new Set(groupings.map((groupBy) => valueGroupings[groupBy].dimension))
  const dimensions = [...names].map(findDimension)
  const counting = { ...countingBy(resolved, plan, groupings), dimensions, ...top(resolved) }
  const found = Map.groupBy(await selectValues(ctx.clickhouse, counting, resolved.limits), readName)
  return presentAll(ctx, groupings, (groupBy) => found.get(valueGroupings[groupBy].dimension))
}

const readName = ({ name }: ValueCount) => name

async function presentAll<G extends LinkGrouping | ValueGrouping>(
  ctx: Ctx,
  groupings: G[],
  find: (groupBy: G) => ValueCount[] | undefined,
): Promise<Answers> {
  const rows = await Promise.all(groupings.map((groupBy) => presentGroups(ctx, groupBy, find(groupBy) ?? [])))
  return Object.fromEntries(groupings.map((groupBy, index) => [groupBy, rows[index]]))
}

function top({ query, options }: Resolved) {
  return { most: measureByEvent[query.event], limit: options.limit }
}

function readFirstDays({ filter, starts }: Pick<Resolved, 'filter' | 'starts'>, groupings: Grouping[]): FirstDays {
  const isOfUrls = groupings.some((groupBy) => isUrlDimension(chooseDimension({ groupBy, filter }) ?? ''))
  const { linkDays, months, urls } = starts
  return { linkDays, linkMonths: months, dimensionMonths: months, ...(isOfUrls && { dimensionCounts: urls }) }
}

function countingBy(resolved: Resolved, plan: Plan, groupings: Grouping[], edges: number[] = []): Counting {
  const { query, period, filter, wheres } = resolved
  const ranges = rangesFor(plan, edges, period, readFirstDays(resolved, groupings))
  // Filters on rollup columns are the same for clicks, leads and sales.
  return { wheres, period, ranges, filters: filterConditions(filter, 'clicks', {}), bots: query.bots }
}

/** The buckets of a time series; the interval `all` begins with the first event that the caller may read. */
export async function seriesBuckets(
  ctx: Ctx,
  query: Pick<CountInput, 'interval' | 'start' | 'timezone'>,
  period: { from: Date; to: Date },
  limits: QueryLimits,
): Promise<Bucket[]> {
  let { from } = period
  if (query.interval === 'all' && !query.start?.trim()) {
    const values = {}
    const conditions = filterConditions({ hiddenFolders: hiddenFolders(ctx) }, 'clicks', values)
    const first = await selectFirstBucket(ctx.clickhouse, ctx.workspaceId, limits, { conditions, values })
    const known = first === undefined ? period.to.getTime() - 1 : first * 1000
    from = new Date(Math.min(Math.max(known, from.getTime()), period.to.getTime() - 1))
  }
  const span = { from, to: period.to }
  return listBuckets(span, chooseUnit(query, span), query.timezone)
}
