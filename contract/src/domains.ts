import { z } from 'zod'
import { booleanDefault, instant, listing, listParameter } from './common.ts'
import { operation, type PublicOperation } from './operation.ts'

const text = z.string().nullable()

export const domain = z
  .strictObject({
    id: z.string(),
    slug: z.string().describe('Host name.'),
    verified: z.boolean().describe('Whether DNS records prove that the domain is yours.'),
    primary: z.boolean(),
    archived: z.boolean(),
    placeholder: text,
    expiredUrl: text.describe('Destination of expired links on the domain.'),
    notFoundUrl: text.describe('Destination of short URLs without a link.'),
    logo: text,
    assetLinks: text.describe('Content of /.well-known/assetlinks.json.'),
    appleAppSiteAssociation: text.describe('Content of /.well-known/apple-app-site-association.'),
    createdAt: instant,
    updatedAt: instant,
    registeredDomain: z
      .strictObject({
        id: z.string(),
        autoRenewalDisabledAt: text,
        createdAt: instant,
        expiresAt: instant,
        renewalFee: z.number(),
      })
      .nullable(),
  })
  .meta({ id: 'Domain' })
export type Domain = z.infer<typeof domain>

const destination = z.string().max(32_000).nullable()
const slug = z.string().min(1).max(190).describe('Host name, such as go.example.com.')

const settings = {
  expiredUrl: destination.optional(),
  notFoundUrl: destination.optional(),
  archived: z.boolean().optional(),
  placeholder: z.string().max(100).nullable().optional(),
  logo: z.string().max(100_000).nullable().optional().describe('Logo in QR codes: URL or data URL of an image.'),
  assetLinks: z.string().max(100_000).nullable().optional().describe('JSON text.'),
  appleAppSiteAssociation: z.string().max(100_000).nullable().optional().describe('JSON text.'),
}

export const newDomain = z.object({ slug, ...settings }).meta({ id: 'NewDomain' })
export type NewDomain = z.infer<typeof newDomain>

export const domainPatch = z
  .object({
    slug: slug.optional(),
    ...settings,
    primary: z.boolean().optional().describe('True makes this the primary domain of the workspace.'),
  })
  .meta({ id: 'DomainPatch' })
export type DomainPatch = z.infer<typeof domainPatch>

// Maximum body size of domain requests; fits a logo and two association files.
const domainBodyLimit = 524_288

const recordStatuses = ['found', 'missing', 'different', 'unknown'] as const
const certificateStatuses = ['valid', 'invalid', 'none', 'unknown'] as const

export const domainStatus = z
  .strictObject({
    slug: z.string(),
    verified: z.boolean(),
    checkedAt: z.string().describe('Time of the last DNS check as ISO 8601, or empty before the first check.'),
    result: z.string().describe('Result of the last DNS check.'),
    routed: z
      .boolean()
      .nullable()
      .describe('Whether the CNAME or address records lead visitors here; null before the first lookup.'),
    nextCheckAt: z.string().nullable().describe('When DNS is checked again; null for a verified domain.'),
    records: z.array(
      z.strictObject({
        type: z.enum(['TXT', 'CNAME', 'A', 'AAAA']),
        name: z.string(),
        value: z.string(),
        purpose: z
          .enum(['ownership', 'routing'])
          .describe('`routing` records lead visitors here, and usually verify the domain, too.'),
        found: z.array(z.string()).describe('Values in DNS at the last lookup, at most ten.'),
        status: z.enum(recordStatuses).describe('`unknown` before the first lookup, or if DNS did not answer.'),
      }),
    ),
    certificate: z.strictObject({
      status: z.enum(certificateStatuses),
      issuer: z.string().nullable(),
      expiresAt: z.string().nullable(),
      problem: z.string().nullable().describe('What is wrong, and what to do.'),
      checkedAt: z.string().describe('Time of the last lookup as ISO 8601, or empty before the first one.'),
    }),
  })
  .meta({ id: 'DomainFindings' })
export type DomainStatus = z.infer<typeof domainStatus>

const params = z.object({ slug: z.string().describe('Host name of the domain.') })

export const listDomains = operation({
  id: 'listDomains',
  method: 'get',
  path: '/domains',
  summary: 'List domains',
  tag: 'Domains',
  scope: 'domains.read',
  query: z.object({
    archived: booleanDefault(false).describe('Whether to include archived domains.'),
    search: z.string().max(190).optional(),
    ...listing(50, ['createdAt', 'slug'], 'asc'),
  }),
  response: z.array(domain),
})
export type DomainsQuery = z.output<typeof listDomains.query>

