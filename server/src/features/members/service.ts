import type { Member, MemberPatch, MembersQuery } from '@tributary/contract/members'
import { type Role, roleScopes, type Scope } from '@tributary/contract/permissions'
import type { Ctx, Platform } from '../../platform/context.ts'
import { requireFreshSession } from '../../platform/credentials.ts'
import { conflict, forbidden, invalid, notFound } from '../../platform/errors.ts'
import { transaction } from '../../platform/postgres.ts'
import { reportChange } from '../../platform/recording.ts'
import { usersByIds } from '../auth/service.ts'
import { knownFolderIds, restrictedFolders } from '../folders/service.ts'
import { lockResource, workspacesByIds } from '../workspaces/service.ts'
import { forgetAccess, memberAccess as loadAccess, memberContext as openContext } from './access.ts'
import {
  countMemberRows,
  deleteMember,
  insertMember,
  lockOwners,
  type MemberRow,
  replaceMemberFolders,
  selectDeniedFolders,
  selectMember,
  selectMemberFolders,
  selectMembers,
  selectMemberships,
  selectOwned,
  updateRole,
} from './store.ts'

/** Returns what a member may do in a workspace; undefined for others. Cached for less than a second. */
export const memberAccess = loadAccess
/** The context of a signed-in user: in the workspace that the request names, or in none. */
export const memberContext = openContext

export async function listMembers(ctx: Ctx, query: MembersQuery): Promise<Member[]> {
  const selection = {
    sort: query.sortBy,
    ascending: query.sortOrder === 'asc',
    offset: (query.page - 1) * query.pageSize,
    count: query.pageSize,
  }
  return presentAll(ctx, await selectMembers(ctx.db, ctx.workspaceId, selection))
}

export async function getMember(ctx: Ctx, userId: string): Promise<Member> {
  return (await presentAll(ctx, [await requireMember(ctx, userId)]))[0] as Member
}

export async function updateMember(ctx: Ctx, userId: string, patch: MemberPatch): Promise<Member> {
  const member = await transaction(ctx, async (ctx) => {
    const owners = await lockOwners(ctx.db, ctx.workspaceId)
    const before = await getMember(ctx, userId)
    requireAuthority(ctx, before.role)
    if (patch.role !== undefined && patch.role !== before.role) {
      if (before.role === 'owner' || patch.role === 'owner') requireProof(ctx)
      requireGrantable(ctx, patch.role)
      if (before.role === 'owner') requireAnotherOwner(owners)
      if (patch.role === 'owner') await requireOwnerRoom(ctx, userId)
      await updateRole(ctx.db, ctx.workspaceId, userId, patch.role)
    }
    if (patch.folders) await replaceFolders(ctx, userId, patch.folders)
    reportChange(ctx, { id: userId, before, after: patch })
    return getMember(ctx, userId)
  })
  forgetAccess(ctx.workspaceId, userId)
  return member
}

export async function removeMember(ctx: Ctx, userId: string): Promise<{ userId: string }> {
  await transaction(ctx, async (ctx) => {
    const owners = await lockOwners(ctx.db, ctx.workspaceId)
    const { role, folders } = await getMember(ctx, userId)
    requireAuthority(ctx, role)
    if (role === 'owner') {
      requireProof(ctx)
      requireAnotherOwner(owners)
    }
    await deleteMember(ctx.db, ctx.workspaceId, userId)
    reportChange(ctx, { id: userId, before: { role, folders } })
  })
  forgetAccess(ctx.workspaceId, userId)
  return { userId }
}

type Tenant = Pick<Ctx, 'db' | 'workspaceId'>

/** Adds a member; false when the user is a member already. */
export async function addMember(ctx: Tenant, userId: string, role: Role): Promise<boolean> {
  const added = await insertMember(ctx.db, { workspace_id: ctx.workspaceId, user_id: userId, role })
  return added !== undefined
}

/** Ends the membership of a user who leaves; throws for the last owner. */
export async function endMembership(ctx: Tenant, userId: string): Promise<void> {
  await transaction(ctx, async (ctx) => {
    const owners = await lockOwners(ctx.db, ctx.workspaceId)
    if (owners.includes(userId)) requireAnotherOwner(owners)
    if (!(await deleteMember(ctx.db, ctx.workspaceId, userId))) throw notFound('member', userId)
  })
  forgetAccess(ctx.workspaceId, userId)
}

/** Makes a member the owner and the former owner an admin. */
export async function transferOwnership(ctx: Tenant & Pick<Ctx, 'config'>, from: string, to: string): Promise<void> {
  await transaction(ctx, async (ctx) => {
    const owners = await lockOwners(ctx.db, ctx.workspaceId)
    if (!owners.includes(from)) throw conflict('You are no longer an owner of this workspace.')
    if (from === to) throw invalid('`userId` in the body must name another member.')
    await requireMember(ctx, to)
    if (!owners.includes(to)) await requireOwnerRoom(ctx, to)
    await updateRole(ctx.db, ctx.workspaceId, to, 'owner')
    await updateRole(ctx.db, ctx.workspaceId, from, 'admin')
  })
  for (const userId of [from, to]) forgetAccess(ctx.workspaceId, userId)
}

/** Folders that not every member may read: by their access level, or by the access of a member. */
export async function privateFolders(ctx: Tenant): Promise<string[]> {
  const [restricted, denied] = await Promise.all([
    restrictedFolders(ctx, ctx.workspaceId),
    selectDeniedFolders(ctx.db, ctx.workspaceId),
  ])
  const hidden = restricted.flatMap(({ id, accessLevel }) => (accessLevel === null ? [id] : []))
  return [...new Set([...hidden, ...denied])]
}

