import type { EventFilter } from './filter.ts'
import { metadataCondition } from './metadata.ts'
import type { Period } from './period.ts'
import { tables } from './tables.ts'

export type Where = { text: string; values: Record<string, unknown> }
export type EventKind = 'clicks' | 'leads' | 'sales'

const eventColumns = {
  country: 'country',
  city: 'city',
  region: 'region',
  continent: 'continent',
  device: 'device',
  browser: 'browser',
  os: 'os',
  trigger: 'trigger',
  referer: 'referer',
  refererUrl: 'referer_url',
  url: 'url',
  utm_source: 'utm_source',
  utm_medium: 'utm_medium',
  utm_campaign: 'utm_campaign',
  utm_term: 'utm_term',
  utm_content: 'utm_content',
} as const

const linkColumns = {
  domain: 'domain IN {domain:Array(String)}',
  tenantId: 'tenant_id IN {tenantId:Array(String)}',
  folderId: 'folder_id IN {folderId:Array(String)}',
  partnerId: 'partner_id IN {partnerId:Array(String)}',
  tagIds: 'hasAny(tag_ids, {tagIds:Array(String)})',
  groupId: partnersWith('group_id IN {groupId:Array(String)}'),
  partnerTagId: partnersWith('hasAny(tag_ids, {partnerTagId:Array(String)})'),
} as const

const botCondition = { exclude: ["bot = ''"], include: [], only: ["bot != ''"] }

const ofCustomer = 'customer_id = {customerId:String}'
/** Clicks have no customer column: a customer's clicks are those of the customer's leads and sales. */
const clicksOfCustomer = `id IN (${[tables.leads, tables.sales]
  .map((table) => `SELECT click_id FROM ${table} WHERE workspace_id = {workspaceId:String} AND ${ofCustomer}`)
  .join(' UNION ALL ')})`

/** The WHERE clause of an event query: workspace first, every value a bound parameter. */
export function buildWhere(
  workspaceId: string,
  period: Period,
  filter: EventFilter,
  kind: EventKind = 'clicks',
): Where {
  const values: Record<string, unknown> = { workspaceId, from: period.from.getTime(), to: period.to.getTime() }
  const conditions = [
    'workspace_id = {workspaceId:String}',
    'timestamp >= fromUnixTimestamp64Milli({from:Int64})',
    'timestamp < fromUnixTimestamp64Milli({to:Int64})',
    ...botCondition[filter.bots ?? 'exclude'],
    ...buildConditions(filter, kind, values),
  ]
  return { text: conditions.join('\n  AND '), values }
}

/** The conditions of a filter without workspace, period and bots, which also hold for a rollup table. */
export function buildConditions(filter: EventFilter, kind: EventKind, values: Record<string, unknown>): string[] {
  const { lists = {} } = filter
  const conditions: string[] = []
  for (const [name, column] of Object.entries(eventColumns)) {
    const list = lists[name as keyof typeof eventColumns]
    if (!list) continue
    values[name] = list.values
    conditions.push(`${column} ${list.excluded ? 'NOT IN' : 'IN'} {${name}:Array(String)}`)
  }
  if (filter.qr !== undefined) conditions.push(`trigger = '${filter.qr ? 'qr' : 'link'}'`)
  conditions.push(...conversionConditions(filter, kind, values))
  for (const [index, { numbers, excluded }] of (filter.linkNumbers ?? []).entries()) {
    values[`links${index}`] = numbers
    conditions.push(`link_number ${excluded ? 'NOT IN' : 'IN'} {links${index}:Array(UInt64)}`)
  }
  return [...conditions, ...linkConditions(filter, values)]
}

/** Conditions on leads and sales. A refund is a separate row among the sales, so that lists add up to counts. */
function conversionConditions(filter: EventFilter, kind: EventKind, values: Record<string, unknown>): string[] {
  const conditions: string[] = []
  if (filter.customerId) {
    values.customerId = filter.customerId
    conditions.push(kind === 'clicks' ? clicksOfCustomer : ofCustomer)
  }
  if (kind === 'sales' && filter.saleType) {
    values.saleType = filter.saleType
    conditions.push('sale_type = {saleType:String}')
  }
  // Clicks have no metadata, but parse `query` for them too, so that an invalid query always fails.
  const ofMetadata = filter.query?.trim() ? metadataCondition(filter.query, kind === 'clicks' ? {} : values) : undefined
  if (ofMetadata && kind !== 'clicks') conditions.push(ofMetadata)
  return conditions
}

/** Conditions on link attributes. Excluding a value keeps events without a link or with unknown link attributes. */
function linkConditions(filter: EventFilter, values: Record<string, unknown>): string[] {
  const included: string[] = []
  const excluded: string[] = []
  for (const [name, condition] of Object.entries(linkColumns)) {
    const list = filter.lists?.[name as keyof typeof linkColumns]
    if (!list) continue
    values[name] = list.values
    const conditions = list.excluded ? excluded : included
    conditions.push(condition)
  }
  if (filter.root !== undefined) included.push(filter.root ? 'is_root' : 'NOT is_root')
  if (filter.hiddenFolders.length > 0) {
    values.hiddenFolders = filter.hiddenFolders
    excluded.push('folder_id IN {hiddenFolders:Array(String)}')
  }
  return [
    ...(included.length > 0 ? [`link_number IN (${linksWith(included.join(' AND '))})`] : []),
    ...(excluded.length > 0 ? [`link_number NOT IN (${linksWith(`(${excluded.join(' OR ')})`)})`] : []),
  ]
}

function partnersWith(condition: string): string {
  return `partner_id IN (SELECT partner_id FROM ${tables.partnerAttributes} FINAL WHERE workspace_id = {workspaceId:String} AND ${condition})`
}

function linksWith(condition: string): string {
  return `SELECT link_number FROM ${tables.attributes} FINAL WHERE workspace_id = {workspaceId:String} AND ${condition}`
}
