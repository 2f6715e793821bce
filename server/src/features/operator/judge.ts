import type { OperatorState, OperatorStatus } from '@tributary/contract/operator'
import type { BeatRow } from './beats-store.ts'
import type { RunRow } from './store.ts'

type Status = OperatorStatus
type Queue = Status['queues'][number]

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** A process that has not reported for this long is down; it reports every 15 seconds. */
export const silentMs = 60_000
const roles = ['api', 'redirect', 'worker'] as const

/** From which count or age on a queue waits, and from which it does harm. */
const queueLimits: Record<
  Queue['name'],
  { waiting: { count?: number; seconds?: number }; harm: { seconds?: number } }
> = {
  clicks: { waiting: { seconds: 60 }, harm: { seconds: 3_600 } },
  spool: { waiting: { seconds: 60 }, harm: { seconds: 3_600 } },
  conversions: { waiting: { seconds: 300 }, harm: { seconds: 3_600 } },
  outbox: { waiting: { seconds: 30 }, harm: { seconds: 600 } },
  webhooks: { waiting: { count: 1_000 }, harm: {} },
  notifications: { waiting: { seconds: 900 }, harm: {} },
}

export function judgeQueue(name: Queue['name'], waiting: number | null, oldestSeconds: number | null): Queue {
  const limits = queueLimits[name]
  const isAbove = ({ count = Number.POSITIVE_INFINITY, seconds = Number.POSITIVE_INFINITY }) =>
    (waiting ?? 0) > count || (oldestSeconds ?? 0) > seconds
  const state = isAbove(limits.harm) ? 'harm' : isAbove(limits.waiting) ? 'waiting' : 'good'
  return { name, state, waiting, oldestSeconds }
}

/** A role needs a process that reports; those that stopped reporting are shown for an hour. */
export function judgeRoles(beats: BeatRow[], now: Date): Status['roles'] {
  return roles.map((role) => {
    const processes = beats
      .filter((beat) => beat.role.split('+').includes(role))
      .map(({ host, version, started_at, seen_at }) => ({
        ...{ host, version, up: now.getTime() - seen_at.getTime() < silentMs },
        startedAt: started_at.toISOString(),
        seenAt: seen_at.toISOString(),
      }))
    const versions = new Set(processes.filter(({ up }) => up).map(({ version }) => version))
    const state = versions.size === 0 ? 'harm' : versions.size > 1 ? 'waiting' : 'good'
    return { role, state, processes }
  })
}

/** Less than a tenth free needs room soon; less than a twentieth, now. */
export function judgeDisk(name: string, freeRatio: number): Status['disks'][number] {
  return { name, state: freeRatio < 0.05 ? 'harm' : freeRatio < 0.1 ? 'waiting' : 'good', freeRatio }
}

/** A backup is due every day; a week without one is harm, and so is none at all. */
export function judgeBackups(last: RunRow | undefined, failure: RunRow | undefined, now: Date): OperatorState {
  const ageMs = last ? now.getTime() - last.finished_at.getTime() : Number.POSITIVE_INFINITY
  if (ageMs > 7 * dayMs) return 'harm'
  return ageMs > dayMs + 2 * hourMs || failure ? 'waiting' : 'good'
}

/** Without Valkey, rate limits and caches are weaker; the other engines are needed. */
export function judgeEngine(name: string, isUp: boolean): OperatorState {
  if (isUp) return 'good'
  return name === 'valkey' ? 'waiting' : 'harm'
}

export function worst(states: OperatorState[]): OperatorState {
  return states.includes('harm') ? 'harm' : states.includes('waiting') ? 'waiting' : 'good'
}

/** Combines what live processes reported of a metric, by label; null if none did. */
export function combineFigures(
  beats: BeatRow[],
  name: string,
  combine: (one: number, other: number) => number = Math.max,
): Map<string, number> {
  const found = new Map<string, number>()
  for (const [figure, label, value] of beats.flatMap(({ figures }) => figures)) {
    if (figure !== name) continue
    const known = found.get(label)
    found.set(label, known === undefined ? value : combine(known, value))
  }
  return found
}
