import { type EventsQuery, type ExportQuery, exportColumns, type TrackedEvent } from '@tributary/contract/events'
import type { Link } from '@tributary/contract/links'
import { estimateBytes } from '../../platform/byte-cache.ts'
import type { QueryLimits } from '../../platform/clickhouse.ts'
import type { Ctx } from '../../platform/context.ts'
import { invalid } from '../../platform/errors.ts'
import { customersById, presentCustomer } from '../customers/service.ts'
import { linksByNumber } from '../links/service.ts'
import { readCursor, writeCursor } from './feed/cursor.ts'
import { goneLinkId } from './feed/gone-link.ts'
import { cutPart, partWith } from './feed/part.ts'
import { type Cell, csvLine, jsonLine } from './feed/table.ts'
import { withinLimits } from './limits.ts'
import { findLostLinks } from './lost-links.ts'
import { narrowed } from './narrow.ts'
import type { Period } from './period.ts'
import { presentClick, presentIp, presentLead, presentSale, shownClickId } from './present.ts'
import {
  type ClickRow,
  countRows,
  type LeadRow,
  type Place,
  type SaleRow,
  selectPage,
  selectPageLines,
} from './store.ts'
import { type Where, whereOf } from './where.ts'

export type EventRow = ClickRow | LeadRow | SaleRow
/** `next` goes on after the last event; oldest first also when there are no more for now. */
export type ListedEvents = { events: TrackedEvent[]; next?: string; isFull: boolean }

const farDown = 1_000
const firstLinksAtOnce = 20
const linksAtOnce = 200
const partMaxBytes = 262_144
const pageBytes = 16 * 2 ** 20

export async function listEvents(ctx: Ctx, query: EventsQuery): Promise<ListedEvents> {
  const { event: kind, limit } = query
  const ascending = (query.sortOrder ?? query.order) === 'asc'
  const after = query.cursor === undefined ? undefined : placeOf(ctx, { ...query, cursor: query.cursor }, ascending)
  const { period, filter } = await narrowed(ctx, query, after?.from)
  const offset = (query.page - 1) * limit
  const attributed = query.attributed === 'true' ? undefined : query.attributed
  const page = { ascending, limit, offset, attributed, ...(after && { after: { at: after.at, id: after.id } }) }
  const whereIn = (part: Period) => whereOf(ctx.workspaceId, part, filter, kind)
  const rows = await withinLimits(
    ctx,
    async (limits) => {
      const count = (part: Period) => countRows(ctx.clickhouse, kind, whereIn(part), { ...limits, attributed })
      const part = offset < farDown ? period : await partWith(offset + limit, period, ascending, count)
      return selectPage(ctx.clickhouse, kind, whereIn(part), page, limits)
    },
    query,
  )
  const isFull = rows.length === limit
  const from = period.from.getTime()
  const last = lastPlace(rows) ?? after ?? { at: from, id: '' }
  const events = await presentRows(ctx, rows, pageBytes)
  if (!isFull && !ascending) return { events, isFull }
  return { events, isFull, next: writeCursor(ctx, 'list', { kind, ascending, from, ...pick(last) }) }
}

function placeOf(ctx: Ctx, query: EventsQuery & { cursor: string }, ascending: boolean) {
  if (query.page !== 1) throw invalid("`page` in the query can't be used together with `cursor`.")
  const place = readCursor(ctx, 'list', query.cursor, '`cursor` in the query')
  if (place.kind === query.event && place.ascending === ascending) return place
  const belongs = `\`event=${place.kind}\` and \`sortOrder=${place.ascending ? 'asc' : 'desc'}\``
  throw invalid(`\`cursor\` in the query belongs to ${belongs}. Ask with these, or without the cursor.`)
}

const pick = ({ at, id }: Place): Place => ({ at, id })

function lastPlace(rows: EventRow[]): Place | undefined {
  const row = rows.at(-1)
  return row && { at: Date.parse(row.timestamp), id: 'id_text' in row ? row.id_text : row.id }
}

