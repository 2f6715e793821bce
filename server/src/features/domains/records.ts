import { createHmac, hkdfSync } from 'node:crypto'
import type { Config } from '../../platform/config.ts'
import type { SecretKeys } from '../../platform/seal.ts'

export type DnsRecord = { type: 'TXT' | 'CNAME' | 'A' | 'AAAA'; name: string; value: string }

const valuePrefix = 'tributary-verify='

export function textRecordName(slug: string): string {
  return `_tributary.${slug}`
}

/** TXT values that prove a workspace's domain. The first is for the current encryption key, the rest for older keys. */
export function proofs(keys: SecretKeys, workspaceId: string, slug: string): [string, ...string[]] {
  const ids = [keys.current, ...[...keys.secrets.keys()].filter((id) => id !== keys.current)]
  return ids.map((id) => proof(keys.secrets.get(id) as Buffer, workspaceId, slug)) as [string, ...string[]]
}

/** The DNS records of which a domain owner sets one to verify the domain. */
export function recordsFor(config: Config, workspaceId: string, slug: string): DnsRecord[] {
  const [value] = proofs(config.ENCRYPTION_KEYS, workspaceId, slug)
  return [
    { type: 'TXT', name: textRecordName(slug), value },
    ...(config.DOMAIN_CNAME ? [{ type: 'CNAME' as const, name: slug, value: config.DOMAIN_CNAME }] : []),
    ...config.DOMAIN_ADDRESSES.map((value) => ({ type: addressType(value), name: slug, value })),
  ]
}

function addressType(address: string): 'A' | 'AAAA' {
  return address.includes(':') ? 'AAAA' : 'A'
}

/** The TXT value, computed with a secret key, so that no workspace can guess another workspace's value. */
function proof(secret: Buffer, workspaceId: string, slug: string): string {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'tributary domain verification', 32))
  const token = createHmac('sha256', key).update(`${workspaceId}\n${slug}`).digest('hex').slice(0, 32)
  return valuePrefix + token
}
