import type { EngineState, Readiness } from '../platform/health.ts'

/** A process in `/readyz`: with its own readiness, if it answered. */
export type ProcessHealth = {
  role: string
  slot: number
  pid: number | null
  up: boolean
  restarts: number
  ready: boolean
  /** The reason it is down or not ready. */
  problem?: string
  engines?: Readiness['engines']
  partitions?: Readiness['partitions']
  streams?: Readiness['streams']
  /** Since its last answer; undefined if it never answered. Not shown. */
  silentMs?: number
}
export type RoleHealth = { ready: boolean; problem?: string }
export type SupervisedReadiness = Readiness & {
  roles: Record<string, RoleHealth>
  processes: Omit<ProcessHealth, 'silentMs'>[]
}

/** A process that ended or is busy may take this long to recover before its role counts as down. */
export const restartMs = 10_000

/** With `only`, one role alone decides: a redirect is ready without an api. */
export function judgeReadiness(processes: ProcessHealth[], only?: string): SupervisedReadiness {
  const byRole = Map.groupBy(processes, ({ role }) => role)
  const roles = Object.fromEntries([...byRole].map(([role, own]) => [role, judgeRole(own)]))
  const asked = only === undefined ? Object.values(roles) : [roles[only] ?? { ready: false }]
  const { partitions, streams } = processes.find(({ partitions }) => partitions) ?? {}
  return {
    ready: asked.every(({ ready }) => ready),
    roles,
    engines: mergeEngines(processes),
    ...(partitions && { partitions }),
    ...(streams && { streams }),
    processes: processes.map(({ silentMs: _, partitions: __, streams: ___, ...shown }) => shown),
  }
}

/** A role needs one ready process. */
function judgeRole(processes: ProcessHealth[]): RoleHealth {
  const failing = processes.filter(({ ready }) => !ready)
  if (failing.length === 0) return { ready: true }
  const problem = failing.map(({ slot, problem }) => `process ${slot}: ${problem ?? 'not ready'}`).join('; ')
  if (failing.length < processes.length) return { ready: true, problem }
  const answered = processes.filter(({ engines }) => engines)
  const isRestarting = answered.length === 0 && processes.some(({ silentMs = Infinity }) => silentMs < restartMs)
  return { ready: isRestarting, problem }
}

/** The worst status of an engine in any process. */
function mergeEngines(processes: ProcessHealth[]): Readiness['engines'] {
  const merged: Record<string, EngineState> = {}
  for (const [name, state] of processes.flatMap(({ engines }) => Object.entries(engines ?? {}))) {
    const known = merged[name]
    const isWorse = !known || (known.ok && (!state.ok || state.milliseconds > known.milliseconds))
    merged[name] = { ...(isWorse ? state : known), needed: state.needed || known?.needed === true }
  }
  return merged
}
