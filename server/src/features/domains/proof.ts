import type { Config } from '../../platform/config.ts'
import { type Dns, openDns } from '../../platform/dns.ts'
import { randomText } from '../../platform/ids.ts'
import { proofs, textRecordName } from './records.ts'
import type { DomainRow } from './store.ts'

export type Finding = { verified: boolean; result: string }
type Owned = Pick<DomainRow, 'workspace_id' | 'slug'>

// Limits how many CNAME records are followed, because they may loop.
const longestChain = 8

/**
 * Checks by DNS whether the workspace controls this domain. When another workspace has a parent domain or subdomain,
 * that workspace may have set the CNAME or address record: then only the TXT record counts.
 */
export async function findProof(config: Config, domain: Owned, isRelated = false): Promise<Finding> {
  const dns = openDns(config.DNS_SERVERS)
  const proofs = isRelated ? [textProof] : [textProof, aliasProof, addressProof]
  const findings = await Promise.all(proofs.map((ask) => ask(dns, config, domain).catch(silence)))
  const verified = findings.find((finding) => finding?.verified)
  if (verified) return verified
  const results = findings.flatMap((finding) => (finding ? [finding.result] : []))
  if (isRelated) results.push('another workspace has a parent domain or subdomain, so a TXT record is required')
  return { verified: false, result: [...new Set(results)].join('; ') }
}

/** Whether DNS has the domain's TXT record with this workspace's secret value. */
export async function hasTextProof(config: Config, domain: Owned): Promise<boolean> {
  const { verified } = await textProof(openDns(config.DNS_SERVERS), config, domain).catch(silence)
  return verified
}

async function textProof(dns: Dns, config: Config, { workspace_id, slug }: Owned): Promise<Finding> {
  const name = textRecordName(slug)
  const texts = await dns.texts(name)
  const accepted = proofs(config.ENCRYPTION_KEYS, workspace_id, slug)
  if (texts.some((text) => accepted.includes(text.trim()))) return { verified: true, result: 'verified by TXT' }
  const result = texts.length > 0 ? `TXT record ${name} has another value` : `no TXT record ${name} yet`
  return { verified: false, result }
}

async function aliasProof(dns: Dns, config: Config, { slug }: Owned): Promise<Finding | undefined> {
  if (!config.DOMAIN_CNAME) return undefined
  if (!(await isAlias(dns, slug, config.DOMAIN_CNAME))) {
    return { verified: false, result: `${slug} has no CNAME record to ${config.DOMAIN_CNAME}` }
  }
  if (await isAlias(dns, neighbour(slug), config.DOMAIN_CNAME)) return wildcard(slug)
  return { verified: true, result: 'verified by CNAME' }
}

/** Whether the name leads to the target, directly or through other CNAME records. */
export async function isAlias(dns: Dns, slug: string, target: string): Promise<boolean> {
  let name = slug
  for (let hop = 0; hop < longestChain; hop++) {
    const [next] = await dns.aliases(name)
    if (next === target) return true
    if (next === undefined) break
    name = next
  }
  return false
}

/** Verifies a domain by its A and AAAA records: all must be ours, or some visitors would reach another server. */
async function addressProof(dns: Dns, { DOMAIN_ADDRESSES }: Config, { slug }: Owned): Promise<Finding | undefined> {
  if (DOMAIN_ADDRESSES.length === 0) return undefined
  const found = await dns.addresses(slug)
  const others = found.filter((address) => !DOMAIN_ADDRESSES.includes(address))
  if (found.length === 0 || others.length > 0) {
    const result = found.length > 0 ? `${slug} has the foreign address ${others[0]}` : `${slug} has no address`
    return { verified: false, result }
  }
  const beside = await dns.addresses(neighbour(slug))
  if (beside.some((address) => DOMAIN_ADDRESSES.includes(address))) return wildcard(slug)
  return { verified: true, result: 'verified by address' }
}

/** A random sibling of a domain name: DNS resolves it only through a wildcard record. */
function neighbour(slug: string): string {
  return slug.replace(/^[^.]+/, `tributary-${randomText(20).toLowerCase()}`)
}

/** A wildcard record proves nothing: it would verify any name below it, for any workspace. */
function wildcard(slug: string): Finding {
  return { verified: false, result: `${slug} resolves through a wildcard record, so a TXT record is required` }
}

function silence(error: Error): Finding {
  return { verified: false, result: `DNS did not answer: ${error.message}` }
}
