import { type ClickHouse, query } from '../../platform/clickhouse.ts'
import type { ClickColumns } from './click-columns.ts'
import { type ConversionTable, conversionTables, moment } from './store.ts'

/** Clicks by id, each in a period that contains it. */
export type ClickSelection = { ids: string[]; from: number; to: number }

const clickColumns = `url, trigger, toString(ip) AS ip, country, region, city, continent, device, browser, os, referer,
  referer_url, utm_source, utm_medium, utm_campaign, utm_term, utm_content`
const noAddress = "toIPv6('::')"
const isSelected = `workspace_id = {workspaceId:String}
  AND timestamp BETWEEN ${moment('from')} AND ${moment('to')}
  AND id IN (SELECT toFixedString(base64URLDecode(arrayJoin({ids:Array(String)})), 30))`
const hasPersonalData = `workspace_id = {workspaceId:String} AND customer_id IN {customerIds:Array(String)}
  AND (metadata != '' OR ip != ${noAddress})`

/** A click row with everything that is stored; `at` is its time in Unix milliseconds. */
export type WholeClickRow = ClickColumns & Record<'id_text' | 'at' | 'link_number' | 'bot', string>

export function selectClicks(
  clickhouse: ClickHouse,
  workspaceId: string,
  selection: ClickSelection,
): Promise<WholeClickRow[]> {
  return query<WholeClickRow>(
    clickhouse,
    `SELECT base64URLEncode(id) AS id_text, toString(toUnixTimestamp64Milli(timestamp)) AS at,
  toString(link_number) AS link_number, bot, ${clickColumns}
FROM click_events WHERE ${isSelected} ORDER BY timestamp, bot != '' DESC
SETTINGS prefer_column_name_to_alias = 1`,
    { workspaceId, ...selection },
  )
}

/** What a stored lead, sale or refund has of its click. */
export type ConversionClickRow = ClickColumns & { id: string; click_timestamp: string }

export function selectConversionClicks(
  clickhouse: ClickHouse,
  values: { workspaceId: string; ids: string[]; moments: number[] },
): Promise<ConversionClickRow[]> {
  const part = (table: ConversionTable) => `SELECT id, click_timestamp, ${clickColumns} FROM ${table}
WHERE workspace_id = {workspaceId:String} AND id IN {ids:Array(String)}
  AND timestamp IN (SELECT fromUnixTimestamp64Milli(arrayJoin({moments:Array(Int64)}), 'UTC'))`
  return query<ConversionClickRow>(clickhouse, conversionTables.map(part).join('\nUNION ALL\n'), values)
}

/** Whether rows of a customer's leads, sales or refunds have metadata or an address. */
export async function existsCustomerRow(
  clickhouse: ClickHouse,
  workspaceId: string,
  customerId: string,
): Promise<boolean> {
  const part = (table: ConversionTable) => `SELECT id FROM ${table} WHERE ${hasPersonalData} LIMIT 1`
  const statement = conversionTables.map(part).join('\nUNION ALL\n')
  return (await query(clickhouse, statement, { workspaceId, customerIds: [customerId] })).length > 0
}

export async function existsAddress(
  clickhouse: ClickHouse,
  workspaceId: string,
  selection: ClickSelection,
): Promise<boolean> {
  const statement = `SELECT 1 FROM click_events WHERE ${isSelected} AND ip != ${noAddress} LIMIT 1`
  return (await query(clickhouse, statement, { workspaceId, ...selection })).length > 0
}

/** Clears metadata and addresses of customers' leads, sales and refunds on all replicas before it returns. */
export async function eraseCustomerRows(
  clickhouse: ClickHouse,
  cluster: string | undefined,
  values: { workspaceId: string; customerIds: string[] },
): Promise<void> {
  for (const table of conversionTables) {
    const [left] = await query(clickhouse, `SELECT id FROM ${table} WHERE ${hasPersonalData} LIMIT 1`, values)
    if (!left) continue
    await requireIdle(clickhouse, cluster, table)
    await mutate(
      clickhouse,
      `ALTER TABLE ${localName(table, cluster)} UPDATE metadata = '', ip = ${noAddress} WHERE ${hasPersonalData}`,
      values,
    )
  }
}

/** Clears the addresses of clicks on all replicas before it returns. */
export async function eraseAddresses(
  clickhouse: ClickHouse,
  cluster: string | undefined,
  workspaceId: string,
  selection: ClickSelection,
): Promise<void> {
  if (!(await existsAddress(clickhouse, workspaceId, selection))) return
  await requireIdle(clickhouse, cluster, 'click_events')
  const table = localName('click_events', cluster)
  await mutate(clickhouse, `ALTER TABLE ${table} UPDATE ip = ${noAddress} WHERE ${isSelected} AND ip != ${noAddress}`, {
    workspaceId,
    ...selection,
  })
}

/** Throws while the table is being rewritten, so that the message is redelivered: each rewriting reads parts of all workspaces. */
async function requireIdle(clickhouse: ClickHouse, cluster: string | undefined, table: string): Promise<void> {
  const mutations = cluster ? `clusterAllReplicas('${cluster}', system.mutations)` : 'system.mutations'
  const statement = `SELECT command FROM ${mutations}
WHERE database = currentDatabase() AND table = {name:String} AND NOT is_done LIMIT 1`
  const [running] = await query(clickhouse, statement, { name: cluster ? `${table}_local` : table })
  if (running) throw new Error(`ClickHouse is rewriting ${table}. Erasing continues after that.`)
}

function localName(table: string, cluster: string | undefined): string {
  return cluster ? `${table}_local ON CLUSTER '${cluster}'` : table
}

async function mutate(clickhouse: ClickHouse, statement: string, values: Record<string, unknown>): Promise<void> {
  await clickhouse.command({ query: statement, query_params: values, clickhouse_settings: { mutations_sync: '2' } })
}
