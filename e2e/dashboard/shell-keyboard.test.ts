import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '@tributary/contract/client'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { removeMember } from '../../server/src/features/members/service.ts'
import { buildLink, buildWorkspace } from '../../server/test/build.ts'
import { contextIn } from '../../server/test/context.ts'
import { expectAccessible, lacksBrowser, openBrowser, type Visiting } from './browser.ts'

describe.skipIf(lacksBrowser)('the shell by keyboard', () => {
  let visiting: Visiting
  beforeAll(async () => {
    visiting = await openBrowser()
  })
  afterAll(() => visiting?.[Symbol.asyncDispose]())

  test('G and a letter open pages, ? lists every shortcut, and Escape returns', async () => {
    const { page, open, problems } = await visiting.visit()
    await open()
    await page.keyboard.press('g')
    await page.keyboard.press('l')
    await page.getByRole('heading', { level: 1, name: 'Links' }).waitFor()
    await page.keyboard.press('?')
    const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await help.waitFor()
    expect(await help.textContent()).toContain('Customers')
    await expectAccessible(page)
    // Plain letters do nothing while a dialog is open.
    await page.keyboard.press('g')
    await page.keyboard.press('a')
    await page.keyboard.press('Escape')
    await help.waitFor({ state: 'hidden' })
    expect(page.url()).toMatch(/\/links$/)
    expect(problems).toEqual([])
  })

  test('the palette finds a link by part of its address, and actions by their name', async () => {
    const workspace = await buildWorkspace(visiting.platform)
    const link = await buildLink(visiting.platform, workspace, { key: 'autumn-links' })
    const { page, open, problems } = await visiting.visit({ workspace })
    await open()
    await page.keyboard.press('ControlOrMeta+k')
    const palette = page.getByRole('dialog', { name: 'Find anything' })
    await palette.waitFor()
    await page.keyboard.type('links')
    await palette.getByRole('option', { name: /autumn-links/ }).waitFor()
    await expectAccessible(page)
    await page.keyboard.press('Enter')
    await page.waitForURL(new RegExp(`/links/${link.id}$`))
    await page.keyboard.press('ControlOrMeta+k')
    await page.keyboard.type('dark')
    await page.keyboard.press('Enter')
    await page.locator('html[data-theme="dark"]').waitFor()
    await page.keyboard.press('ControlOrMeta+k')
    await page.keyboard.type('go to settings')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor()
    await page.keyboard.press('ControlOrMeta+k')
    await page.keyboard.type('no such thing at all')
    await palette.getByText('Nothing has').waitFor()
    expect(problems).toEqual([])
  })

  test('the palette opens the links of a folder and of a tag', async () => {
    const workspace = await buildWorkspace(visiting.platform)
    const call = createClient({ url: inject('server').api, token: workspace.key })
    const folder = await call('createFolder', { body: { name: 'Winter' } })
    const tag = await call('createTag', { body: { name: 'press' } })
    await call('createLink', { body: { url: 'https://example.com/', key: 'inside', folderId: folder.id } })
    await call('createLink', { body: { url: 'https://example.com/', key: 'tagged', tagIds: [tag.id] } })
    const { page, open, problems } = await visiting.visit({ workspace })
    await open()
    for (const [name, key] of [
      ['Winter', 'inside'],
      ['press', 'tagged'],
    ] as const) {
      await page.keyboard.press('ControlOrMeta+k')
      await page.getByRole('dialog', { name: 'Find anything' }).waitFor()
      await page.keyboard.type(name)
      await page.getByRole('option', { name }).waitFor()
      await page.keyboard.press('Enter')
      await page.getByText('1 link', { exact: true }).waitFor()
      await page.getByRole('link', { name: `${workspace.domain}/${key}` }).waitFor()
    }
    expect(problems).toEqual([])
  })

  test('the first stop of Tab leads past the navigation', async () => {
    const { page, open } = await visiting.visit()
    await open('/events')
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content')
    await page.keyboard.press('Enter')
    expect(await page.evaluate('document.activeElement.id')).toBe('main')
  })
})

describe.skipIf(lacksBrowser)('the shell when something happens elsewhere', () => {
  let visiting: Visiting
  beforeAll(async () => {
    visiting = await openBrowser()
  })
  afterAll(() => visiting?.[Symbol.asyncDispose]())

  test('a removed member sees the reason within seconds', async () => {
    const { page, open, workspace, member } = await visiting.visit({ role: 'member' })
    await open('/links')
    await removeMember(contextIn(visiting.platform, workspace.id), member.id)
    await page.getByRole('heading', { name: `You are no longer a member of ${workspace.name}` }).waitFor()
    await expectAccessible(page)
  })

  test('a lost connection is visible, and ends without a reload', async () => {
    const { page, open, context } = await visiting.visit()
    await open('/links')
    await page.evaluate('window.mark = 1')
    await context.setOffline(true)
    await page.getByText('The server can’t be reached').waitFor()
    await expectAccessible(page)
    await sleep(500)
    await context.setOffline(false)
    await page.getByText('The server can’t be reached').waitFor({ state: 'hidden' })
    expect(await page.evaluate('window.mark')).toBe(1)
  })

  test('a server that fails shows what happened with the request id, and retries in place', async () => {
    const { page, open, workspace } = await visiting.visit()
    await open()
    let isFailing = true
    const error = {
      error: { code: 'forbidden', message: 'The reason, as the server told it.', doc_url: '/docs/errors' },
    }
    await page.route('**/workspaces?*', (route) =>
      isFailing
        ? route.fulfill({ status: 403, json: error, headers: { 'x-request-id': 'req_123' } })
        : route.continue(),
    )
    await page.reload({ waitUntil: 'commit' })
    await page.getByText('The reason, as the server told it.').waitFor()
    expect(await page.getByRole('alert').textContent()).toContain('req_123')
    await expectAccessible(page)
    isFailing = false
    await page.getByRole('button', { name: 'Try again' }).click()
    await page
      .getByRole('button', { name: new RegExp(workspace.name) })
      .first()
      .waitFor()
  })
})
