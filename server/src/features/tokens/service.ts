import { hash } from 'node:crypto'
import { commonScopes, type Scope } from '@tributary/contract/permissions'
import { openByteCache } from '../../platform/byte-cache.ts'
import { formatNetwork } from '../../platform/client-address.ts'
import type { Actor, Ctx, FolderAccess, Platform } from '../../platform/context.ts'
import type { Credentials } from '../../platform/credentials.ts'
import { AppError, forbidden, unauthorized } from '../../platform/errors.ts'
import { newId, randomText } from '../../platform/ids.ts'
import { transaction } from '../../platform/postgres.ts'
import { findIpStorage, findWorkspace, requirePage, requireRoom, type Workspace } from '../workspaces/service.ts'
import { findOwner, seesAllKeys } from './permissions.ts'
import { keyPrefix, publishablePrefix, readKind } from './present.ts'
import {
  countTokens,
  countTokensOfUser,
  deleteInactiveTokens,
  type ExpiringRow,
  insertToken,
  revokeToken,
  revokeTokensOfUser,
  selectToken,
  selectTokenByHash,
  selectTokenById,
  selectTokenNames,
  selectTokens,
  type TokenRow,
  takeExpiringTokens,
  touchToken,
} from './store.ts'

export type Token = TokenRow
export type ExpiringToken = ExpiringRow

const everything: Scope[] = ['apis.all']
// How long a key is cached: a revoked key must stop working within a second in every process.
const rememberedMs = 750
const mostKeys = 10_000
// Unknown keys can be cached for longer, because new keys are random and never equal one that was tried before.
const unknownMs = 10_000
const validMs = 24 * 3_600_000
// Revoked and expired keys that a workspace can list.
const mostInactive = 1_000

/** Creates an API key. Only this return value contains the key itself; the database has its hash. */
export async function createToken(
  platform: Pick<Platform, 'db' | 'config'>,
  input: {
    workspaceId: string
    name: string
    scopes?: Scope[]
    expiresAt?: Date | null
    isPublishable?: boolean
    /** The owner of a personal key. */
    userId?: string
    allowedHostnames?: string[] | null
    maker?: Actor
  },
): Promise<Token & { key: string }> {
  // A key has 190 random bits, so that even an unsalted fast hash of it can't be brute-forced.
  const start = input.isPublishable ? publishablePrefix : keyPrefix
  const key = start + randomText(32)
  const row = {
    id: newId('key'),
    workspace_id: input.workspaceId,
    name: input.name,
    hash: hashKey(key),
    prefix: key.slice(0, start.length + 3),
    last_four: key.slice(-4),
    scopes: input.isPublishable ? ['conversions.write' as const] : input.scopes?.length ? input.scopes : everything,
    expires_at: input.expiresAt ?? null,
    user_id: input.userId ?? null,
    created_by: findUser(input.maker),
    created_by_key: input.maker?.kind === 'key' ? input.maker.id : null,
    allowed_hostnames: input.allowedHostnames ?? null,
  }
  const { db, config } = platform
  const token = await transaction({ db, config, workspaceId: input.workspaceId }, async (ctx) => {
    await requireRoom(ctx, 'keys', () => countTokens(ctx.db, ctx.workspaceId))
    await deleteInactiveTokens(ctx.db, ctx.workspaceId, mostInactive)
    return insertToken(ctx.db, row)
  })
  return { ...token, key }
}

/** The user who acts, also with a personal key; null for machine keys. */
export function findUser(maker: Actor | undefined): string | null {
  if (maker?.kind === 'key') return maker.userId ?? null
  return maker?.kind === 'user' ? maker.id : null
}

export function listTokens(platform: Pick<Platform, 'db'>, workspaceId: string): Promise<Token[]> {
  return selectTokens(platform.db, workspaceId)
}

