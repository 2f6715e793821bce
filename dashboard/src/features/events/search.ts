import type { OperationInput } from '@tributary/contract/client'
import { dropUnset, type EventSearch, eventFilters, eventsQuery, parseEventSearch } from '../analytics/event-search.ts'
import { defaultPeriod, type Moment, reachesNow } from '../analytics/periods.ts'

export const eventKinds = ['clicks', 'leads', 'sales'] as const
export type EventKind = (typeof eventKinds)[number]

/** What the address of the page says: which events, and the filters and period of all pages about events. */
export type EventsSearch = EventSearch & {
  event?: Exclude<EventKind, 'clicks'>
  /** Clicks of bots too, or only those; for clicks. */
  bots?: 'include' | 'only'
  /** Those without a link, or both; for leads and sales. */
  attributed?: 'false' | 'all'
}
export type ChangeEvents = (change: Partial<EventsSearch>) => void

/** Reads the address; what it doesn't know is dropped. */
export function parseEventsSearch(given: Record<string, unknown>): EventsSearch {
  // The router reads `false` out of the address as a boolean.
  const attributed = String(given.attributed)
  return dropUnset({
    ...parseEventSearch(given),
    event: (['leads', 'sales'] as const).find((kind) => kind === given.event),
    bots: (['include', 'only'] as const).find((which) => which === given.bots),
    attributed: (['false', 'all'] as const).find((which) => which === attributed),
  })
}

type ListQuery = NonNullable<OperationInput<'listEvents'>['query']>

/** The events of the page, as `GET /events` and the export take them. Filters of other kinds stay in the address unused. */
export function listQuery(search: EventsSearch, moment: Moment): ListQuery {
  const { event = 'clicks', bots, attributed } = search
  const { saleType, ...query } = eventsQuery(search, moment)
  return dropUnset({
    ...query,
    event,
    bots: event === 'clicks' ? bots : undefined,
    attributed: event === 'clicks' ? undefined : attributed,
    saleType: event === 'sales' ? saleType : undefined,
  })
}

/** The same events as the stream takes them, which knows no period. */
export function streamQuery({ interval, start, end, timezone, attributed, ...query }: ListQuery) {
  return query as NonNullable<OperationInput<'streamEvents'>['query']>
}

/** How new events come: by the stream, by reading again (the stream has none without a link), or not at all. */
export function liveMode(search: EventsSearch, moment: Moment): 'stream' | 'poll' | 'none' {
  if (!reachesNow(search.period ?? defaultPeriod, moment)) return 'none'
  return search.event && search.attributed ? 'poll' : 'stream'
}

/** Whether the page shows less than all events of its kind. */
export function isFilteredList(search: EventsSearch): boolean {
  const { saleType, ...filters } = eventFilters(search)
  const ofKind = search.event === 'sales' ? saleType : undefined
  return Object.keys(filters).length > 0 || ofKind !== undefined || search.attributed === 'false'
}

/** The filters of visitors now, which are those of links. */
export function visitorsQuery({ domain, linkId, folderId, tagId }: EventsSearch) {
  return dropUnset({ domain, linkId, folderId, tagId })
}
