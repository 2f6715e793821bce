import type { ServerResponse } from 'node:http'
import { createClient } from '@tributary/contract/client'
import { sql } from 'kysely'
import type { Page } from 'playwright-core'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { buildLink, buildWorkspace } from '../../server/test/build.ts'
import { reachableAddress } from '../../server/test/loopback.ts'
import { type Receiver, startReceiver } from '../../server/test/webhooks.ts'
import { eachWidth, expectAccessible, lacksBrowser, openBrowser, type Visiting } from './browser.ts'

describe.skipIf(lacksBrowser)('webhooks', () => {
  let visiting: Visiting
  beforeAll(async () => {
    visiting = await openBrowser()
  })
  afterAll(() => visiting?.[Symbol.asyncDispose]())

  const { api } = inject('server')
  const callAs = (token: string) => createClient({ url: api, token })
  const row = (page: Page, text: string) => page.locator('[data-row]').filter({ hasText: text })
  const state = (page: Page, text: string) => page.getByRole('status').filter({ hasText: text })

  /** A receiver whose status the test chooses. */
  async function openReceiver(status: number, text = ''): Promise<Receiver & { answer(status: number): void }> {
    let current = status
    const { host, port } = reachableAddress()
    const respond = (response: ServerResponse) => response.writeHead(current).end(text || `answer ${current}`)
    const receiver = await startReceiver(respond, host, port)
    onTestFinished(() => receiver[Symbol.asyncDispose]())
    const answer = (status: number) => {
      current = status
    }
    return { ...receiver, answer }
  }

  /** Ends the retries of deliveries, which takes a day otherwise. */
  async function giveUp(webhookId: string, count: number): Promise<void> {
    const end = async () => {
      await sql`UPDATE webhook_deliveries SET status = 'failed', due_at = NULL
        WHERE webhook_id = ${webhookId} AND attempts > 0 AND status = 'pending'`.execute(visiting.platform.db)
      const failed = await sql`SELECT FROM webhook_deliveries
        WHERE webhook_id = ${webhookId} AND status = 'failed'`.execute(visiting.platform.db)
      return failed.rows.length
    }
    await expect.poll(end, { timeout: 60_000 }).toBe(count)
  }

  test('a webhook is created and tested by mouse; a failed delivery is found and resent', async () => {
    const { page, open, workspace, problems } = await visiting.visit()
    const receiver = await openReceiver(500)
    await open('/settings/webhooks')
    await page.getByText('No webhooks yet').waitFor()
    await page.getByRole('button', { name: 'Create webhook' }).first().click()
    const drawer = page.getByRole('dialog', { name: 'Create webhook' })
    await drawer.getByRole('button', { name: 'Create webhook' }).click()
    await drawer.getByText('Enter the address of your receiver.').waitFor()
    await drawer.getByLabel('Name').fill('Shop')
    await drawer.getByLabel('Address of the receiver').fill('ftp://shop.example')
    await drawer.getByRole('checkbox', { name: 'Links' }).click()
    await drawer.getByRole('checkbox', { name: /A link is deleted/ }).click()
    await drawer.getByRole('button', { name: 'Create webhook' }).click()
    await drawer.getByText('Must begin with https:// or http://').waitFor()
    await drawer.getByLabel('Address of the receiver').fill(receiver.url)
    await drawer.getByRole('button', { name: 'Create webhook' }).click()
    const secret = (await drawer.locator('[data-key]').textContent()) ?? ''
    expect(secret).toMatch(/^whsec_/)
    await drawer.getByRole('button', { name: 'I have stored the secret' }).click()
    const [webhook] = await callAs(workspace.key)('listWebhooks')
    expect(webhook?.triggers.toSorted()).toEqual([
      'lead.created',
      'link.clicked',
      'link.created',
      'link.updated',
      'sale.created',
    ])
    const id = webhook?.id ?? ''

    await page.getByRole('link', { name: 'Shop' }).click()
    await page.getByText('Nothing sent yet').waitFor()
    await page.getByRole('button', { name: 'Send test event' }).click()
    const test = page.getByRole('dialog', { name: 'Send test event to Shop' })
    await test.getByLabel('Trigger').selectOption('sale.created')
    await test.getByRole('button', { name: 'Send test event' }).click()
    await test.getByText(/^Refused: status 500 after/).waitFor()
    await test.getByText('The receiver answered 500 instead of 2xx.').waitFor()
    await test.getByRole('button', { name: 'Close', exact: true }).first().click()
    await state(page, 'Failing').waitFor()
    await page.getByText(/^every delivery has failed; the first one (this minute|\d+ \w+ ago)\.$/).waitFor()

    const link = await buildLink(visiting.platform, workspace, { key: 'spring' })
    await row(page, 'link.created').waitFor()
    await giveUp(id, 2)
    await page.getByRole('button', { name: /^Filter/ }).click()
    await page.getByRole('option', { name: 'Status' }).click()
    await page.getByRole('option', { name: 'Failed' }).click()
    await page.waitForURL(/status=failed/)
    await page.getByRole('button', { name: /^Filter/ }).click()
    await page.getByRole('option', { name: 'Trigger' }).click()
    await page.getByRole('option', { name: /^link.created/ }).click()
    await page.waitForURL(/event=link.created/)
    await row(page, 'sale.created').waitFor({ state: 'hidden' })
    await page.reload()
    await row(page, 'link.created').click()
    const delivery = page.getByRole('dialog', { name: 'link.created' })
    await delivery.getByText('Status 500').first().waitFor()
    await delivery.getByText('answer 500').first().waitFor()
    await delivery.getByText(link.shortLink).waitFor()
    await delivery.getByRole('radio', { name: 'As JSON' }).click()
    await delivery.getByText('webhook-signature: v1,…').waitFor()
    await delivery.getByText(`"shortLink": "${link.shortLink}"`).waitFor()
    receiver.answer(204)
    await delivery.getByRole('button', { name: 'Resend' }).click()
    await delivery.getByText('Delivered').waitFor()
    await delivery.getByText('Status 204').waitFor()
    await page.keyboard.press('Escape')
    await page.getByText('No delivery matches').waitFor()
    const heard = receiver.heard.at(-1)
    expect(new Webhook(secret).verify(heard?.body ?? '', heard?.headers as Record<string, string>)).toMatchObject({
      event: 'link.created',
      data: { id: link.id },
    })
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await row(page, 'link.created').getByText('Delivered').waitFor()
    await state(page, 'Active').waitFor()
    expect(problems).toEqual([])
  })

  test('by keyboard alone: all failed deliveries are resent, the arrows step through them, the secret is rotated', async () => {
    const { page, open, workspace, problems } = await visiting.visit()
    const receiver = await openReceiver(500)
    const call = callAs(workspace.key)
    const { id, secret } = await call('createWebhook', {
      body: { name: 'Shop', url: receiver.url, triggers: ['link.created'] },
    })
    for (const event of ['link.created', 'lead.created'] as const)
      await call('testWebhook', { params: { id }, body: { event } })
    await expect.poll(() => receiver.heard.length, { timeout: 30_000 }).toBeGreaterThanOrEqual(2)
    await giveUp(id, 2)
    await open(`/settings/webhooks/${id}?status=failed`)
    await row(page, 'lead.created').waitFor()
    await page.locator('[data-row-link]').first().focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'lead.created' }).waitFor()
    await page.keyboard.press('ArrowRight')
    await page.getByRole('dialog', { name: 'link.created' }).waitFor()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowLeft')
    await page.getByRole('dialog', { name: 'lead.created' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })

    receiver.answer(200)
    await page.getByRole('button', { name: 'Resend failed' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Resend failed deliveries' }).waitFor()
    await page.keyboard.type('in the last hour')
    await page.keyboard.press('Control+Enter')
    await page.getByText('2 failed deliveries are sent again').first().waitFor()
    await page.getByText('No delivery matches').waitFor()

    await page.getByRole('button', { name: 'Actions for Shop' }).focus()
    await page.keyboard.press('Enter')
    const focused = (name: string) => page.locator('[role=menuitem]:focus', { hasText: name })
    await focused('Edit').waitFor()
    await page.keyboard.press('r')
    await focused('Rotate secret').waitFor()
    await page.keyboard.press('Enter')
    const rotation = page.getByRole('dialog', { name: 'Rotate the secret of Shop' })
    await rotation.getByText(/For 24 hours, deliveries are signed with both/).waitFor()
    await rotation.getByRole('button', { name: 'Rotate secret' }).focus()
    await page.keyboard.press('Enter')
    const renewed = (await rotation.locator('[data-key]').textContent()) ?? ''
    expect(renewed).not.toBe(secret)
    await expectAccessible(page)
    await page.keyboard.press('Escape')
    await rotation.waitFor({ state: 'hidden' })
    const before = receiver.heard.length
    await page.keyboard.press('t')
    const test = page.getByRole('dialog', { name: 'Send test event to Shop' })
    await test.getByLabel('Trigger').waitFor()
    await test.getByRole('button', { name: 'Send test event' }).focus()
    await page.keyboard.press('Enter')
    await test.getByText(/^Received: status 200 after/).waitFor()
    const heard = receiver.heard[before]
    for (const one of [secret, renewed])
      expect(new Webhook(one).verify(heard?.body ?? '', heard?.headers as Record<string, string>)).toBeTruthy()
    expect(problems).toEqual([])
  })

  test('a webhook is edited, disabled, enabled again and deleted; another change meanwhile is shown', async () => {
    const { page, open, workspace, problems } = await visiting.visit()
    const call = callAs(workspace.key)
    const folder = await call('createFolder', { body: { name: 'Launch' } })
    const { id } = await call('createWebhook', {
      body: { name: 'Shop', url: 'https://shop.example/hooks', triggers: ['link.created'] },
    })
    await open(`/settings/webhooks/${id}`)
    await page.getByRole('button', { name: 'Edit webhook' }).click()
    const editor = page.getByRole('dialog', { name: /^Edit/ })
    await editor.getByRole('radio', { name: 'Folders' }).click()
    await editor.getByRole('button', { name: 'Save webhook' }).click()
    await editor.getByText('Choose at least one folder.').waitFor()
    await editor.getByLabel('Folders', { exact: true }).last().click()
    await page.getByRole('option', { name: 'Launch' }).click()
    await page.keyboard.press('Escape')
    await editor.getByLabel('Name').fill('mine')
    await call('updateWebhook', { params: { id }, body: { name: 'theirs' } })
    await editor.getByRole('button', { name: 'Save webhook' }).click()
    await editor.getByRole('button', { name: 'Load again' }).click()
    await expect.poll(() => editor.getByLabel('Name').inputValue(), { timeout: 20_000 }).toBe('theirs')
    await editor.getByLabel('Name').fill('Shop 2')
    await editor.getByRole('button', { name: 'Save webhook' }).click()
    await page.getByRole('heading', { name: /^Shop 2/ }).waitFor()
    expect((await call('getWebhook', { params: { id } })).folderIds).not.toContain(folder.id)

    await page.getByRole('button', { name: 'Actions for Shop 2' }).click()
    await page.getByRole('menuitem', { name: 'Disable' }).click()
    await page.getByText(/^disabled .* by a person or a program/).waitFor()
    expect(await page.getByRole('button', { name: 'Send test event' }).isDisabled()).toBe(true)
    await page.getByRole('button', { name: 'Enable again' }).click()
    await state(page, 'Active').waitFor()
    await sql`UPDATE webhooks SET disabled_at = now(), disabled_reason = 'failing' WHERE id = ${id}`.execute(
      visiting.platform.db,
    )
    await page.getByText(/after five days without success/).waitFor()

    await page.getByRole('button', { name: 'Actions for Shop 2' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    const deletion = page.getByRole('dialog', { name: 'Delete Shop 2' })
    expect(await deletion.getByRole('button', { name: 'Delete webhook' }).isDisabled()).toBe(true)
    await deletion.getByLabel(/to confirm/).fill('Shop 2')
    await deletion.getByRole('button', { name: 'Delete webhook' }).click()
    await page.getByText('No webhooks yet').waitFor()
    expect(problems).toEqual([])
  })

  test('a viewer reads webhooks and deliveries, and can change none; billing sees no webhooks', async () => {
    const workspace = await buildWorkspace(visiting.platform)
    const { id } = await callAs(workspace.key)('createWebhook', {
      body: { name: 'Shop', url: 'https://shop.example/hooks', triggers: ['link.created'] },
    })
    const { page, open, problems } = await visiting.visit({ workspace, role: 'viewer' })
    await open('/settings/webhooks')
    await page.getByRole('link', { name: 'Shop' }).click()
    await page.getByText('Nothing sent yet').waitFor()
    for (const key of ['n', 'e', 't']) await page.keyboard.press(key)
    expect(await page.getByRole('dialog').count()).toBe(0)
    expect(await page.getByRole('button', { name: /Create|Edit|Send|Resend|Actions/ }).count()).toBe(0)
    const billing = await visiting.visit({ workspace, role: 'billing' })
    await billing.open(`/settings/webhooks/${id}`)
    await billing.page.getByText('This did not load').waitFor()
    expect(await billing.page.getByRole('link', { name: 'Webhooks', exact: true }).count()).toBe(0)
    expect(problems).toEqual([])
  })

  test('hostile texts run no script and break no layout; every state is accessible', { timeout: 900_000 }, async () => {
    const workspace = await buildWorkspace(visiting.platform)
    const hostile = '\u202E<img src=x onerror="document.title=1">👩‍👩‍👧‍👦<script>alert(1)</script>'
    const receiver = await openReceiver(500, hostile.repeat(20))
    const call = callAs(workspace.key)
    const url = `${receiver.url}${encodeURIComponent(hostile)}${'y'.repeat(1_500)}`
    const { id } = await call('createWebhook', {
      body: { name: hostile.slice(0, 75), url, triggers: ['link.created', 'link.deleted'] },
    })
    await buildLink(visiting.platform, workspace, {
      key: 'hostile',
      title: hostile,
      url: `https://example.com/${'z'.repeat(5_000)}`,
    })
    await expect.poll(() => receiver.heard.length, { timeout: 30_000 }).toBeGreaterThan(0)
    const { id: eventId } = JSON.parse(receiver.heard[0]?.body ?? '{}') as { id: string }
    await eachWidth(async (width) => {
      const { page, open, problems, context } = await visiting.visit({ workspace, width })
      const expectSound = async () => {
        await expectAccessible(page)
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
        expect(await page.title()).not.toBe('1')
      }
      await open('/settings/webhooks')
      await page.getByRole('list', { name: 'Webhooks' }).waitFor()
      await expectSound()
      await page.getByRole('button', { name: 'Create webhook' }).first().click()
      await page.getByLabel('Name').fill(hostile)
      await page.getByRole('radio', { name: 'Single links' }).click()
      await expectSound()
      await open(`/settings/webhooks/${id}`)
      await row(page, 'link.created').waitFor()
      await expectSound()
      await open(`/settings/webhooks/${id}?delivery=${eventId}`)
      const drawer = page.getByRole('dialog')
      await drawer.getByText('Status 500').first().waitFor()
      await expectSound()
      await drawer.getByRole('radio', { name: 'As JSON' }).click()
      await expectSound()
      expect(await page.evaluate('document.querySelector("[role=dialog]").scrollWidth <= innerWidth')).toBe(true)
      await open(`/settings/webhooks/${id}?status=delivered`)
      await page.getByText('No delivery matches').waitFor()
      await expectSound()
      expect(problems).toEqual([])
      await context.close()
    })
  })
})
