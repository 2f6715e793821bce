import type { Config } from '../../platform/config.ts'
import { type Dns, openDns } from '../../platform/dns.ts'
import { proofs, textRecordName } from './records.ts'
import type { DomainRow } from './store.ts'

export type Finding = { verified: boolean; result: string }
type Owned = Pick<DomainRow, 'workspace_id' | 'slug'>

// A chain of aliases is short in proper DNS, and may be a circle in other.
const longestChain = 8

/** Asks DNS whether the workspace has a say in this domain. */
export async function findProof(config: Config, domain: Owned): Promise<Finding> {
  const dns = openDns(config.DNS_SERVERS)
  const findings = await Promise.all(
    [textProof, aliasProof, addressProof].map((ask) => ask(dns, config, domain).catch(silence)),
  )
  const verified = findings.find((finding) => finding?.verified)
  if (verified) return verified
  const results = findings.flatMap((finding) => (finding ? [finding.result] : []))
  return { verified: false, result: [...new Set(results)].join('; ') }
}

/** Whether the TXT record stands there that only this workspace was told. */
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

async function aliasProof(dns: Dns, { DOMAIN_CNAME }: Config, { slug }: Owned): Promise<Finding | undefined> {
  if (!DOMAIN_CNAME) return undefined
  let name = slug
  for (let hop = 0; hop < longestChain; hop++) {
    const [next] = await dns.aliases(name)
    if (next === DOMAIN_CNAME) return { verified: true, result: 'verified by CNAME' }
    if (next === undefined) break
    name = next
  }
  return { verified: false, result: `${slug} is no alias of ${DOMAIN_CNAME}` }
}

/** Every address must be ours: with another one beside it, some visitors would end up elsewhere. */
async function addressProof(dns: Dns, { DOMAIN_ADDRESSES }: Config, { slug }: Owned): Promise<Finding | undefined> {
  if (DOMAIN_ADDRESSES.length === 0) return undefined
  const found = await dns.addresses(slug)
  const others = found.filter((address) => !DOMAIN_ADDRESSES.includes(address))
  if (found.length > 0 && others.length === 0) return { verified: true, result: 'verified by address' }
  const result = found.length > 0 ? `${slug} has the address ${others[0]}` : `${slug} has no address`
  return { verified: false, result }
}

function silence(error: Error): Finding {
  return { verified: false, result: `DNS did not answer: ${error.message}` }
}
