import type { OperationAnswer, OperationInput } from '@tributary/contract/client'
import { cleanHostnames } from './hostnames.ts'
import { type Access, accessScopes, scopeAccess, type Task, taskScopes } from './tasks.ts'

export type Token = OperationAnswer<'listTokens'>[number]
export type TokenKind = Token['kind']
export type Expiry = 'never' | '30' | '90' | '365' | 'date' | 'unchanged'

/** What the fields of the form contain. */
export type TokenValues = {
  name: string
  kind: TokenKind
  task: Task | 'custom'
  access: Access
  expiry: Expiry
  /** The day when `expiry` is a date. */
  day: string
  hostnames: string
}

type NewToken = NonNullable<OperationInput<'createToken'>['body']>
type TokenPatch = NonNullable<OperationInput<'updateToken'>['body']>

const dayMs = 86_400_000

export function newTokenBody(values: TokenValues, now = Date.now()): NewToken {
  const { name, kind } = values
  const expiresAt = expiryTime(values, now)
  if (kind !== 'publishable') return { name: name.trim(), kind, scopes: chosenScopes(values), expiresAt }
  return { name: name.trim(), kind, expiresAt, allowedHostnames: cleanHostnames(values.hostnames) }
}

/** The body that changes a key: only what differs. */
export function tokenPatchBody(token: Token, values: TokenValues, now = Date.now()): TokenPatch {
  const scopes = chosenScopes(values)
  const hostnames = cleanHostnames(values.hostnames)
  const isNarrower =
    token.kind !== 'publishable' && JSON.stringify(values.access) !== JSON.stringify(scopeAccess(token.scopes))
  return {
    ...(values.name.trim() !== token.name && { name: values.name.trim() }),
    ...(isNarrower && { scopes }),
    ...(values.expiry !== 'unchanged' && { expiresAt: expiryTime(values, now) }),
    ...(token.kind === 'publishable' &&
      JSON.stringify(hostnames) !== JSON.stringify(token.allowedHostnames) && { allowedHostnames: hostnames }),
  }
}

export function chosenScopes({ task, access }: Pick<TokenValues, 'task' | 'access'>) {
  return task === 'custom' ? accessScopes(access) : taskScopes(task)
}

/** When a key ends, as the server takes it; a day ends at its last moment in UTC. */
function expiryTime({ expiry, day }: Pick<TokenValues, 'expiry' | 'day'>, now: number): string | null {
  if (expiry === 'date') return `${day}T23:59:59Z`
  const days = Number(expiry)
  return days > 0 ? new Date(now + days * dayMs).toISOString() : null
}

/** Whether a key works at this moment. */
export function isActive({ revokedAt, expiresAt }: Pick<Token, 'revokedAt' | 'expiresAt'>, now = Date.now()): boolean {
  return revokedAt === null && (expiresAt === null || Date.parse(expiresAt) > now)
}
