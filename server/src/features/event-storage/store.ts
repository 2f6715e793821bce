import { sql } from 'kysely'
import {
  type AllWorkspacesClickHouse,
  atOnce,
  type ClickHouse,
  insert,
  insertNative,
  query,
} from '../../platform/clickhouse.ts'
import { locks } from '../../platform/locks.ts'
import type { Db } from '../../platform/postgres.ts'
import { type ClickColumns, type EncodedClickRows, encodeStoredAt, type NewClickRow } from './click-columns.ts'

/** A click row; `at` is its time in Unix milliseconds. */
export type StoredClickRow = ClickColumns & { id_text: string; at: string }
export type LinkAttributesRow = { workspace_id: string } & Record<'link_number' | 'domain' | 'folder_id', string> &
  Record<'tenant_id' | 'partner_id' | 'version' | 'link_id' | 'key', string> &
  Record<'is_root' | 'deleted', boolean> & { tag_ids: string[] }
export type NewLeadRow = Omit<NewClickRow, 'id_text'> &
  Record<'id' | 'event_name' | 'customer_id' | 'metadata' | 'click_id_text', string> & { click_timestamp: number }
export type NewSaleRow = NewLeadRow &
  Record<'kind' | 'amount' | 'currency' | 'invoice_id' | 'payment_processor' | 'sale_type', string> & { sales: number }

export const moment = (name: string) => `fromUnixTimestamp64Milli({${name}:Int64})`
// Without this, a condition on `link_number` would apply to its text alias, which no index supports.
const columnsFirst = 'SETTINGS prefer_column_name_to_alias = 1'

export const conversionTables = ['lead_events', 'sale_events', 'unattributed_leads', 'unattributed_sales'] as const
export type ConversionTable = (typeof conversionTables)[number]
type NewRows = Record<'lead_events' | 'unattributed_leads', NewLeadRow> &
  Record<'sale_events' | 'unattributed_sales', NewSaleRow>

/** Inserts event rows. ClickHouse ignores an insert with a repeated deduplication token. */
export async function insertEvents<Table extends keyof NewRows>(
  clickhouse: ClickHouse,
  table: Table,
  rows: NewRows[Table][],
  token?: string,
): Promise<void> {
  if (!isFilled(rows)) return
  const stored_at = Date.now()
  if (token !== undefined) return insert(clickhouse, table, rows, token, { stored_at })
  const stamped = rows.map((row) => ({ ...row, stored_at }))
  await insertAtOnce(clickhouse, table, [...Object.keys(rows[0]), 'stored_at'], stamped)
}

/** Inserts clicks. ClickHouse ignores an insert with a repeated deduplication token. */
export async function insertClicks(
  clickhouse: AllWorkspacesClickHouse,
  { rows, columns }: EncodedClickRows,
  token: string,
): Promise<void> {
  await insertNative(clickhouse, 'click_events', { rows, columns: [...columns, encodeStoredAt(rows)] }, token)
}

/** Ids of stored leads or sales with these timestamps. */
export async function selectStoredIds(
  clickhouse: AllWorkspacesClickHouse,
  table: ConversionTable,
  among: { workspaceIds: string[]; moments: number[] },
): Promise<string[]> {
  const rows = await query<{ id: string }>(
    clickhouse,
    `SELECT id FROM ${table} WHERE workspace_id IN {workspaceIds:Array(String)}
  AND timestamp IN (SELECT fromUnixTimestamp64Milli(arrayJoin({moments:Array(Int64)}), 'UTC'))`,
    among,
  )
  return rows.map(({ id }) => id)
}

/** The amounts of sales and refunds at these times. */
export function selectSaleAmounts(
  clickhouse: AllWorkspacesClickHouse,
  among: { workspaceIds: string[]; moments: number[] },
): Promise<{ id: string; amount: string }[]> {
  return query(
    clickhouse,
    `SELECT id, toString(amount) AS amount FROM sale_events WHERE workspace_id IN {workspaceIds:Array(String)}
      AND timestamp IN (SELECT fromUnixTimestamp64Milli(arrayJoin({moments:Array(Int64)}), 'UTC'))`,
    among,
  )
}

