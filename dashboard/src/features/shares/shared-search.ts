import { toggleValue } from '../analytics/filter-values.ts'
import {
  askPeriod,
  defaultPeriod,
  isNamed,
  type Moment,
  type Period,
  parsePeriod,
  reachesNow,
} from '../analytics/periods.ts'

/** What visitors may filter by. */
export const sharedFilters = ['country', 'continent', 'referer', 'device', 'browser', 'os', 'trigger'] as const
export type SharedFilter = (typeof sharedFilters)[number]

/** What a visitor chose, which the address has too. Filters have values as the API takes them. */
export type SharedSearch = Partial<Record<SharedFilter, string>> & { period?: Period }

const longest = 2_000

/** Reads the address; what it doesn't know is dropped. */
export function readSearch(text: string): SharedSearch {
  const given = new URLSearchParams(text)
  const period = given.get('period')
  const filters = sharedFilters.flatMap((name) => {
    const value = given.get(name)?.slice(0, longest)
    return value ? [[name, value]] : []
  })
  const known = period === defaultPeriod ? period : parsePeriod(period ?? undefined)
  return { ...Object.fromEntries(filters), ...(known && { period: known }) }
}

export function writeSearch(search: SharedSearch): string {
  const written = new URLSearchParams(search)
  return written.size === 0 ? '' : `?${written}`
}

/** The search as the API takes it. Without a period, it is that of the owner. */
export function sharedQuery({ period, ...filters }: SharedSearch, moment: Moment) {
  return { ...filters, ...(period && askPeriod(period, moment)) }
}

export function toggleFilter(search: SharedSearch, name: SharedFilter, value: string, isExcluded = false) {
  const { [name]: before, ...others } = search
  const next = toggleValue(before, value, isExcluded)
  return next === undefined ? others : { ...others, [name]: next }
}

/** Whether the days of a period are all between the first and the last that the page shows. */
export function isWithin(period: Period, { first, last }: { first: string | undefined; last: string }): boolean {
  if (isNamed(period)) return false
  const [from = '', to = ''] = period.split('..')
  return from >= (first ?? '') && to <= last
}

/** Whether the last hour, day or month that the page shows is not over yet. */
export function isUnfinished(
  { period, end }: { period: Period | null; end: string | null },
  search: SharedSearch,
  moment: Moment,
): boolean {
  const shown = search.period ?? period
  const isOpen = end === null || Date.parse(end) > moment.now.getTime()
  return isOpen && (shown === null || reachesNow(shown, moment))
}
