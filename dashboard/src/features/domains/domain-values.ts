import type { OperationInput } from '@tributary/contract/client'
import type { Domain } from './queries.ts'

/** What the fields of the form contain; an empty text is no value. */
export type DomainValues = Record<
  'slug' | 'rootUrl' | 'notFoundUrl' | 'expiredUrl' | 'placeholder' | 'assetLinks' | 'appleAppSiteAssociation',
  string
>
export type DomainField = keyof DomainValues

export const blankValues: DomainValues = {
  slug: '',
  rootUrl: '',
  notFoundUrl: '',
  expiredUrl: '',
  placeholder: '',
  assetLinks: '',
  appleAppSiteAssociation: '',
}
export const domainFields = Object.keys(blankValues) as DomainField[]

/** The form of a domain. The address of the bare domain is that of the link `_root`. */
export function domainValues(domain: Domain, rootUrl = ''): DomainValues {
  const { slug, notFoundUrl, expiredUrl, placeholder, assetLinks, appleAppSiteAssociation } = domain
  return {
    slug,
    rootUrl,
    notFoundUrl: notFoundUrl ?? '',
    expiredUrl: expiredUrl ?? '',
    placeholder: placeholder ?? '',
    assetLinks: assetLinks ?? '',
    appleAppSiteAssociation: appleAppSiteAssociation ?? '',
  }
}

type NewDomain = NonNullable<OperationInput<'createDomain'>['body']>
type DomainPatch = NonNullable<OperationInput<'updateDomain'>['body']>

/** The body that adds the domain; empty fields are left out. */
export function newDomainBody({ rootUrl, ...values }: DomainValues): NewDomain {
  const filled = Object.entries(values).map(([name, value]) => [name, cleanValue(name, value)])
  return Object.fromEntries(filled.filter(([, value]) => value !== '')) as NewDomain
}

/** The body that changes a domain: only what differs, with null for what was emptied. */
export function domainPatchBody(before: DomainValues, { rootUrl, ...after }: DomainValues): DomainPatch {
  const changed = Object.entries(after).filter(([name, value]) => value !== before[name as DomainField])
  return Object.fromEntries(changed.map(([name, value]) => [name, cleanValue(name, value) || null]))
}

/** Fields that somebody else changed since the form was opened. */
export function changedElsewhere(before: DomainValues, now: DomainValues): DomainField[] {
  return domainFields.filter((name) => before[name] !== now[name])
}

function cleanValue(name: string, value: string): string {
  const text = value.trim()
  if (name === 'slug') return cleanHost(text)
  return name.endsWith('Url') ? withScheme(text) : text
}

/** A host as people paste it: https://go.example.com/ is go.example.com. */
export function cleanHost(text: string): string {
  return text.replace(/^https?:\/\//i, '').replace(/[/?#].*$/, '')
}

/** An address as people type it: acme.com/a is https://acme.com/a. */
export function withScheme(url: string): string {
  return /^[a-z][a-z0-9+.-]*:(?!\d)/i.test(url) || url === '' ? url : `https://${url}`
}
