import type { Findings } from './inspect.ts'
import type { DnsRecord } from './records.ts'

export type Watch = {
  /** When visitors last reached the domain. */
  worked_at: Date | null
  failures: number
  failing_since: Date | null
  broken_since: Date | null
  problem: string | null
}
/** What a check saw: nothing certain, a domain that works, or why it does not. */
export type Seen = 'unknown' | 'working' | { problem: string }

export const unwatched: Watch = {
  worked_at: null,
  failures: 0,
  failing_since: null,
  broken_since: null,
  problem: null,
}

const minuteMs = 60_000
const pausesMs = { working: 360 * minuteMs, failing: 10 * minuteMs, broken: 60 * minuteMs }
const leastFailures = 3
const leastFailingMs = 20 * minuteMs
const longestProblem = 300

/**
 * Decides whether a domain is broken: it worked before, and at least three checks in a row failed, over 20 minutes or
 * more. A domain that never worked while it was watched, for example behind another proxy, is never called broken.
 */
export function judgeWatch(before: Watch, seen: Seen, now: Date): { watch: Watch; nextAt: Date } {
  const after = (pause: keyof typeof pausesMs) => new Date(now.getTime() + pausesMs[pause])
  if (seen === 'unknown') return { watch: before, nextAt: after(before.broken_since ? 'broken' : 'failing') }
  if (seen === 'working') return { watch: { ...unwatched, worked_at: now }, nextAt: after('working') }
  if (!before.worked_at) return { watch: before, nextAt: after('working') }
  const since = before.failing_since ?? now
  const failures = before.failures + 1
  const isBroken = failures >= leastFailures && now.getTime() - since.getTime() >= leastFailingMs
  const broken = before.broken_since ?? (isBroken ? since : null)
  const problem = seen.problem.slice(0, longestProblem).toWellFormed()
  const watch = { worked_at: before.worked_at, failures, failing_since: since, broken_since: broken, problem }
  return { watch, nextAt: after(broken ? 'broken' : 'failing') }
}

/** Reads from the records and the certificate whether visitors reach the domain. */
export function observe({ records, certificate }: Findings, expected: DnsRecord[]): Seen {
  const routing = records.filter(({ type }) => type !== 'TXT')
  if (isRouted(routing)) {
    if (certificate.status !== 'invalid') return 'working'
    return { problem: certificate.problem ?? 'Browsers refuse the certificate.' }
  }
  if (routing.some(({ status }) => status === 'unknown')) return 'unknown'
  const found = [...new Set(routing.flatMap((record) => record.found))]
  const targets = expected.filter(({ type }) => type !== 'TXT').map(({ type, value }) => `${type} ${value}`)
  const now = found.length > 0 ? `It leads to ${found.join(', ')} now.` : 'It has no such record now.'
  return { problem: `The name should have the record ${targets.join(' or ')}. ${now}` }
}

type Routing = Pick<Findings['records'][number], 'type' | 'value' | 'found' | 'status'>

/** Whether visitors reach this installation: by the CNAME, or by addresses that are all ours. */
export function isRouted(records: Routing[]): boolean {
  if (records.some(({ type, status }) => type === 'CNAME' && status === 'found')) return true
  const addresses = records.filter(({ type }) => type === 'A' || type === 'AAAA')
  const ours = addresses.map(({ value }) => value)
  const found = addresses.flatMap((record) => record.found)
  return found.length > 0 && found.every((value) => ours.includes(value))
}
