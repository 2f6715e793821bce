import {
  anything,
  boolean,
  bounded,
  choice,
  defaulting,
  deprecated,
  each,
  type Field,
  list,
  map,
  number,
  object,
  optional,
  orNull,
  ours,
  type Shape,
  text,
} from './notation.ts'

const short = (most: number): Field => bounded(text, { maxLength: most })
const destination = short(32_000)
const free = (most: number) => optional(orNull(ours(text, { maxLength: most })))
const flag = optional(boolean)

const linkSettings: Shape = {
  externalId: optional(orNull(bounded(text, { minLength: 1, maxLength: 255 }))),
  tenantId: optional(orNull(short(255))),
  programId: free(255),
  partnerId: free(255),
  trackConversion: flag,
  archived: flag,
  tagIds: optional(anything),
  tagNames: optional(anything),
  folderId: free(255),
  comments: free(10_000),
  expiresAt: free(100),
  expiredUrl: optional(orNull(destination)),
  password: free(190),
  proxy: flag,
  title: free(500),
  description: free(1_000),
  image: free(32_000),
  video: free(32_000),
  rewrite: flag,
  ios: optional(orNull(destination)),
  android: optional(orNull(destination)),
  geo: optional(orNull(map(destination))),
  doIndex: flag,
  ...each('utm_source utm_medium utm_campaign utm_term utm_content ref', free(255)),
  testVariants: optional(orNull(bounded(list(object('NewTestVariant')), { minItems: 2, maxItems: 4 }))),
  testStartedAt: free(100),
  testCompletedAt: free(100),
  publicStats: deprecated(flag),
  tagId: deprecated(free(255)),
  webhookIds: deprecated(optional(orNull(ours(list(text), { maxItems: 100 })))),
}

const newLink: Shape = {
  url: destination,
  domain: optional(short(190)),
  key: optional(short(190)),
  keyLength: optional(bounded(number, { minimum: 3, maximum: 190 })),
  prefix: optional(ours(text, { maxLength: 190 })),
  ...linkSettings,
}
const { keyLength: _keyLength, prefix: _prefix, ...patched } = newLink
const linkPatch: Shape = { ...patched, url: optional(destination) }
const { domain: _domain, key: _key, externalId: _externalId, ...bulkPatch } = linkPatch

const tagInput: Shape = {
  name: optional(bounded(text, { minLength: 1, maxLength: 50 })),
  color: optional(choice(...'red yellow green blue purple brown gray pink'.split(' '))),
  tag: deprecated(optional(ours(bounded(text, { minLength: 1 }), { maxLength: 50 }))),
}

const domainSettings: Shape = {
  expiredUrl: optional(orNull(destination)),
  notFoundUrl: optional(orNull(destination)),
  archived: flag,
  placeholder: optional(orNull(short(100))),
  logo: free(100_000),
  assetLinks: free(100_000),
  appleAppSiteAssociation: free(100_000),
}
const host = bounded(text, { minLength: 1, maxLength: 190 })

const person: Shape = {
  customerName: optional(orNull(short(100))),
  customerEmail: optional(orNull(bounded(text, { maxLength: 100, format: 'email' }))),
  customerAvatar: free(2_000),
}
const customerExternalId = bounded(text, { minLength: 1, maxLength: 100 })
const metadata = optional(orNull(map(anything)))

/** Request bodies by schema name in the OpenAPI document. Our additions to the SDK are in `bodyAdditions`. */
export const bodies: Record<string, Shape> = {
  NewLink: newLink,
  LinkPatch: linkPatch,
  BulkLinkPatch: bulkPatch,
  BulkLinkUpdate: {
    linkIds: optional(bounded(list(text), { maxItems: 100 })),
    externalIds: optional(bounded(list(text), { maxItems: 100 })),
    data: object('BulkLinkPatch'),
  },
  NewTestVariant: { url: destination, percentage: bounded(number, { minimum: 10, maximum: 90 }) },
  NewTag: tagInput,
  TagPatch: tagInput,
  NewFolder: {
    name: ours(short(190), { minLength: 1 }),
    description: optional(orNull(short(500))),
    accessLevel: defaulting(orNull(choice('write', 'read')), 'write'),
  },
  FolderPatch: {
    name: optional(ours(short(190), { minLength: 1 })),
    description: optional(orNull(short(500))),
    accessLevel: optional(orNull(choice('write', 'read'))),
  },
  NewDomain: { slug: host, ...domainSettings },
  DomainPatch: { slug: optional(host), ...domainSettings },
  DomainRegistrationRequest: { domain: ours(bounded(text, { minLength: 1 }), { maxLength: 190 }) },
  NewCustomer: {
    externalId: ours(text, { minLength: 1, maxLength: 100 }),
    email: optional(orNull(bounded(ours(text, { maxLength: 100 }), { format: 'email' }))),
    name: free(100),
    avatar: free(2_000),
  },
  NewTrackedCustomer: { customerId: ours(text, { minLength: 1, maxLength: 100 }), ...person },
  NewLead: {
    clickId: ours(defaulting(text, ''), { maxLength: 200 }),
    eventName: bounded(text, { minLength: 1, maxLength: 255 }),
    customerExternalId,
    ...person,
    mode: defaulting(choice('async', 'wait', 'deferred'), 'async'),
    eventQuantity: optional(orNull(ours(number, { minimum: 1, maximum: 100 }))),
    metadata,
  },
  NewSale: {
    customerExternalId,
    amount: ours(bounded(number, { minimum: 0 }), { maximum: 1_000_000_000_000 }),
    currency: defaulting(text, 'usd'),
    eventName: ours(defaulting(short(255), 'Purchase'), { minLength: 1 }),
    paymentProcessor: defaulting(
      choice(...'stripe shopify polar paddle apple revenuecat lemonsqueezy dub custom'.split(' ')),
      'custom',
    ),
    invoiceId: optional(orNull(ours(text, { minLength: 1, maxLength: 255 }))),
    metadata,
    leadEventName: free(255),
    clickId: free(200),
    ...person,
  },
}

export const bodyAdditions: Record<string, string[]> = {
  NewLink: ['disabledAt'],
  LinkPatch: ['disabledAt'],
  BulkLinkPatch: ['disabledAt'],
  DomainPatch: ['primary'],
}
