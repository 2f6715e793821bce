import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { buildMember, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { startMailServer } from '../../../test/mail-server.ts'
import { breakIts, drain, emailsTo, openOffice, readStatuses, turnOn } from '../../../test/notifications.ts'
import { buildWebhook } from '../../../test/webhooks.ts'
import { setDisabled } from '../auth/administration.ts'
import { removeMember } from '../members/service.ts'
import { deleteWorkspace } from '../workspaces/delete.ts'
import { queueBrokenDomains, queueDisabledWebhooks } from './queue.ts'
import { openRecipient } from './recipients.ts'
import { endInterruptedNotifications } from './send.ts'
import { listNotifications } from './service.ts'
import { claimDue, deferNotifications } from './store.ts'

const start = '2026-11-17T12:00:00Z'
const office = await openOffice(start)
const { platform, clock, sendAll } = office
const hourMs = 3_600_000
const later = (ms: number) => new Date(clock.now.getTime() + ms)

const firstTen = { sortBy: 'createdAt', sortOrder: 'desc', page: 1, pageSize: 10 } as const

describe('nobody gets a notification', () => {
  test('without access: removed, disabled, not verified, turned off, or not a member of this workspace', async () => {
    const workspace = await buildWorkspace(platform)
    const build = () => buildMember(platform, workspace, 'owner')
    const [first, removed, disabled, unverified, off, left] = [
      await build(),
      await build(),
      await build(),
      await build(),
      await build(),
      await build(),
    ]
    const stranger = await buildMember(platform, await buildWorkspace(platform), 'owner')
    await sql`UPDATE users SET email_verified = false WHERE id = ${unverified.id}`.execute(platform.db)
    await turnOn(platform, workspace, off.id, { domain_broken: false })
    await setDisabled(platform, left.email, true)
    await queueBrokenDomains(platform, [await breakIts(office, workspace)])
    // After the notification was queued, but before it is sent.
    const system = {
      ...contextIn(platform, workspace.id),
      actor: { kind: 'system' as const, id: 'system', scopes: ['apis.all' as const] },
    }
    await removeMember(system, removed.id)
    await setDisabled(platform, disabled.email, true)
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    await sendAll()
    expect(emailsTo(office, first.email)).toHaveLength(1)
    for (const { email } of [removed, disabled, unverified, off, left, stranger])
      expect(emailsTo(office, email)).toEqual([])
  })

  test('of a domain that works again, a webhook that was enabled or a key that was revoked meanwhile', async () => {
    const workspace = await buildWorkspace(platform)
    const owner = await buildMember(platform, workspace, 'owner')
    await queueBrokenDomains(platform, [await breakIts(office, workspace)])
    const webhook = await buildWebhook(platform, workspace.id, { url: 'https://shop.example/hook' })
    await queueDisabledWebhooks(platform, [
      { workspaceId: workspace.id, webhookId: webhook.id, at: clock.now.toISOString() },
    ])
    await sql`UPDATE domain_watches SET broken_since = NULL WHERE workspace_id = ${workspace.id}`.execute(platform.db)
    await sendAll()
    expect(emailsTo(office, owner.email)).toEqual([])
    expect(await readStatuses(platform, workspace)).toMatchObject([{ status: 'skipped' }, { status: 'skipped' }])
    const ctx = (await openRecipient(platform, workspace.id, owner.id))?.ctx
    expect(ctx && (await listNotifications(ctx, firstTen))).toEqual([])
  })

  test('of a deleted workspace', async () => {
    const workspace = await buildWorkspace(platform)
    const owner = await buildMember(platform, workspace, 'owner')
    await queueBrokenDomains(platform, [await breakIts(office, workspace)])
    await deleteWorkspace(contextIn(platform, workspace.id), workspace.id, workspace.slug)
    await sendAll()
    await queueBrokenDomains(platform, [
      { workspaceId: workspace.id, domainId: 'dom_1', since: clock.now.toISOString() },
    ])
    await sendAll()
    expect(emailsTo(office, owner.email)).toEqual([])
  })
})

describe('at the mail server', () => {
  /** A platform whose mail server gives these answers. */
  async function withServer(answers: Record<string, string> = {}) {
    const { port, said, server } = await startMailServer(answers)
    const config = { ...platform.config, SMTP_URL: `smtp://127.0.0.1:${port}` }
    return { one: { ...platform, config }, said, server }
  }

  async function queued() {
    const workspace = await buildWorkspace(platform)
    const owner = await buildMember(platform, workspace, 'owner')
    await queueBrokenDomains(platform, [await breakIts(office, workspace)])
    clock.now = later(2 * 60_000)
    return { workspace, owner }
  }

  test('a deferral is retried with pauses, and ends after three days', async () => {
    const { workspace } = await queued()
    const { one, said } = await withServer({ RCPT: '451 later' })
    for (let attempt = 0; attempt < 12; attempt++) {
      await drain(one)
      clock.now = later(12.1 * hourMs)
      if (attempt === 0)
        expect(await readStatuses(platform, workspace)).toEqual([{ status: 'waiting', reason: 'refused' }])
    }
    expect(said.filter((line) => line.startsWith('RCPT'))).toHaveLength(6)
    expect(await readStatuses(platform, workspace)).toEqual([{ status: 'failed', reason: 'late' }])
    clock.now = new Date(start)
  })

  test('a refused address ends at once', async () => {
    const { workspace } = await queued()
    const { one } = await withServer({ RCPT: '550 nobody here' })
    await drain(one)
    expect(await readStatuses(platform, workspace)).toEqual([{ status: 'failed', reason: 'refused' }])
  })

  test('an e-mail whose acceptance is not known is not repeated', async () => {
    const { workspace } = await queued()
    const { one, server, said } = await withServer()
    server.removeAllListeners('connection')
    server.on('connection', (socket) => {
      socket.on('error', () => {})
      socket.write('220 ready\r\n')
      let message = ''
      socket.on('data', (chunk) => {
        said.push(chunk.toString())
        message += chunk
        if (message.includes('\r\n.\r\n')) return socket.destroy()
        const isData = chunk.toString().startsWith('DATA')
        if (!message.includes('\r\nDATA\r\n') || isData) socket.write(isData ? '354 go on\r\n' : '250 ok\r\n')
      })
    })
    await drain(one)
    clock.now = later(24 * hourMs)
    await drain(one)
    expect(said.filter((text) => text.startsWith('MAIL FROM'))).toHaveLength(1)
    expect(await readStatuses(platform, workspace)).toEqual([{ status: 'unknown', reason: 'interrupted' }])
    clock.now = new Date(start)
  })

  test('a process that stopped while it sent leaves an unknown outcome, and nothing is repeated', async () => {
    const { workspace, owner } = await queued()
    await sql`UPDATE notifications SET status = 'sending', attempted_at = ${clock.now} WHERE workspace_id = ${workspace.id}`.execute(
      platform.db,
    )
    await endInterruptedNotifications(platform)
    expect(await readStatuses(platform, workspace)).toEqual([{ status: 'sending', reason: null }])
    clock.now = later(16 * 60_000)
    await endInterruptedNotifications(platform)
    await sendAll()
    expect(await readStatuses(platform, workspace)).toEqual([{ status: 'unknown', reason: 'interrupted' }])
    expect(emailsTo(office, owner.email)).toEqual([])
    const ctx = (await openRecipient(platform, workspace.id, owner.id))?.ctx
    expect(ctx && (await listNotifications(ctx, firstTen))).toMatchObject([
      { kind: 'domain_broken', status: 'unknown', reason: 'interrupted', sentAt: null },
    ])
  })

  test('a worker that composed for too long sends nothing that another worker has claimed since', async () => {
    const { workspace, owner } = await queued()
    let isFirst = true
    const slow = {
      ...platform,
      now: () => {
        // The first worker pauses for longer than its claim, right after it claimed.
        const now = new Date(clock.now)
        if (isFirst) clock.now = later(6 * 60_000)
        isFirst = false
        return now
      },
    }
    const claimedBySlow = drain(slow)
    await claimedBySlow
    await sendAll()
    expect(emailsTo(office, owner.email)).toHaveLength(1)
    expect(await readStatuses(platform, workspace)).toEqual([{ status: 'sent', reason: null }])
  })

  test('a late worker above the limit leaves alone what another one sends meanwhile', async () => {
    const { workspace } = await queued()
    const [claimed] = await claimDue(platform.db, clock.now, later(5 * 60_000), 1)
    await sql`UPDATE notifications SET status = 'sending' WHERE workspace_id = ${workspace.id}`.execute(platform.db)
    const deferral = { from: 'waiting', dueAt: clock.now, reason: 'limit' } as const
    await deferNotifications(platform.db, workspace.id, claimed ? [claimed.id] : [], deferral)
    expect(await readStatuses(platform, workspace)).toEqual([{ status: 'sending', reason: null }])
  })

  test('without a mail server, notifications end with that reason and are not sent when there is one', async () => {
    const { workspace, owner } = await queued()
    await drain({ ...platform, config: { ...platform.config, SMTP_URL: undefined } })
    expect(await readStatuses(platform, workspace)).toEqual([{ status: 'failed', reason: 'no_mail_server' }])
    await sendAll()
    expect(emailsTo(office, owner.email)).toEqual([])
  })

  test('several notifications of a person come in one e-mail', async () => {
    const workspace = await buildWorkspace(platform)
    const owner = await buildMember(platform, workspace, 'owner')
    const at = clock.now.toISOString()
    const standing = { disabled_at: clock.now, disabled_reason: 'gone' as const }
    const webhook = await buildWebhook(platform, workspace.id, { url: 'https://shop.example/hook', ...standing })
    await queueBrokenDomains(platform, [await breakIts(office, workspace)])
    await queueDisabledWebhooks(platform, [{ workspaceId: workspace.id, webhookId: webhook.id, at, reason: 'gone' }])
    clock.now = later(2 * 60_000)
    await drain(platform)
    const mails = emailsTo(office, owner.email)
    expect(mails).toHaveLength(1)
    expect(mails[0]?.raw).toContain(`Subject: 2 notifications of ${workspace.name}`)
    expect(mails[0]?.text).toContain('Its receiver answered 410')
  })

  test('above the daily limit of a person, the rest waits and comes in one e-mail', async () => {
    const one = { ...platform, config: { ...platform.config, NOTIFICATIONS_PER_PERSON_PER_DAY: 2 } }
    const workspace = await buildWorkspace(platform)
    const owner = await buildMember(platform, workspace, 'owner')
    for (let count = 0; count < 5; count++) {
      const at = clock.now
      const standing = { disabled_at: at, disabled_reason: 'failing' as const }
      const webhook = await buildWebhook(platform, workspace.id, { url: `https://shop.example/${count}`, ...standing })
      await queueDisabledWebhooks(platform, [
        { workspaceId: workspace.id, webhookId: webhook.id, at: at.toISOString() },
      ])
      clock.now = later(2 * 60_000)
      await drain(one)
    }
    expect(emailsTo(office, owner.email)).toHaveLength(2)
    expect((await readStatuses(platform, workspace)).map(({ reason }) => reason)).toEqual([
      null,
      null,
      'limit',
      'limit',
      'limit',
    ])
    clock.now = later(25 * hourMs)
    await drain(one)
    const mails = emailsTo(office, owner.email)
    expect(mails).toHaveLength(3)
    expect(mails[2]?.raw).toContain('Subject: 3 notifications of')
    clock.now = new Date(start)
  })
})
