import type { PeopleHooks } from '../features/auth/sign-in.ts'
import { createWorkspace } from '../features/workspaces/service.ts'

/** What happens in workspaces when people come and go. */
export const peopleHooks: PeopleHooks = {
  beforeDelete: async () => {},
  isInvited: async () => false,
  createFirstWorkspace: async (platform, _userId, name) => {
    await createWorkspace(platform, { name })
  },
}