/** One for each row, whatever became of its link and customer. Refused when the links have more than `maxBytes`. */
export async function presentRows(ctx: Ctx, rows: EventRow[], maxBytes = Infinity): Promise<TrackedEvent[]> {
  const ids = rows.flatMap((row) => ('customer_id' in row ? row.customer_id : []))
  const [links, customers] = await Promise.all([linksOf(ctx, rows, maxBytes), customersById(ctx, ids)])
  const lostLink = await findLostLinks(ctx, rows, links)
  return rows.map((row) => {
    const link = links.get(row.link_number) ?? lostLink(row)
    if (!('customer_id' in row)) return presentClick(row, link)
    const customer = presentCustomer(customers.get(row.customer_id), row.customer_id)
    return 'amount' in row ? presentSale(row, link, customer) : presentLead(row, link, customer)
  })
}

/** Each link once, however many rows name it. */
async function linksOf(ctx: Ctx, rows: { link_number: string }[], maxBytes = Infinity): Promise<Map<string, Link>> {
  const numbers = [...new Set(rows.map((row) => row.link_number))]
  const links = new Map<string, Link>()
  let bytes = 0
  // Few at first: while links of 60 kB are read, other requests should not wait for long.
  let count = firstLinksAtOnce
  for (let start = 0; start < numbers.length; ) {
    const part = await linksByNumber(ctx, numbers.slice(start, start + count).map(BigInt))
    let partBytes = 0
    for (const [number, link] of part) {
      links.set(String(number), link)
      partBytes += estimateBytes(link)
    }
    bytes += partBytes
    start += count
    count = partBytes > partMaxBytes ? count : linksAtOnce
    if (bytes <= maxBytes) continue
    throw invalid(
      `The ${numbers.length} links of this page have more than ${maxBytes / 2 ** 20} MB. Ask for fewer events: lower \`limit\` in the query.`,
    )
  }
  return links
}

const rowsAtOnce = 2_000
const linesAtOnce = 200
const mostRemembered = 20_000
const shortestPartMs = 60_000

/** Line by line, in pieces that each take one statement: neither ClickHouse nor we ever hold more than a piece. */
export async function exportEvents(ctx: Ctx, query: ExportQuery): Promise<AsyncIterable<string>> {
  return exported(ctx, query, await narrowed(ctx, query))
}

async function* exported(
  ctx: Ctx,
  query: ExportQuery,
  { period, filter }: Awaited<ReturnType<typeof narrowed>>,
): AsyncGenerator<string> {
  const columns = exportColumns[query.event] as Column[]
  const ascending = query.sortOrder === 'asc'
  const known: Known = { links: new Map(), customers: new Map() }
  const lineOf = query.format === 'csv' ? csvLine : (cells: Cell[]) => jsonLine(columns, cells)
  if (query.format === 'csv') yield csvLine(columns)
  // A statement about a short time is quicker, so it is asked for as much time as has about one piece.
  let lengthMs = 3_600_000
  for (let rest: Period | undefined = period; rest; ) {
    const cut = cutPart(rest, ascending, lengthMs)
    const where = whereOf(ctx.workspaceId, cut.part, filter, query.event)
    let found = 0
    for await (const rows of piecesOf(ctx, query, where)) {
      found += rows.length
      await learn(ctx, rows, known)
      let text = ''
      for (const row of rows) text += lineOf(columns.map((column) => cellOf(column, row, known)))
      yield text
    }
    const change = Math.min(8, Math.max(1 / 8, (0.8 * rowsAtOnce) / Math.max(found, 1)))
    lengthMs = Math.max(shortestPartMs, lengthMs * change)
    rest = cut.rest
  }
}

