import type { Platform } from '../../platform/context.ts'
import { hashPartition } from '../../platform/ids.ts'
import { publish } from '../../platform/outbox.ts'
import { transaction } from '../../platform/postgres.ts'
import { upsertFindings } from './findings-store.ts'
import { inspectDomain } from './inspect.ts'
import { judgeWatch, observe, unwatched } from './judge-watch.ts'
import { domainBrokenMessage } from './messages.ts'
import { recordsFor } from './records.ts'
import type { DomainRow } from './store.ts'
import { claimWatched, selectWatch, setWatchTime, upsertWatch } from './watch-store.ts'

type Handles = Pick<Platform, 'db' | 'config' | 'now' | 'log'>

const batchSize = 20
const claimMs = 120_000
const retryMs = 3_600_000

/** Checks verified domains that are due; processes share the work. Returns whether more may be due. */
export async function watchDueDomains(platform: Handles): Promise<boolean> {
  const { config } = platform
  // Without these settings, no record says whether a domain leads here.
  if (!config.DOMAIN_CNAME && config.DOMAIN_ADDRESSES.length === 0) return false
  const now = platform.now()
  const due = await claimWatched(platform.db, now, new Date(now.getTime() + claimMs), batchSize)
  await Promise.all(
    due.map((domain) => watchDomain(platform, domain).catch((error) => retryLater(platform, domain, error))),
  )
  return due.length === batchSize
}

/** A domain whose check fails for another reason than its records delays no other. */
async function retryLater({ db, now, log }: Handles, domain: DomainRow, error: unknown): Promise<void> {
  const { workspace_id: workspaceId, id } = domain
  log.warn({ workspaceId, domain: id, error: (error as Error).message }, 'domain not checked')
  await setWatchTime(db, workspaceId, id, new Date(now().getTime() + retryMs))
}

async function watchDomain(platform: Handles, domain: DomainRow): Promise<void> {
  const { workspace_id: workspaceId, id, slug } = domain
  const findings = await inspectDomain(platform.config, domain)
  const now = platform.now()
  const seen = observe(findings, recordsFor(platform.config, workspaceId, slug))
  await transaction({ ...platform, workspaceId }, async (ctx) => {
    const before = (await selectWatch(ctx.db, workspaceId, domain)) ?? unwatched
    const { watch, nextAt } = judgeWatch(before, seen, now)
    await upsertFindings(ctx.db, workspaceId, id, { slug, findings, checked_at: now })
    if (!(await upsertWatch(ctx.db, workspaceId, domain, watch))) return
    await setWatchTime(ctx.db, workspaceId, id, nextAt)
    if (!watch.broken_since || before.broken_since) return
    const partition = hashPartition(workspaceId, ctx.config.EVENT_PARTITIONS)
    const since = watch.broken_since.toISOString()
    await publish(ctx, domainBrokenMessage({ workspaceId, domainId: id, since }, partition))
  })
}
