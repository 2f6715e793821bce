import { type AuditProblem, verifyAudit } from '../features/audit/service.ts'
import { countDeadEvents } from '../features/ingest/service.ts'
import { countLetters } from '../platform/dead-letters.ts'
import { type Rewind, selectRewinds } from '../platform/incarnation.ts'
import { openLog } from '../platform/log.ts'
import { closeNats, openNats } from '../platform/nats.ts'
import { type Finding, reconcileClicks } from './clicks.ts'
import type { Handles } from './compare.ts'
import { type ConversionFinding, reconcileConversions } from './conversions.ts'
import { type CustomerFinding, reconcileCustomers } from './customers.ts'
import { reconcileTotals, type TotalFinding } from './link-totals.ts'
import { type MoneyFinding, verifyMoney } from './money.ts'
import { type PartnerFinding, reconcilePartners } from './partners.ts'
import { type RollupFinding, reconcileRollups } from './rollups.ts'

/** PostgreSQL or NATS was restored to an earlier state. `lost` is null until a worker has counted the lost records. */
export type RewindFinding = Pick<Rewind, 'engine' | 'lost'> & Record<'foundAt' | 'since' | 'until', string>
/** The output of `tributary verify --json`. */
export type Verified = {
  links: number
  different: number
  repaired: number
  unknown: number
  doubled: number
  rewinds: RewindFinding[]
  findings: Omit<Finding, 'lastClicked'>[]
  conversions: ConversionFinding[]
  customers: CustomerFinding[]
  totals: TotalFinding[]
  /** Partners whose group or tags in ClickHouse differ from PostgreSQL. */
  partners: PartnerFinding[]
  rollups: RollupFinding[]
  /** Differences in the money of partner programs. They are never repaired. */
  money: MoneyFinding[]
  /** Entries of the audit log that are missing or not as they were sealed. They can't be repaired. */
  audit: AuditProblem[]
  /** The number of dead letters, which are neither counted nor stored; null when NATS does not respond. */
  deadLetters: { conversions: number; messages: number | null }
}

/** Compares all counters and rollups with the stored clicks, leads and sales. */
export async function verify(
  platform: Handles,
  options: { workspaceId?: string; repair: boolean },
  report: (percent: number, text: string) => void,
): Promise<Verified> {
  const found: Verified = {
    ...{ links: 0, different: 0, repaired: 0, unknown: 0, doubled: 0 },
    ...{ findings: [], conversions: [], customers: [], totals: [], partners: [], rollups: [], money: [], audit: [] },
    deadLetters: await countRefused(platform, options.workspaceId),
    rewinds: (await selectRewinds(platform.db)).flatMap(presentRewind),
  }
  for await (const { links, findings, percent } of reconcileClicks(platform, options)) {
    found.links += links
    for (const { lastClicked, ...finding } of findings) {
      if (finding.linkId === null) found.unknown += 1
      else if (finding.counter !== finding.rows - finding.doubled) found.different += 1
      if (finding.repaired) found.repaired += 1
      found.doubled += finding.doubled
      found.findings.push(finding)
    }
    report(Math.floor(percent * 0.4), `clicks of ${found.links} links`)
  }
  for await (const { findings, percent } of reconcileConversions(platform, options)) {
    found.conversions.push(...findings)
    report(40 + Math.floor(percent * 0.2), 'leads and sales of links')
  }
  for await (const { findings, percent } of reconcileCustomers(platform, options)) {
    found.customers.push(...findings)
    report(60 + Math.floor(percent * 0.1), 'customers')
  }
  found.totals = await reconcileTotals(platform, options)
  for await (const { findings } of reconcilePartners(platform, options)) found.partners.push(...findings)
  found.money = await verifyMoney(platform, options)
  found.audit = await verifyAudit(platform, options)
  // Rollups come last: rows that a repair inserted above may be in the rollups already, from before they were lost.
  for await (const { month, findings, percent } of reconcileRollups(platform, options)) {
    found.rollups.push(...findings)
    report(70 + Math.floor(percent * 0.3), `rollups of ${month.slice(0, 7)}`)
  }
  report(100, `${found.links} links`)
  return found
}

/** Whether there are no differences, or all are repaired. */
export function isSound(found: Verified): boolean {
  const { different, repaired, unknown, doubled, conversions, customers, totals, partners, rollups } = found
  const others = [...conversions, ...customers, ...totals, ...partners, ...rollups]
  if (found.money.length > 0 || found.audit.length > 0) return false
  return different === repaired && unknown === 0 && doubled === 0 && others.every(({ repaired }) => repaired)
}

/** Does not report a suspected PostgreSQL restore without lost data: it may have been only a restart. */
function presentRewind({ engine, found_at, since, until, is_certain, lost }: Rewind): RewindFinding[] {
  if (!is_certain && lost === null) return []
  const times = { foundAt: found_at.toISOString(), since: since.toISOString(), until: until.toISOString() }
  return [{ engine, lost, ...times }]
}

/** Counts dead letters. The dead-letter stream in NATS is for all workspaces, so it is skipped for a single one. */
async function countRefused(
  { config, db }: Handles,
  workspaceId: string | undefined,
): Promise<Verified['deadLetters']> {
  const { conversion, outbox } = await countLetters(db, workspaceId)
  if (workspaceId !== undefined) return { conversions: conversion, messages: outbox }
  const nats = await openNats(config, openLog('silent')).catch(() => undefined)
  const inLog = nats && (await countDeadEvents({ nats }).catch(() => undefined))
  if (nats) await closeNats(nats)
  return { conversions: conversion, messages: inLog === undefined ? null : inLog + outbox }
}
