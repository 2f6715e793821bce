import type { EventFilters } from '@tributary/contract/events'
import { invalid } from '../../platform/errors.ts'
import type { Period } from './period.ts'

export type Where = { text: string; values: Record<string, unknown> }
export type EventFilter = Partial<EventFilters> & {
  /** Numbers of the links that the query names by id, external id or address; undefined when it names none. */
  linkNumbers?: { numbers: bigint[]; excluded: boolean }[]
}

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

/** Nothing can have one of these yet, so asking for one finds nothing. */
const unassigned = ['partnerTagId', 'groupId', 'customerId'] as const

const linkColumns = {
  domain: 'domain',
  tenantId: 'tenant_id',
  folderId: 'folder_id',
  partnerId: 'partner_id',
} as const

/** One value, several separated by commas, or all of that excluded by a leading `-`. */
export function parseFilter(text: string): { values: string[]; excluded: boolean } {
  const excluded = text.startsWith('-')
  const values = (excluded ? text.slice(1) : text).split(',').map((value) => value.trim())
  return { values: values.filter((value) => value !== ''), excluded }
}

/** The condition of a query: the workspace first, every value bound by name, none in the text. */
export function whereOf(workspaceId: string, period: Period, filter: EventFilter): Where {
  const values: Record<string, unknown> = { workspaceId, from: period.from.getTime(), to: period.to.getTime() }
  const conditions = [
    'workspace_id = {workspaceId:String}',
    'timestamp >= fromUnixTimestamp64Milli({from:Int64})',
    'timestamp < fromUnixTimestamp64Milli({to:Int64})',
    "bot = ''",
  ]
  for (const [parameter, column] of Object.entries(eventColumns)) {
    const condition = anyOf(column, parameter, filter[parameter as keyof typeof eventColumns], values)
    if (condition) conditions.push(condition)
  }
  if (unassigned.some((parameter) => isWanted(filter[parameter]))) conditions.push('false')
  if (filter.qr !== undefined) conditions.push(`trigger ${filter.qr ? '=' : '!='} 'qr'`)
  for (const [index, { numbers, excluded }] of (filter.linkNumbers ?? []).entries()) {
    values[`links${index}`] = numbers
    conditions.push(`link_number ${excluded ? 'NOT IN' : 'IN'} {links${index}:Array(UInt64)}`)
  }
  const ofLink = linkConditions(filter, values)
  if (ofLink.length > 0) {
    conditions.push(
      `link_number IN (SELECT link_number FROM link_attributes FINAL WHERE ${['workspace_id = {workspaceId:String}', ...ofLink].join(' AND ')})`,
    )
  }
  return { text: conditions.join('\n  AND '), values }
}

function linkConditions(filter: EventFilter, values: Record<string, unknown>): string[] {
  const conditions: string[] = []
  for (const [parameter, column] of Object.entries(linkColumns)) {
    const text = filter[parameter as keyof typeof linkColumns]
    const condition = anyOf(column, parameter, parameter === 'domain' ? text?.toLowerCase() : text, values)
    if (condition) conditions.push(condition)
  }
  const { values: tagIds, excluded } = parseFilter(filter.tagId ?? filter.tagIds ?? '')
  if (tagIds.length > 0) {
    values.tagIds = tagIds
    conditions.push(`${excluded ? 'NOT ' : ''}hasAny(tag_ids, {tagIds:Array(String)})`)
  }
  if (filter.root !== undefined) conditions.push(filter.root ? 'is_root' : 'NOT is_root')
  return conditions
}

function isWanted(text: string | undefined): boolean {
  const { values, excluded } = parseFilter(text ?? '')
  return values.length > 0 && !excluded
}

function anyOf(
  column: string,
  parameter: string,
  text: string | undefined,
  values: Record<string, unknown>,
): string | undefined {
  if (!text) return undefined
  const { values: wanted, excluded } = parseFilter(text)
  if (wanted.length === 0) return undefined
  if (wanted.length > 1_000)
    throw invalid(`\`${parameter}\` in the query must have at most 1000 values, not ${wanted.length}.`)
  values[parameter] = wanted
  return `${column} ${excluded ? 'NOT IN' : 'IN'} {${parameter}:Array(String)}`
}
