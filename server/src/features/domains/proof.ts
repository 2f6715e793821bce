import type { Config } from '../../platform/config.ts'
import { type Dns, openDns } from '../../platform/dns.ts'
import { randomText } from '../../platform/ids.ts'
import { proofs, textRecordName } from './records.ts'
import type { DomainRow } from './store.ts'

export type Finding = { verified: boolean; result: string }
type Owned = Pick<DomainRow, 'workspace_id' | 'slug'>

// A chain of aliases is short in valid DNS, and may loop otherwise.
const longestChain = 8

/**
 * Asks DNS whether the workspace controls this domain. When another workspace has a name above or below it, that
 * workspace may have set an alias or address: then only the TXT record counts.
 */
export async function findProof(config: Config, domain: Owned, isRelated = false): Promise<Finding> {
  const dns = openDns(config.DNS_SERVERS)
  const proofs = isRelated ? [textProof] : [textProof, aliasProof, addressProof]
  const findings = await Promise.all(proofs.map((ask) => ask(dns, config, domain).catch(silence)))
  const verified = findings.find((finding) => finding?.verified)
  if (verified) return verified
  const results = findings.flatMap((finding) => (finding ? [finding.result] : []))
  if (isRelated) results.push('another workspace has a name above or below it, so only the TXT record proves it')
  return { verified: false, result: [...new Set(results)].join('; ') }
}

/** Whether the TXT record exists that only this workspace knows. */
export async function hasTextProof(config: Config, domain: Owned): Promise<boolean> {
  const { verified } = await textProof(openDns(config.DNS_SERVERS), config, domain).catch(silence)
  return verified
}

async function textProof(dns: Dns, config: Config, { workspace_id, slug }: Owned): Promise<Finding> {
  const name = textRecordName(slug)
  const texts = await dns.texts(name)
  const accepted = proofs(config.ENCRYPTION_KEYS, workspace_id, slug)
  if (texts.some((text) => accepted.includes(text.trim()))) return { verified: true, result: 'verified by TXT' }
  const result = texts.length > 0 ? `${name} has no value of this workspace` : `no record ${name} yet`
  return { verified: false, result }
}

async function aliasProof(dns: Dns, config: Config, { slug }: Owned): Promise<Finding | undefined> {
  if (!config.DOMAIN_CNAME) return undefined
  if (!(await isAlias(dns, slug, config.DOMAIN_CNAME))) {
    return { verified: false, result: `${slug} is not an alias of ${config.DOMAIN_CNAME}` }
  }
  if (await isAlias(dns, neighbour(slug), config.DOMAIN_CNAME)) return wildcard(slug)
  return { verified: true, result: 'verified by CNAME' }
}

async function isAlias(dns: Dns, slug: string, target: string): Promise<boolean> {
  let name = slug
  for (let hop = 0; hop < longestChain; hop++) {
    const [next] = await dns.aliases(name)
    if (next === target) return true
    if (next === undefined) break
    name = next
  }
  return false
}

/** Every address must be ours: with a foreign one, some visitors would end up elsewhere. */
async function addressProof(dns: Dns, { DOMAIN_ADDRESSES }: Config, { slug }: Owned): Promise<Finding | undefined> {
  if (DOMAIN_ADDRESSES.length === 0) return undefined
  const found = await dns.addresses(slug)
  const others = found.filter((address) => !DOMAIN_ADDRESSES.includes(address))
  if (found.length === 0 || others.length > 0) {
    const result = found.length > 0 ? `${slug} has the address ${others[0]}` : `${slug} has no address`
    return { verified: false, result }
  }
  const beside = await dns.addresses(neighbour(slug))
  if (beside.some((address) => DOMAIN_ADDRESSES.includes(address))) return wildcard(slug)
  return { verified: true, result: 'verified by address' }
}

/** A name that nobody has entered: DNS resolves it only by a wildcard. */
function neighbour(slug: string): string {
  return slug.replace(/^[^.]+/, `tributary-${randomText(20).toLowerCase()}`)
}

/** One wildcard would prove any number of names, even for others than its owner. */
function wildcard(slug: string): Finding {
  return { verified: false, result: `${slug} leads here only by a wildcard, so only the TXT record proves it` }
}

function silence(error: Error): Finding {
  return { verified: false, result: `DNS did not answer: ${error.message}` }
}
