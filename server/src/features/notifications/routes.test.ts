import { type NotificationSettings, notificationKinds } from '@tributary/contract/notifications'
import { sql } from 'kysely'
import { describe, expect, inject, it } from 'vitest'
import { buildMember, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { openPerson } from '../../../test/person.ts'
import { callAs, callWithKey } from '../../../test/session.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { removeMember } from '../members/service.ts'
import { createToken } from '../tokens/service.ts'
import { unsubscribeUrl } from './unsubscribe.ts'

const platform = await openTestPlatform()
const { api } = inject('server')

async function setUp(role: Parameters<typeof buildMember>[2], plan?: 'free') {
  const workspace = await buildWorkspace(platform, { ...(plan && { plan }) })
  const user = await buildMember(platform, workspace, role)
  return { workspace, user, call: callAs(user, workspace.id) }
}

const listed = ({ kinds }: NotificationSettings, name: 'enabled' | 'default' | 'available') =>
  kinds.filter((one) => one[name]).map(({ kind }) => kind)

describe('getNotificationSettings', () => {
  it.each([
    ['owner', ['domain_broken', 'webhook_disabled', 'key_expiring'], 5],
    ['admin', ['domain_broken', 'webhook_disabled', 'key_expiring'], 5],
    ['member', ['key_expiring'], 5],
    ['viewer', ['key_expiring'], 5],
    ['billing', ['key_expiring'], 0],
  ] as const)('200: an %s gets %j by default', async (role, expected, available) => {
    const { call, user } = await setUp(role)
    const { status, body } = await call('GET', '/notifications/settings')
    expect(status).toBe(200)
    expect(body).toMatchObject({ email: user.email, delivery: 'no_mail_server' })
    expect(listed(body, 'default')).toEqual(expected)
    expect(listed(body, 'enabled')).toEqual(expected)
    expect(listed(body, 'available')).toHaveLength(available)
  })

  it('200: on the free plan, nothing of analytics is available', async () => {
    const { call } = await setUp('owner', 'free')
    const { body } = await call('GET', '/notifications/settings')
    expect(listed(body, 'available')).toEqual(['domain_broken', 'webhook_disabled', 'key_expiring'])
  })

  it('403: a machine key has no notifications', async () => {
    const { workspace } = await setUp('owner')
    expect((await callWithKey(workspace.key)('GET', '/notifications/settings')).status).toBe(403)
  })
})

describe('updateNotificationSettings', () => {
  it('200: changes the given kinds, and null restores the default', async () => {
    const { call } = await setUp('owner')
    const patch = { weekly_report: true, domain_broken: false }
    const { body } = await call('PATCH', '/notifications/settings', patch)
    expect(listed(body, 'enabled')).toEqual(['webhook_disabled', 'key_expiring', 'weekly_report'])
    const restored = await call('PATCH', '/notifications/settings', { domain_broken: null, key_expiring: undefined })
    expect(listed(restored.body, 'enabled')).toEqual([
      'domain_broken',
      'webhook_disabled',
      'key_expiring',
      'weekly_report',
    ])
    expect((await call('GET', '/notifications/settings')).body).toEqual(restored.body)
  })

  it('200: settings are of one person in one workspace, with a session or a personal key', async () => {
    const { call, workspace, user } = await setUp('viewer')
    const { key } = await createToken(platform, { workspaceId: workspace.id, name: 'mine', userId: user.id })
    await callWithKey(key)('PATCH', '/notifications/settings', { weekly_report: true })
    expect(listed((await call('GET', '/notifications/settings')).body, 'enabled')).toContain('weekly_report')
    const colleague = await buildMember(platform, workspace, 'viewer')
    const theirs = await callAs(colleague, workspace.id)('GET', '/notifications/settings')
    expect(listed(theirs.body, 'enabled')).not.toContain('weekly_report')
  })

  it.each([[{ newsletter: true }], [{ weekly_report: 'yes' }], [[]]])('400 or 422: %j is refused', async (body) => {
    const { call } = await setUp('owner')
    expect([400, 422]).toContain((await call('PATCH', '/notifications/settings', body)).status)
  })

  it('200: the choices end with the membership', async () => {
    const { call, workspace, user } = await setUp('member')
    await call('PATCH', '/notifications/settings', { weekly_report: true })
    await removeMember({ ...contextIn(platform, workspace.id) }, user.id)
    const rows = await sql`SELECT FROM notification_settings WHERE user_id = ${user.id}`.execute(platform.db)
    expect(rows.rows).toHaveLength(0)
  })
})

describe('listNotifications', () => {
  it('200: lists only those of the caller, in this workspace', async () => {
    const { call, workspace, user } = await setUp('owner')
    const colleague = await buildMember(platform, workspace, 'owner')
    for (const [id, status] of [
      [user.id, 'sent'],
      [user.id, 'skipped'],
      [colleague.id, 'sent'],
    ])
      await sql`INSERT INTO notifications (workspace_id, user_id, kind, subject, occasion, status, due_at, finished_at, created_at)
        VALUES (${workspace.id}, ${id}, 'weekly_report', '', ${status}, ${status}, now(), now(), now())`.execute(
        platform.db,
      )
    const { status, body } = await call('GET', '/notifications')
    expect(status).toBe(200)
    expect(body).toMatchObject([{ kind: 'weekly_report', status: 'sent', reason: null, sentAt: expect.any(String) }])
  })
})

describe('the unsubscribe link', () => {
  const stranger = openPerson(api)
  const unsubscribePath = (subscription: Parameters<typeof unsubscribeUrl>[1]) => {
    const { pathname, search } = new URL(unsubscribeUrl(platform.config, subscription))
    return pathname + search
  }

  it('turns off its kinds by POST, without a session, and not by GET', async () => {
    const { call, workspace, user } = await setUp('owner')
    const path = unsubscribePath({
      workspaceId: workspace.id,
      userId: user.id,
      kinds: ['domain_broken', 'key_expiring'],
    })
    const asked = await stranger.get(path)
    expect(asked.status).toBe(200)
    expect(asked.text).toContain('<button>Unsubscribe</button>')
    expect(asked.text).toContain('Broken domains')
    expect(listed((await call('GET', '/notifications/settings')).body, 'enabled')).toHaveLength(3)
    // As a mail program does: no origin, no cookies.
    const response = await fetch(api + path, {
      method: 'POST',
      body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }),
    })
    expect(response.status).toBe(200)
    expect(await response.text()).toContain('You are unsubscribed')
    expect(listed((await call('GET', '/notifications/settings')).body, 'enabled')).toEqual(['webhook_disabled'])
    const repeated = await Promise.all([1, 2, 3].map(() => stranger.post(path, {})))
    expect(repeated.map(({ status }) => status)).toEqual([200, 200, 200])
  })

  it('404: a changed, foreign or outdated link changes nothing', async () => {
    const { call, workspace, user } = await setUp('owner')
    const subscription = { workspaceId: workspace.id, userId: user.id, kinds: [...notificationKinds] }
    const path = unsubscribePath(subscription)
    const [payload = '', signature = ''] = path.split('token=')[1]?.split('.') ?? []
    const other = Buffer.from(`${workspace.id} ${user.id} weekly_report`).toString('base64url')
    const formerMember = unsubscribePath({ ...subscription, userId: 'user_former' })
    const tokens = ['', 'x', payload, `${other}.${signature}`, `${payload}.${signature.slice(1)}`, 'a'.repeat(9_000)]
    for (const bad of [...tokens.map((token) => `/notifications/unsubscribe?token=${token}`), formerMember]) {
      const { status, text } = await stranger.post(bad, {})
      expect(status).toBe(404)
      expect(text).toContain('This link does not work')
    }
    expect(listed((await call('GET', '/notifications/settings')).body, 'enabled')).toHaveLength(3)
  })

  it('shows a hostile workspace name as text, and loads nothing', async () => {
    const { workspace, user } = await setUp('owner')
    await sql`UPDATE workspaces SET name = ${'<script>alert(1)</script>'} WHERE id = ${workspace.id}`.execute(
      platform.db,
    )
    const path = unsubscribePath({ workspaceId: workspace.id, userId: user.id, kinds: ['weekly_report'] })
    const { text, headers } = await stranger.get(path)
    expect(text).not.toContain('<script')
    expect(headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(headers.get('referrer-policy')).toBe('no-referrer')
  })
})
