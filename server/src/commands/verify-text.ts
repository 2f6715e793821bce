import type { AuditProblem } from '../features/audit/service.ts'
import type { ConversionFinding } from '../maintenance/conversions.ts'
import type { CustomerFinding } from '../maintenance/customers.ts'
import type { TotalFinding } from '../maintenance/link-totals.ts'
import type { MoneyFinding } from '../maintenance/money.ts'
import type { PartnerFinding } from '../maintenance/partners.ts'
import type { RollupFinding } from '../maintenance/rollups.ts'
import type { RewindFinding, Verified } from '../maintenance/verify.ts'
import { table } from './run.ts'

const mostShown = 100

export function verifiedText(found: Verified, repair: boolean): string {
  return [
    ...found.rewinds.map(rewindText),
    textOfClicks(found, repair),
    textOfConversions(found.conversions, repair),
    textOfCustomers(found.customers, repair),
    textOfTotals(found.totals, repair),
    textOfPartners(found.partners, repair),
    textOfRollups(found.rollups, repair),
    textOfMoney(found.money),
    auditText(found.audit),
    textOfLetters(found.deadLetters),
  ]
    .filter(Boolean)
    .join('\n\n')
}

function rewindText({ engine, foundAt, since, lost }: RewindFinding): string {
  const guide = 'See docs/guides/backup.md for the steps after a restore.'
  const state = since.startsWith('1970') ? 'an empty state' : `its state of ${since}`
  if (engine === 'nats')
    return `The event log was restored to ${state} (found ${foundAt}). Clicks that were not yet in ClickHouse are lost; recent changes were published again. ${guide}`
  const counts = ['links', 'leads', 'sales', 'customers'].flatMap((kind) =>
    lost?.[kind] ? [`${lost[kind]} ${kind}`] : [],
  )
  const missing =
    counts.length > 0 ? `${counts.join(', ')} are in ClickHouse but not in PostgreSQL` : 'no record is missing'
  const result = lost === null ? 'a worker has not counted the missing records yet' : missing
  return `PostgreSQL was restored to ${state} (found ${foundAt}): ${result}. ${guide}`
}

function textOfClicks(found: Verified, repair: boolean): string {
  const { links, different, repaired, unknown, doubled, findings } = found
  if (findings.length === 0) return `Links checked: ${links}. Every click counter is correct.`
  const rows = findings.map((finding) => ({
    link: linkName(finding),
    address: finding.address ?? '',
    counter: String(finding.counter ?? ''),
    rows: String(finding.rows),
    doubled: String(finding.doubled),
    ...repairedColumn(finding, repair),
  }))
  const lines = [
    ...shown(rows),
    `Links checked: ${links}. Counters that differ: ${different}. Unknown links with rows: ${unknown}. Doubled rows: ${doubled}.`,
  ]
  if (repair) lines.push(`Counters set to the stored clicks: ${repaired}.`)
  else if (different > 0) lines.push('Next: tributary verify --repair sets these counters to the stored clicks.')
  if (repair && repaired < different)
    lines.push('The other links have an unfinished batch of clicks. Check that a worker is running, and try again.')
  return lines.join('\n')
}

function textOfConversions(findings: ConversionFinding[], repair: boolean): string {
  if (findings.length === 0) return ''
  const rows = findings.flatMap((finding) =>
    (['leads', 'conversions', 'sales', 'saleAmount'] as const).flatMap((count) => {
      const recorded = finding.recorded[count]
      const counter = finding.counted?.[count]
      const stored = count === 'conversions' ? undefined : finding.stored[count]
      if (counter === recorded && (stored ?? recorded) === recorded && finding.doubled === 0) return []
      return {
        link: linkName(finding),
        address: finding.address ?? '',
        count,
        counter: String(counter ?? ''),
        recorded: String(recorded),
        stored: String(stored ?? ''),
        doubled: String(finding.doubled),
        ...repairedColumn(finding, repair),
      }
    }),
  )
  const next = repair
    ? 'Not repaired: links that PostgreSQL does not have, links with duplicate rows in ClickHouse, leads and sales that only ClickHouse has, and batches that are not finished.'
    : 'Next: tributary verify --repair sets the counters to the recorded values, and adds missing rows to ClickHouse.'
  const summary = `Links whose leads or sales differ: ${findings.length}.`
  return [...shown(rows), summary, ...nextSteps(findings, next)].join('\n')
}

