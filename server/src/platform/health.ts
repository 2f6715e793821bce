import { sql } from 'kysely'
import { servesVisitorsOnly } from './config.ts'
import type { Platform } from './context.ts'

export type EngineState = { ok: boolean; milliseconds: number; needed: boolean; error?: string }
export type Readiness = {
  ready: boolean
  engines: Record<string, EngineState>
  /** A worker's event log partitions, by number. */
  partitions?: Record<string, object>
  /** A worker's jobs, by name. */
  streams?: Record<string, object>
}

const timeoutMs = 1_000

/** Pings each database and NATS. The process is unready if one that its roles require is down; others are only reported. */
export async function readiness(platform: Platform): Promise<Readiness> {
  const engines = await engineStates(platform)
  return {
    // Consumer lag does not make a worker unready: removing the worker would only increase the lag.
    ready: engines.every(([, engine]) => engine.ok || !engine.needed),
    engines: Object.fromEntries(engines),
    ...Object.fromEntries(
      await Promise.all([...platform.metrics.reports].map(async ([name, read]) => [name, await read()] as const)),
    ),
  }
}

/** Returns all Prometheus metrics of the process, and pings databases and NATS to report which are up. */
export async function figures(platform: Platform): Promise<string> {
  const { engineUp, registry } = platform.metrics
  for (const [engine, { ok }] of await engineStates(platform)) {
    if (engine !== 'clickhouse' || !servesVisitorsOnly(platform.config)) engineUp.set({ engine }, ok ? 1 : 0)
  }
  return registry.metrics()
}

function engineStates(platform: Platform): Promise<[string, EngineState][]> {
  const { ROLES } = platform.config
  const works = ROLES.includes('worker')
  return Promise.all([
    state('postgres', works || ROLES.includes('api'), () => sql`SELECT 1`.execute(platform.db)),
    state('nats', works, () => platform.nats.flush()),
    state('clickhouse', works, async () => {
      const ping = await platform.clickhouse.ping()
      if (!ping.success) throw ping.error
    }),
    state('valkey', false, () => platform.valkey.ping()),
  ])
}

async function state(name: string, needed: boolean, ask: () => Promise<unknown>): Promise<[string, EngineState]> {
  const started = performance.now()
  let timer: NodeJS.Timeout | undefined
  const tooLate = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer in ${timeoutMs} ms`)), timeoutMs)
  })
  const problem = await Promise.race([ask(), tooLate]).then(() => undefined, errorMessage)
  clearTimeout(timer)
  const milliseconds = Math.round((performance.now() - started) * 10) / 10
  return [name, { ok: problem === undefined, milliseconds, needed, ...(problem !== undefined && { error: problem }) }]
}

function errorMessage(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(errorMessage).join('; ')
  return error instanceof Error ? error.message : String(error)
}
