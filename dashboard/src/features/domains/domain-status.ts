import type { DnsRecord, DomainStatus } from './queries.ts'

/** How far a domain is: DNS comes before the visitors, and those before the certificate. */
export type DomainPhase = 'unverified' | 'unrouted' | 'uncertified' | 'ready'

export function domainPhase({ verified, routed, certificate }: DomainStatus): DomainPhase {
  if (!verified) return 'unverified'
  if (!routed) return 'unrouted'
  return certificate.status === 'valid' ? 'ready' : 'uncertified'
}

/** The pause until the next automatic check; undefined when all is well. Certificates take longer than DNS. */
export function checkPauseMs(phase: DomainPhase | undefined): number | undefined {
  if (phase === undefined || phase === 'ready') return undefined
  return phase === 'uncertified' ? 30_000 : 6_000
}

/** What to say of a record: one that is missing is not needed once another one does its work. */
export type RecordState = DnsRecord['status'] | 'unneeded'

export function recordState({ status, purpose }: DnsRecord, { verified, routed }: DomainStatus): RecordState {
  if (status === 'found' || status === 'unknown') return status
  const isDone = purpose === 'ownership' ? verified : routed
  return isDone ? 'unneeded' : status
}

/** Values in DNS that stand in the way of a record: an address that is not ours, another CNAME, another text. */
export function foreignValues(record: DnsRecord, { records }: DomainStatus): string[] {
  const ours = records.filter(({ type }) => type === record.type).map(({ value }) => value)
  return record.found.filter((value) => !ours.includes(value))
}

/** Addresses of the name that stand in the way of a CNAME record, which can't be beside them. */
export function blockingAddresses(record: DnsRecord, status: DomainStatus): string[] {
  if (record.type !== 'CNAME' || record.status !== 'missing') return []
  const addresses = status.records.filter(({ type }) => type === 'A' || type === 'AAAA')
  return [...new Set(addresses.flatMap((address) => foreignValues(address, status)))]
}
