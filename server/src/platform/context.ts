import type { NatsConnection } from '@nats-io/transport-node'
import { type Operation, type Plan, plans, type Scope } from '@tributary/contract/operation'
import type { Redis } from 'ioredis'
import type { ClickHouse } from './clickhouse.ts'
import type { Clock } from './clock.ts'
import type { Config } from './config.ts'
import { forbidden } from './errors.ts'
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
  /** A small pool of its own for what visitors wait for, which requests of the API can't use up. */
  lookups: Db
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

/** Refuses a key that may not call the operation. A publishable key is public, so its refusal names nothing of the workspace. */
export function requirePermission(
  ctx: Pick<Ctx, 'actor' | 'plan'>,
  operation: Pick<Operation, 'path' | 'scope' | 'plan'> & { isForPages?: boolean },
): void {
  if (ctx.actor.isPublishable && !operation.isForPages) {
    throw forbidden(`${operation.path} is not for publishable keys. Call it from your server, with a secret key.`)
  }
  const read = operation.scope.endsWith('.read')
  const accepted = [
    'apis.all',
    operation.scope,
    ...(read ? ['apis.read', operation.scope.replace('.read', '.write')] : []),
  ]
  if (!ctx.actor.scopes.some((scope) => accepted.includes(scope))) {
    throw forbidden(`This key lacks the scope ${operation.scope}. Create a key that has it.`)
  }
  if (plans.indexOf(ctx.plan) < plans.indexOf(operation.plan)) {
    const current = ctx.actor.isPublishable ? '' : `; this workspace has ${ctx.plan}`
    throw forbidden(`${operation.path} needs the ${operation.plan} plan or higher${current}.`)
  }
}
