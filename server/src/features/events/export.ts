import { type ExportQuery, exportColumns } from '@tributary/contract/events'
import type { QueryLimits } from '../../platform/clickhouse.ts'
import type { Ctx } from '../../platform/context.ts'
import { customersById, presentCustomerTo } from '../customers/service.ts'
import { type EventRow, lastPosition, loadLinks, withoutHidden } from './join.ts'
import { runLimited } from './limits.ts'
import { cutPart } from './part.ts'
import type { Period } from './period.ts'
import { placeholderLinkId } from './placeholder-link.ts'
import { presentIp, shownClickId } from './present.ts'
import { resolve } from './resolve.ts'
import { type EventPosition, type LeadRow, type SaleRow, selectPageLines } from './store.ts'
import { type Cell, csvLine, jsonLine } from './table.ts'
import { buildWhere, type Where } from './where.ts'

const rowsAtOnce = 2_000
const linesAtOnce = 200
const mostRemembered = 20_000
const shortestPartMs = 60_000

/** Exports events with one ClickHouse query per chunk of rows, so that no more than a chunk is in memory. */
export async function exportAll(ctx: Ctx, query: ExportQuery): Promise<AsyncIterable<string>> {
  const resolved = await resolve(ctx, query)
  // Refuses a malformed `query` before the header of the file is sent.
  buildWhere(ctx.workspaceId, resolved.period, resolved.filter, query.event)
  return exported(ctx, query, resolved)
}

async function* exported(
  ctx: Ctx,
  query: ExportQuery,
  { period, filter }: Awaited<ReturnType<typeof resolve>>,
): AsyncGenerator<string> {
  const columns = exportColumns[query.event] as Column[]
  const ascending = query.sortOrder === 'asc'
  const known: Known = { links: new Map(), customers: new Map() }
  const formatLine = query.format === 'csv' ? csvLine : (cells: Cell[]) => jsonLine(columns, cells)
  if (query.format === 'csv') yield csvLine(columns)
  // A query over a short period is faster, so each query covers a period with about one chunk of rows.
  let lengthMs = 3_600_000
  for (let rest: Period | undefined = period; rest; ) {
    const cut = cutPart(rest, ascending, lengthMs)
    const where = buildWhere(ctx.workspaceId, cut.part, filter, query.event)
    let found = 0
    for await (const piece of readPieces(ctx, query, where)) {
      found += piece.length
      const rows = await withoutHidden(ctx, piece)
      await loadUnknown(ctx, rows, known)
      let text = ''
      for (const row of rows) text += formatLine(columns.map((column) => formatCell(column, row, known)))
      yield text
    }
    const change = Math.min(8, Math.max(1 / 8, (0.8 * rowsAtOnce) / Math.max(found, 1)))
    lengthMs = Math.max(shortestPartMs, lengthMs * change)
    rest = cut.rest
  }
}

async function* readPieces(ctx: Ctx, query: ExportQuery, where: Where): AsyncGenerator<EventRow[]> {
  const ascending = query.sortOrder === 'asc'
  const attributed = query.attributed === 'true' ? undefined : query.attributed
  for (let after: EventPosition | undefined; ; ) {
    const page = { ascending, limit: rowsAtOnce, attributed, ...(after && { after }) }
    const ask = (limits: QueryLimits) => selectPageLines(ctx.clickhouse, query.event, where, page, limits)
    const lines = await runLimited(ctx, ask, query)
    for (let start = 0; start < lines.length; start += linesAtOnce) {
      const rows = lines.slice(start, start + linesAtOnce).map((line) => JSON.parse(line) as EventRow)
      after = lastPosition(rows)
      yield rows
    }
    if (lines.length < rowsAtOnce) return
  }
}

type LinkCells = { linkId: string; domain: string; key: string; shortLink: string; externalId: string | null }
type CustomerCells = { customerExternalId: string; customerName: string | null; customerEmail: string | null }
type Known = { links: Map<string, LinkCells>; customers: Map<string, CustomerCells> }

const nothing: LinkCells = { linkId: placeholderLinkId, domain: '', key: '', shortLink: '', externalId: null }

async function loadUnknown(ctx: Ctx, rows: EventRow[], { links, customers }: Known): Promise<void> {
  if (links.size > mostRemembered) links.clear()
  if (customers.size > mostRemembered) customers.clear()
  const unknown = rows.filter(({ link_number }) => !links.has(link_number))
  const findLink = await loadLinks(ctx, unknown)
  for (const row of unknown) {
    const { id: linkId, domain, key, shortLink, externalId } = findLink(row)
    links.set(row.link_number, { linkId, domain, key, shortLink: domain && shortLink, externalId })
  }
  const ids = rows.flatMap((row) => ('customer_id' in row && !customers.has(row.customer_id) ? row.customer_id : []))
  const found = await customersById(ctx, ids)
  for (const id of ids) {
    const { externalId, name, email } = presentCustomerTo(ctx, found.get(id), id)
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

function formatCell(column: Column, row: EventRow, { links, customers }: Known): Cell {
  if (column in nothing) return (links.get(row.link_number) ?? nothing)[column as keyof LinkCells]
  if (column in ofClick) return ofClick[column as keyof typeof ofClick](row)
  if ('customer_id' in row) {
    if (column in ofConversion) return ofConversion[column as keyof typeof ofConversion](row)
    if (column.startsWith('customer')) return customers.get(row.customer_id)?.[column as keyof CustomerCells]
  }
  return row[column as keyof EventRow]
}