export function selectClicksById(
  clickhouse: AllWorkspacesClickHouse,
  workspaceIds: string[],
  ids: string[],
): Promise<StoredClickRow[]> {
  return query<StoredClickRow>(
    clickhouse,
    `SELECT base64URLEncode(id) AS id_text, toString(toUnixTimestamp64Milli(timestamp)) AS at, url, trigger, toString(ip) AS ip,
  country, region, city, continent, device, browser, os, referer, referer_url, utm_source, utm_medium, utm_campaign,
  utm_term, utm_content
FROM click_events
WHERE workspace_id IN {workspaceIds:Array(String)}
  AND id IN (SELECT toFixedString(base64URLDecode(arrayJoin({ids:Array(String)})), 30))
ORDER BY bot != '' DESC`,
    { workspaceIds, ids },
  )
}

/** A click row; `at` and `stored` are in Unix milliseconds. */
export type StoredVisitRow = { id_text: string; is_bot: number; at: string; stored: string }

export function selectVisits(
  clickhouse: AllWorkspacesClickHouse,
  visits: { workspaceIds: string[]; ids: string[]; from: number; to: number },
): Promise<StoredVisitRow[]> {
  return query<StoredVisitRow>(
    clickhouse,
    `SELECT base64URLEncode(id) AS id_text, bot != '' AS is_bot, toString(toUnixTimestamp64Milli(timestamp)) AS at,
  toString(toUnixTimestamp64Milli(stored_at)) AS stored
FROM click_events
WHERE workspace_id IN {workspaceIds:Array(String)}
  AND timestamp BETWEEN fromUnixTimestamp64Milli({from:Int64}) AND fromUnixTimestamp64Milli({to:Int64})
  AND id IN (SELECT toFixedString(base64URLDecode(arrayJoin({ids:Array(String)})), 30))`,
    visits,
  )
}

export type StagedRow = NewClickRow & { batch: string; position: number }

export async function insertStaged(clickhouse: AllWorkspacesClickHouse, rows: StagedRow[]): Promise<void> {
  if (isFilled(rows)) await insertAtOnce(clickhouse, 'click_events_staged', Object.keys(rows[0]), rows)
}

/** Inserts staged clicks that are not stored yet, the first row per click id; returns how many. */
export async function addMissing(
  clickhouse: AllWorkspacesClickHouse,
  batch: string,
  period: { from: number; to: number },
) {
  const columns = `workspace_id, timestamp, id, link_number, url, trigger, ip, country, region, city, continent, device,
  browser, os, referer, referer_url, utm_source, utm_medium, utm_campaign, utm_term, utm_content, bot, expires_on, folded`
  const missing = `FROM (
  SELECT * FROM click_events_staged WHERE batch = {batch:String} ORDER BY position LIMIT 1 BY id, bot != ''
) WHERE expires_on > today() AND (id, bot != '') NOT IN (
  SELECT id, bot != '' FROM click_events
  WHERE workspace_id IN (SELECT workspace_id FROM click_events_staged WHERE batch = {batch:String})
    AND timestamp BETWEEN fromUnixTimestamp64Milli({from:Int64}) AND fromUnixTimestamp64Milli({to:Int64})
    AND id IN (SELECT id FROM click_events_staged WHERE batch = {batch:String})
)`
  const values = { batch, ...period }
  const [found] = await query<{ rows: string }>(clickhouse, `SELECT toString(count()) AS rows ${missing}`, values)
  const rows = Number(found?.rows ?? 0)
  if (rows === 0) return 0
  await clickhouse.command({
    query: `INSERT INTO click_events (${columns}, stored_at) SELECT ${columns}, now64(3) ${missing}`,
    query_params: values,
    clickhouse_settings: { ...atOnce, distributed_product_mode: 'local' },
  })
  return rows
}

export type LaterLink = { workspace_id: string; number: string; is_deleted: number }

export function selectLaterLinks(
  clickhouse: AllWorkspacesClickHouse,
  values: { first: bigint; last: bigint; after: string; count: number },
): Promise<LaterLink[]> {
  return query<LaterLink>(
    clickhouse,
    `SELECT workspace_id, toString(link_number) AS number, argMax(deleted, version) AS is_deleted
FROM link_attributes WHERE version BETWEEN {first:UInt64} AND {last:UInt64} AND link_number > {after:UInt64}
GROUP BY workspace_id, link_number ORDER BY link_number LIMIT {count:UInt32} ${columnsFirst}`,
    values,
  )
}

export type StoredConversion = { workspace_id: string; id: string; customer_id: string; kind: 'lead' | 'sale' }

