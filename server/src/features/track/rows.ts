import type { Platform } from '../../platform/context.ts'
import {
  clicksById,
  type NewConversions,
  type NewLeadRow,
  type NewSaleRow,
  type StoredClick,
  searchableMetadata,
} from '../events/service.ts'
import type { ConversionRow, PendingRow, StoredConversion } from './store.ts'

export type Counts = { linkNumber: bigint; leads: number; conversions: number; sales: number; saleAmount: bigint }

/** The rows of ClickHouse that these conversions come to; a lead of several is as many rows. */
export function rowsOf(conversions: ConversionRow[], clicks: Map<string, StoredClick>): NewConversions {
  const leads: NewLeadRow[] = []
  const sales: NewSaleRow[] = []
  for (const conversion of conversions) {
    const shared = sharedOf(conversion, clicks.get(conversion.click_id ?? ''))
    if (conversion.kind === 'lead') {
      for (let count = 1; count <= conversion.quantity; count++) {
        leads.push({ ...shared, id: count === 1 ? conversion.id : `${conversion.id}_${count}` })
      }
    } else {
      sales.push({
        ...shared,
        id: conversion.id,
        kind: conversion.kind,
        sales: salesOf(conversion),
        amount: String(conversion.amount),
        currency: conversion.currency ?? '',
        invoice_id: conversion.invoice_id ?? '',
        payment_processor: conversion.payment_processor ?? 'custom',
        sale_type: conversion.is_first ? 'new' : 'recurring',
      })
    }
  }
  return { leads, sales }
}

/** What these conversions add to the counters of their links, in the order of link numbers. */
export function countsOf(conversions: StoredConversion[]): Counts[] {
  const counts = new Map<bigint, Counts>()
  for (const conversion of conversions) {
    const linkNumber = conversion.link_number
    if (linkNumber === null) continue
    const sum = counts.get(linkNumber) ?? { linkNumber, leads: 0, conversions: 0, sales: 0, saleAmount: 0n }
    sum.leads += conversion.kind === 'lead' ? conversion.quantity : 0
    sum.conversions += conversion.kind === 'sale' && conversion.is_first ? 1 : 0
    sum.sales += salesOf(conversion)
    sum.saleAmount += conversion.amount
    counts.set(linkNumber, sum)
  }
  return [...counts.values()].sort((a, b) => (a.linkNumber < b.linkNumber ? -1 : 1))
}

function salesOf({ kind, is_full }: Pick<ConversionRow, 'kind' | 'is_full'>): number {
  if (kind === 'sale') return 1
  return kind === 'refund' && is_full ? -1 : 0
}

function sharedOf(conversion: ConversionRow, click: StoredClick | undefined): Omit<NewLeadRow, 'id'> {
  return {
    workspace_id: conversion.workspace_id,
    timestamp: conversion.created_at.getTime(),
    event_name: conversion.event_name,
    customer_id: conversion.customer_id,
    metadata: searchableMetadata(conversion.metadata ?? ''),
    click_id_text: conversion.click_id ?? '',
    click_timestamp: click ? Number(click.at) : conversion.created_at.getTime(),
    link_number: String(conversion.link_number ?? 0),
    url: click?.url ?? '',
    trigger: click?.trigger ?? 'link',
    ip: click?.ip ?? '::',
    country: click?.country ?? unknown,
    region: click?.region ?? unknown,
    city: click?.city ?? unknown,
    continent: click?.continent ?? unknown,
    device: click?.device ?? unknown,
    browser: click?.browser ?? unknown,
    os: click?.os ?? unknown,
    referer: click?.referer ?? direct,
    referer_url: click?.referer_url ?? direct,
    utm_source: click?.utm_source ?? '',
    utm_medium: click?.utm_medium ?? '',
    utm_campaign: click?.utm_campaign ?? '',
    utm_term: click?.utm_term ?? '',
    utm_content: click?.utm_content ?? '',
    bot: '',
  }
}

const unknown = 'Unknown'
const direct = '(direct)'

/** The conversions that one insert takes, with their clicks, and those that wait for their click. */
export type Filled = {
  rows: PendingRow[]
  clicks: Map<string, StoredClick>
  waiting: PendingRow[]
  /** Not looked at any more, because the insert was full. */
  rest: PendingRow[]
}

// So many clicks are in memory at once before it is known whether they fit.
const clicksAtOnce = 50

/** Takes conversions in order until their rows reach `mostBytes`; one alone is taken whatever its size. */
export async function fill(
  platform: Pick<Platform, 'clickhouse'>,
  pending: PendingRow[],
  mostBytes: number,
  isReady: (row: PendingRow, click: StoredClick | undefined) => boolean,
): Promise<Filled> {
  const filled: Filled = { rows: [], clicks: new Map(), waiting: [], rest: [] }
  let bytes = 0
  for (let start = 0; start < pending.length; start += clicksAtOnce) {
    const part = pending.slice(start, start + clicksAtOnce)
    const clicks = await readClicks(platform, part)
    for (const [position, row] of part.entries()) {
      const click = clicks.get(row.click_id ?? '')
      if (!isReady(row, click)) {
        filled.waiting.push(row)
        continue
      }
      bytes += Number(row.bytes) + row.quantity * clickBytes(click)
      if (bytes > mostBytes && filled.rows.length > 0) {
        filled.rest = pending.slice(start + position)
        return filled
      }
      filled.rows.push(row)
      if (click) filled.clicks.set(click.id_text, click)
    }
  }
  return filled
}

/** As far as they have arrived. */
async function readClicks(
  platform: Pick<Platform, 'clickhouse'>,
  rows: PendingRow[],
): Promise<Map<string, StoredClick>> {
  const named = new Map(
    rows.flatMap(({ workspace_id, click_id }) => (click_id === null ? [] : [[click_id, { workspace_id, click_id }]])),
  )
  const clicks = await clicksById(platform, [...named.values()])
  return new Map(clicks.map((click) => [click.id_text, click]))
}

/** Most of what a row has of its click; a text in UTF-8 has at most three bytes for each of its units. */
function clickBytes(click: StoredClick | undefined): number {
  if (!click) return 0
  return Object.values(click).reduce((bytes, text) => bytes + Buffer.byteLength(text), 0)
}
