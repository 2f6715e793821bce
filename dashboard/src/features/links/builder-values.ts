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
}
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
}

export function linkValues(link: Link): BuilderValues {
  const texts = ['folderId', 'comments', 'password', 'expiredUrl', ...utmNames] as const
  return {
    ...blankValues,
    ...Object.fromEntries(texts.map((name) => [name, link[name] ?? ''])),
    url: link.url,
    domain: link.domain,
    key: link.key,
    tagIds: link.tags?.map(({ id }) => id) ?? [],
    expiresAt: link.expiresAt,
    trackConversion: link.trackConversion,
  }
}

type NewLink = NonNullable<OperationInput<'createLink'>['body']>
type LinkPatch = NonNullable<OperationInput<'updateLink'>['body']>

/** The body that creates the link; empty fields are left out. */
export function newLinkBody(values: BuilderValues): NewLink {
  const filled = Object.entries(values).filter(([, value]) => value !== '' && !(Array.isArray(value) && !value.length))
  return { url: withScheme(values.url), ...Object.fromEntries(filled.filter(([name]) => name !== 'url')) } as NewLink
}

/** The body that changes a link: only what differs, with null for what was emptied. */
export function linkPatchBody(before: BuilderValues, after: BuilderValues): LinkPatch {
  const changed = (Object.keys(after) as FieldName[]).filter((name) => String(after[name]) !== String(before[name]))
  return Object.fromEntries(
    changed.map((name) => [name, name === 'url' ? withScheme(after.url) : after[name] === '' ? null : after[name]]),
  )
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
