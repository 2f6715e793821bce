import { z } from 'zod'
import { instant, listing } from './common.ts'
import { operation } from './operation.ts'
import { roles } from './permissions.ts'

export const role = z.enum(roles).describe('Role of a member.')

/** Maximum folders with an access of their own, per member. */
export const mostMemberFolders = 500

const folderAccess = z.strictObject({
  folderId: z.string().max(100),
  access: z.enum(['none', 'read', 'write']).describe("The member's access, instead of the folder's access level."),
})
export type MemberFolder = z.infer<typeof folderAccess>

export const member = z
  .strictObject({
    userId: z.string(),
    name: z.string(),
    email: z.string(),
    role,
    folders: z.array(folderAccess).describe('Folders with an access of their own. Owners and admins have full access.'),
    createdAt: instant,
  })
  .meta({ id: 'Member' })
export type Member = z.infer<typeof member>

const params = z.object({ userId: z.string().max(100).describe('Id of the user.') })

export const listMembers = operation({
  id: 'listMembers',
  method: 'get',
  path: '/members',
  summary: 'List members',
  tag: 'Members',
  scope: 'workspaces.read',
  query: z.object(listing(100, ['createdAt', 'role'], 'asc')),
  response: z.array(member),
})
export type MembersQuery = z.output<typeof listMembers.query>

export const getMember = operation({
  id: 'getMember',
  method: 'get',
  path: '/members/{userId}',
  summary: 'Get a member',
  tag: 'Members',
  scope: 'workspaces.read',
  params,
  response: member,
})

export const memberPatch = z
  .object({
    role: role.optional(),
    folders: z.array(folderAccess).max(mostMemberFolders).optional().describe('Replaces all entries.'),
  })
  .meta({ id: 'MemberPatch' })
export type MemberPatch = z.infer<typeof memberPatch>

export const updateMember = operation({
  id: 'updateMember',
  method: 'patch',
  path: '/members/{userId}',
  summary: 'Update a member',
  description:
    'Changes role or folder access; takes effect within a second. Only owners who signed in within the last 15 minutes change and make owners. The last owner stays owner.',
  tag: 'Members',
  scope: 'workspaces.write',
  params,
  body: memberPatch,
  response: member,
})

export const removeMember = operation({
  id: 'removeMember',
  method: 'delete',
  path: '/members/{userId}',
  summary: 'Remove a member',
  description:
    "Ends the membership, the member's personal keys and the open invites that the member sent, within a second. Only owners who signed in within the last 15 minutes remove owners.",
  tag: 'Members',
  scope: 'workspaces.write',
  params,
  response: z.strictObject({ userId: z.string() }),
})
