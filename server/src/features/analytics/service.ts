import type {
  AnalyticsBatch,
  AnalyticsBatchQuery,
  AnalyticsCount,
  AnalyticsQuery,
  AnalyticsRow,
  Grouping,
  LinkStats,
  LinkStatsQuery,
  VisitorsNow,
  VisitorsNowQuery,
} from '@tributary/contract/analytics'
import type { Ctx } from '../../platform/context.ts'
import { invalid } from '../../platform/errors.ts'
import { countWithinLimits } from '../events/service.ts'
import { cacheAnswer, cacheBriefly } from './answers.ts'
import { countGroupings } from './count.ts'
import { countByLink } from './link-stats.ts'
import type { Plan } from './plan.ts'

type Answer = AnalyticsCount | AnalyticsRow[]
type Limits = Parameters<typeof countGroupings>[2]['limits']

const mostGroups = 5_000
const nowMs = 5 * 60_000

export async function retrieveAnalytics(ctx: Ctx, query: AnalyticsQuery): Promise<Answer> {
  requireTotals(query.visitors, [query.groupBy], 'query')
  return cacheAnswer(ctx, query, () => countWithinLimits(ctx, query, (limits) => countEvents(ctx, query, limits)))
}

/** Answers several groupings of one period and filter, with one statement for all that read the same rollup. */
export async function retrieveAnalyticsBatch(ctx: Ctx, batch: AnalyticsBatchQuery): Promise<AnalyticsBatch> {
  const { groupBy, limit, ...query } = batch
  requireTotals(query.visitors, groupBy, 'body')
  return cacheAnswer(ctx, batch, () =>
    countWithinLimits(ctx, query, (limits) => countGroupings(ctx, query, { groupings: groupBy, limits, limit })),
  )
}

export async function retrieveLinkStats(ctx: Ctx, query: LinkStatsQuery): Promise<LinkStats[]> {
  const count = (limits: Limits) => countByLink(ctx, query, limits)
  return cacheAnswer(ctx, query, () => countWithinLimits(ctx, query, count))
}

/** Counts the visitors of the last five minutes. However many ask, a query runs once in two seconds. */
export async function retrieveVisitorsNow(ctx: Ctx, filters: VisitorsNowQuery): Promise<VisitorsNow> {
  return cacheBriefly(ctx, filters, async () => {
    const now = ctx.now()
    const start = new Date(now.getTime() - nowMs).toISOString()
    const query = { ...filters, ...visitorsOnly, start }
    const frozen = { ...ctx, now: () => now }
    const count = await countWithinLimits(ctx, query, (limits) => countEvents(frozen, query, limits))
    return { visitors: (count as AnalyticsCount).visitors ?? 0, countedAt: now.toISOString() }
  })
}

const visitorsOnly = { event: 'clicks', groupBy: 'count', bots: 'exclude', visitors: true, timezone: 'UTC' } as const

/** Counts events for an analytics query; `plan` overrides which tables it reads. */
export async function countEvents(
  ctx: Ctx,
  { groupBy, ...query }: AnalyticsQuery,
  limits: Limits = {},
  plan?: Plan,
): Promise<Answer> {
  const answers = await countGroupings(ctx, query, { groupings: [groupBy], limits, limit: mostGroups, plan })
  return answers[groupBy] as Answer
}

function requireTotals(visitors: boolean, groupings: Grouping[], where: 'query' | 'body'): void {
  if (!visitors || groupings.every((groupBy) => groupBy === 'count' || groupBy === 'timeseries')) return
  throw invalid(`\`visitors\` in the ${where} requires \`groupBy\` count or timeseries.`)
}
