import type { EventFilters } from '@tributary/contract/events'
import { invalid } from '../../platform/errors.ts'

/** The values of a query parameter; `excluded` matches all other values. */
export type Values = { values: string[]; excluded: boolean }
/** Links that query parameters refer to. With `name`, it is one link, which must exist. */
export type NamedLinks = {
  by: { ids: string[] } | { externalId: string } | { domain: string; key: string }
  excluded: boolean
  name?: string
}
export type EventFilter = Partial<Pick<EventFilters, 'qr' | 'root' | 'customerId' | 'saleType' | 'query'>> & {
  lists?: Partial<Record<ListName, Values>>
  /** Link numbers to include or exclude. */
  linkNumbers?: { numbers: bigint[]; excluded: boolean }[]
  /** Folders whose events the caller may not read. Required, so that no reader forgets it. */
  hiddenFolders: string[]
  /** Whether clicks by bots match; `exclude` by default. */
  bots?: 'exclude' | 'include' | 'only'
}
export type FilterQuery = Partial<EventFilters> & Pick<EventFilter, 'bots'>
export type ListName = (typeof listNames)[number]

const listNames = [
  ...(['country', 'city', 'region', 'continent', 'device', 'browser', 'os', 'trigger'] as const),
  ...(['referer', 'refererUrl', 'url'] as const),
  ...(['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content'] as const),
  ...(['partnerTagId', 'groupId', 'domain', 'tenantId', 'folderId', 'partnerId', 'tagIds'] as const),
]
const mostValues = 1_000

/** Parses the filter parameters of a query. The caller looks up the returned links. */
export function parseFilter(query: FilterQuery): { filter: Omit<EventFilter, 'hiddenFolders'>; links: NamedLinks[] } {
  const links: NamedLinks[] = []
  const ids = parseList('linkId', query.linkId)
  if (ids) links.push({ by: { ids: ids.values }, excluded: ids.excluded })
  const { externalId, key } = query
  if (externalId) {
    if (!externalId.startsWith('ext_')) throw invalid('`externalId` in the query must start with `ext_`.')
    links.push({ by: { externalId }, excluded: false, name: externalId })
  }
  if (key) {
    const domain = parseOneDomain(query.domain)
    links.push({ by: { domain, key }, excluded: false, name: `${domain}/${key}` })
  }
  const texts = { ...query, domain: key ? undefined : query.domain?.toLowerCase() }
  const lists: NonNullable<EventFilter['lists']> = {}
  for (const name of listNames) {
    const list =
      name === 'tagIds'
        ? (parseList('tagId', query.tagId) ?? parseList(name, query.tagIds))
        : parseList(name, texts[name])
    if (list) lists[name] = list
  }
  const { qr, root, customerId, saleType, query: metadata, bots } = query
  return { filter: { lists, qr, root, customerId, saleType, query: metadata, bots }, links }
}

/** Parses a query parameter with a list of values. Undefined when it is empty. */
export function parseList(parameter: string, text: string | undefined): Values | undefined {
  const { values, excluded } = parseValues(text ?? '')
  if (values.length > mostValues) {
    throw invalid(`\`${parameter}\` in the query must have at most ${mostValues} values, not ${values.length}.`)
  }
  return values.length > 0 ? { values, excluded } : undefined
}

function parseOneDomain(text: string | undefined): string {
  const { values, excluded } = parseValues(text ?? '')
  const [domain] = values
  if (domain === undefined) throw invalid('`key` in the query must be used together with `domain`.')
  if (excluded || values.length > 1) {
    throw invalid('`domain` in the query must be one domain, not several or an excluded one, when `key` is given.')
  }
  return domain
}

/**
 * Parses a list of values separated by commas; a leading `-` excludes them. A backslash escapes a comma, a `-`, a
 * space or a backslash.
 */
export function parseValues(text: string): Values {
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
