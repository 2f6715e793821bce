import type { NotificationKind } from '@tributary/contract/notifications'
import type { Role } from '@tributary/contract/permissions'
import type { Ctx, Platform } from '../../platform/context.ts'
import { type User, usersByIds } from '../auth/service.ts'
import { memberAccess, memberRoles } from '../members/service.ts'
import { findWorkspace, type Workspace } from '../workspaces/service.ts'
import { isAvailable, isOnByDefault } from './kinds.ts'
import { selectChoices, selectChoicesByUser } from './settings-store.ts'

export type Member = { userId: string; role: Role }
/** A member who may be notified, and the context in which this person reads. */
export type Recipient = { ctx: Ctx & { actor: { kind: 'user'; role?: Role } }; user: User; workspace: Workspace }

/**
 * The members of a workspace who get this kind of notification: they turned it on, or have it by default, may see what
 * it is about, and have a verified e-mail address.
 */
export async function findRecipients(
  platform: Platform,
  workspaceId: string,
  kind: NotificationKind,
  isConcerned: (member: Member) => boolean = () => true,
): Promise<string[]> {
  const workspace = await findWorkspace(platform, workspaceId)
  if (!workspace) return []
  const roles = await memberRoles({ db: platform.db, workspaceId })
  const choices = await selectChoicesByUser(platform.db, workspaceId, kind)
  const chosen = [...roles]
    .filter(([userId, role]) => isConcerned({ userId, role }) && (choices.get(userId) ?? isOnByDefault(kind, role)))
    .map(([userId]) => userId)
  const users = await usersByIds(platform, chosen)
  const recipients = await Promise.all(chosen.map((userId) => open(platform, workspace, users.get(userId))))
  return recipients.flatMap((recipient) => {
    return recipient?.user.isEmailVerified && isAvailable(recipient.ctx, kind) ? [recipient.user.id] : []
  })
}

/** Opens the context of a member; undefined for a former member, a disabled user or a deleted workspace. */
export async function openRecipient(
  platform: Platform,
  workspaceId: string,
  userId: string,
): Promise<Recipient | undefined> {
  const workspace = await findWorkspace(platform, workspaceId)
  if (!workspace) return undefined
  return open(platform, workspace, (await usersByIds(platform, [userId])).get(userId))
}

async function open(platform: Platform, workspace: Workspace, user: User | undefined): Promise<Recipient | undefined> {
  const access = user && (await memberAccess(platform, workspace.id, user.id))
  if (!user || !access) return undefined
  const { role, scopes, folderAccess } = access
  const actor = { kind: 'user' as const, id: user.id, role, scopes }
  const base = { ...platform, workspaceId: workspace.id, plan: workspace.plan, requestId: 'notification' }
  return { ctx: { ...base, actor, ...(folderAccess && { folderAccess }) }, user, workspace }
}

/** Whether a member has turned this kind on, or has it by default. */
export async function isTurnedOn({ ctx }: Recipient, kind: NotificationKind): Promise<boolean> {
  const choices = await selectChoices(ctx.db, ctx.workspaceId, ctx.actor.id)
  return choices.get(kind) ?? (ctx.actor.role !== undefined && isOnByDefault(kind, ctx.actor.role))
}
