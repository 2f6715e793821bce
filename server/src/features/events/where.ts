import type { EventFilters } from '@tributary/contract/events'
import { invalid } from '../../platform/errors.ts'
import { metadataCondition } from './metadata.ts'
import type { Period } from './period.ts'

export type Where = { text: string; values: Record<string, unknown> }
export type EventKind = 'clicks' | 'leads' | 'sales'
export type EventFilter = Partial<EventFilters> & {
  /** Numbers of the links that the query names by id, external id or address; undefined when it names none. */
  linkNumbers?: { numbers: bigint[]; excluded: boolean }[]
  /** Bots are left out unless asked for. */
  bots?: 'exclude' | 'include' | 'only'
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
const unassigned = ['partnerTagId', 'groupId'] as const

const linkColumns = {
  domain: 'domain',
  tenantId: 'tenant_id',
  folderId: 'folder_id',
  partnerId: 'partner_id',
} as const

const mostValues = 1_000
const botCondition = { exclude: ["bot = ''"], include: [], only: ["bot != ''"] }

const ofCustomer = 'customer_id = {customerId:String}'
/** No click has a customer, since whoever it was became one later; these brought the leads and sales of one. */
const clicksOfCustomer = `id IN (${['lead_events', 'sale_events']
  .map((table) => `SELECT click_id FROM ${table} WHERE workspace_id = {workspaceId:String} AND ${ofCustomer}`)
  .join(' UNION ALL ')})`

/**
 * One value, several separated by commas, or all of that excluded by a leading `-`. After a backslash a comma, a `-`, a
 * blank or a backslash is part of the value.
 */
export function parseFilter(text: string): { values: string[]; excluded: boolean } {
  const excluded = text.startsWith('-')
  const values = ['']
  let blanks = ''
  for (const token of text.slice(excluded ? 1 : 0).match(/\\[\\, -]|./gsu) ?? []) {
    const value = values.at(-1) as string
    if (token === ',') values.push('')
    else if (/^\s$/u.test(token)) blanks += token
    else values[values.length - 1] = value + (value && blanks) + (token.length > 1 ? token.replace('\\', '') : token)
    if (!/^\s$/u.test(token)) blanks = ''
  }
  return { values: values.filter((value) => value !== ''), excluded }
}

/** The same of one parameter, with a limit; undefined when it narrows nothing. */
export function readFilter(parameter: string, text: string | undefined) {
  const { values, excluded } = parseFilter(text ?? '')
  if (values.length > mostValues) {
    throw invalid(`\`${parameter}\` in the query must have at most ${mostValues} values, not ${values.length}.`)
  }
  return values.length > 0 ? { values, excluded } : undefined
}

/** The condition of a query: the workspace first, every value bound by name, none in the text. */
export function whereOf(workspaceId: string, period: Period, filter: EventFilter, kind: EventKind = 'clicks'): Where {
  const values: Record<string, unknown> = { workspaceId, from: period.from.getTime(), to: period.to.getTime() }
  const conditions = [
    'workspace_id = {workspaceId:String}',
    'timestamp >= fromUnixTimestamp64Milli({from:Int64})',
    'timestamp < fromUnixTimestamp64Milli({to:Int64})',
    ...botCondition[filter.bots ?? 'exclude'],
    ...filterConditions(filter, kind, values),
  ]
  return { text: conditions.join('\n  AND '), values }
}

/** Without the workspace, the period and bots: all that has to be true of a bucket within them. */
export function filterConditions(filter: EventFilter, kind: EventKind, values: Record<string, unknown>): string[] {
  const conditions: string[] = []
  for (const [parameter, column] of Object.entries(eventColumns)) {
    const wanted = readFilter(parameter, filter[parameter as keyof typeof eventColumns])
    if (!wanted) continue
    values[parameter] = wanted.values
    conditions.push(`${column} ${wanted.excluded ? 'NOT IN' : 'IN'} {${parameter}:Array(String)}`)
  }
  for (const parameter of unassigned) {
    if (readFilter(parameter, filter[parameter])?.excluded === false) conditions.push('false')
  }
  if (filter.qr !== undefined) conditions.push(`trigger = '${filter.qr ? 'qr' : 'link'}'`)
  conditions.push(...conversionConditions(filter, kind, values))
  for (const [index, { numbers, excluded }] of (filter.linkNumbers ?? []).entries()) {
    values[`links${index}`] = numbers
    conditions.push(`link_number ${excluded ? 'NOT IN' : 'IN'} {links${index}:Array(UInt64)}`)
  }
  return [...conditions, ...linkConditions(filter, values)]
}

/** A refund is an event of its own among the sales, so that what is listed adds up to what is counted. */
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
  // Read for clicks too, which have none: a mistake in it is one for every kind of event.
  const ofMetadata = filter.query?.trim() ? metadataCondition(filter.query, kind === 'clicks' ? {} : values) : undefined
  if (ofMetadata && kind !== 'clicks') conditions.push(ofMetadata)
  return conditions
}

/** What is excluded leaves events in that have no link, or one whose attributes are not known yet. */
function linkConditions(filter: EventFilter, values: Record<string, unknown>): string[] {
  const included: string[] = []
  const excluded: string[] = []
  for (const [parameter, column] of Object.entries(linkColumns)) {
    const text = filter[parameter as keyof typeof linkColumns]
    const wanted = readFilter(parameter, parameter === 'domain' ? text?.toLowerCase() : text)
    if (!wanted) continue
    values[parameter] = wanted.values
    const conditions = wanted.excluded ? excluded : included
    conditions.push(`${column} IN {${parameter}:Array(String)}`)
  }
  const tags = readFilter('tagId', filter.tagId) ?? readFilter('tagIds', filter.tagIds)
  if (tags) {
    values.tagIds = tags.values
    const conditions = tags.excluded ? excluded : included
    conditions.push('hasAny(tag_ids, {tagIds:Array(String)})')
  }
  if (filter.root !== undefined) included.push(filter.root ? 'is_root' : 'NOT is_root')
  return [
    ...(included.length > 0 ? [`link_number IN (${linksWith(included.join(' AND '))})`] : []),
    ...(excluded.length > 0 ? [`link_number NOT IN (${linksWith(`(${excluded.join(' OR ')})`)})`] : []),
  ]
}

function linksWith(condition: string): string {
  return `SELECT link_number FROM link_attributes FINAL WHERE workspace_id = {workspaceId:String} AND ${condition}`
}
