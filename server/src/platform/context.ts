import type { NatsConnection } from '@nats-io/transport-node'
import { type Access, type ActorKind, type Plan, plans } from '@tributary/contract/operation'
import { includesScope, type Role, type Scope } from '@tributary/contract/permissions'
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

/** The database connections, configuration, log and metrics of a process. */
export type Platform = {
  config: Config
  log: Log
  metrics: Metrics
  geo: Geo
  now: Clock
  db: Db
  /** A separate small PostgreSQL pool for visitors' lookups, which API requests can't exhaust. */
  lookups: Db
  clickhouse: ClickHouse
  nats: NatsConnection
  valkey: Redis
  /** Tracing is set only when an OTLP collector is configured. */
  tracing?: Tracing
}

/** The authenticated caller. Its `id` is unique among keys, users and the system; rate limits and logs use it. */
export type Actor = { id: string; scopes: Scope[] } & (
  | {
      kind: 'key'
      /** Whether this is a publishable key. Web pages contain it, so it may call only operations meant for pages. */
      isPublishable?: boolean
      /** The owner of a personal key. */
      userId?: string
      expiresAt?: Date
    }
  | {
      kind: 'user'
      isPublishable?: false
      /** The role in the workspace; undefined without a workspace. */
      role?: Role
      sessionId?: string
      /** When the user last entered a password or used a passkey in this session. */
      authenticatedAt?: Date
    }
  | { kind: Exclude<ActorKind, 'key' | 'user'>; isPublishable?: false }
)

/** Folders that the caller may not read, and those that it may read but not change. */
export type FolderAccess = { hidden: string[]; readOnly: string[] }

/** The context of a request: database connections, workspace, plan and authenticated caller. */
export type Ctx = Platform & {
  workspaceId: string
  plan: Plan
  actor: Actor
  requestId: string
  /** Undefined for callers without folder restrictions. */
  folderAccess?: FolderAccess
  /** What will be recorded of a write; undefined for requests that are not recorded, and for background work. */
  record?: WriteRecord
}

/** A changed object. `before` and `after` are rows or API objects; without `before`, the object is new. */
export type Change = { id: string; kind?: string; before?: object; after?: object }

/** Who did what, for the log of all changes: services add what they change. */
export type WriteRecord = {
  operation: string
  /** The noun of the operation's path, such as `links`. */
  noun: string
  /** The client's network. */
  network: string
  changes: Change[]
  /** Whether the statement of the write has stored the record as well. */
  isWritten: boolean
}

/** Formats the actor for log lines. */
export function formatActor({ kind, id }: Actor): string {
  return `${kind} ${id}`
}

export const systemActor: Actor = { kind: 'system', id: 'system', scopes: ['apis.all'] }

/** Returns the context for background work, with the system as actor. */
export function asSystem(platform: Platform, workspaceId: string): Ctx {
  return { ...platform, workspaceId, plan: 'enterprise', actor: systemActor, requestId: 'system' }
}

/** Throws 403 unless the actor may call the operation. The error for a publishable key, which is public, omits the plan. */
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
  requireScope(actor, operation.scope)
  if (operation.needsUser) requireUserId(actor)
  if (operation.roles && !(actor.kind === 'user' && actor.role && operation.roles.includes(actor.role))) {
    throw forbidden(
      `Only users with these roles may call ${operation.path}: ${operation.roles.join(', ')}. Ask one of them.`,
    )
  }
  if (plans.indexOf(plan) < plans.indexOf(operation.plan)) {
    const current = actor.isPublishable ? '' : `; this workspace has ${plan}`
    throw forbidden(`${operation.path} needs the ${operation.plan} plan or higher${current}.`)
  }
}

/** Throws 403 unless the actor has the scope. */
export function requireScope(actor: Actor, scope: Scope): void {
  if (hasScope(actor, scope)) return
  const advice = actor.kind === 'key' ? 'Create a key that has it.' : 'Ask an owner of the workspace for it.'
  throw forbidden(`This ${actor.kind} lacks the scope ${scope}. ${advice}`)
}

/** The user who calls: signed in, or the owner of a personal key. */
export function findUserId(actor: Actor): string | undefined {
  if (actor.kind === 'key') return actor.userId
  return actor.kind === 'user' ? actor.id : undefined
}

/** Returns the calling user; throws 403 for a machine key. */
export function requireUserId(actor: Actor): string {
  const userId = findUserId(actor)
  if (userId !== undefined) return userId
  throw forbidden(
    'This belongs to a user, but a machine key has none. Sign in, or use a personal key: POST /tokens with the kind personal.',
  )
}

/** Whether the actor has a scope or one that includes it: writing includes reading. */
export function hasScope({ scopes }: Pick<Actor, 'scopes'>, scope: Scope): boolean {
  return includesScope(scopes, scope)
}
