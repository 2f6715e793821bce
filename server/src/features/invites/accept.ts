import { hash } from 'node:crypto'
import type { Role } from '@tributary/contract/permissions'
import type { Ctx, Platform } from '../../platform/context.ts'
import { AppError, conflict, forbidden } from '../../platform/errors.ts'
import { transaction } from '../../platform/postgres.ts'
import { reportChange } from '../../platform/recording.ts'
import { usersByIds } from '../auth/service.ts'
import { addMember, requireOwnerRoom } from '../members/service.ts'
import { findWorkspace } from '../workspaces/service.ts'
import { inviteStatus } from './present.ts'
import { type InviteRow, markAccepted, selectInviteByHash } from './store.ts'

const writtenTime = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' })

type Joined = { workspaceId: string; slug: string; role: Role }

/** Makes a user a member. Concurrent acceptances of an invite wait for each other's row lock. */
export async function acceptInvite(
  platform: Pick<Platform, 'db' | 'now' | 'config'> & Pick<Ctx, 'record'>,
  userId: string,
  token: string,
): Promise<Joined> {
  return transaction(platform, async ({ db, now, config, record }) => {
    const invite = await requireOpen({ db, now }, token)
    const workspace = await findWorkspace({ db }, invite.workspace_id)
    if (!workspace) throw unknownInvite()
    const email = (await usersByIds({ db }, [userId])).get(userId)?.email
    if (email !== invite.email) throw foreignInvite(invite.email, email)
    if (invite.role === 'owner') await requireOwnerRoom({ db, config }, userId)
    await markAccepted(db, workspace.id, invite.id, now())
    if (!(await addMember({ db, workspaceId: workspace.id }, userId, invite.role))) {
      throw conflict(`You are a member of the workspace ${workspace.slug} already.`)
    }
    const { id, role } = invite
    reportChange({ record }, { id, before: { status: 'pending' }, after: { status: 'accepted', userId, role } })
    return { workspaceId: workspace.id, slug: workspace.slug, role: invite.role }
  })
}

export type InviteOffer = { workspaceName: string; email: string; role: Role }

/** What an invite link offers, for the page that shows it; throws as the acceptance would. */
export async function readOffer(platform: Pick<Platform, 'db' | 'now'>, token: string): Promise<InviteOffer> {
  const invite = await requireOpen(platform, token)
  const workspace = await findWorkspace(platform, invite.workspace_id)
  if (!workspace) throw unknownInvite()
  return { workspaceName: workspace.name, email: invite.email, role: invite.role }
}

async function requireOpen({ db, now }: Pick<Platform, 'db' | 'now'>, token: string): Promise<InviteRow> {
  const invite = await selectInviteByHash(db, hashSecret(token))
  if (!invite) throw unknownInvite()
  const status = inviteStatus(invite, now())
  if (status === 'accepted') throw conflict('This invite was used already. Sign in to open the workspace.')
  if (status === 'pending') return invite
  throw new AppError(
    'invite_expired',
    `This invite expired on ${writtenTime.format(invite.expires_at)} UTC. Ask an owner of the workspace to renew it.`,
  )
}

export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer')
}

function unknownInvite(): AppError {
  return new AppError('not_found', 'There is no such invite. It may have been renewed or revoked; ask for a new link.')
}

function foreignInvite(invited: string, own: string | undefined): AppError {
  const [name = '', host = ''] = invited.split('@')
  return forbidden(
    `This invite is for another address: ${name.slice(0, 1)}…@${host}. You are signed in as ${own ?? 'nobody'}. Sign in with the invited address, or ask for an invite to yours.`,
  )
}
