import type { OperationAnswer, OperationInput } from '@tributary/contract/client'
import { useRef } from 'react'
import { useOperation } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { useMinute } from '../../ui/minute.ts'
import type { AnalyticsSearch } from './analytics-search.ts'
import type { Dimension, Row } from './dimensions.ts'
import { eventFilters, eventsQuery } from './event-search.ts'
import type { Measure } from './measures.ts'
import { comparePeriod, defaultPeriod, type Moment, reachesNow } from './periods.ts'

type Batch = OperationAnswer<'retrieveAnalyticsBatch'>
type BatchQuery = NonNullable<OperationInput<'retrieveAnalyticsBatch'>['body']>
/** Filters and period. */
export type PageQuery = Omit<BatchQuery, 'event' | 'groupBy' | 'limit'>

const freshMs = 60_000

/** Now, in the time zone and week of the workspace; undefined until they are known. */
export function useMoment(): Moment | undefined {
  const { slug } = useWorkspace()
  const now = useMinute()
  const { data } = useOperation('getWorkspace', { params: { idOrSlug: slug } }, { staleTime: 300_000 })
  return data && { now, timeZone: data.timeZone, weekStart: data.weekStart }
}

/** Rows of a list that is shown at its top, compared, or searched for what changed most. */
export function rowLimit({ compare, order }: AnalyticsSearch): number {
  if (!compare) return 10
  return order ? 1_000 : 100
}

/** The API orders rows by the measure of one kind of events. */
export function measuredEvent(measure: Measure): 'composite' | 'leads' | 'sales' {
  return measure === 'clicks' ? 'composite' : measure === 'leads' ? 'leads' : 'sales'
}

/** The query of the page, and that of the period to compare with. */
export function pageQueries(
  search: AnalyticsSearch,
  moment: Moment,
): { now: PageQuery; before: PageQuery | undefined } {
  const now = eventsQuery(search, moment)
  const past = search.compare && comparePeriod(search.period ?? defaultPeriod, search.compare, moment)
  return { now, before: past && { ...eventFilters(search), ...past, timezone: moment.timeZone } }
}

export type Figures = {
  count: Batch['count']
  series: readonly Row[] | undefined
  rows: Partial<Record<Dimension, readonly Row[]>>
  isStale: boolean
  error: Error | null
  refetch(): void
}

/** The figures of a period: in one request for clicks, and in a second one for rows in the order of another measure. */
export function useFigures(
  query: PageQuery | undefined,
  { measure, limit, dimensions, isLive }: { measure: Measure; limit: number; dimensions: Dimension[]; isLive: boolean },
): Figures {
  const event = measuredEvent(measure)
  const groupBy = useAskedDimensions(JSON.stringify([query, measure, limit]), dimensions)
  const enabled = query !== undefined
  const refetchInterval = isLive ? freshMs : undefined
  const totals = ['count', 'timeseries'] as const
  const ask = (body: Pick<BatchQuery, 'event' | 'groupBy'>) => ({ body: { ...query, ...body, limit } })
  const all = useOperation(
    'retrieveAnalyticsBatch',
    ask({ event: 'composite', groupBy: event === 'composite' ? [...totals, ...groupBy] : [...totals] }),
    { enabled, refetchInterval },
  )
  const isOther = event !== 'composite'
  const other = useOperation('retrieveAnalyticsBatch', ask({ event, groupBy }), {
    enabled: enabled && isOther,
    refetchInterval,
  })
  const rows = isOther ? other : all
  return {
    count: all.data?.count,
    series: all.data?.timeseries,
    rows: (rows.data ?? {}) as Figures['rows'],
    isStale: enabled && (all.isPlaceholderData || (isOther && other.isPlaceholderData)),
    error: all.data ? rows.error : all.error,
    refetch: () => {
      void all.refetch()
      if (isOther) void other.refetch()
    },
  }
}

/** The dimensions that the cards showed when the query changed last: a card that switches asks for itself only. */
function useAskedDimensions(key: string, dimensions: Dimension[]): Dimension[] {
  const asked = useRef({ key, dimensions })
  if (asked.current.key !== key) asked.current = { key, dimensions }
  return asked.current.dimensions
}

/** Rows of one dimension; asked for alone unless the page has them. */
export function useRows(
  query: PageQuery | undefined,
  figures: Figures,
  { dimension, measure, limit }: { dimension: Dimension; measure: Measure; limit: number },
): { rows: readonly Row[] | undefined; isStale: boolean } {
  const known = figures.rows[dimension]
  const { data, isPlaceholderData } = useOperation(
    'retrieveAnalyticsBatch',
    { body: { ...query, event: measuredEvent(measure), groupBy: [dimension], limit } },
    { enabled: query !== undefined && known === undefined && figures.count !== undefined },
  )
  if (known) return { rows: known, isStale: figures.isStale }
  return { rows: data?.[dimension], isStale: isPlaceholderData }
}

export function isLive(search: AnalyticsSearch, moment: Moment): boolean {
  return reachesNow(search.period ?? defaultPeriod, moment)
}
