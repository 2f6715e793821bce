import type { PeopleHooks } from '../features/auth/sign-in.ts'
import { acceptInvite } from '../features/invites/accept.ts'
import { inviteOffer, isInvited } from '../features/invites/service.ts'
import { addMember, requireNoLastOwner } from '../features/members/service.ts'
import { createWorkspace } from '../features/workspaces/service.ts'

/** What happens in workspaces when people come and go. */
export const peopleHooks: PeopleHooks = {
  beforeDelete: requireNoLastOwner,
  isInvited,
  createFirstWorkspace: async (platform, userId, name) => {
    const { id } = await createWorkspace(platform, { name })
    await addMember({ db: platform.db, workspaceId: id }, userId, 'owner')
  },
  readInvite: inviteOffer,
  acceptInvite: async (platform, userId, token) => {
    await acceptInvite(platform, userId, token)
  },
}
