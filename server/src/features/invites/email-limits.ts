import type { Ctx } from '../../platform/context.ts'
import { AppError } from '../../platform/errors.ts'
import { countEmails, countEmailsTo, insertEmail } from './store.ts'

const dayMs = 24 * 3_600_000

/** Throws 429 when the workspace has sent, or the address has got, as many invites in a day as the operator allows. */
export async function requireEmailRoom(ctx: Ctx, email: string): Promise<void> {
  const since = new Date(ctx.now().getTime() - dayMs)
  const { INVITES_PER_WORKSPACE_PER_DAY: perWorkspace, INVITES_PER_RECIPIENT_PER_DAY: perRecipient } = ctx.config
  if ((await countEmails(ctx.db, ctx.workspaceId, since)) >= perWorkspace) {
    throw tooMany(`This workspace has sent ${perWorkspace} invites within 24 hours, the maximum.`)
  }
  if ((await countEmailsTo(ctx.db, email, since)) >= perRecipient) {
    throw tooMany(`${email} has got ${perRecipient} invites within 24 hours, the maximum.`)
  }
}

/** Records an invite e-mail for the limits. Call it in the transaction that issues the invite. */
export async function recordEmail(ctx: Ctx, invite: { id: string; email: string }): Promise<void> {
  const { id: invite_id, email } = invite
  await insertEmail(ctx.db, { workspace_id: ctx.workspaceId, invite_id, email, at: ctx.now() })
}

function tooMany(message: string): AppError {
  return new AppError('rate_limit_exceeded', `${message} Try again tomorrow.`)
}
