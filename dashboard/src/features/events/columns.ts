import type { FilterName } from '../analytics/event-search.ts'
import type { FeedEvent } from './feed.ts'
import type { EventKind } from './search.ts'

/** The columns that can be chosen, in their order; the time is always shown. */
export const allColumns = [
  ...(['name', 'customer', 'amount', 'invoice', 'processor', 'link', 'destination'] as const),
  ...(['country', 'region', 'city', 'continent', 'device', 'browser', 'os'] as const),
  ...(['source', 'page', 'trigger', 'ip'] as const),
  ...(['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content'] as const),
] as const
export type ColumnName = (typeof allColumns)[number]

const defaultColumns: Record<EventKind, readonly ColumnName[]> = {
  clicks: ['link', 'country', 'city', 'device', 'browser', 'source', 'trigger'],
  leads: ['name', 'customer', 'link', 'country', 'device', 'source'],
  sales: ['name', 'customer', 'amount', 'link', 'country', 'source'],
}
const ofConversions: readonly ColumnName[] = ['name', 'customer']
const ofSales: readonly ColumnName[] = ['amount', 'invoice', 'processor']

/** The columns that events of a kind have. */
export function columnsFor(kind: EventKind): ColumnName[] {
  return allColumns.filter((name) => {
    if (ofConversions.includes(name)) return kind !== 'clicks'
    return !ofSales.includes(name) || kind === 'sales'
  })
}

/** The columns of a kind: those that the person chose for it, as `leads:link`, else the default. */
export function chooseColumns(kind: EventKind, preferred: readonly string[] | null | undefined) {
  const own = preferred?.filter((name) => name.startsWith(`${kind}:`)) ?? []
  if (own.length === 0) return { names: [...defaultColumns[kind]], isDefault: true }
  return { names: columnsFor(kind).filter((name) => own.includes(`${kind}:${name}`)), isDefault: false }
}

/** The preference after the columns of a kind have changed; without columns, those of the kind are the default again. */
export function preferColumns(
  kind: EventKind,
  names: readonly ColumnName[] | undefined,
  preferred: readonly string[] | null | undefined,
): string[] | null {
  const others = preferred?.filter((name) => !name.startsWith(`${kind}:`)) ?? []
  // A kind without any column is not one without a choice.
  const own = names?.length === 0 ? ['none'] : (names ?? [])
  const all = [...others, ...own.map((name) => `${kind}:${name}`)]
  return all.length === 0 ? null : all
}

export function toggleColumn(names: readonly ColumnName[], name: ColumnName): ColumnName[] {
  return allColumns.filter((one) => (one === name ? !names.includes(one) : names.includes(one)))
}

/** The filter of a column's values. */
export const columnFilters: Partial<Record<ColumnName, FilterName>> = {
  link: 'linkId',
  destination: 'url',
  country: 'country',
  region: 'region',
  city: 'city',
  continent: 'continent',
  device: 'device',
  browser: 'browser',
  os: 'os',
  source: 'referer',
  page: 'refererUrl',
  trigger: 'trigger',
  utm_source: 'utm_source',
  utm_medium: 'utm_medium',
  utm_campaign: 'utm_campaign',
  utm_term: 'utm_term',
  utm_content: 'utm_content',
}

/** Links that no page shows: the event has none, or the link is lost. */
const withoutPage = ['link_none', 'link_deleted']

export function hasLink({ link }: FeedEvent): boolean {
  return !withoutPage.includes(link.id)
}

/** A refund is a sale with a negative amount. */
export function isRefund(event: FeedEvent): boolean {
  return event.event === 'sale' && event.sale.amount < 0
}

/** The value of a column as its filter takes it; empty where there is none. */
export function filterValue(name: ColumnName, event: FeedEvent): string {
  const { click, link } = event
  switch (name) {
    case 'link':
      return hasLink(event) ? link.id : ''
    case 'destination':
      return click.url
    case 'source':
      return click.referer
    case 'page':
      return click.refererUrl
    case 'utm_source':
    case 'utm_medium':
    case 'utm_campaign':
    case 'utm_term':
    case 'utm_content':
      return readUtm(click.url, name)
    case 'country':
    case 'region':
    case 'city':
    case 'continent':
    case 'device':
    case 'browser':
    case 'os':
    case 'trigger':
    case 'ip':
      return click[name] ?? ''
    default:
      return ''
  }
}

const longestUtm = 255

/** The server reads UTM values from the destination, too. */
export function readUtm(url: string, name: string): string {
  const [address = ''] = url.split('#', 1)
  const start = address.indexOf('?')
  if (start === -1) return ''
  const value = new URLSearchParams(address.slice(start + 1)).get(name) ?? ''
  return value.length > longestUtm ? Array.from(value).slice(0, longestUtm).join('') : value
}
