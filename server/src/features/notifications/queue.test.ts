import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { buildLink, buildMember, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { breakIts, emailsTo, moments, openOffice, storeClicks, turnOn } from '../../../test/notifications.ts'
import { buildWebhook } from '../../../test/webhooks.ts'
import type { Platform } from '../../platform/context.ts'
import { createFolder } from '../folders/service.ts'
import { updateMember } from '../members/service.ts'
import { createToken } from '../tokens/service.ts'
import { changeWorkspace } from '../workspaces/service.ts'
import { queueBrokenDomains, queueDisabledWebhooks, queueExpiringKeys } from './queue.ts'
import { runDueSchedule } from './scheduled.ts'
import { claimSchedule } from './settings-store.ts'

// Tuesday. The last Monday was 16 November.
const start = '2026-11-17T12:00:00Z'
const office = await openOffice(start)
const { platform, other, clock, sendAll } = office
const hourMs = 3_600_000
const later = (ms: number) => new Date(clock.now.getTime() + ms)

/** Runs what is due on the clock with two workers. */
async function runSchedules() {
  const run = async (one: Platform) => {
    while (await runDueSchedule(one));
  }
  await Promise.all([platform, other].map(run))
}

describe('each of these is sent once, with two workers and repeated messages', () => {
  test('a broken domain', async () => {
    const workspace = await buildWorkspace(platform)
    const [owner, admin] = [
      await buildMember(platform, workspace, 'owner'),
      await buildMember(platform, workspace, 'admin'),
    ]
    const viewer = await buildMember(platform, workspace, 'viewer')
    const message = await breakIts(office, workspace)
    await Promise.all([platform, other, platform].map((one) => queueBrokenDomains(one, [message, message])))
    await sendAll()
    await queueBrokenDomains(other, [message])
    await sendAll()
    for (const { email } of [owner, admin]) {
      const [mail, ...more] = emailsTo(office, email)
      expect(more).toEqual([])
      expect(mail?.raw).toContain(`Subject: Visitors no longer reach ${workspace.domain}`)
      expect(mail?.text).toContain('It has no such record now.')
      expect(mail?.text).toContain(`https://app.example.com/app/${workspace.slug}/domains/${workspace.domain}`)
      expect(mail?.raw).toContain('List-Unsubscribe-Post: List-Unsubscribe=One-Click')
    }
    expect(emailsTo(office, viewer.email)).toEqual([])
  })

  test('a disabled webhook', async () => {
    const workspace = await buildWorkspace(platform)
    const owner = await buildMember(platform, workspace, 'owner')
    const at = clock.now
    const standing = { disabled_at: at, disabled_reason: 'failing' as const, failing_since: new Date(at.getTime() - 1) }
    const webhook = await buildWebhook(platform, workspace.id, {
      url: 'https://shop.example/hook',
      name: 'Shop',
      ...standing,
    })
    const message = {
      workspaceId: workspace.id,
      webhookId: webhook.id,
      at: at.toISOString(),
      reason: 'failing' as const,
    }
    await Promise.all([platform, other].map((one) => queueDisabledWebhooks(one, [message])))
    await sendAll()
    await sendAll()
    const mails = emailsTo(office, owner.email)
    expect(mails).toHaveLength(1)
    expect(mails[0]?.text).toContain('https://shop.example/hook')
  })

  test('a key, a week and a day before its end: a personal one to its owner, others to owners and admins', async () => {
    const workspace = await buildWorkspace(platform)
    const [owner, member] = [
      await buildMember(platform, workspace, 'owner'),
      await buildMember(platform, workspace, 'member'),
    ]
    const created = { workspaceId: workspace.id, expiresAt: later(30 * 24 * hourMs) }
    const machine = await createToken(platform, { ...created, name: 'machine-key' })
    const personal = await createToken(platform, { ...created, name: 'personal-key', userId: member.id })
    const brief = await createToken(platform, { ...created, name: 'brief-key' })
    await sql`UPDATE tokens SET created_at = ${clock.now} WHERE id IN (${machine.id}, ${personal.id})`.execute(
      platform.db,
    )
    await sql`UPDATE tokens SET created_at = expires_at - interval '1 day' WHERE id = ${brief.id}`.execute(platform.db)
    const seen: number[][] = []
    for (const days of [22, 1, 0.5, 5.7, 0.5]) {
      clock.now = later(days * 24 * hourMs)
      await Promise.all([platform, other].map(queueExpiringKeys))
      await sendAll()
      seen.push([owner, member].map(({ email }) => emailsTo(office, email).length))
    }
    expect(seen).toEqual([
      [0, 0],
      [1, 1],
      [1, 1],
      [2, 2],
      [2, 2],
    ])
    expect(emailsTo(office, owner.email).every(({ text }) => text.includes('machine-key'))).toBe(true)
    expect(emailsTo(office, member.email).every(({ text }) => text.includes('personal-key'))).toBe(true)
  })

  test('unusual clicks of links, of which each person sees those of readable folders', async () => {
    clock.now = new Date(start)
    const workspace = await buildWorkspace(platform)
    const [member, viewer] = [
      await buildMember(platform, workspace, 'member'),
      await buildMember(platform, workspace, 'viewer'),
    ]
    const secret = await createFolder(contextIn(platform, workspace.id), { name: 'Secret', accessLevel: null })
    const [fell, rose, usual] = [
      await buildLink(platform, workspace, { key: 'fell' }),
      await buildLink(platform, workspace, { key: 'rose', folderId: secret.id }),
      await buildLink(platform, workspace, { key: 'usual' }),
    ]
    await updateMember(contextIn(platform, workspace.id), member.id, {
      folders: [{ folderId: secret.id, access: 'read' }],
    })
    // The last whole day is Monday, 16 November; the same hour of earlier Mondays is its history.
    const hour = (weeks: number) => new Date(Date.parse('2026-11-16T10:00:00Z') - weeks * 7 * 24 * hourMs)
    const everyWeek = (clicks: (week: number) => number) =>
      [1, 2, 3, 4, 5].flatMap((week) => moments(hour(week), clicks(week)))
    // Five weeks of history need a click before the oldest of these days.
    const times = (today: number, clicks: (week: number) => number) => [
      hour(5.5),
      ...everyWeek(clicks),
      ...moments(hour(0), today),
    ]
    await storeClicks(
      platform,
      workspace,
      fell.id,
      times(0, () => 60),
    )
    await storeClicks(
      platform,
      workspace,
      rose.id,
      times(250, () => 25),
    )
    await storeClicks(
      platform,
      workspace,
      usual.id,
      times(40, (week) => 40 + week),
    )
    clock.now = new Date('2026-11-16T12:00:00Z')
    for (const { id } of [member, viewer]) await turnOn(platform, workspace, id, { clicks_unusual: true })
    clock.now = new Date('2026-11-17T06:00:00Z')
    await runSchedules()
    await sendAll()
    await runSchedules()
    await sendAll()
    const [toMember, toViewer] = [emailsTo(office, member.email), emailsTo(office, viewer.email)]
    expect([toMember.length, toViewer.length]).toEqual([1, 1])
    expect(toMember[0]?.raw).toContain('Subject: Unusual clicks of 2 links')
    expect(toMember[0]?.text).toMatch(/\/rose: 250 clicks, 25 usually, \+900 % change/)
    expect(toViewer[0]?.text).toMatch(/\/fell: 0 clicks, 60 usually/)
    for (const word of ['/rose', '/usual', ' 250 ']) expect(toViewer[0]?.text).not.toContain(word)
    // The next day, the same links are compared with their Tuesdays, which have no clicks.
    clock.now = new Date('2026-11-18T06:00:00Z')
    await runSchedules()
    await sendAll()
    expect(emailsTo(office, member.email)).toHaveLength(1)
  })

  test('the weekly report, on Monday morning in the time zone of the workspace, without hidden folders', async () => {
    clock.now = new Date('2026-11-10T12:00:00Z')
    const workspace = await buildWorkspace(platform)
    await changeWorkspace(platform, workspace.id, { time_zone: 'America/New_York', week_start: 0, currency: 'usd' })
    const [owner, viewer] = [
      await buildMember(platform, workspace, 'owner'),
      await buildMember(platform, workspace, 'viewer'),
    ]
    const billing = await buildMember(platform, workspace, 'billing')
    const secret = await createFolder(contextIn(platform, workspace.id), { name: 'Secret', accessLevel: null })
    const [open, hidden] = [
      await buildLink(platform, workspace, { key: 'open' }),
      await buildLink(platform, workspace, { key: 'hidden', folderId: secret.id }),
    ]
    // The week is from Sunday, 8 November 05:00 UTC, to Sunday, 15 November 05:00 UTC.
    await storeClicks(platform, workspace, open.id, moments(new Date('2026-11-08T04:00:00Z'), 20), {
      referer: 'old.example',
    })
    await storeClicks(platform, workspace, open.id, moments(new Date('2026-11-08T05:00:00Z'), 50), {
      referer: 'new.example',
    })
    await storeClicks(platform, workspace, open.id, moments(new Date('2026-11-15T05:00:00Z'), 7))
    await storeClicks(platform, workspace, hidden.id, moments(new Date('2026-11-12T12:00:00Z'), 300))
    for (const { id } of [owner, viewer, billing]) await turnOn(platform, workspace, id, { weekly_report: true })
    clock.now = new Date('2026-11-16T12:59:00Z')
    await runSchedules()
    await sendAll()
    expect(emailsTo(office, owner.email)).toEqual([])
    clock.now = new Date('2026-11-16T13:00:00Z')
    for (let run = 0; run < 2; run++) {
      await runSchedules()
      await sendAll()
    }
    const [toOwner, toViewer] = [emailsTo(office, owner.email), emailsTo(office, viewer.email)]
    expect([toOwner.length, toViewer.length, emailsTo(office, billing.email).length]).toEqual([1, 1, 0])
    expect(toOwner[0]?.raw).toContain('Subject: Your week: 350 clicks (+1,650 %)')
    expect(toOwner[0]?.text).toContain('Sun 8 Nov 2026 to Sat 14 Nov 2026 (America/New_York)')
    expect(toViewer[0]?.text).toContain('- Clicks: 50 this week, 20 before, +150 % change')
    expect(toViewer[0]?.text).toContain('- new.example: 50 clicks')
    expect(toViewer[0]?.text).toMatch(/Rose\s+- \S+\/open: 50 clicks, 20 before/)
    for (const word of ['/hidden', ' 300 ', ' 350 ']) expect(toViewer[0]?.text).not.toContain(word)
    // As if the worker had died before it moved the schedule.
    await sql`UPDATE notification_schedules SET due_at = ${clock.now} WHERE workspace_id = ${workspace.id}`.execute(
      platform.db,
    )
    await runSchedules()
    await sendAll()
    expect(emailsTo(office, owner.email)).toHaveLength(1)
    // A worker that dies right after it claimed the schedule delays the report.
    clock.now = new Date('2026-11-23T12:59:00Z')
    await runSchedules()
    clock.now = new Date('2026-11-23T13:00:00Z')
    const claimed = await claimSchedule(platform.db, clock.now, later(hourMs / 4))
    expect(claimed).toEqual({ workspace_id: workspace.id, kind: 'weekly_report' })
    await runSchedules()
    await sendAll()
    expect(emailsTo(office, owner.email)).toHaveLength(1)
    clock.now = later(hourMs / 4)
    await runSchedules()
    await sendAll()
    expect(emailsTo(office, owner.email)).toHaveLength(2)
  })
})

test('a schedule ends when nobody wants it any more, but not while somebody turns it on', async () => {
  clock.now = new Date(start)
  const workspace = await buildWorkspace(platform)
  const [first, second] = [
    await buildMember(platform, workspace, 'owner'),
    await buildMember(platform, workspace, 'owner'),
  ]
  const countSchedules = async () => {
    const result = await sql`SELECT FROM notification_schedules WHERE workspace_id = ${workspace.id}`.execute(
      platform.db,
    )
    return result.rows.length
  }
  await turnOn(platform, workspace, first.id, { weekly_report: true })
  await turnOn(platform, workspace, first.id, { weekly_report: false })
  clock.now = later(7 * 24 * hourMs)
  await Promise.all([runSchedules(), turnOn(platform, workspace, second.id, { weekly_report: true })])
  expect(await countSchedules()).toBe(1)
  await turnOn(platform, workspace, second.id, { weekly_report: null })
  clock.now = later(7 * 24 * hourMs)
  await runSchedules()
  expect(await countSchedules()).toBe(0)
})
