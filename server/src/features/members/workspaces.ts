import type { ListedWorkspace, NewWorkspace, WorkspacesQuery } from '@tributary/contract/workspaces'
import type { Ctx } from '../../platform/context.ts'
import { transaction } from '../../platform/postgres.ts'
import { reportChange } from '../../platform/recording.ts'
import {
  createWorkspace,
  findWorkspace,
  requireWorkspace,
  type Workspace,
  workspacesByIds,
} from '../workspaces/service.ts'
import { memberAccess, notMember } from './access.ts'
import { addMember, endMembership, listMemberships, requireOwnerRoom, transferOwnership } from './service.ts'
import type { MemberRow } from './store.ts'

/** Creates a workspace whose owner is the signed-in user. */
export async function createOwnWorkspace(ctx: Ctx, input: NewWorkspace): Promise<ListedWorkspace> {
  const workspace = await transaction(ctx, async (ctx) => {
    await requireOwnerRoom(ctx, ctx.actor.id)
    const created = await createWorkspace(ctx, input)
    await addMember({ db: ctx.db, workspaceId: created.id }, ctx.actor.id, 'owner')
    const { id, name, slug, plan } = created
    reportChange(ctx, { id, after: { name, slug, plan } })
    return created
  })
  return present(workspace, 'owner')
}

/** Lists the workspaces of a user; an API key lists its own. */
export async function listOwnWorkspaces(ctx: Ctx, query: WorkspacesQuery): Promise<ListedWorkspace[]> {
  if (ctx.actor.kind !== 'user') return [present(await requireWorkspace(ctx, ctx.workspaceId), null)]
  const memberships = await listMemberships(ctx, ctx.actor.id)
  const roles = new Map(memberships.map(({ workspace_id, role }) => [workspace_id, role]))
  const workspaces = await workspacesByIds(ctx, [...roles.keys()])
  const listed = workspaces.map((workspace) => present(workspace, roles.get(workspace.id) ?? null))
  const sign = query.sortOrder === 'asc' ? 1 : -1
  listed.sort((one, other) => sign * one[query.sortBy].localeCompare(other[query.sortBy]))
  return listed.slice((query.page - 1) * query.pageSize, query.page * query.pageSize)
}

export async function leaveWorkspace(ctx: Ctx, idOrSlug: string): Promise<{ id: string }> {
  const workspace = await findWorkspace(ctx, idOrSlug)
  const access = workspace && (await memberAccess(ctx, workspace.id, ctx.actor.id))
  if (!workspace || !access) throw notMember(idOrSlug)
  await endMembership({ db: ctx.db, workspaceId: workspace.id }, ctx.actor.id)
  reportChange(ctx, { id: workspace.id, before: { userId: ctx.actor.id, role: access.role } })
  return { id: workspace.id }
}

export async function transferWorkspace(ctx: Ctx, userId: string): Promise<{ id: string; ownerId: string }> {
  const { workspaceId: id, actor } = ctx
  await transferOwnership(ctx, actor.id, userId)
  reportChange(ctx, { id, before: { ownerId: actor.id }, after: { ownerId: userId } })
  return { id, ownerId: userId }
}

function present(row: Workspace, role: MemberRow['role'] | null): ListedWorkspace {
  const { id, name, slug, logo, plan } = row
  return { id, name, slug, logo, plan, createdAt: row.created_at.toISOString(), role }
}
