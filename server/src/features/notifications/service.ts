import {
  type Notification,
  type NotificationSettings,
  type NotificationSettingsPatch,
  type NotificationsQuery,
  notificationKinds,
} from '@tributary/contract/notifications'
import type { Config } from '../../platform/config.ts'
import { type Ctx, type Platform, requireUserId } from '../../platform/context.ts'
import { notFound } from '../../platform/errors.ts'
import { transaction } from '../../platform/postgres.ts'
import { reportChange } from '../../platform/recording.ts'
import type { User } from '../auth/service.ts'
import { lockResource } from '../workspaces/service.ts'
import { nextDue, type ScheduledKind } from './calendar.ts'
import { isAvailable, isOnByDefault } from './kinds.ts'
import { openRecipient, type Recipient } from './recipients.ts'
import { insertSchedule, replaceChoice, selectChoices } from './settings-store.ts'
import { type NotificationRow, pruneNotifications, selectBacklog, selectNotifications } from './store.ts'

const dayMs = 24 * 3_600_000
const retentionMs = 90 * dayMs
const prunedAtOnce = 1_000
const scheduled: readonly string[] = ['clicks_unusual', 'weekly_report'] satisfies ScheduledKind[]

export async function getSettings(ctx: Ctx): Promise<NotificationSettings> {
  return present(ctx, await requireMember(ctx))
}

/** Turns kinds on or off for the caller; null restores the default of the role. */
export function updateSettings(ctx: Ctx, patch: NotificationSettingsPatch): Promise<NotificationSettings> {
  return transaction(ctx, async (ctx) => {
    const member = await requireMember(ctx)
    const userId = member.user.id
    await lockResource(ctx, `${ctx.workspaceId} ${userId}`, 'notification settings')
    const before = Object.fromEntries(await selectChoices(ctx.db, ctx.workspaceId, userId))
    reportChange(ctx, { id: userId, before, after: patch })
    for (const kind of notificationKinds) {
      const isOn = patch[kind]
      if (isOn === undefined) continue
      await replaceChoice(ctx.db, ctx.workspaceId, { userId, kind, isOn })
      if (isOn && scheduled.includes(kind)) await schedule(ctx, kind as ScheduledKind, member.workspace.time_zone)
    }
    return present(ctx, member)
  })
}

export async function listNotifications(ctx: Ctx, query: NotificationsQuery): Promise<Notification[]> {
  const { page, pageSize, sortOrder } = query
  const rows = await selectNotifications(ctx.db, ctx.workspaceId, {
    userId: requireUserId(ctx.actor),
    since: new Date(ctx.now().getTime() - retentionMs),
    ascending: sortOrder === 'asc',
    offset: (page - 1) * pageSize,
    count: pageSize,
  })
  return rows.map(presentNotification)
}

/** How many notifications of all workspaces are due, since when, and how many the mail server refused in a day. */
export function notificationBacklog({ db, now }: Pick<Platform, 'db' | 'now'>) {
  return selectBacklog(db, now(), new Date(now().getTime() - dayMs))
}

/** Deletes some notifications that ended 90 days ago. Returns whether there may be more. */
export async function pruneSome({ db, now }: Pick<Platform, 'db' | 'now'>): Promise<boolean> {
  return (await pruneNotifications(db, new Date(now().getTime() - retentionMs), prunedAtOnce)) === prunedAtOnce
}

function schedule(ctx: Ctx, kind: ScheduledKind, timeZone: string): Promise<void> {
  return insertSchedule(ctx.db, ctx.workspaceId, kind, nextDue(kind, ctx.now(), timeZone))
}

/** The calling member, with the permissions of the role: a key may have fewer, but the e-mails go to the person. */
async function requireMember(ctx: Ctx): Promise<Recipient> {
  const userId = requireUserId(ctx.actor)
  const member = await openRecipient(ctx, ctx.workspaceId, userId)
  if (!member) throw notFound('member', userId)
  return member
}

async function present(ctx: Ctx, { ctx: member, user }: Recipient): Promise<NotificationSettings> {
  const choices = await selectChoices(ctx.db, ctx.workspaceId, user.id)
  const { role } = member.actor
  const kinds = notificationKinds.map((kind) => {
    const isDefault = role !== undefined && isOnByDefault(kind, role)
    return { kind, enabled: choices.get(kind) ?? isDefault, default: isDefault, available: isAvailable(member, kind) }
  })
  return { email: user.email, delivery: findDelivery(ctx.config, user), kinds }
}

function findDelivery(config: Config, user: User): NotificationSettings['delivery'] {
  if (!config.SMTP_URL) return 'no_mail_server'
  return user.isEmailVerified ? 'ready' : 'email_not_verified'
}

function presentNotification(row: NotificationRow): Notification {
  return {
    id: String(row.id),
    kind: row.kind,
    status: row.status as Notification['status'],
    reason: row.reason as Notification['reason'],
    createdAt: row.created_at.toISOString(),
    sentAt: row.status === 'sent' ? (row.finished_at?.toISOString() ?? null) : null,
  }
}
