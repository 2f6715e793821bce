import { type Role, roleScopes, type Scope } from '@tributary/contract/permissions'
import { openByteCache } from '../../platform/byte-cache.ts'
import type { Ctx, FolderAccess, Platform } from '../../platform/context.ts'
import type { Credentials } from '../../platform/credentials.ts'
import { AppError, badRequest } from '../../platform/errors.ts'
import { type Session, usersByIds } from '../auth/service.ts'
import { restrictedFolders } from '../folders/service.ts'
import { findWorkspace, type Workspace } from '../workspaces/service.ts'
import { selectMember, selectMemberFolders } from './store.ts'

export type MemberAccess = { role: Role; scopes: Scope[]; folderAccess?: FolderAccess }

// A removal, a change of role or a deleted workspace must count within a second in every process.
const cachedMs = 750
const mostCached = 20_000
const longestName = 100
const namePattern = /^[\w-]{1,100}$/

type Databases = Pick<Platform, 'db'>
const accesses = openByteCache<Promise<MemberAccess | undefined>>({
  maxBytes: 32_000_000,
  most: mostCached,
  ttlMs: cachedMs,
  measure: () => 1_600,
})
const workspaces = openByteCache<Promise<Workspace | undefined>>({
  maxBytes: 16_000_000,
  most: mostCached,
  ttlMs: cachedMs,
  measure: () => 800,
})

/** Returns what a member may do in a workspace; undefined for a user who is not a member or is disabled. */
export function memberAccess(
  platform: Databases,
  workspaceId: string,
  userId: string,
): Promise<MemberAccess | undefined> {
  return remember(accesses, `${workspaceId} ${userId}`, () => loadAccess(platform, workspaceId, userId))
}

/** Forgets what this process has cached of a member; other processes forget it within a second. */
export function forgetAccess(workspaceId: string, userId: string): void {
  accesses.delete(`${workspaceId} ${userId}`)
}

/** The context of a signed-in user: in the workspace that the request names, or in none. */
export async function memberContext(
  platform: Platform,
  session: Session,
  { workspace: name, needsWorkspace = true }: Pick<Credentials, 'workspace' | 'needsWorkspace'>,
): Promise<Omit<Ctx, 'requestId'>> {
  const { userId: id, id: sessionId, authenticatedAt } = session
  const user = { kind: 'user' as const, id, sessionId, authenticatedAt }
  if (!needsWorkspace) {
    return { ...platform, workspaceId: '', plan: 'pro', actor: { ...user, scopes: ['apis.all'] } }
  }
  if (!name) {
    throw badRequest(
      'The request names no workspace. Send the header `Tributary-Workspace` with its id or slug; `GET /workspaces` lists yours.',
    )
  }
  const workspace = namePattern.test(name) ? await findCached(platform, name) : undefined
  const access = workspace && (await memberAccess(platform, workspace.id, id))
  if (!workspace || !access) throw notMember(name)
  const { folderAccess, role, scopes } = access
  const actor = { ...user, role, scopes }
  return { ...platform, workspaceId: workspace.id, plan: workspace.plan, actor, ...(folderAccess && { folderAccess }) }
}

/** The error for a workspace that does not exist and for one of other people, which must look the same. */
export function notMember(name: string): AppError {
  const shown = name.slice(0, longestName)
  return new AppError('not_found', `There is no workspace ${shown} for you. \`GET /workspaces\` lists yours.`)
}

function findCached(platform: Databases, idOrSlug: string): Promise<Workspace | undefined> {
  return remember(workspaces, idOrSlug, () => findWorkspace(platform, idOrSlug))
}

type Cache<T> = {
  get(name: string): Promise<T | undefined> | undefined
  set(name: string, found: Promise<T | undefined>): unknown
  delete(name: string): unknown
}

/** Caches what is found; what is not found may be created a moment later, so it is not cached. */
function remember<T>(cache: Cache<T>, name: string, load: () => Promise<T | undefined>): Promise<T | undefined> {
  const known = cache.get(name)
  if (known !== undefined) return known
  const found = load()
  cache.set(name, found)
  const forget = () => {
    if (cache.get(name) === found) cache.delete(name)
  }
  found.then((value) => value === undefined && forget()).catch(forget)
  return found
}

async function loadAccess(platform: Databases, workspaceId: string, userId: string): Promise<MemberAccess | undefined> {
  const [member, users] = await Promise.all([
    selectMember(platform.db, workspaceId, userId),
    usersByIds(platform, [userId]),
  ])
  if (!member || users.get(userId)?.disabledAt) return undefined
  const { role } = member
  const scopes = [...roleScopes[role]]
  if (role === 'owner' || role === 'admin') return { role, scopes }
  return { role, scopes, folderAccess: await loadFolderAccess(platform, workspaceId, userId) }
}

/** A member's own access to a folder replaces the folder's access level. */
async function loadFolderAccess(
  platform: Databases,
  workspaceId: string,
  userId: string,
): Promise<FolderAccess | undefined> {
  const [levels, own] = await Promise.all([
    restrictedFolders(platform, workspaceId),
    selectMemberFolders(platform.db, workspaceId, [userId]),
  ])
  const accesses = new Map(levels.map(({ id, accessLevel }) => [id, accessLevel ?? 'none']))
  for (const { folder_id, access } of own) accesses.set(folder_id, access)
  const withAccess = (sought: string) => [...accesses].flatMap(([id, access]) => (access === sought ? [id] : []))
  const [hidden, readOnly] = [withAccess('none'), withAccess('read')]
  return hidden.length + readOnly.length === 0 ? undefined : { hidden, readOnly }
}
