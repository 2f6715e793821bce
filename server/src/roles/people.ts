import { forgetPersons, recordAudit } from '../features/audit/service.ts'
import { usersByIds } from '../features/auth/service.ts'
import type { PeopleHooks } from '../features/auth/sign-in.ts'
import { acceptInvite } from '../features/invites/accept.ts'
import { endInvites, forgetInvitee, inviteOffer, isInvited } from '../features/invites/service.ts'
import { addMember, requireNoLastOwner } from '../features/members/service.ts'
import { countPersonalKeys } from '../features/tokens/service.ts'
import { createWorkspace } from '../features/workspaces/service.ts'
import { transaction } from '../platform/postgres.ts'

/** What happens in workspaces when people come and go. */
export const peopleHooks: PeopleHooks = {
  beforeDelete: async (platform, userId) => {
    await requireNoLastOwner(platform, userId)
    await endInvites(platform, userId)
    await forgetPersons(platform, [userId])
    const email = (await usersByIds(platform, [userId])).get(userId)?.email
    if (email !== undefined) await forgetInvitee(platform, email)
  },
  isInvited,
  countKeys: countPersonalKeys,
  createFirstWorkspace: async (platform, userId, name) => {
    const { id } = await createWorkspace(platform, { name })
    await addMember({ db: platform.db, workspaceId: id }, userId, 'owner')
    const target = { kind: 'workspaces', ids: [id] }
    const details = { name }
    await recordAudit(platform, {
      operation: 'createWorkspace',
      actor: actor(userId),
      workspaceId: id,
      target,
      details,
    })
  },
  readInvite: inviteOffer,
  acceptInvite: (platform, userId, token) =>
    transaction(platform, async (platform) => {
      const { workspaceId, slug, role } = await acceptInvite(platform, userId, token)
      const target = { kind: 'members', ids: [userId] }
      const details = { role }
      await recordAudit(platform, { operation: 'acceptInvite', actor: actor(userId), workspaceId, target, details })
      return { slug }
    }),
}

function actor(userId: string) {
  return { kind: 'user', id: userId } as const
}