export const createDomain = operation({
  id: 'createDomain',
  method: 'post',
  path: '/domains',
  summary: 'Add a domain',
  description:
    'The domain works at once and is verified when its DNS records are found. If another workspace has it, a TXT record transfers it to yours.',
  tag: 'Domains',
  scope: 'domains.write',
  body: newDomain,
  bodyLimit: domainBodyLimit,
  status: 201,
  response: domain,
})

export const updateDomain = operation({
  id: 'updateDomain',
  method: 'patch',
  path: '/domains/{slug}',
  summary: 'Update a domain',
  tag: 'Domains',
  scope: 'domains.write',
  params,
  body: domainPatch,
  bodyLimit: domainBodyLimit,
  response: domain,
})

export const deleteDomain = operation({
  id: 'deleteDomain',
  method: 'delete',
  path: '/domains/{slug}',
  summary: 'Delete a domain',
  description: 'Deletes the domain and every link on it. This cannot be undone.',
  tag: 'Domains',
  scope: 'domains.write',
  params,
  response: z.strictObject({ slug: z.string() }),
})

export const getDomainRecords = operation({
  id: 'getDomainRecords',
  method: 'get',
  path: '/domains/{slug}/records',
  summary: 'Get the DNS records of a domain',
  description:
    'Returns the DNS records to create at your DNS provider. Any one of these records verifies the domain. Links also need the address or CNAME record.',
  tag: 'Domains',
  scope: 'domains.read',
  params,
  response: domainStatus,
})

export const recheckDomain = operation({
  id: 'recheckDomain',
  method: 'post',
  path: '/domains/{slug}/check',
  summary: 'Check a domain now',
  description:
    'Looks up every DNS record and the certificate, and verifies the domain if the records prove it. Takes up to 5 seconds. A lookup of the last 5 seconds is returned again.',
  tag: 'Domains',
  scope: 'domains.read',
  params,
  response: domainStatus,
})

export const createDomainSetupPage = operation({
  id: 'createDomainSetupPage',
  method: 'post',
  path: '/domains/{slug}/setup-page',
  summary: 'Create a setup page for a domain',
  description:
    'Creates a public page for the person who manages the DNS: which records to set, and what is found now. The link works for 30 days and ends a former one.',
  tag: 'Domains',
  scope: 'domains.write',
  params,
  status: 201,
  response: z.strictObject({ url: z.url().describe('The link, which only this response has.'), expiresAt: instant }),
})

export const deleteDomainSetupPage = operation({
  id: 'deleteDomainSetupPage',
  method: 'delete',
  path: '/domains/{slug}/setup-page',
  summary: 'Delete the setup page of a domain',
  tag: 'Domains',
  scope: 'domains.write',
  params,
  response: z.strictObject({ slug: z.string() }),
})

export const getDomainSetupPage = {
  kind: 'public',
  id: 'getDomainSetupPage',
  method: 'get',
  path: '/domains/setup-page',
  summary: 'Show the setup page of a domain',
  description: 'Returns HTML for people. Requires no key, but the token of the link.',
  tag: 'Domains',
  query: z.object({ token: z.string().max(200).describe('The secret of the link.') }),
  contents: ['text/html'],
  requestsPerMinute: 60,
} as const satisfies PublicOperation

export const checkDomainStatus = operation({
  id: 'checkDomainStatus',
  method: 'get',
  path: '/domains/status',
  summary: 'Check whether domains can be added',
  description:
    'Returns whether domains are available: not verified by another workspace of this installation. Prices are absent, because this installation sells no domains.',
  tag: 'Domains',
  scope: 'domains.read',
  query: z.object({ domains: listParameter('Host names.', 100) }),
  response: z.array(
    z.strictObject({
      domain: z.string(),
      available: z.boolean(),
      premium: z.boolean().nullable(),
      prices: z.strictObject({ registration: z.number().nullable(), renewal: z.number().nullable() }).nullable(),
      price: text,
    }),
  ),
})

export const registerDomain = operation({
  id: 'registerDomain',
  method: 'post',
  path: '/domains/register',
  summary: 'Claim a domain',
  description: 'Adds the domain. This installation is not a registrar, so you must already own the domain.',
  tag: 'Domains',
  scope: 'domains.write',
  body: z.object({ domain: slug }).meta({ id: 'DomainRegistrationRequest' }),
  status: 201,
  response: z.strictObject({ domain: z.string(), status: z.string(), expiration: z.number().nullable() }),
})
