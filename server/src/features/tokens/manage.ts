import { includesScope, type Scope } from '@tributary/contract/permissions'
import type {
  NewToken,
  Token,
  TokenKind,
  TokenPatch,
  TokenRotation,
  TokensQuery,
  TokenWithKey,
} from '@tributary/contract/tokens'
import type { Ctx } from '../../platform/context.ts'
import { conflict, forbidden, invalid, notFound } from '../../platform/errors.ts'
import { transaction } from '../../platform/postgres.ts'
import { reportChange } from '../../platform/recording.ts'
import { parseHostnames } from '../workspaces/service.ts'
import { findOwner, requireLifetime, requireMaker, requireScopes, seesAllKeys } from './permissions.ts'
import { presentToken, publishablePrefix, readKind } from './present.ts'
import { createToken, findToken } from './service.ts'
import { selectTokenPage, type TokenChanges, type TokenRow, updateToken } from './store.ts'

const publishableScopes: Scope[] = ['conversions.write']
const longestYears = 10

export async function createKey(ctx: Ctx, input: NewToken): Promise<TokenWithKey> {
  const { actor, workspaceId } = ctx
  const owner = findOwner(actor)
  const kind = input.kind ?? (owner === undefined ? 'machine' : 'personal')
  requireMaker(actor, kind)
  const scopes = readScopes(kind, input.scopes)
  requireScopes(actor, scopes)
  const expiresAt = readExpiry(ctx, input.expiresAt ?? null)
  requireLifetime(actor, expiresAt)
  const token = await createToken(ctx, {
    workspaceId,
    name: input.name,
    isPublishable: kind === 'publishable',
    scopes,
    expiresAt,
    userId: kind === 'personal' ? owner : undefined,
    allowedHostnames: readHostnames(kind, input.allowedHostnames),
    maker: actor,
  })
  return { ...presentToken(token), key: token.key }
}

export async function listKeys(ctx: Ctx, query: TokensQuery): Promise<Token[]> {
  const { db, workspaceId, actor } = ctx
  const own = seesAllKeys(actor) ? [] : [findOwner(actor) ?? '']
  const selection = {
    kind: query.kind,
    userIds: query.userId === undefined ? own : [...own, query.userId],
    isInactiveShown: query.showInactive,
    now: ctx.now(),
    sort: query.sortBy,
    ascending: query.sortOrder === 'asc',
    offset: (query.page - 1) * query.pageSize,
    count: query.pageSize,
  }
  return (await selectTokenPage(db, workspaceId, selection, publishablePrefix)).map(presentToken)
}

export async function getKey(ctx: Ctx, id: string): Promise<Token> {
  return presentToken(await requireKey(ctx, id))
}

export function updateKey(ctx: Ctx, id: string, patch: TokenPatch): Promise<Token> {
  return transaction(ctx, async (ctx) => {
    const row = await requireActiveKey(ctx, id)
    const changes = readChanges(ctx, row, patch)
    reportChange(ctx, { id, before: row, after: changes })
    if (Object.keys(changes).length === 0) return presentToken(row)
    return presentToken(await updateToken(ctx.db, ctx.workspaceId, id, changes))
  })
}

type Manager = Pick<Ctx, 'db' | 'config' | 'now' | 'actor' | 'workspaceId' | 'record'>

/** Creates a key that replaces another, which expires after the overlap. */
export function rotateKey(ctx: Manager, id: string, { overlapHours, ...input }: TokenRotation): Promise<TokenWithKey> {
  return transaction(ctx, async (ctx) => {
    const row = await requireActiveKey(ctx, id)
    if (row.replaced_by)
      throw conflict(`The key ${id} has been rotated: ${row.replaced_by} replaced it. Rotate that key.`)
    if (row.user_id !== null && row.user_id !== findOwner(ctx.actor))
      throw forbidden('Only its owner may rotate a personal key. Revoke it instead; the owner then creates a new one.')
    requireControl(ctx, row)
    const expiresAt = input.expiresAt === undefined ? row.expires_at : readExpiry(ctx, input.expiresAt)
    requireLifetime(ctx.actor, expiresAt)
    const now = ctx.now()
    const ends = new Date(now.getTime() + overlapHours * 3_600_000)
    const old = row.expires_at && row.expires_at < ends ? row.expires_at : ends
    // Before the new key is counted, so that a rotation without overlap also works at the quota.
    const end = overlapHours === 0 ? { revoked_at: now } : { expires_at: old }
    await updateToken(ctx.db, ctx.workspaceId, id, end)
    const token = await createToken(ctx, {
      workspaceId: ctx.workspaceId,
      name: row.name,
      isPublishable: readKind(row) === 'publishable',
      scopes: row.scopes,
      expiresAt,
      userId: row.user_id ?? undefined,
      allowedHostnames: row.allowed_hostnames,
      maker: ctx.actor,
    })
    await updateToken(ctx.db, ctx.workspaceId, id, { replaced_by: token.id })
    reportChange(ctx, { id, before: row, after: { ...end, replaced_by: token.id } })
    reportChange(ctx, { id: token.id, after: { name: row.name, scopes: row.scopes, expiresAt } })
    return { ...presentToken(token), key: token.key }
  })
}

