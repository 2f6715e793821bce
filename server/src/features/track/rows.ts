import {
  type NewConversions,
  type NewLead,
  type NewSale,
  type StoredClick,
  searchableMetadata,
} from '../event-storage/service.ts'
import type { ConversionRow, PendingRow, StoredConversion } from './store.ts'

export type Counts = { linkNumber: bigint; leads: number; conversions: number; sales: number; saleAmount: bigint }

/** Builds the ClickHouse rows of leads, sales and refunds. A lead with quantity n has n rows. */
export function buildRows(conversions: ConversionRow[], clicks: Map<string, StoredClick>): NewConversions {
  const leads: NewLead[] = []
  const sales: NewSale[] = []
  for (const conversion of conversions) {
    const shared = sharedColumns(conversion, clicks.get(conversion.click_id ?? ''))
    if (conversion.kind === 'lead') {
      for (let count = 1; count <= conversion.quantity; count++) {
        leads.push({ ...shared, id: count === 1 ? conversion.id : `${conversion.id}_${count}` })
      }
    } else {
      sales.push({
        ...shared,
        id: conversion.id,
        kind: conversion.kind,
        sales: countSales(conversion),
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

/** Sums what leads, sales and refunds add to their links' counters, sorted by link number. */
export function sumCounts(conversions: StoredConversion[]): Counts[] {
  const counts = new Map<bigint, Counts>()
  for (const conversion of conversions) {
    const linkNumber = conversion.link_number
    if (linkNumber === null) continue
    const sum = counts.get(linkNumber) ?? { linkNumber, leads: 0, conversions: 0, sales: 0, saleAmount: 0n }
    sum.leads += conversion.kind === 'lead' ? conversion.quantity : 0
    sum.conversions += conversion.kind === 'sale' && conversion.is_first ? 1 : 0
    sum.sales += countSales(conversion)
    sum.saleAmount += conversion.amount
    counts.set(linkNumber, sum)
  }
  return [...counts.values()].sort((a, b) => (a.linkNumber < b.linkNumber ? -1 : 1))
}

function countSales({ kind, is_full }: Pick<ConversionRow, 'kind' | 'is_full'>): number {
  if (kind === 'sale') return 1
  return kind === 'refund' && is_full ? -1 : 0
}

function sharedColumns(conversion: ConversionRow, click: StoredClick | undefined): Omit<NewLead, 'id'> {
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

/** The pending rows that fit into one ClickHouse insert, and the rest. */
export type Portion = { rows: PendingRow[]; rest: PendingRow[] }

// ClickHouse refuses an insert into more than 100 partitions, which are months.
const mostMonths = 50

/** Takes pending rows in order up to `mostBytes` and `mostMonths`. The first row is taken whatever its size. */
export function takePortion(pending: PendingRow[], mostBytes: number): Portion {
  let bytes = 0
  const months = new Set<number>()
  for (const [position, row] of pending.entries()) {
    bytes += Number(row.bytes)
    months.add(row.created_at.getUTCFullYear() * 12 + row.created_at.getUTCMonth())
    const isFull = bytes > mostBytes || months.size > mostMonths
    if (isFull && position > 0) return { rows: pending.slice(0, position), rest: pending.slice(position) }
  }
  return { rows: pending, rest: [] }
}
