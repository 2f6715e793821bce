import type { OperationInput } from '@tributary/contract/client'
import type { Link } from './queries.ts'

export const utmNames = ['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content'] as const
export type UtmName = (typeof utmNames)[number]

/** What the fields of the builder contain; an empty text is no value. */
export type BuilderValues = Record<UtmName, string> & {
  url: string
  domain: string
  key: string
  folderId: string
  tagIds: string[]
  comments: string
  password: string
  expiresAt: string
  expiredUrl: string
  trackConversion: boolean
  ios: string
  android: string
  /** Destinations by country code. */
  geo: Record<string, string>
  testVariants: Variant[]
  testCompletedAt: string
  proxy: boolean
  title: string
  description: string
  image: string
  rewrite: boolean
  doIndex: boolean
  externalId: string
  tenantId: string
  webhookIds: string[]
}
export type Variant = { url: string; percentage: number }
export type FieldName = keyof BuilderValues

/** The state of the form, which each of its parts gets. */
export type BuilderForm = {
  values: BuilderValues
  set(changed: Partial<BuilderValues>): void
  errors: Partial<Record<FieldName, string>>
  /** Whether an existing link is edited. */
  isEdit: boolean
}

export const blankValues: BuilderValues = {
  url: '',
  domain: '',
  key: '',
  folderId: '',
  tagIds: [],
  comments: '',
  utm_source: '',
  utm_medium: '',
  utm_campaign: '',
  utm_term: '',
  utm_content: '',
  password: '',
  expiresAt: '',
  expiredUrl: '',
  trackConversion: false,
  ios: '',
  android: '',
  geo: {},
  testVariants: [],
  testCompletedAt: '',
  proxy: false,
  title: '',
  description: '',
  image: '',
  rewrite: false,
  doIndex: false,
  externalId: '',
  tenantId: '',
  webhookIds: [],
}

const texts = [
  'folderId',
  'comments',
  'password',
  'expiredUrl',
  'ios',
  'android',
  'title',
  'description',
  'image',
  'externalId',
  'tenantId',
  ...utmNames,
] as const
const unchanged = ['url', 'domain', 'key', 'expiresAt', 'testCompletedAt', 'webhookIds'] as const
const switches = ['trackConversion', 'proxy', 'rewrite', 'doIndex'] as const

export function linkValues(link: Link): BuilderValues {
  return {
    ...blankValues,
    ...Object.fromEntries(texts.map((name) => [name, link[name] ?? ''])),
    ...Object.fromEntries([...unchanged, ...switches].map((name) => [name, link[name]])),
    tagIds: link.tags?.map(({ id }) => id) ?? [],
    geo: link.geo ?? {},
    testVariants: link.testVariants ?? [],
  }
}

type NewLink = NonNullable<OperationInput<'createLink'>['body']>
type LinkPatch = NonNullable<OperationInput<'updateLink'>['body']>

/** The body that creates the link; empty fields are left out. */
export function newLinkBody(values: BuilderValues): NewLink {
  const sent = sentValues(values)
  const filled = Object.entries(sent).filter(([name, value]) => value !== false && !isEmpty(value) && name !== 'url')
  return { url: sent.url, ...Object.fromEntries(filled) }
}

/** The body that changes a link: only what differs, with null for what was emptied. */
export function linkPatchBody(before: BuilderValues, after: BuilderValues): LinkPatch {
  const sent = sentValues(after)
  const changed = (Object.keys(after) as FieldName[]).filter(
    (name) => JSON.stringify(after[name]) !== JSON.stringify(before[name]),
  )
  const isList = (name: FieldName) => name === 'tagIds' || name === 'webhookIds'
  return Object.fromEntries(changed.map((name) => [name, isEmpty(sent[name]) && !isList(name) ? null : sent[name]]))
}

/** The values as the server takes them: destinations with their scheme, and no country without one. */
function sentValues(values: BuilderValues): BuilderValues {
  const countries = Object.entries(values.geo).filter(([, url]) => url.trim() !== '')
  return {
    ...values,
    url: withScheme(values.url),
    expiredUrl: withScheme(values.expiredUrl),
    ios: withScheme(values.ios),
    android: withScheme(values.android),
    image: withScheme(values.image),
    geo: Object.fromEntries(countries.map(([country, url]) => [country, withScheme(url)])),
    testVariants: values.testVariants.map(({ url, percentage }) => ({ url: withScheme(url), percentage })),
  }
}

function isEmpty(value: unknown): boolean {
  return value === '' || (typeof value === 'object' && value !== null && Object.keys(value).length === 0)
}

/** A destination as people type it: acme.com/a is https://acme.com/a. */
export function withScheme(url: string): string {
  const text = url.trim()
  return /^[a-z][a-z0-9+.-]*:(?!\d)/i.test(text) || text === '' ? text : `https://${text}`
}

/** The destination with its UTM parameters, as visitors get it. */
export function addUtm(url: string, values: Pick<BuilderValues, UtmName>): string {
  const address = URL.parse(withScheme(url))
  if (!address) return url
  for (const name of utmNames) if (values[name].trim()) address.searchParams.set(name, values[name].trim())
  return address.href
}

/** Which field an error of the server is about: it names the field in backticks, and a conflict is about the slug. */
export function errorField(message: string, status: number): FieldName | undefined {
  const named = /^`(\w+)/.exec(message)?.[1]
  if (named && named in blankValues) return named as FieldName
  return status === 409 && /taken/.test(message) ? 'key' : undefined
}

const draftName = (slug: string) => `tributary_draft_${slug}`

/** Stores what was typed for this tab alone; never a password. */
export function storeDraft(slug: string, values: BuilderValues | undefined): void {
  if (!values) sessionStorage.removeItem(draftName(slug))
  else sessionStorage.setItem(draftName(slug), JSON.stringify({ ...values, password: '' }))
}

export function readDraft(slug: string): BuilderValues | undefined {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(draftName(slug)) ?? 'null')
    return stored === null ? undefined : { ...blankValues, ...(stored as BuilderValues) }
  } catch {
    return undefined
  }
}
