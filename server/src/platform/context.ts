import type { NatsConnection } from '@nats-io/transport-node'
import type { Plan, Scope } from '@tributary/contract/operation'
import type { Redis } from 'ioredis'
import type { ClickHouse } from './clickhouse.ts'
import type { Clock } from './clock.ts'
import type { Config } from './config.ts'
import type { Geo } from './geo.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'
import type { Db } from './postgres.ts'
import type { Rates } from './rates.ts'
import type { Tracing } from './tracing.ts'

/** The handles of a process. */
export type Platform = {
  config: Config
  log: Log
  metrics: Metrics
  geo: Geo
  rates: Rates
  now: Clock
  db: Db
  clickhouse: ClickHouse
  nats: NatsConnection
  valkey: Redis
  /** Only where a collector is configured. */
  tracing?: Tracing
}

export type Actor = {
  keyId: string
  scopes: Scope[]
  /** A key that pages show to everyone: it does only what is for pages. */
  isPublishable?: boolean
}

/** The handles, and who is asking. */
export type Ctx = Platform & { workspaceId: string; plan: Plan; actor: Actor; requestId: string }

/** For work that no key has asked for. */
export function asSystem(platform: Platform, workspaceId: string): Ctx {
  const actor = { keyId: 'system', scopes: ['apis.all' as const] }
  return { ...platform, workspaceId, plan: 'enterprise', actor, requestId: 'system' }
}