/** The names of a workspace's keys by id, also of revoked and expired ones. */
export async function tokenNames(
  { db }: Pick<Platform, 'db'>,
  workspaceId: string,
  ids: string[],
): Promise<Map<string, string>> {
  const rows = await selectTokenNames(db, workspaceId, ids)
  return new Map(rows.map(({ id, name }) => [id, name]))
}

export function tokenCount(ctx: Pick<Ctx, 'db' | 'workspaceId'>): Promise<number> {
  return countTokens(ctx.db, ctx.workspaceId)
}

export async function revoke(platform: Pick<Platform, 'db'>, id: string): Promise<Token> {
  return requireFound(await revokeToken(platform.db, id), id)
}

/** Revokes the personal keys of a user in all workspaces, for the operator; returns how many. */
export function revokePersonalKeys({ db }: Pick<Platform, 'db'>, userId: string): Promise<number> {
  return revokeTokensOfUser(db, userId)
}

/** Counts the personal keys of a user that work, in all workspaces. */
export function countPersonalKeys({ db }: Pick<Platform, 'db'>, userId: string): Promise<number> {
  return countTokensOfUser(db, userId)
}

/** Returns a key of the workspace; undefined for one that the caller may not see. In a transaction, locks its row. */
export async function findToken(
  { db, workspaceId, actor }: Pick<Ctx, 'db' | 'workspaceId' | 'actor'>,
  id: string,
): Promise<Token | undefined> {
  const row = await selectToken(db, workspaceId, id)
  const isVisible = row && (seesAllKeys(actor) || (row.user_id !== null && row.user_id === findOwner(actor)))
  return isVisible ? row : undefined
}

const dayMs = 24 * 3_600_000

/**
 * Keys that expire within a week or a day, without a queued warning; call it in the transaction that queues the
 * warnings. Short-lived keys have no warning: one of a week or less not a week before, one of two days not a day before.
 */
export async function takeExpiring(
  { db, now }: Pick<Platform, 'db' | 'now'>,
  count: number,
): Promise<{ keys: ExpiringToken[]; isFull: boolean }> {
  const rows = await takeExpiringTokens(db, now(), count)
  const keys = rows.filter(({ created_at, expires_at, expiry_warnings }) => {
    const days = (expires_at.getTime() - created_at.getTime()) / dayMs
    return days > (expiry_warnings === 1 ? 8 : 2)
  })
  return { keys, isFull: rows.length === count }
}

/** Returns a key of any workspace, for the operator. */
export async function requireToken(platform: Pick<Platform, 'db'>, id: string): Promise<Token> {
  return requireFound(await selectTokenById(platform.db, id), id)
}

function requireFound(token: Token | undefined, id: string): Token {
  if (!token) throw new AppError('not_found', `There is no key ${id}. \`tributary key list\` shows the ids.`)
  return token
}

type Holder = { token: Token; workspace: Workspace }
/** What a member may do in a workspace now. */
export type MemberAccess = { scopes: readonly Scope[]; folderAccess?: FolderAccess }
type FindMember = (platform: Platform, workspaceId: string, userId: string) => Promise<MemberAccess | undefined>

/**
 * Returns the function that authenticates an `Authorization` header. Unknown keys are cached for ten seconds. Clients
 * that sent too many invalid keys share one lookup at a time, except for keys that were valid in this process before.
 * A personal key may do what its scopes and its owner's role both allow; `findMember` returns what the owner may do.
 */
