import { type AnalyticsBatchQuery, analyticsBatchQuery } from '@tributary/contract/analytics'
import { type NamedPeriod, namedPeriods } from '@tributary/contract/shares'

type Unread = 'event' | 'groupBy' | 'limit' | 'visitors' | 'interval' | 'start' | 'end' | 'timezone'
/** The owner's filters. */
export type ViewFilter = Omit<AnalyticsBatchQuery, Unread>
/** The owner's period: a name is only the default of visitors, days are a bound. */
export type ViewPeriod = { name: NamedPeriod } | { start: string; end?: string }
export type ViewQuery = { filter: ViewFilter; period: ViewPeriod; timezone?: string }

/** Parameters of the screen that change how it looks, and not which events it counts. */
const looks = ['event', 'measure', 'chart', 'compare', 'order', 'tabs', 'map', 'view']
const defaultPeriod = '30d'
const ofDays = /^(\d{4}-\d\d-\d\d)\.\.(\d{4}-\d\d-\d\d)$/

// A customer is one person.
const { event: _, groupBy: __, limit: ___, visitors: ____, customerId: _____, ...readable } = analyticsBatchQuery.shape

/**
 * Reads the query of a saved view. A parameter that is neither a filter nor known to be about looks is a problem, because
 * without it the page would count more than the view does.
 */
export function readViewQuery(query: Record<string, string>): ViewQuery | { problem: string } {
  const { period, ...filters } = Object.fromEntries(Object.entries(query).filter(([name]) => !looks.includes(name)))
  const unknown = Object.keys(filters).find((name) => !(name in readable))
  if (unknown !== undefined) return { problem: `has the parameter \`${unknown}\`, which can't be shared` }
  const parsed = analyticsBatchQuery.safeParse({ ...filters, groupBy: ['count'] })
  if (!parsed.success) return notAllowed(String(parsed.error.issues[0]?.path[0]))
  const { event: _, groupBy: __, limit: ___, visitors: ____, interval, start, end, timezone, ...filter } = parsed.data
  const chosen = start?.trim()
    ? { start, ...(end?.trim() && { end }) }
    : readPeriod(period ?? interval ?? defaultPeriod)
  if (!chosen) return notAllowed('period')
  return { filter, period: chosen, ...(filters.timezone && { timezone }) }
}

/** A period of the dashboard: a name, or days as `2026-01-01..2026-01-31`. */
function readPeriod(text: string): ViewPeriod | undefined {
  const name = namedPeriods.find((one) => one === text)
  if (name) return { name }
  const [, start, end] = ofDays.exec(text) ?? []
  return start !== undefined && end !== undefined ? { start, end } : undefined
}

function notAllowed(name: string) {
  return { problem: `has a value of \`${name}\` that is not allowed` }
}
