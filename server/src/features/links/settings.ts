import type { LinkPatch } from '@tributary/contract/links'
import { casual } from 'chrono-node/en'
import type { Config } from '../../platform/config.ts'
import { invalid } from '../../platform/errors.ts'
import { withParameters } from '../../platform/query-string.ts'
import type { LinkColumns, LinkSelector } from './store.ts'
import { imageProblem, readUtm, urlProblem, utmNames, webUrlProblem } from './url.ts'

export type Settings = Omit<LinkPatch, 'domain' | 'key'>

const plainColumns = {
  trackConversion: 'track_conversion',
  archived: 'archived',
  publicStats: 'public_stats',
  proxy: 'proxy',
  rewrite: 'rewrite',
  doIndex: 'do_index',
  tenantId: 'tenant_id',
  comments: 'comments',
  title: 'title',
  description: 'description',
} as const

const destinations = { expiredUrl: 'expired_url', ios: 'ios', android: 'android' } as const
const media = { image: 'image', video: 'video' } as const
export const instants = {
  expiresAt: 'expires_at',
  disabledAt: 'disabled_at',
  testStartedAt: 'test_started_at',
  testCompletedAt: 'test_completed_at',
} as const

const isoDate = /^\d{4}-\d{2}-\d{2}$/
const isoInstant = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?$/i

/** Validates link settings and returns the columns that they change. `url` is the current destination. */
export function linkColumns(input: Settings, url: string, now: Date): Partial<LinkColumns> {
  const columns: Record<string, unknown> = {}
  for (const [field, column] of entries(plainColumns)) if (input[field] !== undefined) columns[column] = input[field]
  for (const [field, column] of entries(destinations)) {
    if (input[field] !== undefined) columns[column] = checked(field, input[field], urlProblem)
  }
  for (const [field, column] of entries(media)) {
    const findProblem = field === 'image' ? imageProblem : webUrlProblem
    if (input[field] !== undefined) columns[column] = checked(field, input[field], findProblem)
  }
  for (const [field, column] of entries(instants)) {
    if (input[field] !== undefined) columns[column] = moment(field, input[field], now)
  }
  if (input.folderId !== undefined) columns.folder_id = input.folderId || null
  if (input.externalId !== undefined) columns.external_id = input.externalId || null
  if (input.webhookIds !== undefined) columns.webhook_ids = [...new Set(input.webhookIds)]
  if (input.geo !== undefined) columns.geo = normalizeGeo(input.geo)
  if (input.testVariants !== undefined) columns.test_variants = presentVariants(input.testVariants)
  return { ...columns, ...destinationColumns(input, url) }
}

/** The columns of the destination URL with the input's UTM parameters, and of the UTM parameters themselves. */
export function destinationColumns(input: Settings, url: string): Partial<LinkColumns> {
  const parameters = Object.fromEntries([...utmNames, 'ref' as const].map((name) => [name, input[name]]))
  const changes = input.url !== undefined || Object.values(parameters).some((value) => value !== undefined)
  if (!changes) return {}
  requireUrl('url', url, urlProblem)
  const target = withParameters(url, parameters)
  return { url: target, ...readUtm(target) }
}

const externalPrefix = 'ext_'

/** Removes the prefix `ext_` from an external id in a query. */
export function parseExternalId(text: string): string {
  return text.startsWith(externalPrefix) ? text.slice(externalPrefix.length) : text
}

/** Parses a link's name in a path or query: its id, or `ext_` and its external id. */
export function parseLinkName(name: string): LinkSelector {
  return name.startsWith(externalPrefix) ? { externalId: parseExternalId(name) } : { id: name }
}

function requireUrl(field: string, url: string, findProblem: (url: string) => string | undefined): void {
  const problem = findProblem(url)
  if (problem) throw invalid(`\`${field}\` in the body ${problem}.`)
}

/** Validates a URL field of a link; an empty string becomes null. */
function checked(field: string, url: string | null, findProblem: (url: string) => string | undefined): string | null {
  if (url) requireUrl(field, url, findProblem)
  return url || null
}