function textOfCustomers(findings: CustomerFinding[], repair: boolean): string {
  if (findings.length === 0) return ''
  const rows = findings.map((finding) => ({
    customer: finding.customerId,
    workspace: finding.workspaceId,
    sales: String(finding.counted.sales),
    recorded: String(finding.recorded.sales),
    amount: String(finding.counted.saleAmount),
    'recorded amount': String(finding.recorded.saleAmount),
    ...repairedColumn(finding, repair),
  }))
  const next = 'Next: tributary verify --repair sets the sales of these customers to the recorded values.'
  return [...shown(rows), `Customers whose sales differ: ${findings.length}.`, ...nextSteps(findings, next)].join('\n')
}

function textOfTotals(findings: TotalFinding[], repair: boolean): string {
  if (findings.length === 0) return ''
  const rows = findings.map((finding) => ({
    workspace: finding.workspaceId,
    domain: finding.domain,
    tag: finding.tagId === '' ? 'any' : (finding.tagId ?? ''),
    folder: finding.folderId ?? '',
    archived: finding.archived ? 'yes' : 'no',
    total: String(finding.stored),
    links: String(finding.counted),
    ...repairedColumn(finding, repair),
  }))
  const next = 'Next: tributary verify --repair sets these totals to the number of links.'
  return [...shown(rows), `Link totals that differ: ${findings.length}.`, ...nextSteps(findings, next)].join('\n')
}

function textOfPartners(findings: PartnerFinding[], repair: boolean): string {
  if (findings.length === 0) return ''
  const rows = findings.map((finding) => ({
    partner: finding.partnerId,
    workspace: finding.workspaceId,
    group: finding.recorded.groupId,
    stored: finding.stored?.groupId ?? '',
    tags: finding.recorded.tagIds.join(' '),
    'stored tags': finding.stored?.tagIds.join(' ') ?? '',
    ...repairedColumn(finding, repair),
  }))
  const next = 'Next: tributary verify --repair writes the groups and tags of these partners to ClickHouse.'
  const summary = `Partners whose group or tags in ClickHouse differ: ${findings.length}.`
  return [...shown(rows), summary, ...nextSteps(findings, next)].join('\n')
}

function textOfRollups(findings: RollupFinding[], repair: boolean): string {
  if (findings.length === 0) return ''
  const rows = findings.map((finding) => ({
    rollup: finding.rollup,
    count: finding.count,
    workspace: finding.workspaceId,
    month: finding.month.slice(0, 7),
    buckets: String(finding.buckets),
    missing: String(finding.missing),
    surplus: String(finding.surplus),
    ...repairedColumn(finding, repair),
  }))
  const next = repair
    ? 'Rollups that were not repaired have an unfinished batch. Check that a worker is running, and try again.'
    : 'Next: tributary verify --repair rebuilds these rollups from the stored events.'
  return [...shown(rows), `Rollups that differ: ${findings.length}.`, ...nextSteps(findings, next)].join('\n')
}

function textOfMoney(findings: MoneyFinding[]): string {
  if (findings.length === 0) return ''
  const rows = findings.map(({ workspaceId, partnerId, what, expected, found }) => {
    return { workspace: workspaceId, partner: partnerId ?? '', what, expected, found }
  })
  const next = 'They are never repaired automatically, because they are money. Please report them.'
  return [...shown(rows), `Differences in the money of partner programs: ${findings.length}. ${next}`].join('\n')
}

export function auditText(findings: AuditProblem[]): string {
  if (findings.length === 0) return ''
  const rows = findings.map(({ workspaceId, sequence, problem, detail }) => {
    return { workspace: workspaceId, entry: sequence ?? '', problem, detail }
  })
  const next = "They can't be repaired. Compare with a backup, and find out who can write to PostgreSQL."
  return [...shown(rows), `Problems in the audit log: ${findings.length}. ${next}`].join('\n')
}

function textOfLetters({ conversions, messages }: Verified['deadLetters']): string {
  if (conversions === 0 && !messages) return ''
  const counts = `Dead letters: ${conversions} leads and sales, ${messages ?? 'an unknown number of'} events and messages.`
  return `${counts} Dead letters are neither counted nor stored. Next: tributary events dead-letters list`
}

function shown(rows: Record<string, string>[]): string[] {
  const lines = [table(rows.slice(0, mostShown)), '']
  if (rows.length > mostShown) lines.push(`Showing the first ${mostShown} of ${rows.length} rows; --json lists all.`)
  return lines
}

function nextSteps(findings: { repaired: boolean }[], next: string): string[] {
  return findings.every(({ repaired }) => repaired) ? [] : [next]
}

function repairedColumn({ repaired }: { repaired: boolean }, repair: boolean): { repaired?: string } {
  return repair ? { repaired: repaired ? 'yes' : 'no' } : {}
}

function linkName({ linkId, linkNumber }: { linkId: string | null; linkNumber: string }): string {
  return linkId ?? `unknown (number ${linkNumber})`
}
