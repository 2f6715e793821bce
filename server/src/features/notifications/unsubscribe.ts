import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import { type NotificationKind, notificationKinds } from '@tributary/contract/notifications'
import type { Config } from '../../platform/config.ts'
import type { Platform } from '../../platform/context.ts'
import { transaction } from '../../platform/postgres.ts'
import { recordAudit } from '../audit/service.ts'
import { memberAccess } from '../members/service.ts'
import { findWorkspace } from '../workspaces/service.ts'
import { replaceChoice } from './settings-store.ts'

/** What an unsubscribe link turns off, and for whom. */
export type Subscription = { workspaceId: string; userId: string; kinds: NotificationKind[] }
type Keys = Pick<Config, 'ENCRYPTION_KEYS' | 'API_URL'>

const longestToken = 500

/** The link in an e-mail that turns its notifications off. It has no end: people unsubscribe from old e-mails, too. */
export function unsubscribeUrl(config: Keys, { workspaceId, userId, kinds }: Subscription): string {
  const payload = Buffer.from([workspaceId, userId, ...kinds].join(' ')).toString('base64url')
  const [secret = Buffer.alloc(0)] = config.ENCRYPTION_KEYS.secrets.values()
  return `${config.API_URL}/notifications/unsubscribe?token=${payload}.${sign(secret, payload)}`
}

/** Reads the token of an unsubscribe link; undefined if it was not made by this installation. */
export function readToken({ ENCRYPTION_KEYS }: Pick<Keys, 'ENCRYPTION_KEYS'>, token: string): Subscription | undefined {
  if (token.length > longestToken) return undefined
  const [payload = '', given = ''] = token.split('.')
  const signatures = [...ENCRYPTION_KEYS.secrets.values()].map((secret) => sign(secret, payload))
  if (!signatures.some((signature) => isSame(signature, given))) return undefined
  const [workspaceId = '', userId = '', ...kinds] = Buffer.from(payload, 'base64url').toString('utf8').split(' ')
  return { workspaceId, userId, kinds: notificationKinds.filter((kind) => kinds.includes(kind)) }
}

/** The name of the workspace that a link is about; undefined if it was deleted, or the person is not a member any more. */
export async function findSubscribed(
  platform: Pick<Platform, 'db'>,
  { workspaceId, userId }: Subscription,
): Promise<{ name: string; slug: string } | undefined> {
  const workspace = await findWorkspace(platform, workspaceId)
  const access = workspace && (await memberAccess(platform, workspaceId, userId))
  return access ? { name: workspace.name, slug: workspace.slug } : undefined
}

/** Turns notifications off by the link of an e-mail. */
export async function unsubscribe(platform: Platform, subscription: Subscription): Promise<void> {
  const { workspaceId, userId, kinds } = subscription
  if (!(await findSubscribed(platform, subscription))) return
  await transaction(platform, async (platform) => {
    const changed: NotificationKind[] = []
    for (const kind of kinds)
      if (await replaceChoice(platform.db, workspaceId, { userId, kind, isOn: false })) changed.push(kind)
    if (changed.length === 0) return
    await recordAudit(platform, {
      operation: 'updateNotificationSettings',
      actor: { kind: 'user', id: userId },
      workspaceId,
      target: { kind: 'notifications', ids: [userId] },
      details: { unsubscribed: changed },
    })
  })
}

function sign(secret: Buffer, payload: string): string {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'tributary unsubscribe', 32))
  return createHmac('sha256', key).update(payload).digest('base64url')
}

function isSame(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)]
  return left.length === right.length && timingSafeEqual(left, right)
}
