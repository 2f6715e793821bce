import { sql } from 'kysely'
import { type ClickHouse, insert, query } from '../../platform/clickhouse.ts'
import type { Db } from '../../platform/postgres.ts'
import type { Where } from './where.ts'

const lock = 7_240_812

export type ClickRow = {
  workspace_id: string
  timestamp: string
  id_text: string
  link_number: string
  url: string
  trigger: string
  ip: string
  country: string
  region: string
  city: string
  continent: string
  device: string
  browser: string
  os: string
  referer: string
  referer_url: string
  utm_source: string
  utm_medium: string
  utm_campaign: string
  utm_term: string
  utm_content: string
  bot: string
}
export type LinkAttributesRow = {
  workspace_id: string
  link_number: string
  domain: string
  is_root: boolean
  folder_id: string
  tenant_id: string
  partner_id: string
  tag_ids: string[]
  deleted: boolean
  version: string
}
export type NewClickRow = Omit<ClickRow, 'timestamp'> & { timestamp: number }

export async function selectClicks(
  clickhouse: ClickHouse,
  where: Where,
  page: { ascending: boolean; limit: number; offset: number },
): Promise<ClickRow[]> {
  const direction = page.ascending ? 'ASC' : 'DESC'
  return query<ClickRow>(
    clickhouse,
    `SELECT timestamp, base64URLEncode(id) AS id_text, toString(link_number) AS link_number, url, trigger, toString(ip) AS ip,
  country, region, city, continent, device, browser, os, referer, referer_url
FROM click_events
WHERE ${where.text}
ORDER BY timestamp ${direction}, id ${direction}
LIMIT {limit:UInt32} OFFSET {offset:UInt64}`,
    { ...where.values, limit: page.limit, offset: page.offset },
  )
}

export type EventColumn = keyof Omit<ClickRow, 'workspace_id' | 'timestamp' | 'id_text' | 'ip' | 'bot'>
export type Group = Partial<Record<EventColumn, string>> & { clicks: string }

/** Counts by these columns, most first; without columns one row with the total. */
export async function countByColumns(
  clickhouse: ClickHouse,
  where: Where,
  columns: EventColumn[],
  limit: number,
): Promise<Group[]> {
  const names = columns.map((column) => `toString(${column}) AS ${column}`)
  const grouped =
    columns.length > 0 ? `GROUP BY ${columns.join(', ')}\nORDER BY count() DESC, ${columns.join(', ')}` : ''
  return query<Group>(
    clickhouse,
    `SELECT ${[...names, 'toString(count()) AS clicks'].join(', ')}
FROM click_events
WHERE ${where.text}
${grouped}
LIMIT {limit:UInt32}`,
    { ...where.values, limit },
  )
}

export type PeopleRow = { workspace_id: string; number: string; stored: string; doubled: string; last: string }

// NOTE every workspace: the operator compares the rows of all of them with the counters, or of the one that is named.
export async function countPeople(
  clickhouse: ClickHouse,
  range: { workspaceId?: string; first: bigint; last: bigint },
): Promise<PeopleRow[]> {
  return query<PeopleRow>(
    clickhouse,
    `SELECT workspace_id, toString(link_number) AS number, toString(count()) AS stored,
  toString(count() - uniqExact(id)) AS doubled, toString(toUnixTimestamp64Milli(max(timestamp))) AS last
FROM click_events
WHERE link_number BETWEEN {first:UInt64} AND {last:UInt64} AND bot = ''
  ${range.workspaceId === undefined ? '' : 'AND workspace_id = {workspaceId:String}'}
GROUP BY workspace_id, link_number`,
    range,
  )
}

/** A repeat with the same token is ignored. */
export async function insertClicks(clickhouse: ClickHouse, rows: NewClickRow[], token: string): Promise<void> {
  if (isFilled(rows)) await insert(clickhouse, 'click_events', rows, token)
}

/** Newer versions replace older ones, in whatever order they come. */
export async function insertLinkAttributes(clickhouse: ClickHouse, rows: LinkAttributesRow[]): Promise<void> {
  if (isFilled(rows)) await insert(clickhouse, 'link_attributes', rows)
}

/** Until the transaction ends, nobody else corrects links of this workspace. */
export async function lockLinkAttributes(db: Db, workspaceId: string): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(${lock}, hashtext(${workspaceId}))`.execute(db)
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

function isFilled<T>(rows: T[]): rows is [T, ...T[]] {
  return rows.length > 0
}
