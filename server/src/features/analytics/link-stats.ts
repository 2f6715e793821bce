import type { LinkStats, LinkStatsQuery } from '@tributary/contract/analytics'
import type { QueryLimits } from '../../platform/clickhouse.ts'
import type { Ctx } from '../../platform/context.ts'
import { invalid } from '../../platform/errors.ts'
import { buildWhere, filterConditions, resolveQuery } from '../events/service.ts'
import { linkNumbersByName } from '../links/service.ts'
import { rollupStarts } from '../rollups/service.ts'
import { seriesBuckets } from './count.ts'
import { kindsByEvent } from './groupings.ts'
import { planFor, rangesFor } from './plan.ts'
import { presentSeries, presentTotal, sumTotals } from './present.ts'
import { selectTotals } from './store.ts'

const mostPoints = 20_000

/** Counts the clicks, leads and sales of each link in a period, in the order of the query; omits unknown links. */
export async function countByLink(ctx: Ctx, query: LinkStatsQuery, limits: QueryLimits): Promise<LinkStats[]> {
  const { linkIds, series, ...asked } = query
  const links = await linkNumbersByName(ctx, [linkIds].flat())
  const { period, filter: requested } = await resolveQuery(ctx, asked)
  if (links.length === 0) return []
  const linkNumbers = [{ numbers: links.map(({ number }) => number), excluded: false }]
  const filter = { linkNumbers, hiddenFolders: requested.hiddenFolders }
  const buckets = series ? await seriesBuckets(ctx, asked, period, limits) : []
  if (links.length * buckets.length > mostPoints)
    throw invalid(
      `A series of ${buckets.length} points for ${links.length} links is too long: at most ${mostPoints} points in all. Ask for fewer links or a shorter period.`,
    )
  const edges = buckets.map(({ second }) => second)
  const plan = planFor({ groupBy: 'timeseries', filter, visitors: false, edges })
  const { linkDays, months } = await rollupStarts(ctx)
  const ranges = rangesFor(plan, edges, period, { linkDays, linkMonths: months })
  const wheres = kindsByEvent.composite.map((kind) => [kind, buildWhere(ctx.workspaceId, period, filter, kind)])
  const totals = await selectTotals(
    ctx.clickhouse,
    {
      wheres: Object.fromEntries(wheres),
      period,
      ranges,
      filters: filterConditions(filter, 'clicks', {}),
      bots: 'exclude',
      keys: series ? ['link_number', 'start'] : ['link_number'],
      edges,
      visitors: false,
    },
    limits,
  )
  const found = Map.groupBy(totals, ({ link_number }) => link_number)
  return links.map(({ id, number }) => {
    const mine = found.get(String(number)) ?? []
    return {
      linkId: id,
      ...presentTotal(sumTotals(mine)),
      ...(series && { series: presentSeries(buckets, mine, false) }),
    }
  })
}
