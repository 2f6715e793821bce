import { type ClickHouse, type QueryLimits, query, queryLines } from '../../platform/clickhouse.ts'
import { type ClickColumns, tables } from './tables.ts'
import type { Where } from './where.ts'

export type ClickFields = { timestamp: string; link_number: string } & ClickColumns
export type ClickRow = ClickFields & { workspace_id: string; id_text: string; bot: string }
export type ConversionFields = Record<'id' | 'event_name' | 'customer_id' | 'metadata' | 'click_id_text', string> & {
  click_timestamp: string
}
/** A lead; `attribution` is the reason why it has no link, empty when it has one. */
export type LeadRow = ClickFields & ConversionFields & { attribution?: string }
export type SaleRow = LeadRow & { amount: string; currency: string; invoice_id: string; payment_processor: string }
/** A position in an event list: right after the event with this time and id. */
export type EventPosition = { at: number; id: string }
/** A position in insert order; `stored` is the insert time. */
export type StoredPosition = EventPosition & { stored: number }
export type Page = {
  ascending: boolean
  limit: number
  offset?: number
  after?: EventPosition
  attributed?: Attributed
}
/** Selects leads and sales with a link (`true`), without one (`false`), or `all`. */
export type Attributed = 'true' | 'false' | 'all'
export type EventRows = { clicks: ClickRow; leads: LeadRow; sales: SaleRow }

const clickFields = `timestamp, toString(link_number) AS link_number, url, trigger, toString(ip) AS ip, country, region,
  city, continent, device, browser, os, referer, referer_url, utm_source, utm_medium, utm_campaign, utm_term, utm_content`
const conversionFields = `id, event_name, customer_id, metadata, base64URLEncode(click_id) AS click_id_text, click_timestamp,
  ${clickFields}`
const clickId = { shown: 'base64URLEncode(id)', bound: 'toFixedString(base64URLDecode({id:String}), 30)' }
const conversionId = { shown: 'id', bound: '{id:String}' }
const kinds = {
  clicks: { table: tables.clicks, fields: `base64URLEncode(id) AS id_text, bot, ${clickFields}`, ...clickId },
  leads: { table: tables.leads, fields: conversionFields, ...conversionId },
  sales: {
    table: tables.sales,
    fields: `toString(amount) AS amount, currency, invoice_id, payment_processor, ${conversionFields}`,
    ...conversionId,
  },
}
const moment = (name: string) => `fromUnixTimestamp64Milli({${name}:Int64})`
// Without this setting, `link_number` in WHERE would mean the text alias in SELECT, which can't use an index.
const columnsFirst = 'SETTINGS prefer_column_name_to_alias = 1'

/** The SQL of a page of events. ClickHouse reads only the sort columns of skipped rows. */
export function pageStatement(kind: keyof EventRows, where: Where, page: Page): string {
  const { ascending, after, attributed } = page
  const { fields, bound } = kinds[kind]
  const [direction, beyond] = ascending ? ['ASC', '>'] : ['DESC', '<']
  const further = `\n  AND timestamp ${beyond}= ${moment('at')} AND (timestamp ${beyond} ${moment('at')} OR id ${beyond} ${bound})`
  const order = `ORDER BY timestamp ${direction}, id ${direction}`
  const part = (table: string, columns: string) => `SELECT ${columns}
FROM ${table}
WHERE ${where.text}${after ? further : ''}
${order}`
  const parts = tablesFor(kind, attributed).map((table) =>
    part(table, attributed === undefined ? fields : `${reasonIn(table)} AS attribution, ${fields}`),
  )
  const limit = `LIMIT {limit:UInt32} OFFSET {offset:UInt64} ${columnsFirst}`
  if (parts.length === 1) return `${parts[0]}\n${limit}`
  return `SELECT * FROM (
${parts.map((part) => `SELECT * FROM (${part} LIMIT {last:UInt64})`).join('\nUNION ALL\n')}
) ${order}
${limit}`
}

/** The tables with the requested events. Clicks always have a link, so they have one table. */
function tablesFor(kind: keyof EventRows, attributed: Attributed = 'true'): string[] {
  const { table } = kinds[kind]
  if (kind === 'clicks' || attributed === 'true') return [table]
  return attributed === 'all' ? [table, `unattributed_${kind}`] : [`unattributed_${kind}`]
}

function reasonIn(table: string): string {
  return table.startsWith('unattributed') ? 'attribution' : "''"
}

function pageValues(where: Where, { limit, offset = 0, after }: Page): Record<string, unknown> {
  return { ...where.values, ...after, limit, offset, last: limit + offset }
}

