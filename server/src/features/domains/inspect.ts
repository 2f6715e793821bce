import type { DomainStatus } from '@tributary/contract/domains'
import type { Config } from '../../platform/config.ts'
import { type Dns, openDns } from '../../platform/dns.ts'
import { OutboundError, readCertificate } from '../../platform/outbound.ts'
import { isAlias } from './proof.ts'
import { type DnsRecord, proofs, recordsFor } from './records.ts'
import type { DomainRow } from './store.ts'

type RecordStatus = DomainStatus['records'][number]['status']
/** What DNS and the host have now. */
export type Findings = {
  records: { type: DnsRecord['type']; value: string; found: string[]; status: RecordStatus }[]
  certificate: Omit<DomainStatus['certificate'], 'checkedAt'>
}
type Owned = Pick<DomainRow, 'workspace_id' | 'slug'>
type Found = { found: string[]; status: RecordStatus }

const mostValues = 10
const longestValue = 300
const certificateTimeoutMs = 4_000

/** Looks up each record that the domain should have, and its certificate. Takes a few seconds at most. */
export async function inspectDomain(config: Config, domain: Owned): Promise<Findings> {
  const dns = openDns(config.DNS_SERVERS)
  const records = recordsFor(config, domain.workspace_id, domain.slug)
  const [certificate, ...found] = await Promise.all([
    findCertificate(config, domain.slug),
    ...records.map((record) =>
      lookUp(dns, config, domain, record).catch((): Found => ({ found: [], status: 'unknown' })),
    ),
  ])
  return {
    certificate,
    records: records.map(({ type, value }, index) => ({ type, value, ...shorten(found[index] as Found) })),
  }
}

async function lookUp(dns: Dns, config: Config, { workspace_id, slug }: Owned, record: DnsRecord): Promise<Found> {
  if (record.type === 'TXT') {
    const accepted = proofs(config.ENCRYPTION_KEYS, workspace_id, slug)
    const found = (await dns.texts(record.name)).map((text) => text.trim())
    return judge(
      found,
      found.some((text) => accepted.includes(text)),
    )
  }
  if (record.type === 'CNAME') {
    const found = await dns.aliases(record.name)
    return judge(found, found.includes(record.value) || (await isAlias(dns, record.name, record.value)))
  }
  const isSameType = (address: string) => address.includes(':') === (record.type === 'AAAA')
  const found = (await dns.addresses(record.name)).filter(isSameType)
  return judge(found, found.includes(record.value))
}

function judge(found: string[], isCorrect: boolean): Found {
  return { found, status: isCorrect ? 'found' : found.length > 0 ? 'different' : 'missing' }
}

/** Others write these texts; PostgreSQL refuses some of their characters. */
function clean(text: string): string {
  return text
    .slice(0, longestValue)
    .replaceAll(/\p{Cc}/gu, '\uFFFD')
    .toWellFormed()
}

function shorten({ found, status }: Found): Found {
  return { found: found.slice(0, mostValues).map((value) => clean(value)), status }
}

async function findCertificate(config: Config, slug: string): Promise<Findings['certificate']> {
  const none = { issuer: null, expiresAt: null }
  try {
    const { issuer, validTo, problem } = await readCertificate(`https://${slug}/`, {
      timeoutMs: certificateTimeoutMs,
      allow: config,
    })
    const expiresAt = Number.isNaN(validTo.getTime()) ? null : validTo.toISOString()
    const read = { issuer: clean(issuer), expiresAt }
    if (problem === undefined) return { status: 'valid', ...read, problem: null }
    return { status: 'invalid', ...read, problem: `Browsers refuse the certificate: ${problem}.` }
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    return { status: 'none', ...none, problem: explain(error) }
  }
}

/** Says why there is no certificate, without details of the server's network. */
function explain({ reason }: OutboundError): string {
  if (reason === 'unresolvable') return 'The name has no address yet. Set the CNAME or address records first.'
  if (reason === 'timeout') return 'The host did not answer in time on port 443.'
  return 'The host does not answer with TLS on port 443. A certificate is obtained on the first visit after verification.'
}
