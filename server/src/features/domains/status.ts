import type { DomainStatus } from '@tributary/contract/domains'
import type { Platform } from '../../platform/context.ts'
import { AppError } from '../../platform/errors.ts'
import { checkDomain } from './check.ts'
import { type StoredFindings, selectFindings, upsertFindings } from './findings-store.ts'
import { type Findings, inspectDomain } from './inspect.ts'
import { isRouted } from './judge-watch.ts'
import { type DnsRecord, recordsFor } from './records.ts'
import type { DomainRow } from './store.ts'

type Handles = Pick<Platform, 'db' | 'config' | 'now'>

// Lookups repeat after this time at the earliest, however often they are requested.
const freshMs = 5_000
const mostLookups = 10
let lookups = 0

/** Looks up records and certificate now, verifies the domain if they prove it, and stores what was found. */
export async function refreshStatus(platform: Handles, domain: DomainRow): Promise<DomainStatus> {
  const stored = await selectFindings(platform.db, domain.workspace_id, domain)
  if (stored && platform.now().getTime() - stored.checked_at.getTime() < freshMs)
    return present(platform, domain, stored)
  if (lookups >= mostLookups) {
    throw new AppError('rate_limit_exceeded', 'The server is checking too many domains at once. Try again in 5 s.')
  }
  lookups += 1
  try {
    const verifying = domain.verified ? undefined : checkDomain(platform, domain)
    const [findings, checked] = await Promise.all([inspectDomain(platform.config, domain), verifying])
    const found = { slug: domain.slug, findings, checked_at: platform.now() }
    await upsertFindings(platform.db, domain.workspace_id, domain.id, found)
    return present(platform, checked ?? domain, found)
  } finally {
    lookups -= 1
  }
}

/** Returns what the last lookup found. */
export async function readStatus(platform: Handles, domain: DomainRow): Promise<DomainStatus> {
  return present(platform, domain, await selectFindings(platform.db, domain.workspace_id, domain))
}

function present({ config }: Handles, domain: DomainRow, stored: StoredFindings | undefined): DomainStatus {
  const findings = stored?.findings
  const records = recordsFor(config, domain.workspace_id, domain.slug).map((record) => ({
    ...record,
    ...findRecord(findings, record),
    purpose: record.type === 'TXT' ? ('ownership' as const) : ('routing' as const),
  }))
  const checkedAt = stored?.checked_at.toISOString() ?? ''
  return {
    slug: domain.slug,
    verified: domain.verified,
    checkedAt: latest(domain.checked_at?.toISOString() ?? '', checkedAt),
    result: domain.check_result ?? '',
    routed: findings ? isRouted(records) : null,
    nextCheckAt: domain.verified ? null : domain.check_at.toISOString(),
    records,
    certificate: {
      ...(findings?.certificate ?? { status: 'unknown', issuer: null, expiresAt: null, problem: null }),
      checkedAt,
    },
  }
}

function findRecord(findings: Findings | undefined, { type, value }: DnsRecord) {
  const known = findings?.records.find((record) => record.type === type && record.value === value)
  return { found: known?.found ?? [], status: known?.status ?? ('unknown' as const) }
}

function latest(one: string, other: string): string {
  return one > other ? one : other
}