/** Reads and counts events; `whereIn` builds the WHERE clause for a part of the period. */
export function openPages<Kind extends keyof EventRows, Part>(
  clickhouse: ClickHouse,
  kind: Kind,
  whereIn: (part: Part) => Where,
  page: Page,
  limits: QueryLimits,
) {
  return {
    async count(part: Part): Promise<number> {
      const { text, values } = whereIn(part)
      const counts = tablesFor(kind, page.attributed).map(
        (table) => `SELECT count() AS part FROM ${table} WHERE ${text}`,
      )
      const statement = `SELECT toString(sum(part)) AS rows FROM (${counts.join(' UNION ALL ')})`
      const [row] = await query<{ rows: string }>(clickhouse, statement, values, limits)
      return Number(row?.rows ?? 0)
    },
    select(part: Part): Promise<EventRows[Kind][]> {
      const where = whereIn(part)
      const statement = pageStatement(kind, where, page)
      return query(clickhouse, statement, pageValues(where, page), limits)
    },
  }
}

/** Reads a page of event rows as unparsed JSON lines. */
export function selectPageLines(
  clickhouse: ClickHouse,
  kind: keyof EventRows,
  where: Where,
  page: Page,
  limits?: QueryLimits,
): Promise<string[]> {
  return queryLines(clickhouse, pageStatement(kind, where, page), pageValues(where, page), limits)
}

export type Mark = { mark: string; stored: string; at: string; id_text: string }
export type Stored<Kind extends keyof EventRows> = EventRows[Kind] & { mark: string; stored: string; at: string }
const mark = 'cityHash64(toUnixTimestamp64Milli(timestamp), id)'
const beyondPosition = (bound: string) =>
  `(stored_at > ${moment('stored')} OR (stored_at = ${moment('stored')} AND (timestamp > ${moment('at')}
    OR (timestamp = ${moment('at')} AND id > ${bound}))))`

/** Counts rows inserted after `floor` up to a position, with the XOR of their hashes, and rows beyond the position. */
export async function sumStored(
  clickhouse: ClickHouse,
  kind: keyof EventRows,
  where: Where,
  { floor, position }: { floor: number; position: StoredPosition },
): Promise<{ count: number; marks: bigint; beyond: number }> {
  const { table, bound } = kinds[kind]
  const [row] = await query<Record<'seen' | 'marks' | 'beyond', string>>(
    clickhouse,
    `SELECT toString(countIf(NOT is_beyond)) AS seen, toString(groupBitXorIf(${mark}, NOT is_beyond)) AS marks,
  toString(countIf(${beyondPosition(bound)} AS is_beyond)) AS beyond
FROM ${table} WHERE ${where.text} AND stored_at > ${moment('floor')}`,
    { ...where.values, ...position, floor },
  )
  return { count: Number(row?.seen), marks: BigInt(row?.marks ?? 0), beyond: Number(row?.beyond) }
}

/** The hashes of rows inserted after `floor` up to a position, newest first. */
export function selectMarks(
  clickhouse: ClickHouse,
  kind: keyof EventRows,
  where: Where,
  { floor, position, limit }: { floor: number; position?: StoredPosition; limit: number },
): Promise<Mark[]> {
  const { table, shown, bound } = kinds[kind]
  return query<Mark>(
    clickhouse,
    `SELECT toString(${mark}) AS mark, toString(toUnixTimestamp64Milli(stored_at)) AS stored,
  toString(toUnixTimestamp64Milli(timestamp)) AS at, ${shown} AS id_text
FROM ${table} WHERE ${where.text} AND stored_at > ${moment('floor')} ${position ? `AND NOT ${beyondPosition(bound)}` : ''}
ORDER BY stored_at DESC, timestamp DESC, id DESC LIMIT {limit:UInt32}`,
    { ...where.values, ...position, floor, limit },
  )
}

/** The rows inserted after a position, or the rows inserted after `floor` that have the given hashes. */
export function selectStored<Kind extends keyof EventRows>(
  clickhouse: ClickHouse,
  kind: Kind,
  where: Where,
  which: { position: StoredPosition } | { floor: number; marks: string[] },
  limit: number,
): Promise<Stored<Kind>[]> {
  const { table, fields, bound } = kinds[kind]
  const isBeyond = 'position' in which
  const condition = isBeyond
    ? `stored_at >= ${moment('stored')} AND ${beyondPosition(bound)}`
    : `stored_at > ${moment('floor')} AND ${mark} IN {marks:Array(UInt64)}`
  return query(
    clickhouse,
    `SELECT toString(${mark}) AS mark, toString(toUnixTimestamp64Milli(stored_at)) AS stored,
  toString(toUnixTimestamp64Milli(timestamp)) AS at, ${fields}
FROM ${table} WHERE ${where.text} AND ${condition}
ORDER BY stored_at, timestamp, id LIMIT {limit:UInt32} ${columnsFirst}`,
    { ...where.values, ...(isBeyond ? which.position : { ...which, marks: which.marks.map(BigInt) }), limit },
  )
}
