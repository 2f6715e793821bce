import type { AnalyticsCount, AnalyticsQuery, AnalyticsRow } from '@tributary/contract/analytics'
import type { Ctx } from '../../platform/context.ts'
import { invalid } from '../../platform/errors.ts'
import { buildWhere, countWithinLimits, filterConditions, resolveQuery } from '../events/service.ts'
import { isFolded } from '../rollups/service.ts'
import { cacheAnswer } from './answers.ts'
import { type Bucket, chooseUnit, listBuckets } from './buckets.ts'
import { groupingColumns, kindsByEvent, measureByEvent } from './groupings.ts'
import { type Plan, planFor, rollupFor } from './plan.ts'
import { presentCount, presentGroups, presentSeries } from './present.ts'
import { type CountKey, selectFirstBucket, selectGroups } from './store.ts'

type Answer = AnalyticsCount | AnalyticsRow[]

const mostGroups = 5_000

export async function retrieveAnalytics(ctx: Ctx, query: AnalyticsQuery): Promise<Answer> {
  const { groupBy } = query
  if (query.visitors && groupBy !== 'count' && groupBy !== 'timeseries') {
    throw invalid('`visitors` in the query requires `groupBy` count or timeseries.')
  }
  return cacheAnswer(ctx, query, () => countWithinLimits(ctx, query, (limits) => countEvents(ctx, query, limits)))
}

/** Counts events for an analytics query; `plan` overrides which tables it reads. */
export async function countEvents(
  ctx: Ctx,
  query: AnalyticsQuery,
  limits: Parameters<typeof selectGroups>[2] = {},
  plan?: Plan,
): Promise<Answer> {
  const { event, groupBy, bots, visitors, ...filters } = query
  const { period, filter: requested } = await resolveQuery(ctx, filters)
  const filter = { ...requested, bots }
  const wheres = Object.fromEntries(
    kindsByEvent[event].map((kind) => [kind, buildWhere(ctx.workspaceId, period, filter, kind)]),
  )
  // Groups and tags of partners are not supported yet.
  if (groupBy === 'top_groups' || groupBy === 'top_partner_tags') return []
  const buckets = groupBy === 'timeseries' ? await countSeries(ctx, query, period) : []
  const edges = buckets.map(({ second }) => second)
  const countQuery = { groupBy, filter, visitors, edges }
  const { keys, attribute } = groupingColumns[groupBy]
  const rollup = rollupFor(plan ?? planFor(countQuery), countQuery, period)
  const groups = await selectGroups(
    ctx.clickhouse,
    {
      wheres,
      keys: Object.keys(keys) as CountKey[],
      attribute,
      edges,
      rollup: rollup && (await isFolded(ctx, rollup)) ? undefined : rollup,
      // Filters on rollup columns are the same for clicks, leads and sales.
      filters: filterConditions(filter, 'clicks', {}),
      bots,
      visitors,
      most: measureByEvent[event],
      limit: mostGroups,
    },
    limits,
  )
  if (groupBy === 'count') return presentCount(groups[0], visitors)
  if (groupBy === 'timeseries') return presentSeries(buckets, groups, visitors)
  return presentGroups(ctx, groupBy, groups)
}

/** The buckets of a time series; the interval `all` begins with the workspace's first event. */
async function countSeries(ctx: Ctx, query: AnalyticsQuery, period: { from: Date; to: Date }): Promise<Bucket[]> {
  let { from } = period
  if (query.interval === 'all' && !query.start?.trim()) {
    const first = await selectFirstBucket(ctx.clickhouse, ctx.workspaceId)
    const known = first === undefined ? period.to.getTime() - 1 : first * 1000
    from = new Date(Math.min(Math.max(known, from.getTime()), period.to.getTime() - 1))
  }
  const span = { from, to: period.to }
  return listBuckets(span, chooseUnit(query, span), query.timezone)
}
