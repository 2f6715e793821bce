import type { EngineState, Readiness } from '../platform/health.ts'

/** The health of a child process in `/readyz`, with its own readiness report if it responded. */
export type ProcessHealth = {
  role: string
  slot: number
  pid: number | null
  up: boolean
  restarts: number
  ready: boolean
  /** The reason why the process is down or not ready. */
  problem?: string
  engines?: Readiness['engines']
  partitions?: Readiness['partitions']
  streams?: Readiness['streams']
  /** The time since the process last responded; undefined if it never did. Not part of `/readyz`. */
  silentMs?: number
}
export type RoleHealth = { ready: boolean; problem?: string }
export type SupervisedReadiness = Readiness & {
  roles: Record<string, RoleHealth>
  processes: Omit<ProcessHealth, 'silentMs'>[]
}

/** A role counts as down when its processes have not responded for this long. */
export const restartMs = 10_000

/** Combines the health of all processes for `/readyz`. With `only`, readiness depends on that role alone. */
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

/** A role is ready when one of its processes is ready. */
function judgeRole(processes: ProcessHealth[]): RoleHealth {
  const failing = processes.filter(({ ready }) => !ready)
  if (failing.length === 0) return { ready: true }
  const problem = failing.map(({ slot, problem }) => `process ${slot}: ${problem ?? 'not ready'}`).join('; ')
  if (failing.length < processes.length) return { ready: true, problem }
  const answered = processes.filter(({ engines }) => engines)
  const isRestarting = answered.length === 0 && processes.some(({ silentMs = Infinity }) => silentMs < restartMs)
  return { ready: isRestarting, problem }
}

/** The worst state of each engine (PostgreSQL, ClickHouse, NATS, Valkey) over all processes. */
function mergeEngines(processes: ProcessHealth[]): Readiness['engines'] {
  const merged: Record<string, EngineState> = {}
  for (const [name, state] of processes.flatMap(({ engines }) => Object.entries(engines ?? {}))) {
    const known = merged[name]
    const isWorse = !known || (known.ok && (!state.ok || state.milliseconds > known.milliseconds))
    merged[name] = { ...(isWorse ? state : known), needed: state.needed || known?.needed === true }
  }
  return merged
}