export function revokeKey(ctx: Ctx, id: string): Promise<{ id: string }> {
  return transaction(ctx, async (ctx) => {
    const row = await requireKey(ctx, id)
    if (row.revoked_at === null) await updateToken(ctx.db, ctx.workspaceId, id, { revoked_at: ctx.now() })
    return { id }
  })
}

async function requireKey(ctx: Manager, id: string): Promise<TokenRow> {
  const row = await findToken(ctx, id)
  if (!row) throw notFound('key', id)
  return row
}

async function requireActiveKey(ctx: Manager, id: string): Promise<TokenRow> {
  const row = await requireKey(ctx, id)
  const ended = row.revoked_at ?? (row.expires_at && row.expires_at <= ctx.now() ? row.expires_at : null)
  if (ended) throw conflict(`The key ${id} has not worked since ${ended.toISOString()}. Create a new one.`)
  return row
}

/** Users control their own keys; others need all scopes of a key to rotate or extend it. */
function requireControl({ actor }: Manager, row: TokenRow): void {
  if (actor.kind !== 'user' || actor.id !== row.user_id) requireScopes(actor, row.scopes)
}

function readChanges(ctx: Ctx, row: TokenRow, patch: TokenPatch): TokenChanges {
  const changes: TokenChanges = {}
  if (patch.name !== undefined) changes.name = patch.name
  if (patch.scopes !== undefined) changes.scopes = readFewerScopes(row, patch.scopes)
  if (patch.expiresAt !== undefined) {
    const expiresAt = readExpiry(ctx, patch.expiresAt)
    const isLater = row.expires_at !== null && (expiresAt === null || expiresAt > row.expires_at)
    if (isLater && row.replaced_by)
      throw conflict(`The key ${row.id} has been rotated: ${row.replaced_by} replaced it. It can only expire earlier.`)
    if (isLater) {
      requireControl(ctx, row)
      requireLifetime(ctx.actor, expiresAt)
    }
    changes.expires_at = expiresAt
  }
  if (patch.allowedHostnames !== undefined) {
    requireControl(ctx, row)
    changes.allowed_hostnames = readHostnames(readKind(row), patch.allowedHostnames)
  }
  return changes
}

function readScopes(kind: TokenKind, given: Scope[] | undefined): Scope[] {
  if (kind === 'publishable') {
    if (given) throw invalid('`scopes` in the body must be omitted: a publishable key always has conversions.write.')
    return publishableScopes
  }
  if (!given) throw invalid(`\`scopes\` in the body is required for a ${kind} key.`)
  return [...new Set(given)]
}

function readFewerScopes(row: TokenRow, given: Scope[]): Scope[] {
  const scopes = readScopes(readKind(row), given)
  const added = scopes.filter((scope) => !includesScope(row.scopes, scope))
  if (added.length === 0) return scopes
  throw invalid(
    `\`scopes\` in the body has scopes that the key lacks: ${added.join(', ')}. Create a new key to grant them.`,
  )
}

function readExpiry(ctx: Pick<Ctx, 'now'>, text: string | null): Date | null {
  if (text === null) return null
  const at = new Date(text)
  const latest = ctx.now()
  latest.setUTCFullYear(latest.getUTCFullYear() + longestYears)
  if (at > ctx.now() && at <= latest) return at
  throw invalid(`\`expiresAt\` in the body must be a future time, at most ${longestYears} years from now.`)
}

function readHostnames(kind: TokenKind, given: string[] | null | undefined): string[] | null {
  if (!given) return null
  if (kind === 'publishable') return parseHostnames(given)
  throw invalid(`\`allowedHostnames\` in the body is for publishable keys; this one is a ${kind} key.`)
}