export function selectStoredSince(
  clickhouse: AllWorkspacesClickHouse,
  values: { since: number; after: string; count: number },
): Promise<StoredConversion[]> {
  const part = (table: ConversionTable, kind: string) => `SELECT workspace_id, id, customer_id, '${kind}' AS kind
FROM ${table} WHERE stored_at >= fromUnixTimestamp64Milli({since:Int64}) AND id > {after:String}`
  return query<StoredConversion>(
    clickhouse,
    `SELECT * FROM (${part('lead_events', 'lead')} UNION ALL ${part('sale_events', 'sale')})
ORDER BY id LIMIT {count:UInt32}`,
    values,
  )
}

export type LinkAddressRow = Record<'link_number' | 'link_id' | 'domain' | 'key', string>

export function selectLinkAddresses(
  clickhouse: ClickHouse,
  workspaceId: string,
  numbers: string[],
): Promise<LinkAddressRow[]> {
  return query(
    clickhouse,
    `SELECT toString(link_number) AS link_number, link_id, domain, key FROM link_attributes FINAL
WHERE workspace_id = {workspaceId:String} AND link_number IN {numbers:Array(UInt64)} AND link_id != '' ${columnsFirst}`,
    { workspaceId, numbers: numbers.map(BigInt) },
  )
}

/** Inserts link attributes; newer versions replace older versions, in any order of arrival. */
export async function insertLinkAttributes(clickhouse: ClickHouse, rows: LinkAttributesRow[]): Promise<void> {
  if (isFilled(rows)) await insert(clickhouse, 'link_attributes', rows)
}

/** Locks corrections of a workspace's link attributes until the transaction ends. */
export async function lockLinkAttributes(db: Db, workspaceId: string): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(${locks.linkAttributes}, hashtext(${workspaceId}))`.execute(db)
}

/** Locks lead and sale inserts until the transaction ends: shared, or exclusively (waits at most five seconds). */
export async function lockConversions(db: Db, mode: 'shared' | 'alone'): Promise<void> {
  await sql`SET LOCAL idle_in_transaction_session_timeout = '40s'`.execute(db)
  if (mode === 'alone') await sql`SET LOCAL lock_timeout = '5s'`.execute(db)
  const lock = mode === 'alone' ? sql`pg_advisory_xact_lock` : sql`pg_advisory_xact_lock_shared`
  await sql`SELECT ${lock}(${locks.conversions})`.execute(db)
}

export async function removeTags(clickhouse: ClickHouse, workspaceId: string, tagIds: string[]): Promise<void> {
  const change = 'arrayFilter(id -> NOT has({ids:Array(String)}, id), tag_ids) AS tag_ids'
  await correct(clickhouse, workspaceId, 'hasAny(tag_ids, {ids:Array(String)})', change, tagIds)
}

export async function removeFolders(clickhouse: ClickHouse, workspaceId: string, folderIds: string[]): Promise<void> {
  await correct(clickhouse, workspaceId, 'folder_id IN {ids:Array(String)}', "'' AS folder_id", folderIds)
}

async function correct(clickhouse: ClickHouse, workspaceId: string, condition: string, change: string, ids: string[]) {
  await clickhouse.command({
    query: `INSERT INTO link_attributes
