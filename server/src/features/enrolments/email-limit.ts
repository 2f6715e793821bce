import { createHash } from 'node:crypto'
import type { Ctx, Platform } from '../../platform/context.ts'
import { AppError } from '../../platform/errors.ts'
import { addEmail, deleteEmailCounts, selectEmails } from './store.ts'

/** E-mails that a program may send to one address in a day. */
const mostPerAddress = 3
const dayMs = 86_400_000
const everybody = Buffer.alloc(0)

/** Whether an address has had all its e-mails of the day. */
export async function isEmailLimitReached(ctx: Ctx, email: string): Promise<boolean> {
  if (!ctx.config.SMTP_URL) return false
  return (await selectEmails(ctx.db, ctx.workspaceId, formatDay(ctx.now()), hashAddress(email))) >= mostPerAddress
}

/** Counts an e-mail in the caller's transaction. Throws 429 when the address or the workspace has had those of the day. */
export async function countEmail(ctx: Ctx, email: string): Promise<void> {
  const { config, db, workspaceId } = ctx
  if (!config.SMTP_URL) return
  const day = formatDay(ctx.now())
  const retry = `Try again after ${formatDay(new Date(ctx.now().getTime() + dayMs))}T00:00:00Z.`
  if ((await addEmail(db, workspaceId, day, hashAddress(email))) > mostPerAddress)
    throw new AppError(
      'rate_limit_exceeded',
      `${email} got ${mostPerAddress} e-mails of this program today, which is the limit. ${retry}`,
    )
  if ((await addEmail(db, workspaceId, day, everybody)) > config.PARTNER_EMAILS_PER_DAY)
    throw new AppError(
      'rate_limit_exceeded',
      `This program sent ${config.PARTNER_EMAILS_PER_DAY} e-mails today; the operator's setting PARTNER_EMAILS_PER_DAY allows no more. ${retry}`,
    )
}

/** Deletes the counts of past days. */
export function forgetEmailCounts({ db, now }: Pick<Platform, 'db' | 'now'>): Promise<void> {
  return deleteEmailCounts(db, formatDay(now()))
}

function formatDay(time: Date): string {
  return time.toISOString().slice(0, 10)
}

function hashAddress(email: string): Buffer {
  return createHash('sha256').update(email).digest()
}
