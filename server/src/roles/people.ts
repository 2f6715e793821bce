import type { PeopleHooks } from '../features/auth/sign-in.ts'
import { isInvited } from '../features/invites/service.ts'
import { addMember, requireNoLastOwner } from '../features/members/service.ts'
import { createWorkspace } from '../features/workspaces/service.ts'
import { AppError } from '../platform/errors.ts'

/** What happens in workspaces when people come and go. */
export const peopleHooks: PeopleHooks = {
  beforeDelete: requireNoLastOwner,
  isInvited,
  createFirstWorkspace: async (platform, userId, name) => {
    const { id } = await createWorkspace(platform, { name })
    await addMember({ db: platform.db, workspaceId: id }, userId, 'owner')
  },
  readInvite: refuseInvite,
  acceptInvite: refuseInvite,
}

async function refuseInvite(): Promise<never> {
  throw new AppError('not_found', 'There is no such invite. Ask for a new link.')
}
