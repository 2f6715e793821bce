import { type AskedPeriod, askPeriod, defaultPeriod, type Moment, type Period, parsePeriod } from './periods.ts'

/** Filters of analytics and events, with the names of the API. */
export const filterNames = [
  ...(['linkId', 'folderId', 'tagId', 'domain', 'url', 'referer', 'refererUrl'] as const),
  ...(['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content'] as const),
  ...(['continent', 'country', 'region', 'city', 'device', 'browser', 'os', 'trigger'] as const),
  ...(['partnerId', 'groupId', 'partnerTagId'] as const),
] as const
export type FilterName = (typeof filterNames)[number]

/** What the address of a page about events says of them. Each filter has values as the API takes them; defaults are absent. */
export type EventSearch = Partial<Record<FilterName, string>> & {
  customerId?: string
  saleType?: 'new' | 'recurring'
  period?: Period
}
export type ChangeEventSearch = (change: Partial<EventSearch>) => void

const longest = 4_000

/** Reads the address; what it doesn't know is dropped. */
export function parseEventSearch(given: Record<string, unknown>): EventSearch {
  const { saleType } = given
  const filters = [...filterNames, 'customerId' as const].map((name) => [name, readText(given[name])])
  return dropUnset({
    ...(Object.fromEntries(filters) as EventSearch),
    saleType: saleType === 'new' || saleType === 'recurring' ? saleType : undefined,
    period: parsePeriod(given.period),
  })
}

/** The filters of the address as the API takes them, without the period. */
export function eventFilters(search: EventSearch): Omit<EventSearch, 'period'> {
  const names = [...filterNames, 'customerId', 'saleType'] as const
  return dropUnset(Object.fromEntries(names.map((name) => [name, search[name]])))
}

/** The change that removes all filters and keeps the period. */
export function unsetFilters(search: EventSearch): Partial<Record<FilterName | 'customerId' | 'saleType', undefined>> {
  return Object.fromEntries(Object.keys(eventFilters(search)).map((name) => [name, undefined]))
}

export function isFiltered(search: EventSearch): boolean {
  return Object.keys(eventFilters(search)).length > 0
}

/** Filters, period and time zone as the API takes them. */
export function eventsQuery(
  search: EventSearch,
  moment: Moment,
): Omit<EventSearch, 'period'> & AskedPeriod & { timezone: string } {
  return { ...eventFilters(search), ...askPeriod(search.period ?? defaultPeriod, moment), timezone: moment.timeZone }
}

export function readText(value: unknown): string | undefined {
  // The router reads numbers out of the address.
  return typeof value === 'string' || typeof value === 'number'
    ? String(value).slice(0, longest) || undefined
    : undefined
}

export function dropUnset<T extends object>(given: T): T {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as T
}
