import type { Platform } from '../../platform/context.ts'
import { sendEmail } from '../../platform/email.ts'
import { AppError, conflict } from '../../platform/errors.ts'
import { randomText } from '../../platform/ids.ts'
import { usersByIds } from '../auth/service.ts'
import { findWorkspace } from '../workspaces/service.ts'
import { hashSecret } from './accept.ts'
import { inviteEmail } from './email.ts'
import type { InviteIssued } from './messages.ts'
import { inviteStatus } from './present.ts'
import { type InviteRow, pruneEmails, replaceSecret, selectInvite, selectInviteById } from './store.ts'

const secretLength = 43
const dayMs = 24 * 3_600_000

/** E-mails the links of issued invites. Only the e-mail has the secret: the database has its hash. */
export async function sendInvites(platform: Platform, issued: InviteIssued[]): Promise<void> {
  for (const { workspaceId, inviteId } of issued) {
    const invite = await selectInvite(platform.db, workspaceId, inviteId)
    if (invite && inviteStatus(invite, platform.now()) === 'pending') await sendInvite(platform, invite)
  }
}

/** Deletes records of e-mails that no limit counts any more. */
export async function forgetSentInvites({ db, now }: Pick<Platform, 'db' | 'now'>): Promise<void> {
  await pruneEmails(db, new Date(now().getTime() - dayMs))
}

async function sendInvite(platform: Platform, invite: InviteRow): Promise<void> {
  const workspace = await findWorkspace(platform, invite.workspace_id)
  if (!workspace) return
  if (!platform.config.SMTP_URL) {
    const command = `tributary invite link ${invite.id}`
    platform.log.warn(
      { invite: invite.id, command },
      'invite not e-mailed: SMTP_URL is not set, the command prints its link',
    )
    return
  }
  const link = await makeLink(platform, invite)
  const inviter = invite.invited_by
    ? (await usersByIds(platform, [invite.invited_by])).get(invite.invited_by)
    : undefined
  await sendEmail(platform, { to: invite.email, ...inviteEmail({ link, invite, workspace, inviter }) })
}

/** Makes a new link for an open invite, for the operator; the former link stops working. */
export async function issueLink(
  platform: Pick<Platform, 'db' | 'config'>,
  id: string,
): Promise<{ link: string; email: string; expiresAt: Date; workspaceId: string }> {
  const invite = await selectInviteById(platform.db, id)
  if (!invite)
    throw new AppError('not_found', `There is no invite ${id}. \`GET /invites\` lists a workspace's invites.`)
  const status = inviteStatus(invite, new Date())
  if (status !== 'pending') throw conflict(`The invite ${id} is ${status}. Create or renew one.`)
  const { email, expires_at, workspace_id } = invite
  return { link: await makeLink(platform, invite), email, expiresAt: expires_at, workspaceId: workspace_id }
}

/** Stores the hash of a new secret and returns the link with the secret. */
async function makeLink({ db, config }: Pick<Platform, 'db' | 'config'>, invite: InviteRow): Promise<string> {
  const secret = randomText(secretLength)
  const renewed = await replaceSecret(db, invite.workspace_id, invite.id, { hash: hashSecret(secret) })
  if (!renewed) throw conflict(`The invite ${invite.id} was accepted meanwhile.`)
  return `${config.API_URL}/invite?token=${secret}`
}