async function* piecesOf(ctx: Ctx, query: ExportQuery, where: Where): AsyncGenerator<EventRow[]> {
  const ascending = query.sortOrder === 'asc'
  const attributed = query.attributed === 'true' ? undefined : query.attributed
  for (let after: Place | undefined; ; ) {
    const page = { ascending, limit: rowsAtOnce, attributed, ...(after && { after }) }
    const ask = (limits: QueryLimits) => selectPageLines(ctx.clickhouse, query.event, where, page, limits)
    const lines = await withinLimits(ctx, ask, query)
    for (let start = 0; start < lines.length; start += linesAtOnce) {
      const rows = lines.slice(start, start + linesAtOnce).map((line) => JSON.parse(line) as EventRow)
      after = lastPlace(rows)
      yield rows
    }
    if (lines.length < rowsAtOnce) return
  }
}

type LinkCells = { linkId: string; domain: string; key: string; shortLink: string; externalId: string | null }
type CustomerCells = { customerExternalId: string; customerName: string | null; customerEmail: string | null }
type Known = { links: Map<string, LinkCells>; customers: Map<string, CustomerCells> }

const nothing: LinkCells = { linkId: goneLinkId, domain: '', key: '', shortLink: '', externalId: null }

async function learn(ctx: Ctx, rows: EventRow[], { links, customers }: Known): Promise<void> {
  if (links.size > mostRemembered) links.clear()
  if (customers.size > mostRemembered) customers.clear()
  const unknown = rows.filter(({ link_number }) => !links.has(link_number))
  const there = await linksOf(ctx, unknown)
  const lostLink = await findLostLinks(ctx, unknown, there)
  for (const row of unknown) {
    const { id: linkId, domain, key, shortLink, externalId } = there.get(row.link_number) ?? lostLink(row)
    links.set(row.link_number, { linkId, domain, key, shortLink: domain && shortLink, externalId })
  }
  const ids = rows.flatMap((row) => ('customer_id' in row && !customers.has(row.customer_id) ? row.customer_id : []))
  const found = await customersById(ctx, ids)
  for (const id of ids) {
    const { externalId, name, email } = presentCustomer(found.get(id), id)
    customers.set(id, { customerExternalId: externalId, customerName: name, customerEmail: email })
  }
}

type Column = keyof LinkCells | keyof CustomerCells | keyof typeof ofClick | keyof typeof ofConversion
const ofClick = {
  event: (row: EventRow) => ('customer_id' in row ? ('amount' in row ? 'sale' : 'lead') : 'click'),
  clickId: (row: EventRow) => ('customer_id' in row ? shownClickId(row) : row.id_text),
  refererUrl: (row: EventRow) => row.referer_url,
  qr: (row: EventRow) => row.trigger === 'qr',
  ip: (row: EventRow) => presentIp(row.ip),
}
const ofConversion = {
  clickTimestamp: (row: LeadRow) => row.click_timestamp,
  eventId: (row: LeadRow) => row.id,
  eventName: (row: LeadRow) => row.event_name,
  customerId: (row: LeadRow) => row.customer_id,
  metadata: (row: LeadRow) => (row.metadata === '' ? null : (JSON.parse(row.metadata) as object)),
  notAttributed: (row: LeadRow) => row.attribution ?? '',
  amount: (row: LeadRow) => Number((row as SaleRow).amount),
  invoiceId: (row: LeadRow) => (row as SaleRow).invoice_id,
  paymentProcessor: (row: LeadRow) => (row as SaleRow).payment_processor,
}

function cellOf(column: Column, row: EventRow, { links, customers }: Known): Cell {
  if (column in nothing) return (links.get(row.link_number) ?? nothing)[column as keyof LinkCells]
  if (column in ofClick) return ofClick[column as keyof typeof ofClick](row)
  if ('customer_id' in row) {
    if (column in ofConversion) return ofConversion[column as keyof typeof ofConversion](row)
    if (column.startsWith('customer')) return customers.get(row.customer_id)?.[column as keyof CustomerCells]
  }
  return row[column as keyof EventRow]
}
