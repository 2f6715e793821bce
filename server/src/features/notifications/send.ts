import type { Platform } from '../../platform/context.ts'
import { sendEmail, UncertainEmailError } from '../../platform/email.ts'
import { AppError } from '../../platform/errors.ts'
import { randomText } from '../../platform/ids.ts'
import { transaction } from '../../platform/postgres.ts'
import { describeFailure, judgeFailure } from '../../platform/refusal.ts'
import { lockResource } from '../workspaces/service.ts'
import { composeEmail, type Section } from './compose.ts'
import { isAvailable } from './kinds.ts'
import { isTurnedOn, openRecipient, type Recipient } from './recipients.ts'
import { describe } from './sections/describe.ts'
import { pageUrl } from './sections/format.ts'
import {
  claimDue,
  countEmails,
  deferNotifications,
  endInterrupted,
  finishNotifications,
  markSending,
  type NotificationRow,
} from './store.ts'
import { unsubscribeUrl } from './unsubscribe.ts'

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs
const mostInEmail = 50
// Longer than it takes to read the figures of an e-mail.
const claimMs = 5 * minuteMs
// Longer than any exchange with a mail server.
const interruptedMs = 15 * minuteMs
const latestMs = 3 * dayMs
const pausesMs = [1, 5, 15, 60, 120, 240, 480, 720].map((minutes) => minutes * minuteMs)
const limitPauseMs = 60 * minuteMs
const longestPauseMs = 720 * minuteMs
/** Refusals that a later attempt would meet again. */
const permanent: ReadonlySet<string> = new Set(['forbidden', 'not_found'])

/** Sends the due notifications of one person about one workspace in one e-mail. Returns whether some were due. */
export async function sendDue(platform: Platform): Promise<boolean> {
  const now = platform.now()
  const claimedUntil = new Date(now.getTime() + claimMs)
  const claimed = await claimDue(platform.db, now, claimedUntil, mostInEmail)
  const [first] = claimed
  if (!first) return false
  const finish = (rows: NotificationRow[], status: 'failed' | 'skipped', reason: string) =>
    finishNotifications(platform.db, first.workspace_id, listIds(rows), { status, reason, now })
  const [late, timely] = partition(claimed, ({ created_at }) => now.getTime() - created_at.getTime() > latestMs)
  await finish(late, 'failed', 'late')
  if (!platform.config.SMTP_URL) {
    await finish(timely, 'failed', 'no_mail_server')
    return true
  }
  const recipient = await openRecipient(platform, first.workspace_id, first.user_id)
  const described = recipient?.user.isEmailVerified ? await describeAll(recipient, timely) : []
  const skipped = timely.filter((row) => !described.some(({ row: { id } }) => id === row.id))
  await finish(skipped, 'skipped', 'not_theirs')
  const written = described.filter((one): one is Written => one.section !== undefined)
  const unread = described.filter(({ section }) => section === undefined).map(({ row }) => row)
  if (unread.length > 0) await tryLater(platform, first.workspace_id, unread)
  if (recipient && written.length > 0) await deliver(platform, recipient, written, claimedUntil)
  return true
}

/** Ends notifications of processes that stopped while they sent them. */
export async function endInterruptedNotifications({ db, now, log }: Platform): Promise<void> {
  const ids = await endInterrupted(db, new Date(now().getTime() - interruptedMs), now())
  for (const notification of ids)
    log.warn({ notification }, 'process stopped while it sent a notification, which is not repeated')
}

/** A notification and what it says; without a section, it could not be read and is tried again. */
type Described = { row: NotificationRow; section?: Section }
type Written = Required<Described>

/** Describes those of the notifications that this person wants and may see. */
async function describeAll(recipient: Recipient, rows: NotificationRow[]): Promise<Described[]> {
  const { log } = recipient.ctx
  const described: Described[] = []
  for (const row of rows) {
    if (!isAvailable(recipient.ctx, row.kind) || !(await isTurnedOn(recipient, row.kind))) continue
    try {
      const section = await describe(recipient, row)
      if (section) described.push({ row, section })
    } catch (error) {
      log.warn({ notification: row.id, error: (error as Error).message }, 'notification not written')
      if (!(error instanceof AppError && permanent.has(error.code))) described.push({ row })
    }
  }
  return described
}

