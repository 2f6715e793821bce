import { z } from 'zod'
import { instant, listing } from './common.ts'
import { role } from './members.ts'
import { errorCodes, operation } from './operation.ts'

export const mostInvites = 100

const email = z.email().max(254).toLowerCase().describe('E-mail address; the invite is valid for this address alone.')

export const invite = z
  .strictObject({
    id: z.string(),
    email: z.string(),
    role,
    status: z.enum(['pending', 'expired', 'accepted']),
    invitedBy: z.string().nullable().describe('Id of the user who invited; null for an API key or the operator.'),
    expiresAt: instant,
    createdAt: instant,
  })
  .meta({ id: 'Invite' })
export type Invite = z.infer<typeof invite>

const newInvite = z.strictObject({ email, role })
export type NewInvite = z.infer<typeof newInvite>

const results = z
  .strictObject({
    invites: z.array(
      z.strictObject({
        email: z.string(),
        invite: invite.nullable().describe('Null when this address was not invited.'),
        error: z.strictObject({ code: z.enum(errorCodes), message: z.string() }).nullable(),
      }),
    ),
  })
  .meta({ id: 'InviteResults' })
export type InviteResults = z.infer<typeof results>

const params = z.object({ id: z.string().max(100).describe('Id of the invite.') })

export const createInvites = operation({
  id: 'createInvites',
  method: 'post',
  path: '/invites',
  summary: 'Invite members',
  description:
    'Invites one person, or up to 100, and e-mails each a link that is valid for 14 days and once. With a list, the response has a result per address; with one address, a failure is the status of the response. Only owners who signed in within the last 15 minutes invite owners.',
  tag: 'Invites',
  scope: 'workspaces.write',
  body: z
    .union([newInvite, z.strictObject({ invites: z.array(newInvite).min(1).max(mostInvites) })])
    .meta({ id: 'NewInvites' }),
  status: 201,
  response: results,
})

export const listInvites = operation({
  id: 'listInvites',
  method: 'get',
  path: '/invites',
  summary: 'List invites',
  description: 'Lists invites, newest first unless asked otherwise.',
  tag: 'Invites',
  scope: 'workspaces.read',
  query: z.object({
    status: z.enum(['pending', 'expired', 'accepted']).optional(),
    ...listing(100, ['createdAt', 'email'], 'desc'),
  }),
  response: z.array(invite),
})
export type InvitesQuery = z.output<typeof listInvites.query>

export const renewInvite = operation({
  id: 'renewInvite',
  method: 'post',
  path: '/invites/{id}/renew',
  summary: 'Renew an invite',
  description: 'E-mails a new link that is valid for 14 days. The former link stops working.',
  tag: 'Invites',
  scope: 'workspaces.write',
  params,
  response: invite,
})

export const revokeInvite = operation({
  id: 'revokeInvite',
  method: 'delete',
  path: '/invites/{id}',
  summary: 'Revoke an invite',
  tag: 'Invites',
  scope: 'workspaces.write',
  params,
  response: z.strictObject({ id: z.string() }),
})

export const acceptInvite = operation({
  id: 'acceptInvite',
  method: 'post',
  path: '/invites/accept',
  summary: 'Accept an invite',
  description:
    'Makes the signed-in user a member. 410 for an expired invite, 409 for a used one, 403 for an invite of another address.',
  tag: 'Invites',
  actors: ['user'],
  scope: 'workspaces.write',
  workspace: 'none',
  body: z.object({ token: z.string().min(1).max(200).describe('The code in the invite link.') }).meta({
    id: 'InviteAcceptance',
  }),
  response: z.strictObject({ workspaceId: z.string(), slug: z.string(), role }),
})
