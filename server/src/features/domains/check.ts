import type { Platform } from '../../platform/context.ts'
import { transaction } from '../../platform/postgres.ts'
import { announce, changed } from './announce.ts'
import { type Finding, findProof } from './proof.ts'
import { claimDueDomains, type DomainRow, isRelated, noteCheck } from './store.ts'

type Handles = Pick<Platform, 'db' | 'config' | 'now'>

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const batchSize = 20

/** Checks unverified domains that are due by DNS; processes share the work. Returns whether more may be due. */
export async function checkDueDomains(platform: Handles): Promise<boolean> {
  const now = platform.now()
  // The claim lasts longer than DNS queries may take; after a crash, other processes can claim the domains again.
  const due = await claimDueDomains(platform.db, now, new Date(now.getTime() + minuteMs), batchSize)
  await Promise.all(due.map((domain) => checkDomain(platform, domain)))
  return due.length === batchSize
}

/** Checks a domain by DNS, unless `finding` is given, and records the result. Undefined when the domain has changed. */
export async function checkDomain(
  platform: Handles,
  domain: DomainRow,
  finding?: Finding,
): Promise<DomainRow | undefined> {
  const { verified, result } = finding ?? (await askDns(platform, domain))
  const now = platform.now()
  return transaction(platform, async ({ db, config }) => {
    const noted = await noteCheck(db, domain, {
      verified,
      check_at: new Date(now.getTime() + pauseMs(domain.checks)),
      checks: domain.checks + 1,
      checked_at: now,
      check_result: result,
      ...(verified && { updated_at: now }),
    })
    if (noted && verified) await announce({ db, config, workspaceId: domain.workspace_id }, changed(domain.slug))
    return noted
  })
}

async function askDns({ db, config }: Handles, domain: DomainRow): Promise<Finding> {
  return findProof(config, domain, await isRelated(db, domain.workspace_id, domain.slug))
}

/** The pause until a domain's next DNS check: 1, 2, 4 … minutes as checks repeat, an hour at most. */
export function pauseMs(checks: number): number {
  return Math.min(hourMs, minuteMs * 2 ** Math.min(checks, 10))
}
