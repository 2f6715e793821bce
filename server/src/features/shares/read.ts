import type { AnalyticsBatch, AnalyticsCount } from '@tributary/contract/analytics'
import { publicColumns } from '@tributary/contract/public-stats'
import {
  publicFilters,
  type ShareAnalytics,
  type ShareAnalyticsQuery,
  type ShareCount,
  type SharePage,
} from '@tributary/contract/shares'
import { AppError } from '../../platform/errors.ts'
import { retrieveAnalyticsBatch } from '../analytics/service.ts'
import { parseFilterValues } from '../events/service.ts'
import { combineFilters, writeFilter } from './filter.ts'
import { noSuchPage, type OpenShare } from './open.ts'
import { choosePeriod } from './period.ts'

/** What the page of an unlocked share needs to know: nothing of the workspace but time zone and currency. */
export function describePage(share: OpenShare): SharePage {
  const { title, shortLink, periods, clock, showConversions, filter } = share
  const isFixed = periods.kind === 'fixed'
  const filters = publicFilters.flatMap((name) => (filter[name]?.trim() ? [[name, filter[name]]] : []))
  return {
    isLocked: false,
    title,
    shortLink,
    period: isFixed ? null : periods.name,
    start: periods.from?.toISOString() ?? null,
    end: isFixed && !periods.isUntilNow ? periods.to.toISOString() : null,
    timezone: clock.timezone,
    weekStart: clock.weekStart,
    currency: showConversions ? share.currency : null,
    showConversions,
    filter: Object.fromEntries(filters),
  }
}

/** Counts what the owner shares, within the visitor's period and filters. */
export async function countShared(share: OpenShare, given: ShareAnalyticsQuery): Promise<ShareAnalytics> {
  const { ctx, filter, periods, clock, showConversions } = share
  const { groupBy, limit } = given
  const period = choosePeriod(periods, given, clock)
  const batch = await retrieveAnalyticsBatch(ctx, {
    ...{ ...filter, ...addFilters(filter, given), ...period, timezone: clock.timezone },
    // Without conversions, leads and sales are not even counted.
    event: showConversions ? 'composite' : 'clicks',
    visitors: false,
    ...{ groupBy, limit },
  }).catch((error) => {
    // The view names a link that was deleted.
    throw error instanceof AppError && error.code === 'not_found' ? noSuchPage() : error
  })
  return presentBatch(period.interval === 'all' ? withoutEmptyStart(batch) : batch, showConversions)
}

// No link has this id, so that nothing is counted.
const nothing = { linkId: 'none' }

/** The owner's filters and the visitor's together, for the fields that a visitor may filter by. */
function addFilters(owner: OpenShare['filter'], visitor: ShareAnalyticsQuery): Record<string, string> {
  const filters: Record<string, string> = {}
  for (const name of publicFilters) {
    const given = parseFilterValues(name, visitor[name])
    const own = parseFilterValues(name, owner[name])
    const both = given && own ? combineFilters(own, given) : (given ?? own)
    if (both === 'none') return nothing
    if (both) filters[name] = writeFilter(both)
  }
  return filters
}

/** The series of all time begins with the workspace's first event, which visitors must not see. */
function withoutEmptyStart(batch: AnalyticsBatch): AnalyticsBatch {
  const { timeseries } = batch
  if (!timeseries) return batch
  const first = timeseries.findIndex(({ clicks, leads, sales }) => clicks + leads + sales > 0)
  return { ...batch, timeseries: timeseries.slice(first) }
}

function presentBatch(batch: AnalyticsBatch, showConversions: boolean): ShareAnalytics {
  const shown: ShareAnalytics = {}
  if (batch.count) shown.count = presentCount(batch.count, showConversions)
  for (const [grouping, column] of Object.entries(publicColumns) as [keyof typeof publicColumns, string][]) {
    const rows = batch[grouping]?.map((row) => ({
      [column]: String(row[column]),
      ...presentCount(row, showConversions),
    }))
    if (rows) shown[grouping] = rows
  }
  return shown
}

function presentCount({ clicks, leads, sales, saleAmount }: AnalyticsCount, showConversions: boolean): ShareCount {
  return showConversions ? { clicks, leads, sales, saleAmount } : { clicks }
}
