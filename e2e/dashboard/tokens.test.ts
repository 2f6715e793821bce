import { createClient } from '@tributary/contract/client'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { buildWorkspace } from '../../server/test/build.ts'
import { eachWidth, expectAccessible, lacksBrowser, openBrowser, type Visiting } from './browser.ts'

describe.skipIf(lacksBrowser)('keys', () => {
  let visiting: Visiting
  beforeAll(async () => {
    visiting = await openBrowser()
  })
  afterAll(() => visiting?.[Symbol.asyncDispose]())

  const { api } = inject('server')
  const patience = { timeout: 20_000 }
  const item = (page: Page, text: string) => page.getByRole('main').getByRole('listitem').filter({ hasText: text })
  const callWith = (token: string) => createClient({ url: api, token })
  const status = (work: Promise<unknown>) =>
    work.then(
      () => 200,
      (error: { status: number }) => error.status,
    )

  test('a key is created by mouse, shown once, works, is narrowed, rotated and revoked', async () => {
    const { page, open, problems } = await visiting.visit()
    await open('/settings/keys')
    await page.getByRole('button', { name: 'Create key' }).first().click()
    const drawer = page.getByRole('dialog', { name: 'Create key' })
    await drawer.getByRole('button', { name: 'Create key' }).click()
    await drawer.getByText('Enter a name, such as the program that uses the key.').waitFor()
    await drawer.getByLabel('Name').fill('Shop')
    await drawer.getByLabel('Kind').selectOption('machine')
    await drawer.getByLabel('What is it for?').selectOption('links')
    await drawer.getByLabel('Expires').selectOption('365')
    await drawer.getByRole('button', { name: 'Create key' }).click()
    const key = (await drawer.locator('[data-key]').textContent()) ?? ''
    expect(key).toMatch(/^trib_/)
    expect(await status(callWith(key)('createTag', { body: { name: 'by key' } }))).toBe(200)
    await drawer.getByRole('button', { name: 'I have stored the key' }).click()
    await drawer.waitFor({ state: 'hidden' })
    await item(page, 'Shop').getByText('machine').waitFor()
    expect(await page.getByText(key).count()).toBe(0)
    await item(page, 'Shop').getByRole('button', { name: 'Actions for Shop' }).click()
    await page.getByRole('menuitem', { name: 'Edit' }).click()
    const editor = page.getByRole('dialog', { name: 'Edit Shop' })
    await editor.getByLabel('Name').fill('Shop 2')
    await editor.getByLabel('Tags').selectOption('none')
    await editor.getByRole('button', { name: 'Save key' }).click()
    await item(page, 'Shop 2').waitFor()
    await expect.poll(() => status(callWith(key)('createTag', { body: { name: 'again' } })), patience).toBe(403)
    await item(page, 'Shop 2')
      .getByRole('button', { name: /^Actions/ })
      .click()
    await page.getByRole('menuitem', { name: 'Rotate' }).click()
    const rotation = page.getByRole('dialog', { name: 'Rotate Shop 2' })
    await rotation.getByLabel('The old key').selectOption('0')
    await rotation.getByRole('button', { name: 'Rotate key' }).click()
    const second = (await rotation.locator('[data-key]').textContent()) ?? ''
    expect(second).not.toBe(key)
    await rotation.getByRole('button', { name: 'I have stored the key' }).click()
    await expect.poll(() => status(callWith(key)('getLinks')), patience).toBe(401)
    expect(await status(callWith(second)('getLinks'))).toBe(200)
    await item(page, 'Shop 2')
      .getByRole('button', { name: /^Actions/ })
      .click()
    await page.getByRole('menuitem', { name: 'Revoke' }).click()
    const revocation = page.getByRole('dialog', { name: 'Revoke Shop 2' })
    await revocation.getByLabel(/to confirm/).fill('Shop 2')
    await revocation.getByRole('button', { name: 'Revoke key' }).click()
    await item(page, 'Shop 2').waitFor({ state: 'hidden' })
    await page.getByRole('checkbox', { name: 'Show revoked and expired' }).click()
    await item(page, 'Shop 2').first().getByText('revoked').waitFor()
    expect(problems).toEqual([])
  })

  test('a publishable key with its hostnames is created by keyboard alone', async () => {
    const { page, open, problems } = await visiting.visit({ role: 'admin' })
    await open('/settings/keys')
    await page.getByRole('button', { name: 'Create key' }).first().waitFor()
    await page.keyboard.press('n')
    await page.getByRole('dialog', { name: 'Create key' }).waitFor()
    await page.keyboard.type('Website')
    await page.keyboard.press('Tab')
    await page.keyboard.type('Publishable')
    await page.keyboard.press('Tab')
    await page.keyboard.type('https://example.com/, *.example.com')
    await page.keyboard.press('Tab')
    await page.keyboard.type('never')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.locator('[data-key]').waitFor()
    await expectAccessible(page)
    await page.keyboard.press('Escape')
    await item(page, 'Website').getByText('example.com, *.example.com').waitFor()
    await item(page, 'Website').getByText('does not expire').waitFor()
    expect(problems).toEqual([])
  })

  test('a member is offered only what they may grant, and a viewer nothing', async () => {
    const workspace = await buildWorkspace(visiting.platform)
    const member = await visiting.visit({ workspace, role: 'member' })
    await member.open('/settings/keys')
    await member.page.getByRole('button', { name: 'Create key' }).first().click()
    const drawer = member.page.getByRole('dialog', { name: 'Create key' })
    await drawer.getByLabel('Kind').waitFor()
    expect(await drawer.getByLabel('Kind').getByRole('option').count()).toBe(1)
    expect(
      await drawer.getByLabel('What is it for?').getByRole('option', { name: 'Everything', exact: true }).count(),
    ).toBe(0)
    await drawer.getByLabel('What is it for?').selectOption('custom')
    expect(await drawer.getByLabel('Domains').getByRole('option').allTextContents()).toEqual(['nothing', 'read'])
    const viewer = await visiting.visit({ workspace, role: 'viewer' })
    await viewer.open('/settings/keys')
    await viewer.page.getByText('No keys yet').waitFor()
    expect(await viewer.page.getByRole('button', { name: 'Create key' }).count()).toBe(0)
    expect([...member.problems, ...viewer.problems]).toEqual([])
  })

  test('hostile names run no script and break no layout, in both themes accessible', async () => {
    const workspace = await buildWorkspace(visiting.platform)
    const call = callWith(workspace.key)
    const name = `<img src=x onerror="document.title=1">👩‍👩‍👧‍👦${'x'.repeat(45)}`
    await call('createToken', {
      body: { name, kind: 'machine', scopes: ['links.read', 'analytics.read', 'tags.read'] },
    })
    const allowedHostnames = Array.from({ length: 10 }, (_, index) => `${'h'.repeat(60)}.${index}.example.com`)
    await call('createToken', { body: { name: 'Pages', kind: 'publishable', allowedHostnames } })
    await eachWidth(async (width) => {
      const { page, open, problems, context } = await visiting.visit({ workspace, width })
      await open('/settings/keys')
      await item(page, 'Pages').waitFor()
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      await expectAccessible(page)
      await page.getByRole('button', { name: 'Create key' }).first().click()
      await page.getByLabel('Name').fill('\u202E<script>alert(1)</script>'.repeat(4))
      await page.getByLabel('What is it for?').selectOption('custom')
      await expectAccessible(page)
      expect(await page.evaluate('document.querySelector("[role=dialog]").scrollWidth <= innerWidth')).toBe(true)
      expect(await page.title()).not.toBe('1')
      expect(problems).toEqual([])
      await context.close()
    })
  })
})
