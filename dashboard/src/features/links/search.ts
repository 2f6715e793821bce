import type { OperationInput } from '@tributary/contract/client'
import { type Days, daysRange, parseDays } from '../../ui/days.ts'

const sorts = ['createdAt', 'clicks', 'saleAmount', 'lastClicked'] as const
const states = ['active', 'archived', 'expired', 'disabled', 'password', 'test'] as const
export const periods = ['24h', '7d', '30d', '90d', '1y', 'all'] as const
export type LinkSort = (typeof sorts)[number]
export type LinkState = (typeof states)[number]
export type Period = (typeof periods)[number]

/** What the address of the page says: filters, order, period, columns and the saved view. Defaults are absent. */
export type LinksSearch = {
  search?: string
  tags?: string
  folder?: string
  domain?: string
  creator?: string
  partner?: string
  state?: LinkState
  created?: Days
  archived?: true
  sort?: LinkSort
  order?: 'asc'
  period?: Period
  columns?: string
  view?: string
}

/** Reads the address; what it doesn't know is dropped. */
export function parseLinksSearch(given: Record<string, unknown>): LinksSearch {
  const text = (name: string) => {
    const value = given[name]
    return typeof value === 'string' || typeof value === 'number' ? String(value).slice(0, 500) || undefined : undefined
  }
  return dropUnset({
    search: text('search'),
    tags: text('tags'),
    folder: text('folder'),
    domain: text('domain'),
    creator: text('creator'),
    partner: text('partner'),
    state: states.find((name) => name === given.state),
    created: parseDays(text('created')),
    archived: given.archived === true || given.archived === 'true' ? true : undefined,
    sort: sorts.find((name) => name === given.sort && name !== 'createdAt'),
    order: given.order === 'asc' ? 'asc' : undefined,
    period: periods.find((name) => name === given.period && name !== '30d'),
    columns: text('columns'),
    view: text('view'),
  })
}

/** The address without the id of a view, as a saved view has it. */
export function viewQuery({ view: _, ...rest }: LinksSearch): Record<string, string> {
  return Object.fromEntries(Object.entries(dropUnset(rest)).map(([name, value]) => [name, String(value)]))
}

/** The filters as `GET /links` and `GET /links/count` take them; days are those of the time zone. */
export function linkFilters(search: LinksSearch, timeZone: string) {
  return dropUnset({
    search: search.search,
    tagIds: search.tags,
    folderId: search.folder,
    domain: search.domain,
    userId: search.creator,
    partnerId: search.partner,
    state: search.state,
    ...daysRange(search.created, timeZone),
    showArchived: search.archived && ('true' as const),
  })
}

export function isFiltered({ archived, sort, order, period, columns, view, ...filters }: LinksSearch): boolean {
  return Object.values(filters).some((value) => value !== undefined)
}

type LinksQuery = NonNullable<OperationInput<'getLinks'>['query']>

export const linksPerPage = 100

export function linksQuery(search: LinksSearch, timeZone: string): LinksQuery & { pageSize: number } {
  return {
    ...linkFilters(search, timeZone),
    sortBy: search.sort ?? 'createdAt',
    sortOrder: search.order ?? 'desc',
    pageSize: linksPerPage,
  }
}

/** The same column sorts the other way; another one begins with its highest values. */
export function nextSort(
  { sort = 'createdAt', order }: LinksSearch,
  by: LinkSort,
): Pick<LinksSearch, 'sort' | 'order'> {
  if (by !== sort) return { sort: by, order: undefined }
  return { sort, order: order ? undefined : 'asc' }
}

function dropUnset<T extends object>(given: T): T {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as T
}