/** Lets notifications wait that could not be read, such as figures while ClickHouse is busy. */
async function tryLater({ db, now }: Platform, workspaceId: string, rows: NotificationRow[]): Promise<void> {
  const attempts = Math.max(...rows.map((row) => row.attempts))
  const pauseMs = pausesMs[attempts] ?? longestPauseMs
  const later = { from: 'waiting', dueAt: new Date(now().getTime() + pauseMs), reason: null, isAttempt: true } as const
  await deferNotifications(db, workspaceId, listIds(rows), later)
}

async function deliver(platform: Platform, recipient: Recipient, written: Written[], claimedUntil: Date) {
  const { workspace, user } = recipient
  const emailId = randomText(24)
  const claim = { ids: written.map(({ row }) => row.id), claimedUntil, emailId }
  const ids = await startSending(platform, recipient, claim)
  const sent = written.filter(({ row }) => ids.includes(row.id))
  if (sent.length === 0) return
  const kinds = [...new Set(sent.map(({ row }) => row.kind))]
  const email = composeEmail({
    workspaceName: workspace.name,
    sections: sent.map(({ section }) => section),
    unsubscribeUrl: unsubscribeUrl(platform.config, { workspaceId: workspace.id, userId: user.id, kinds }),
    settingsUrl: pageUrl(recipient, 'settings/notifications'),
  })
  try {
    await sendEmail(platform, { to: user.email, ...email })
  } catch (error) {
    const attempts = Math.max(...sent.map(({ row }) => row.attempts))
    return handleFailure(platform, workspace.id, { ids, attempts }, error)
  }
  await finishNotifications(platform.db, workspace.id, ids, { status: 'sent', reason: null, now: platform.now() })
}

/**
 * Marks notifications as being sent, before the mail server gets them, and returns their ids: if this process stops
 * now, they are not sent again. With as many e-mails in a day as a limit allows, they wait, and come together later.
 */
function startSending(
  platform: Platform,
  { workspace, user }: Recipient,
  claim: { ids: bigint[]; claimedUntil: Date; emailId: string },
): Promise<bigint[]> {
  return transaction({ ...platform, workspaceId: workspace.id }, async (ctx) => {
    await lockResource(ctx, user.id, 'notifications')
    await lockResource(ctx, workspace.id, 'notifications')
    const now = ctx.now()
    const since = new Date(now.getTime() - dayMs)
    const { toUser, inWorkspace } = await countEmails(ctx.db, { userId: user.id, workspaceId: workspace.id, since })
    const { NOTIFICATIONS_PER_PERSON_PER_DAY: perPerson, NOTIFICATIONS_PER_WORKSPACE_PER_DAY: perWorkspace } =
      ctx.config
    if (toUser < perPerson && inWorkspace < perWorkspace) return markSending(ctx.db, workspace.id, { ...claim, now })
    const dueAt = new Date(now.getTime() + limitPauseMs)
    await deferNotifications(ctx.db, workspace.id, claim.ids, { from: 'waiting', dueAt, reason: 'limit' })
    return []
  })
}

async function handleFailure(
  { db, now, log }: Platform,
  workspaceId: string,
  { ids, attempts }: { ids: bigint[]; attempts: number },
  error: unknown,
): Promise<void> {
  const about = { notifications: ids, error: describeFailure(error) }
  const pauseMs = pausesMs[attempts]
  if (error instanceof UncertainEmailError) {
    log.warn(about, 'connection lost while the mail server took a notification, which is not repeated')
    await finishNotifications(db, workspaceId, ids, { status: 'unknown', reason: 'interrupted', now: now() })
  } else if (pauseMs === undefined || judgeFailure(error) === 'refused') {
    log.warn(about, 'notification refused by the mail server')
    await finishNotifications(db, workspaceId, ids, { status: 'failed', reason: 'refused', now: now() })
  } else {
    log.warn(about, 'notification not sent, will retry')
    const dueAt = new Date(now().getTime() + pauseMs)
    await deferNotifications(db, workspaceId, ids, { from: 'sending', dueAt, reason: 'refused' })
  }
}

function listIds(rows: NotificationRow[]): bigint[] {
  return rows.map(({ id }) => id)
}

function partition<T>(values: T[], isFirst: (value: T) => boolean): [T[], T[]] {
  return [values.filter(isFirst), values.filter((value) => !isFirst(value))]
}