SELECT * REPLACE (${change}, version + 1 AS version)
FROM (SELECT * FROM link_attributes FINAL WHERE workspace_id = {workspaceId:String} AND ${condition})`,
    query_params: { workspaceId, ids },
  })
}

/** Event rows that match a condition. Its parameters are `workspaceId` and those whose names begin with `row`. */
export type RowSelection = {
  table: 'click_events' | ConversionTable
  condition: string
  values: { workspaceId: string } & Record<`row${string}`, unknown>
}

/** The rows of a lead or sale: a lead with a quantity has several. */
export function buildConversionSelection(
  table: ConversionTable,
  { workspaceId, id, at }: { workspaceId: string; id: string; at: number },
): RowSelection {
  const condition = `workspace_id = {workspaceId:String} AND timestamp = ${moment('rowAt')}
  AND (id = {rowId:String} OR startsWith(id, concat({rowId:String}, '_')))`
  return { table, condition, values: { workspaceId, rowId: id, rowAt: at } }
}

/** Clicks by id, stored at or after `since`. */
export function buildClickSelection(clicks: {
  workspaceId: string
  people: string[]
  bots: string[]
  from: number
  to: number
  since: number
}): RowSelection {
  const { workspaceId, people, bots, from, to, since } = clicks
  const condition = `workspace_id = {workspaceId:String} AND timestamp BETWEEN ${moment('rowFrom')} AND ${moment('rowTo')}
  AND stored_at >= ${moment('rowSince')}
  AND has(if(bot = '', {rowPeople:Array(String)}, {rowBots:Array(String)}), base64URLEncode(id))`
  const values = { workspaceId, rowPeople: people, rowBots: bots, rowFrom: from, rowTo: to, rowSince: since }
  return { table: 'click_events', condition, values }
}

export async function hasRows(clickhouse: ClickHouse, { table, condition, values }: RowSelection): Promise<boolean> {
  const rows = await query<{ found: number }>(
    clickhouse,
    `SELECT 1 AS found FROM ${table} WHERE ${condition} LIMIT 1`,
    values,
  )
  return rows.length > 0
}

/** Deletes the rows on all replicas before it returns. */
export async function deleteRows(
  clickhouse: ClickHouse,
  cluster: string | undefined,
  { table, condition, values }: RowSelection,
): Promise<void> {
  await clickhouse.command({
    query: `ALTER TABLE ${cluster ? `${table}_local ON CLUSTER '${cluster}'` : table} DELETE WHERE ${condition}`,
    query_params: values,
    clickhouse_settings: { mutations_sync: '2' },
  })
}

async function insertAtOnce(clickhouse: ClickHouse, table: string, columns: string[], values: object[]): Promise<void> {
  const named = columns as [string, ...string[]]
  await clickhouse.insert({ table, columns: named, values, format: 'JSONEachRow', clickhouse_settings: atOnce })
}

function isFilled<T>(rows: T[]): rows is [T, ...T[]] {
  return rows.length > 0
}

export type ClickDayRow = { workspaceId: string; linkNumber: string; day: string; clicks: number }
export type ClickDayRange = {
  /** Days up to `closedDay` were published before: of these, only clicks stored after `storedAfter` count. */
  closedDay: string
  storedAfter: number
  day: string
  storedUntil: number
  after: { workspaceId: string; linkNumber: string }
  count: number
}

const closedClicks = `bot = '' AND stored_at <= ${moment('storedUntil')}
  AND timestamp >= toDateTime(toDate({closedDay:String}) - 30) AND timestamp < toDateTime(toDate({day:String}) + 1)
  AND (toDate(timestamp) > toDate({closedDay:String}) OR stored_at > ${moment('storedAfter')})`

export async function selectClickDays(
  clickhouse: AllWorkspacesClickHouse,
  range: ClickDayRange,
): Promise<ClickDayRow[]> {
  const rows = await query<ClickDayRow & { clicks: string }>(
    clickhouse,
    `SELECT workspace_id AS workspaceId, toString(link_number) AS linkNumber, toString(toDate(timestamp)) AS day,
  toString(uniqExact(id, timestamp)) AS clicks
FROM click_events
WHERE ${closedClicks}
  AND (workspace_id, click_events.link_number) > ({workspaceId:String}, {linkNumber:UInt64})
GROUP BY workspace_id, click_events.link_number, toDate(timestamp)
ORDER BY workspace_id, click_events.link_number, toDate(timestamp)
LIMIT {count:UInt32} ${columnsFirst}`,
    { ...range, ...range.after },
  )
  return rows.map((row) => ({ ...row, clicks: Number(row.clicks) }))
}

export type ClickCountryRow = Pick<ClickDayRow, 'workspaceId' | 'linkNumber' | 'day'> & {
  country: string
  clicks: string
}

/** The counts of `selectClickDays` for some links, by country. */
export function selectClickCountries(
  clickhouse: AllWorkspacesClickHouse,
  values: Omit<ClickDayRange, 'after' | 'count'> & { workspaceIds: string[]; linkNumbers: bigint[] },
): Promise<ClickCountryRow[]> {
  return query(
    clickhouse,
    `SELECT workspace_id AS workspaceId, toString(link_number) AS linkNumber, toString(toDate(timestamp)) AS day, country,
  toString(uniqExact(id, timestamp)) AS clicks
FROM click_events
WHERE ${closedClicks} AND workspace_id IN {workspaceIds:Array(String)}
  AND click_events.link_number IN {linkNumbers:Array(UInt64)}
GROUP BY workspace_id, click_events.link_number, toDate(timestamp), country ORDER BY country ${columnsFirst}`,
    values,
  )
}