export function contextReader(findMember: FindMember = async () => undefined) {
  const remembered = openByteCache<Promise<Holder | undefined>>({
    maxBytes: 16_000_000,
    most: mostKeys,
    ttlMs: rememberedMs,
    // Estimated bytes of a cached key with its workspace.
    measure: () => 2_000,
  })
  const unknown = openByteCache<true>({ maxBytes: 4_000_000, most: mostKeys, ttlMs: unknownMs })
  const valid = openByteCache<true>({ maxBytes: 4_000_000, most: mostKeys, ttlMs: validMs })
  let isSlotTaken = false

  async function load(platform: Platform, key: string, name: string, ip: string): Promise<Holder | undefined> {
    const holder = await loadHolder(platform, key, ip)
    if (holder) valid.set(name, true)
    else unknown.set(name, true)
    return holder
  }

  function find(
    platform: Platform,
    key: string,
    { isSuspect = false, ip = '' }: Credentials,
  ): Promise<Holder | undefined> | undefined {
    const name = hashKey(key).toString('base64')
    const known = remembered.get(name)
    if (known || unknown.has(name)) return known
    const needsSlot = isSuspect && !valid.has(name)
    if (needsSlot && isSlotTaken) return undefined
    if (needsSlot) isSlotTaken = true
    const found = load(platform, key, name, ip).finally(() => {
      if (needsSlot) isSlotTaken = false
    })
    remembered.set(name, found)
    found.catch(() => remembered.delete(name))
    return found
  }

  return async (platform: Platform, credentials: Credentials): Promise<Omit<Ctx, 'requestId'>> => {
    const key = /^bearer +(\S+)$/i.exec(credentials.authorization ?? '')?.[1]
    if (!key)
      throw unauthorized('No API key or access token was sent. Send the header `Authorization: Bearer <API_KEY>`.')
    const holder = await find(platform, key, credentials)
    if (!holder)
      throw unauthorized('This API key or access token is not known. Check it for typing errors, or create a new one.')
    const { token, workspace } = holder
    if (token.revoked_at) throw unauthorized('This API key has been revoked. Create a new one.')
    if (token.expires_at && token.expires_at <= platform.now()) {
      throw unauthorized(`This API key expired at ${token.expires_at.toISOString()}. Create a new one.`)
    }
    const { workspace_id: workspaceId, user_id: userId, expires_at } = token
    const owner = userId === null ? undefined : await findMember(platform, workspaceId, userId)
    if (userId !== null && !owner)
      throw unauthorized('The owner of this API key is not a member of the workspace. Create a new one.')
    const actor = {
      kind: 'key' as const,
      id: token.id,
      scopes: owner ? commonScopes(token.scopes, owner.scopes) : token.scopes,
      isPublishable: readKind(token) === 'publishable',
      ...(userId !== null && { userId }),
      ...(expires_at && { expiresAt: expires_at }),
    }
    if (actor.isPublishable) requireOwnPage(holder, credentials.page)
    const { folderAccess } = owner ?? {}
    return { ...platform, workspaceId, plan: workspace.plan, actor, ...(folderAccess && { folderAccess }) }
  }
}

async function loadHolder(platform: Platform, key: string, ip: string): Promise<Holder | undefined> {
  const token = await selectTokenByHash(platform.db, hashKey(key))
  if (!token) return undefined
  const { id, workspace_id: workspaceId } = token
  const storage = (await findIpStorage(platform, [workspaceId])).get(workspaceId)
  const [workspace] = await Promise.all([
    findWorkspace(platform, workspaceId),
    touchToken(platform.db, workspaceId, id, storage === 'none' ? null : formatNetwork(ip) || null),
  ])
  // The keys of a deleted workspace are unknown, too.
  return workspace && { token, workspace }
}

/** A publishable key is readable in web pages, so it works only on its allowed hostnames or those of its workspace. */
function requireOwnPage({ token, workspace }: Holder, page: string): void {
  const { allowed_hostnames } = token
  if (allowed_hostnames) {
    requirePage({ allowed_hostnames }, page, 'Add its hostname to the `allowedHostnames` of the key.')
    return
  }
  if (workspace.allowed_hostnames.length === 0) {
    // Strangers can use a publishable key and read this error, so it reveals nothing about the workspace.
    const command = 'tributary workspace set <workspace> --allowed-hostnames <hostnames of your sites>'
    throw forbidden(
      `A publishable key works once its workspace has allowed hosts: enter them at Settings → Tracking, or run ${command}.`,
    )
  }
  requirePage(workspace, page)
}

function hashKey(key: string): Buffer {
  return hash('sha256', key, 'buffer')
}
