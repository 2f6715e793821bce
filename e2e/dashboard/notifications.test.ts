import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../../server/test/stack.ts'
import { eachWidth, expectAccessible, lacksBrowser, openBrowser, type Visiting } from './browser.ts'

describe.skipIf(lacksBrowser)('notifications', () => {
  let visiting: Visiting
  beforeAll(async () => {
    visiting = await openBrowser()
  })
  afterAll(() => visiting?.[Symbol.asyncDispose]())

  async function readChoices(userId: string) {
    const result = await sql<{ kind: string; is_on: boolean }>`SELECT kind, is_on FROM notification_settings
      WHERE user_id = ${userId} ORDER BY kind`.execute(visiting.platform.db)
    return result.rows.map(({ kind, is_on }) => `${kind} ${is_on}`)
  }

  test('a person turns kinds on and off by keyboard alone, and they stay after a reload', async () => {
    const { page, open, member, problems } = await visiting.visit()
    await open('/settings/account')
    await page.getByRole('link', { name: 'Notifications' }).focus()
    await page.keyboard.press('Enter')
    const weekly = page.getByRole('switch', { name: 'Weekly report' })
    await weekly.waitFor()
    expect(await weekly.isChecked()).toBe(false)
    await weekly.focus()
    await page.keyboard.press('Space')
    const broken = page.getByRole('switch', { name: 'Broken domains' })
    expect(await broken.isChecked()).toBe(true)
    await broken.focus()
    await page.keyboard.press('Space')
    await eventually(async () =>
      expect(await readChoices(member.id)).toEqual(['domain_broken false', 'weekly_report true']),
    )
    await page.reload()
    await weekly.waitFor()
    expect([await weekly.isChecked(), await broken.isChecked()]).toEqual([true, false])
    expect(problems).toEqual([])
  })

  test('the page says that there is no mail server, shows examples and what was sent, and is accessible', async () => {
    await eachWidth(async (width) => {
      const { page, open, workspace, member, problems } = await visiting.visit({ width })
      await sql`INSERT INTO notifications
          (workspace_id, user_id, kind, subject, occasion, status, reason, due_at, finished_at, created_at)
        VALUES (${workspace.id}, ${member.id}, 'key_expiring', 'key_1', 'x', 'failed', 'no_mail_server', now(), now(), now()),
          (${workspace.id}, ${member.id}, 'weekly_report', '', 'y', 'sent', NULL, now(), now(), now())`.execute(
        visiting.platform.db,
      )
      await open('/settings/notifications')
      await page.getByText('Its operator sets one up with the setting SMTP_URL').waitFor()
      const sent = page.getByRole('list', { name: 'Sent to you' }).getByRole('listitem')
      expect(await sent.count()).toBe(2)
      expect(await sent.nth(1).textContent()).toContain('Not sent: no mail server')
      await page.getByText('Example').first().click()
      await page.getByText('Visitors no longer reach go.example.com').waitFor()
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      await expectAccessible(page)
      expect(problems).toEqual([])
    })
  })

  test('a role that may not see what a kind is about can’t turn it on', async () => {
    const { page, open, problems } = await visiting.visit({ role: 'billing' })
    await open('/settings/notifications')
    const weekly = page.getByRole('switch', { name: 'Weekly report' })
    await weekly.waitFor()
    expect(await weekly.isDisabled()).toBe(true)
    expect(await page.getByText('does not show you this').count()).toBe(5)
    expect(problems).toEqual([])
  })
})