function moment(field: string, text: string | null, now: Date): Date | null {
  if (text === null || text === '') return null
  const instant = parseInstant(text, now)
  if (!instant) {
    throw invalid(
      `\`${field}\` in the body is not a date. Write it as 2030-01-31, as 2030-01-31T12:00:00Z or as "in 3 days".`,
    )
  }
  // A phrase such as "in 9000 years" can exceed PostgreSQL's range.
  const year = instant.getUTCFullYear()
  if (year < 1 || year > 9_999) throw invalid(`\`${field}\` in the body must be between the years 1 and 9999.`)
  return instant
}

/** Parses a date, a timestamp (UTC by default) or an English phrase; undefined when the text is invalid. */
function parseInstant(text: string, now: Date): Date | undefined {
  const trimmed = text.trim()
  if (isoDate.test(trimmed)) return existing(`${trimmed}T00:00:00Z`, trimmed)
  if (isoInstant.test(trimmed)) {
    const zoned = /(Z|[+-]\d{2}:?\d{2})$/i.test(trimmed) ? trimmed : `${trimmed}Z`
    return existing(zoned.replace(' ', 'T'), trimmed.slice(0, 10))
  }
  if (!/[a-z]/i.test(trimmed)) return undefined
  return casual.parseDate(trimmed, { instant: now, timezone: 0 }, { forwardDate: true }) ?? undefined
}

/** Parses a date; undefined for days such as 30 February, which JavaScript would turn into 1 or 2 March. */
function existing(iso: string, day: string): Date | undefined {
  const date = new Date(iso)
  if (Number.isNaN(date.getTime())) return undefined
  const asWritten = new Date(`${day.slice(0, 10)}T00:00:00Z`)
  return asWritten.toISOString().startsWith(day.slice(0, 10)) ? date : undefined
}

function normalizeGeo(geo: Record<string, string> | null): Record<string, string> | null {
  if (geo === null || Object.keys(geo).length === 0) return null
  const pairs = Object.entries(geo).map(([country, url]) => {
    if (!/^[a-z]{2}$/i.test(country))
      throw invalid(`\`geo\` in the body must have two-letter country codes, not ${JSON.stringify(country)}.`)
    return [country.toUpperCase(), checked(`geo.${country}`, url, urlProblem) ?? ''] as const
  })
  return Object.fromEntries(pairs.filter(([, url]) => url !== ''))
}

function presentVariants(variants: NonNullable<Settings['testVariants']> | null) {
  for (const [index, variant] of (variants ?? []).entries())
    requireUrl(`testVariants[${index}].url`, variant.url, webUrlProblem)
  return variants
}

function entries<T extends object>(object: T): [keyof T, T[keyof T] & string][] {
  return Object.entries(object) as [keyof T, T[keyof T] & string][]
}

/** The link columns that count towards LINK_MAX_BYTES, with their names in the API. */
const sizedFields: Partial<Record<keyof LinkColumns, string>> = {
  url: 'url',
  geo: 'geo',
  test_variants: 'testVariants',
  ios: 'ios',
  android: 'android',
  expired_url: 'expiredUrl',
  image: 'image',
  video: 'video',
  title: 'title',
  description: 'description',
  comments: 'comments',
  external_id: 'externalId',
  tenant_id: 'tenantId',
  webhook_ids: 'webhookIds',
}

/**
 * Throws when a link is larger than LINK_MAX_BYTES in total, and names its largest field. A link that was larger before
 * the change may stay larger, but not grow.
 */
export function requireSmallLink(
  { LINK_MAX_BYTES: limit }: Pick<Config, 'LINK_MAX_BYTES'>,
  link: Partial<LinkColumns>,
  before: Partial<LinkColumns> = {},
): void {
  const sizes = measure(link)
  const total = sum(sizes)
  if (total <= limit || total <= sum(measure(before))) return
  const [name, bytes] = sizes.reduce((largest, field) => (field[1] > largest[1] ? field : largest))
  throw invalid(
    `The link has ${total} bytes in total, more than the ${limit} of LINK_MAX_BYTES. Shorten \`${name}\` in the body, which has ${bytes}.`,
  )
}

function measure(link: Partial<LinkColumns>): [name: string, bytes: number][] {
  return Object.entries(sizedFields).map(([column, name]) => {
    const value = link[column as keyof LinkColumns]
    return [name, value === null || value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value))]
  })
}

function sum(sizes: [string, number][]): number {
  return sizes.reduce((total, [, bytes]) => total + bytes, 0)
}
