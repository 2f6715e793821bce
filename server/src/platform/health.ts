import { sql } from 'kysely'
import type { Gauge } from 'prom-client'
import type { Platform } from './context.ts'
import type { Metrics } from './metrics.ts'

export type EngineState = { ok: boolean; milliseconds: number; needed: boolean; error?: string }
export type PartitionState = { lagMessages: number; lagSeconds: number; owned: boolean }
export type StreamState = { bytes: number; limitBytes: number }
export type Readiness = {
  ready: boolean
  engines: Record<string, EngineState>
  /** Of a worker, by number. */
  partitions?: Record<string, PartitionState>
  /** Of a worker, by name. */
  streams?: Record<string, StreamState>
}

const timeoutMs = 1_000

/** Asks each engine. Without one that a role needs, the process is not ready; the others are only reported. */
export async function readiness(platform: Platform): Promise<Readiness> {
  const works = platform.config.ROLES.includes('worker')
  const engines = await engineStates(platform)
  return {
    // A lag does not make a worker unready: to take it out would only make the lag grow.
    ready: engines.every(([, engine]) => engine.ok || !engine.needed),
    engines: Object.fromEntries(engines),
    ...(works && {
      partitions: await partitionStates(platform.metrics),
      streams: await streamStates(platform.metrics),
    }),
  }
}

/** All figures of the process. Whoever asks for them learns which engines answer at this moment. */
export async function figures(platform: Platform): Promise<string> {
  const { engineUp, registry } = platform.metrics
  const isRedirect = platform.config.ROLES.every((role) => role === 'redirect')
  for (const [engine, { ok }] of await engineStates(platform)) {
    // A redirect may run where ClickHouse can't be reached: it never asks it.
    if (engine !== 'clickhouse' || !isRedirect) engineUp.set({ engine }, ok ? 1 : 0)
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

async function partitionStates({
  ingestLag,
  ingestLagSeconds,
  ingestOwned,
}: Metrics): Promise<Readiness['partitions']> {
  const [messages, seconds, owned] = await Promise.all([ingestLag, ingestLagSeconds, ingestOwned].map(byPartition))
  const states = [...(messages ?? [])].map(([partition, lagMessages]) => {
    const state = { lagMessages, lagSeconds: seconds?.get(partition) ?? 0, owned: owned?.get(partition) === 1 }
    return [partition, state] as const
  })
  return Object.fromEntries(states)
}

function byPartition(gauge: Metrics['ingestLag']): Promise<Map<string, number>> {
  return valuesBy(gauge, 'partition')
}

async function streamStates({ logBytes, logLimit }: Metrics): Promise<Readiness['streams']> {
  const [bytes, limits] = await Promise.all([valuesBy(logBytes, 'stream'), valuesBy(logLimit, 'stream')])
  return Object.fromEntries(
    [...bytes].map(([name, size]) => [name, { bytes: size, limitBytes: limits.get(name) ?? 0 }]),
  )
}

async function valuesBy<Label extends string>(gauge: Gauge<Label>, label: Label): Promise<Map<string, number>> {
  const { values } = await gauge.get()
  return new Map(values.map(({ labels, value }) => [String(labels[label]), value]))
}

async function state(name: string, needed: boolean, ask: () => Promise<unknown>): Promise<[string, EngineState]> {
  const started = performance.now()
  let timer: NodeJS.Timeout | undefined
  const tooLate = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer in ${timeoutMs} ms`)), timeoutMs)
  })
  const problem = await Promise.race([ask(), tooLate]).then(() => undefined, messageOf)
  clearTimeout(timer)
  const milliseconds = Math.round((performance.now() - started) * 10) / 10
  return [name, { ok: problem === undefined, milliseconds, needed, ...(problem !== undefined && { error: problem }) }]
}

function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join('; ')
  return error instanceof Error ? error.message : String(error)
}
