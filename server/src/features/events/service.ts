import type {
  EventFilters,
  EventsQuery,
  ExportQuery,
  LeadEvent,
  SaleEvent,
  StreamQuery,
  TrackedEvent,
} from '@tributary/contract/events'
import type { Link } from '@tributary/contract/links'
import type { QueryLimits } from '../../platform/clickhouse.ts'
import type { Ctx } from '../../platform/context.ts'
import type { Customer } from '../customers/service.ts'
import { presentCustomer } from '../customers/service.ts'
import { openListCursor } from './cursor.ts'
import { exportAll } from './export.ts'
import { type EventFilter as Filter, parseList, type Values } from './filter.ts'
import { lastPosition, loadLinks, presentRows, withoutHidden } from './join.ts'
import { type LimitSettings, runLimited } from './limits.ts'
import { parseMetadataQuery, type MetadataQuery as Query } from './metadata-query.ts'
import { partWith } from './part.ts'
import { type Period, type PeriodInput, readPeriod } from './period.ts'
import { presentLead, presentSale, presentVisit, type Visit } from './present.ts'
import { type Resolved, resolve } from './resolve.ts'
import { type LeadRow, openPages, type SaleRow } from './store.ts'
import { followEvents } from './stream.ts'
import * as filters from './where.ts'

export type EventFilter = Filter
export type FilterValues = Values
export type MetadataQuery = Query
export type LeadRecord = LeadRow
export type SaleRecord = SaleRow
/** A page of events. `next` is the next page's cursor; in ascending order the last page has one too, for new events. */
export type ListedEvents = { events: TrackedEvent[]; next?: string; isFull: boolean }

// From this offset on, first count events to find the part of the period with the page: cheaper than skipping rows.
const farOffset = 1_000
const pageBytes = 16 * 2 ** 20

export async function listEvents(ctx: Ctx, query: EventsQuery): Promise<ListedEvents> {
  const { event: kind, limit } = query
  const ascending = (query.sortOrder ?? query.order) === 'asc'
  const { after, next } = openListCursor(ctx, query, ascending)
  const { period, filter } = await resolve(ctx, query, after?.from)
  const offset = (query.page - 1) * limit
  const attributed = query.attributed === 'true' ? undefined : query.attributed
  const page = { ascending, limit, offset, attributed, ...(after && { after: { at: after.at, id: after.id } }) }
  const whereIn = (part: Period) => filters.buildWhere(ctx.workspaceId, part, filter, kind)
  const select = async (limits: QueryLimits) => {
    const pages = openPages(ctx.clickhouse, kind, whereIn, page, limits)
    return pages.select(offset < farOffset ? period : await partWith(offset + limit, period, ascending, pages.count))
  }
  const rows = await runLimited(ctx, select, query)
  const events = await presentRows(ctx, await withoutHidden(ctx, rows), pageBytes)
  const isFull = rows.length === limit
  if (!isFull && !ascending) return { events, isFull }
  const from = period.from.getTime()
  const { at, id } = lastPosition(rows) ?? after ?? { at: from, id: '' }
  return { events, isFull, next: next({ from, at, id }) }
}

/** Exports events as lines of CSV or NDJSON. */
export function exportEvents(ctx: Ctx, query: ExportQuery): Promise<AsyncIterable<string>> {
  return exportAll(ctx, query)
}

/** Streams new events in insert order, from now or after `lastEventId`, until `signal` aborts. */
export function streamEvents(
  ctx: Ctx,
  query: StreamQuery,
  lastEventId: string,
  signal: AbortSignal,
): Promise<AsyncIterable<string>> {
  return followEvents(ctx, query, lastEventId, signal)
}

/** Resolves a query's period, filters and links. */
export function resolveQuery(ctx: Ctx, query: EventFilters): Promise<Resolved> {
  return resolve(ctx, query)
}

/** The values of a filter parameter that takes several, or excludes them. Undefined when it is empty. */
export function parseFilterValues(parameter: string, text: string | undefined): FilterValues | undefined {
  return parseList(parameter, text)
}

export function parseMetadata(text: string): MetadataQuery {
  return parseMetadataQuery(text)
}

/** The period of a query without a limit on its history. */
export function parsePeriod({ plan, now }: Pick<Ctx, 'plan' | 'now'>, query: PeriodInput): Period {
  return readPeriod(query, now(), { plan })
}

export function buildWhere(workspaceId: string, period: Period, filter: EventFilter, kind: filters.EventKind) {
  return filters.buildWhere(workspaceId, period, filter, kind)
}

/** The SQL conditions of a filter, without workspace and period; adds their bound parameters to `values`. */
export function filterConditions(
  filter: EventFilter,
  kind: filters.EventKind,
  values: Record<string, unknown>,
): string[] {
  return filters.buildConditions(filter, kind, values)
}

/** Runs a count query within the operator's limits on time, memory and rows. */
export function countWithinLimits<T>(
  ctx: { config: LimitSettings },
  query: { start?: string },
  count: (limits: QueryLimits) => Promise<T>,
): Promise<T> {
  return runLimited(ctx, count, query, 'count')
}

/** Loads the links of stored clicks, leads or sales. */
export function loadEventLinks(ctx: Ctx, rows: { link_number: string; url: string }[]) {
  return loadLinks(ctx, rows)
}

export function presentClickData(row: Visit, clickId: string, timestamp: string) {
  return presentVisit(row, clickId, timestamp)
}

export function presentConversion(row: LeadRow | SaleRow, link: Link, customer?: Customer): LeadEvent | SaleEvent {
  const person = presentCustomer(customer, row.customer_id)
  return 'amount' in row ? presentSale(row, link, person) : presentLead(row, link, person)
}
