import { addUser, makeSignInLink, setOperator } from '../server/src/features/auth/administration.ts'
import { findUserByEmail } from '../server/src/features/auth/service.ts'
import { addMember } from '../server/src/features/members/service.ts'
import type { Platform } from '../server/src/platform/context.ts'
import type { SampleWorkspaces } from './sample.ts'

const email = 'demo@example.com'

/** Returns a link that signs the owner of the sample workspaces, an operator, in once, within an hour, and opens the dashboard. */
export async function makeAppLink(platform: Platform, workspaces: SampleWorkspaces): Promise<string> {
  const user = (await findUserByEmail(platform, email)) ?? (await addUser(platform, { email, name: 'Dana Demo' }))
  await setOperator(platform, email, true)
  for (const { id } of Object.values(workspaces))
    await addMember({ db: platform.db, workspaceId: id }, user.id, 'owner')
  return `${await makeSignInLink(platform, email)}&next=${encodeURIComponent('/app/demo-business')}`
}
