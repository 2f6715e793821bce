import { z } from 'zod'
import { instant, listing } from './common.ts'
import { operation } from './operation.ts'

export const notificationKinds = [
  'domain_broken',
  'webhook_disabled',
  'key_expiring',
  'clicks_unusual',
  'weekly_report',
] as const
export type NotificationKind = (typeof notificationKinds)[number]

const kind = z
  .enum(notificationKinds)
  .describe(
    '`domain_broken`: visitors no longer reach a domain. `webhook_disabled`: a webhook was disabled because its calls failed. `key_expiring`: an API key expires in a week, and in a day. `clicks_unusual`: links had far more or fewer clicks yesterday than on the same weekday before. `weekly_report`: the figures of the last week, every Monday.',
  )

export const notificationDeliveries = ['ready', 'no_mail_server', 'email_not_verified'] as const

export const notificationSettings = z
  .strictObject({
    email: z.string().describe('The address that your notifications go to.'),
    delivery: z
      .enum(notificationDeliveries)
      .describe(
        '`no_mail_server`: the operator has not set up a mail server, so nothing is sent. `email_not_verified`: your address is not verified.',
      ),
    kinds: z.array(
      z.strictObject({
        kind,
        enabled: z.boolean().describe('Whether you get these notifications.'),
        default: z.boolean().describe('Whether your role gets them by default.'),
        available: z.boolean().describe('Whether your role and plan may see what they are about.'),
      }),
    ),
  })
  .meta({ id: 'NotificationSettings' })
export type NotificationSettings = z.infer<typeof notificationSettings>

const choice = z.boolean().nullable().optional().describe('True or false; null for the default of your role.')

export const notificationSettingsPatch = z
  .strictObject(
    Object.fromEntries(notificationKinds.map((name) => [name, choice])) as Record<NotificationKind, typeof choice>,
  )
  .meta({ id: 'NotificationSettingsPatch' })
export type NotificationSettingsPatch = z.infer<typeof notificationSettingsPatch>

export const notificationStatuses = ['waiting', 'sending', 'sent', 'unknown', 'failed'] as const
export const notificationReasons = ['no_mail_server', 'refused', 'late', 'limit', 'interrupted'] as const

export const notification = z
  .strictObject({
    id: z.string(),
    kind,
    status: z
      .enum(notificationStatuses)
      .describe('`unknown`: the server stopped while it sent the e-mail, which is not repeated.'),
    reason: z
      .enum(notificationReasons)
      .nullable()
      .describe(
        'Why the e-mail failed or waits: `no_mail_server`, `refused` by the mail server, `late` (not accepted in three days), `limit` (too many e-mails in a day; it comes together with others), `interrupted`.',
      ),
    createdAt: instant,
    sentAt: instant.nullable(),
  })
  .meta({ id: 'Notification' })
export type Notification = z.infer<typeof notification>

const tag = 'Notifications'
const forUser = { needsUser: true, actors: ['key', 'user'] } as const

export const listNotifications = operation({
  id: 'listNotifications',
  method: 'get',
  path: '/notifications',
  summary: 'List your notifications',
  description: 'Lists the e-mails of the last 90 days about this workspace to you.',
  tag,
  scope: 'preferences.read',
  ...forUser,
  query: z.object(listing(50, ['createdAt'], 'desc')),
  response: z.array(notification),
})
export type NotificationsQuery = z.output<typeof listNotifications.query>

export const getNotificationSettings = operation({
  id: 'getNotificationSettings',
  method: 'get',
  path: '/notifications/settings',
  summary: 'Retrieve your notification settings',
  description: 'Returns which notifications about this workspace you get by e-mail, and whether e-mail can be sent.',
  tag,
  scope: 'preferences.read',
  ...forUser,
  response: notificationSettings,
})

export const updateNotificationSettings = operation({
  id: 'updateNotificationSettings',
  method: 'patch',
  path: '/notifications/settings',
  summary: 'Update your notification settings',
  description:
    'Turns notifications about this workspace on or off for you. You get only those about things that you may see.',
  tag,
  scope: 'preferences.write',
  ...forUser,
  body: notificationSettingsPatch,
  response: notificationSettings,
})
