import { useQueryClient } from '@tanstack/react-query'
import type { OperationAnswer, OperationInput } from '@tributary/contract/client'
import { useEffect, useMemo, useRef, useState } from 'react'
import { operationQuery, useOperation } from '../../app/queries.ts'
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
/** Plans allow as few as two analytics requests a second. */
const laterMs = 1_000

/** Now, in the time zone and week of the workspace; undefined until they are known. */
export function useMoment(): Moment | undefined {
  const { slug } = useWorkspace()
  const now = useMinute()
  const { data } = useOperation('getWorkspace', { params: { idOrSlug: slug } }, { staleTime: 300_000 })
  const { timeZone, weekStart } = data ?? {}
  return useMemo(
    () => (timeZone === undefined || weekStart === undefined ? undefined : { now, timeZone, weekStart }),
    [now, timeZone, weekStart],
  )
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

/** Rows that come in one request. */
type Part = { asked: readonly Dimension[]; rows: Partial<Record<Dimension, readonly Row[]>>; isStale: boolean }
export type Figures = {
  count: Batch['count']
  series: readonly Row[] | undefined
  parts: readonly [first: Part, later: Part]
  /** Whether totals and series are those of the query before. */
  isStale: boolean
  error: Error | null
  refetch(): void
}

type Shown = {
  measure: Measure
  limit: number
  /** The dimensions of the cards on the screen, and of those below it. */
  dimensions: { first: Dimension[]; later: Dimension[] }
  isLive: boolean
}

/**
 * The figures of a period: totals and the cards on the screen in one request for clicks, and in a second one for rows in the
 * order of another measure. The cards below follow when they come into view, or a moment later.
 */
export function useFigures(query: PageQuery | undefined, { measure, limit, dimensions, isLive }: Shown): Figures {
  const event = measuredEvent(measure)
  const key = JSON.stringify([query, measure, limit])
  const asked = useAskedDimensions(key, dimensions)
  const enabled = query !== undefined
  const refetchInterval = isLive ? freshMs : undefined
  const totals = ['count', 'timeseries'] as const
  const isOther = event !== 'composite'
  const groupBy = isOther ? [...totals] : [...totals, ...asked.first]
  const all = useEarlyBatch(query, { event: 'composite', groupBy, limit })
  const other = useEarlyBatch(isOther ? query : undefined, { event, groupBy: asked.first, limit })
  const allFigures = useOperation('retrieveAnalyticsBatch', all, { enabled, refetchInterval })
  const otherFigures = useOperation('retrieveAnalyticsBatch', other, { enabled: enabled && isOther, refetchInterval })
  const first = isOther ? otherFigures : allFigures
  const isDue = useDue(key, first.data !== undefined && !first.isPlaceholderData) || dimensions.later.length === 0
  const later = useOperation(
    'retrieveAnalyticsBatch',
    { body: { ...query, event, groupBy: asked.later, limit } },
    { enabled: enabled && asked.later.length > 0 && isDue, refetchInterval },
  )
  return {
    count: allFigures.data?.count,
    series: allFigures.data?.timeseries,
    parts: [readPart(asked.first, first), readPart(asked.later, later)],
    isStale: enabled && allFigures.isPlaceholderData,
    error: allFigures.data ? first.error : allFigures.error,
    refetch: () => {
      void allFigures.refetch()
      if (isOther) void otherFigures.refetch()
    },
  }
}

function readPart(asked: readonly Dimension[], read: { data?: Batch | undefined; isPlaceholderData: boolean }): Part {
  return { asked, rows: (read.data ?? {}) as Part['rows'], isStale: read.isPlaceholderData }
}

/** The input of a batch. Asks for it while the page renders: effects run only after the browser has drawn. */
function useEarlyBatch(query: PageQuery | undefined, asked: Pick<BatchQuery, 'event' | 'groupBy' | 'limit'>) {
  const { slug } = useWorkspace()
  const client = useQueryClient()
  const input = { body: { ...query, ...asked } }
  const options = operationQuery(slug, 'retrieveAnalyticsBatch', input)
  if (query && !client.getQueryState(options.queryKey)) void client.prefetchQuery(options)
  return input
}

/** The dimensions that were asked for when the query changed last: a card that switches asks for itself only. */
function useAskedDimensions(key: string, dimensions: Shown['dimensions']): Shown['dimensions'] {
  const asked = useRef({ key, dimensions })
  if (asked.current.key !== key) asked.current = { key, dimensions }
  return asked.current.dimensions
}

/** Whether a moment has passed since the query of this key was answered. */
function useDue(key: string, isAnswered: boolean): boolean {
  const [dueKey, setDueKey] = useState<string>()
  useEffect(() => {
    if (!isAnswered) return
    const timer = setTimeout(() => setDueKey(key), laterMs)
    return () => clearTimeout(timer)
  }, [key, isAnswered])
  return dueKey === key
}

/** Rows of one dimension; asked for alone unless the page has them. */
export function useRows(
  query: PageQuery | undefined,
  figures: Figures,
  { dimension, measure, limit }: { dimension: Dimension; measure: Measure; limit: number },
): { rows: readonly Row[] | undefined; isStale: boolean } {
  const part = figures.parts.find(({ asked }) => asked.includes(dimension))
  const { data, isPlaceholderData } = useOperation(
    'retrieveAnalyticsBatch',
    { body: { ...query, event: measuredEvent(measure), groupBy: [dimension], limit } },
    { enabled: query !== undefined && !part && figures.count !== undefined },
  )
  const found = part?.rows[dimension] ?? data?.[dimension]
  const last = useRef({ dimension, rows: found })
  if (found || last.current.dimension !== dimension) last.current = { dimension, rows: found }
  if (!query) return { rows: undefined, isStale: false }
  // Rows that came with other dimensions before are not yet asked for again.
  const isOld = found === undefined && last.current.rows !== undefined
  return { rows: last.current.rows, isStale: isOld || (part ? part.isStale : isPlaceholderData) }
}

export function isLive(search: AnalyticsSearch, moment: Moment): boolean {
  return reachesNow(search.period ?? defaultPeriod, moment)
}
