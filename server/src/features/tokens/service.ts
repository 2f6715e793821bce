import { hash } from 'node:crypto'
import type { Scope } from '@tributary/contract/operation'
import { LRUCache } from 'lru-cache'
import type { Ctx, Platform } from '../../platform/context.ts'
import { AppError, forbidden, unauthorized } from '../../platform/errors.ts'
import { newId, randomText } from '../../platform/ids.ts'
import { requirePage, requireWorkspace, type Workspace } from '../workspaces/service.ts'
import { insertToken, revokeToken, selectTokenByHash, selectTokens, type TokenRow, touchToken } from './store.ts'

export type Token = TokenRow

const keyPrefix = 'trib_'
// After the prefix a secret key has letters and digits only, so no secret key begins like this.
const publishablePrefix = 'trib_pk_'
// A revoked key must stop within a second on every process; a hit does not extend the life of an entry.
const rememberedMs = 750

/** The key itself is in the answer of this call only; what is stored is its hash. */
export async function createToken(
  platform: Pick<Platform, 'db'>,
  input: { workspaceId: string; name: string; scopes?: Scope[]; expiresAt?: Date; isPublishable?: boolean },
): Promise<Token & { key: string }> {
  // 190 bits of chance: an unsalted fast hash of it can't be searched.
  const start = input.isPublishable ? publishablePrefix : keyPrefix
  const key = start + randomText(32)
  const token = await insertToken(platform.db, {
    id: newId('key'),
    workspace_id: input.workspaceId,
    name: input.name,
    hash: hashOf(key),
    prefix: key.slice(0, start.length + 3),
    last_four: key.slice(-4),
    scopes: input.isPublishable ? ['conversions.write'] : input.scopes?.length ? input.scopes : ['apis.all'],
    expires_at: input.expiresAt ?? null,
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

/** Makes the function that turns an `Authorization` header into who is asking. */
export function contextReader() {
  const remembered = new LRUCache<string, Promise<Holder | undefined>>({
    max: 10_000,
    ttl: rememberedMs,
    updateAgeOnGet: false,
  })

  function find(platform: Platform, key: string): Promise<Holder | undefined> {
    const known = remembered.get(key)
    if (known) return known
    const found = holderOf(platform, key)
    remembered.set(key, found)
    found.catch(() => remembered.delete(key))
    return found
  }

  return async (platform: Platform, authorization: string | undefined, page = ''): Promise<Omit<Ctx, 'requestId'>> => {
    const key = /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1]
    if (!key)
      throw unauthorized('No API key or access token was sent. Send the header `Authorization: Bearer <API_KEY>`.')
    const holder = await find(platform, key)
    if (!holder)
      throw unauthorized('This API key or access token is not known. Check it for typing errors, or create a new one.')
    const { token, workspace } = holder
    if (token.revoked_at) throw unauthorized('This API key has been revoked. Create a new one.')
    if (token.expires_at && token.expires_at <= platform.now()) {
      throw unauthorized(`This API key expired at ${token.expires_at.toISOString()}. Create a new one.`)
    }
    const actor = { keyId: token.id, scopes: token.scopes, isPublishable: isPublishable(token) }
    if (actor.isPublishable) requireOwnPage(workspace, page)
    return { ...platform, workspaceId: token.workspace_id, plan: workspace.plan, actor }
  }
}

async function holderOf(platform: Platform, key: string): Promise<Holder | undefined> {
  const token = await selectTokenByHash(platform.db, hashOf(key))
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

/** Everybody can read the key in the page, so a workspace has to say which pages are its own. */
function requireOwnPage(workspace: Workspace, page: string): void {
  if (workspace.allowed_hostnames.length === 0) {
    const remedy = `tributary workspace set ${workspace.slug} --allowed-hostnames <hostnames of your sites>`
    throw forbidden(`A publishable key works once its workspace has said where: ${remedy}.`)
  }
  requirePage(workspace, page)
}

function hashOf(key: string): Buffer {
  return hash('sha256', key, 'buffer')
}
