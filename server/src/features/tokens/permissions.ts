import { includesScope, type Scope } from '@tributary/contract/permissions'
import type { TokenKind } from '@tributary/contract/tokens'
import type { Actor } from '../../platform/context.ts'
import { forbidden } from '../../platform/errors.ts'

/** The user whose personal keys the actor creates; undefined for machine keys. */
export function findOwner(actor: Actor): string | undefined {
  return actor.kind === 'user' ? actor.id : actor.kind === 'key' ? actor.userId : undefined
}

/** Whether the actor sees every key of the workspace, not only those of its user. */
export function seesAllKeys(actor: Actor): boolean {
  return includesScope(actor.scopes, 'apis.all') || (actor.kind === 'key' && actor.userId === undefined)
}

export function requireMaker(actor: Actor, kind: TokenKind): void {
  if (kind === 'personal') {
    if (findOwner(actor) !== undefined) return
    throw forbidden('A personal key belongs to a user. Sign in to create one, or create a key of the kind machine.')
  }
  if (includesScope(actor.scopes, 'apis.all')) return
  throw forbidden(
    `Only owners, admins and keys with the scope apis.all may create a ${kind} key. Create a personal key, or ask one of them.`,
  )
}

/** Throws 403 when the actor lacks one of the scopes. */
export function requireScopes(actor: Actor, scopes: readonly Scope[]): void {
  const missing = scopes.filter((scope) => !includesScope(actor.scopes, scope))
  if (missing.length === 0) return
  throw forbidden(
    `This ${actor.kind} lacks the scopes of the key: ${missing.join(', ')}. Grant only scopes that you have.`,
  )
}

/** Throws 403 when a key would create or extend a key that expires later than itself. */
export function requireLifetime(actor: Actor, expiresAt: Date | null): void {
  const latest = actor.kind === 'key' ? actor.expiresAt : undefined
  if (!latest || (expiresAt && expiresAt <= latest)) return
  throw forbidden(
    `This key expires at ${latest.toISOString()}, and can't create or extend a key that expires later. Send an earlier \`expiresAt\`.`,
  )
}