// A user may be invited to any number of workspaces; a list has at most this many.
const mostMemberships = 1_000
const everyone = { sort: 'createdAt', ascending: true, offset: 0, count: 10_000 } as const

export function listMemberships(platform: Pick<Platform, 'db'>, userId: string): Promise<MemberRow[]> {
  return selectMemberships(platform.db, userId, mostMemberships)
}

/** The roles of all members of a workspace, by user. */
export async function memberRoles(ctx: Tenant): Promise<Map<string, Role>> {
  const rows = await selectMembers(ctx.db, ctx.workspaceId, everyone)
  return new Map(rows.map(({ user_id, role }) => [user_id, role]))
}

/** All members of a workspace, for the operator. */
export async function listEveryone(ctx: Tenant): Promise<Member[]> {
  return presentAll(ctx, await selectMembers(ctx.db, ctx.workspaceId, everyone))
}

export function countMembers(ctx: Tenant): Promise<number> {
  return countMemberRows(ctx.db, ctx.workspaceId)
}

/** Throws 409 if the user is the last owner of a workspace, so that the account can't be deleted. */
export async function requireNoLastOwner(platform: Pick<Platform, 'db'>, userId: string): Promise<void> {
  await transaction(platform, async ({ db }) => {
    for (const workspaceId of await selectOwned(db, userId)) {
      const owners = await lockOwners(db, workspaceId)
      const [workspace] = await workspacesByIds({ db }, [workspaceId])
      if (owners.length > 1 || !workspace) continue
      throw conflict(
        `You are the last owner of the workspace ${workspace.name}. Transfer or delete it before you delete your account.`,
      )
    }
  })
}

/** Throws 403 if a user owns as many workspaces as the operator allows. Call it in the transaction that adds an owner. */
export async function requireOwnerRoom(ctx: Pick<Ctx, 'db' | 'config'>, userId: string): Promise<void> {
  await lockResource(ctx, userId, 'workspaces')
  const { length } = await selectOwned(ctx.db, userId)
  const most = ctx.config.WORKSPACES_PER_USER
  if (length < most) return
  throw forbidden(
    `The new owner owns ${length} workspaces; the operator's setting WORKSPACES_PER_USER allows ${most}. Delete or transfer one, or ask the operator to raise it.`,
  )
}

/** Throws 403 unless the caller may give this role: nobody gives more than they have, and only owners make owners. */
export function requireGrantable({ actor }: Pick<Ctx, 'actor'>, role: Role): void {
  if (actor.kind === 'system' || (actor.kind === 'user' && actor.role === 'owner')) return
  if (role === 'owner') throw forbidden('Only an owner may make someone an owner. Ask an owner of the workspace.')
  if (roleScopes[role].every((scope) => hasScope(actor.scopes, scope))) return
  throw forbidden(`The role ${role} has scopes that this ${actor.kind} lacks. Choose a role with fewer scopes.`)
}

/** Throws 403 unless the caller has signed in recently: changes of owners are as grave as a transfer of the workspace. */
export function requireProof(ctx: Pick<Ctx, 'actor' | 'now'>): void {
  if (ctx.actor.kind === 'user') requireFreshSession(ctx)
}

/** Throws 403 unless the caller may change a member of this role: only owners change owners. */
function requireAuthority({ actor }: Pick<Ctx, 'actor'>, role: Role): void {
  if (role !== 'owner' || actor.kind === 'system' || (actor.kind === 'user' && actor.role === 'owner')) return
  throw forbidden('Only an owner may change or remove an owner. Ask an owner of the workspace.')
}

function hasScope(owned: Scope[], scope: Scope): boolean {
  if (owned.includes('apis.all') || owned.includes(scope)) return true
  if (!scope.endsWith('.read')) return false
  return owned.includes('apis.read') || owned.includes(scope.replace('.read', '.write') as Scope)
}

function requireAnotherOwner(owners: string[]): void {
  if (owners.length > 1) return
  throw conflict('This is the last owner of the workspace. Make another member an owner first.')
}

async function requireMember(ctx: Tenant, userId: string): Promise<MemberRow> {
  const member = await selectMember(ctx.db, ctx.workspaceId, userId)
  if (!member) throw notFound('member', userId)
  return member
}

async function replaceFolders(ctx: Ctx, userId: string, folders: NonNullable<MemberPatch['folders']>): Promise<void> {
  const ids = folders.map(({ folderId }) => folderId)
  if (new Set(ids).size < ids.length) throw invalid('`folders` in the body names a folder twice. Name each once.')
  const known = await knownFolderIds(ctx, ids)
  const unknown = ids.filter((id) => !known.has(id))
  if (unknown.length > 0) throw notFound('folder', unknown.slice(0, 10).join(', '))
  const rows = folders.map(({ folderId, access }) => ({ folder_id: folderId, access }))
  await replaceMemberFolders(ctx.db, ctx.workspaceId, userId, rows)
}

async function presentAll(ctx: Tenant, rows: MemberRow[]): Promise<Member[]> {
  const ids = rows.map((row) => row.user_id)
  const [users, folders] = await Promise.all([
    usersByIds(ctx, ids),
    ids.length === 0 ? [] : selectMemberFolders(ctx.db, ctx.workspaceId, ids),
  ])
  const byUser = Map.groupBy(folders, (row) => row.user_id)
  return rows.map((row) => ({
    userId: row.user_id,
    name: users.get(row.user_id)?.name ?? '',
    email: users.get(row.user_id)?.email ?? '',
    role: row.role,
    folders: (byUser.get(row.user_id) ?? []).map(({ folder_id, access }) => ({ folderId: folder_id, access })),
    createdAt: row.created_at.toISOString(),
  }))
}
