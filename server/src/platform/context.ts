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
}

export type Actor = {
  keyId: string
  scopes: Scope[]
  /** A key that pages show to everyone: it does only what is for pages. */
  isPublishable?: boolean
}

/** The handles, and who is asking. */
export type Ctx = Platform & { workspaceId: string; plan: Plan; actor: Actor; requestId: string }
