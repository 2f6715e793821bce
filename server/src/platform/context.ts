import type { NatsConnection } from '@nats-io/transport-node'
import { type Access, type ActorKind, type Plan, plans, type Scope } from '@tributary/contract/operation'
import type { Redis } from 'ioredis'
import type { ClickHouse } from './clickhouse.ts'
import type { Clock } from './clock.ts'
import type { Config } from './config.ts'
import { forbidden } from './errors.ts'
import type { Geo } from './geo.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'
import type { Db } from './postgres.ts'
import type { Tracing } from './tracing.ts'

/** The handles of a process. */
export type Platform = {
  config: Config
  log: Log
  metrics: Metrics
  geo: Geo
  now: Clock
  db: Db
  /** A separate small pool for visitors' lookups, which API requests can't exhaust. */
  lookups: Db
  clickhouse: ClickHouse
  nats: NatsConnection
  valkey: Redis
  /** Set only when a collector is configured. */
  tracing?: Tracing
}

/** The authenticated caller. `id` is unique across all kinds of actors: rate limits and logs use it. */
export type Actor = { id: string; scopes: Scope[] } & (
  | {
      kind: 'key'
      /** A publishable key, which pages show to everyone: it may call only operations meant for pages. */
      isPublishable?: boolean
    }
  | { kind: Exclude<ActorKind, 'key'>; isPublishable?: false }
)

/** The handles and the actor of a request. */
export type Ctx = Platform & { workspaceId: string; plan: Plan; actor: Actor; requestId: string }

/** Request id, as in the log. */
export function formatActor({ kind, id }: Actor): string {
  return `${kind} ${id}`
}

/** Context of background work. */
export function asSystem(platform: Platform, workspaceId: string): Ctx {
  const actor: Actor = { kind: 'system', id: 'system', scopes: ['apis.all'] }
  return { ...platform, workspaceId, plan: 'enterprise', actor, requestId: 'system' }
}

/** Refuses an actor that may not call the operation. The refusal of a publishable key, which is public, omits the plan. */
export function requirePermission(
  { actor, plan }: Pick<Ctx, 'actor' | 'plan'>,
  operation: Access & { path: string; isForPages?: boolean },
): void {
  if (!operation.actors.includes(actor.kind)) {
    const kinds = operation.actors.join(', ')
    throw forbidden(
      `Only these actors may call ${operation.path}: ${kinds}. This request comes from: ${actor.kind}. Use the credentials of one of them.`,
    )
  }
  if (actor.isPublishable && !operation.isForPages) {
    throw forbidden(`${operation.path} is not for publishable keys. Call it from your server, with a secret key.`)
  }
  const read = operation.scope.endsWith('.read')
  const accepted = [
    'apis.all',
    operation.scope,
    ...(read ? ['apis.read', operation.scope.replace('.read', '.write')] : []),
  ]
  if (!actor.scopes.some((scope) => accepted.includes(scope))) {
    const advice = actor.kind === 'key' ? 'Create a key that has it.' : 'Ask an owner of the workspace for it.'
    throw forbidden(`This ${actor.kind} lacks the scope ${operation.scope}. ${advice}`)
  }
  if (plans.indexOf(plan) < plans.indexOf(operation.plan)) {
    const current = actor.isPublishable ? '' : `; this workspace has ${plan}`
    throw forbidden(`${operation.path} needs the ${operation.plan} plan or higher${current}.`)
  }
}
