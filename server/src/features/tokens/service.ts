import { hash } from 'node:crypto'
import type { Scope } from '@tributary/contract/operation'
import { openByteCache } from '../../platform/byte-cache.ts'
import type { Ctx, Platform } from '../../platform/context.ts'
import type { Credentials } from '../../platform/credentials.ts'
import { AppError, forbidden, unauthorized } from '../../platform/errors.ts'
import { newId, randomText } from '../../platform/ids.ts'
import { transaction } from '../../platform/postgres.ts'
import { requirePage, requireRoom, requireWorkspace, type Workspace } from '../workspaces/service.ts'
import {
  countTokens,
  insertToken,
  revokeToken,
  selectTokenByHash,
  selectTokens,
  type TokenRow,
  touchToken,
} from './store.ts'

export type Token = TokenRow

const everything: Scope[] = ['apis.all']
const keyPrefix = 'trib_'
// After `trib_`, a secret key has only letters and digits, so no secret key begins with this prefix.
const publishablePrefix = 'trib_pk_'
// How long a key is cached: a revoked key must stop working within a second in every process.
const rememberedMs = 750
const mostKeys = 10_000
// Unknown keys can be cached for longer, because new keys are random and never equal one that was tried before.
const unknownMs = 10_000
const validMs = 24 * 3_600_000

/** Creates an API key. Only this return value contains the key itself; the database has its hash. */
export async function createToken(
  platform: Pick<Platform, 'db' | 'config'>,
  input: { workspaceId: string; name: string; scopes?: Scope[]; expiresAt?: Date; isPublishable?: boolean },
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
  }
  const { db, config } = platform
  const token = await transaction({ db, config, workspaceId: input.workspaceId }, async (ctx) => {
    await requireRoom(ctx, 'keys', () => countTokens(ctx.db, ctx.workspaceId))
    return insertToken(ctx.db, row)
  })
  return { ...token, key }
}

export function listTokens(platform: Pick<Platform, 'db'>, workspaceId: string): Promise<Token[]> {
  return selectTokens(platform.db, workspaceId)
}

export async function revoke(platform: Pick<Platform, 'db'>, id: string): Promise<Token> {
  const token = await revokeToken(platform.db, id)
  if (!token) throw new AppError('not_found', `There is no key ${id}. \`tributary key list\` shows the ids.`)
  return token
}

type Holder = { token: Token; workspace: Workspace }

/**
 * Returns the function that authenticates an `Authorization` header. Unknown keys are cached for ten seconds. Clients
 * that sent too many invalid keys share one lookup at a time, except for keys that were valid in this process before.
 */
export function contextReader() {
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

  async function load(platform: Platform, key: string, name: string): Promise<Holder | undefined> {
    const holder = await loadHolder(platform, key)
    if (holder) valid.set(name, true)
    else unknown.set(name, true)
    return holder
  }

  function find(platform: Platform, key: string, isSuspect: boolean): Promise<Holder | undefined> | undefined {
    const name = hashKey(key).toString('base64')
    const known = remembered.get(name)
    if (known || unknown.has(name)) return known
    const needsSlot = isSuspect && !valid.has(name)
    if (needsSlot && isSlotTaken) return undefined
    if (needsSlot) isSlotTaken = true
    const found = load(platform, key, name).finally(() => {
      if (needsSlot) isSlotTaken = false
    })
    remembered.set(name, found)
    found.catch(() => remembered.delete(name))
    return found
  }

  return async (
    platform: Platform,
    { authorization, page, isSuspect = false }: Credentials,
  ): Promise<Omit<Ctx, 'requestId'>> => {
    const key = /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1]
    if (!key)
      throw unauthorized('No API key or access token was sent. Send the header `Authorization: Bearer <API_KEY>`.')
    const holder = await find(platform, key, isSuspect)
    if (!holder)
      throw unauthorized('This API key or access token is not known. Check it for typing errors, or create a new one.')
    const { token, workspace } = holder
    if (token.revoked_at) throw unauthorized('This API key has been revoked. Create a new one.')
    if (token.expires_at && token.expires_at <= platform.now()) {
      throw unauthorized(`This API key expired at ${token.expires_at.toISOString()}. Create a new one.`)
    }
    const actor = { kind: 'key' as const, id: token.id, scopes: token.scopes, isPublishable: isPublishable(token) }
    if (actor.isPublishable) requireOwnPage(workspace, page)
    return { ...platform, workspaceId: token.workspace_id, plan: workspace.plan, actor }
  }
}

async function loadHolder(platform: Platform, key: string): Promise<Holder | undefined> {
  const token = await selectTokenByHash(platform.db, hashKey(key))
  if (!token) return undefined
  const [workspace] = await Promise.all([
    requireWorkspace(platform, token.workspace_id),
    touchToken(platform.db, token.workspace_id, token.id),
  ])
  return { token, workspace }
}

function isPublishable(token: Pick<Token, 'prefix'>): boolean {
  return token.prefix.startsWith(publishablePrefix)
}

/** A publishable key is readable in web pages, so it works only on the hostnames that its workspace allows. */
function requireOwnPage(workspace: Workspace, page: string): void {
  if (workspace.allowed_hostnames.length === 0) {
    // Strangers can use a publishable key and read this error, so it reveals nothing about the workspace.
    const remedy = 'tributary workspace set <workspace> --allowed-hostnames <hostnames of your sites>'
    throw forbidden(`A publishable key works once its workspace has allowed hostnames: ${remedy}.`)
  }
  requirePage(workspace, page)
}

function hashKey(key: string): Buffer {
  return hash('sha256', key, 'buffer')
}
