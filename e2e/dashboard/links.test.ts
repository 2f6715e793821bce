import { createClient } from '@tributary/contract/client'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { buildLink, buildWorkspace } from '../../server/test/build.ts'
import { eachWidth, expectAccessible, lacksBrowser, openBrowser, patienceMs, type Visiting, widths } from './browser.ts'

describe.skipIf(lacksBrowser)('links', () => {
  let visiting: Visiting
  beforeAll(async () => {
    visiting = await openBrowser()
  })
  afterAll(() => visiting?.[Symbol.asyncDispose]())

  /** Presses C until the builder is open: its keys come a moment after the page. */
  async function pressCreate(page: Page): Promise<void> {
    const builder = page.getByRole('dialog', { name: 'New link' })
    await expect
      .poll(
        async () => {
          if (!(await builder.isVisible())) await page.keyboard.press('c')
          return builder.isVisible()
        },
        { timeout: 20_000, interval: 500 },
      )
      .toBe(true)
  }

  const row = (page: Page, name: string) => page.locator('[data-row]').filter({ hasText: name })

  test('a link is created, found, edited, deleted and restored by mouse', async () => {
    const { page, open, workspace, problems } = await visiting.visit()
    await open('/links')
    await page.getByRole('heading', { name: 'No links yet' }).waitFor()
    await page.getByRole('button', { name: 'Create link' }).first().click()
    const builder = page.getByRole('dialog', { name: 'New link' })
    await builder.getByLabel('Destination').fill('example.com/autumn')
    await builder.getByLabel('Slug').fill('autumn')
    await builder.getByText(`${workspace.domain}/autumn is free`).waitFor()
    await builder.getByRole('button', { name: 'UTM' }).click()
    await builder.getByLabel('Source').fill('newsletter')
    await builder.getByText('https://example.com/autumn?utm_source=newsletter').waitFor()
    await expectAccessible(page)
    await builder.getByRole('button', { name: 'Create and copy' }).click()
    await row(page, '/autumn').waitFor()
    await row(page, '/autumn').getByRole('button', { name: 'Actions' }).click()
    await page.getByRole('menuitem', { name: 'Edit' }).click()
    const editor = page.getByRole('dialog', { name: /^Edit/ })
    await editor.getByLabel('Comment').fill('For the autumn sale')
    await editor.getByRole('button', { name: 'Save and copy' }).click()
    await editor.waitFor({ state: 'hidden' })
    await row(page, '/autumn').getByRole('link').click()
    await page.getByText('For the autumn sale').first().waitFor()
    await page.getByRole('button', { name: 'Actions' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('heading', { name: 'No links yet' }).waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await row(page, '/autumn').waitFor()
    expect(problems).toEqual([])
  })

  test('a link is created, selected and archived by keyboard alone', async () => {
    const workspace = await buildWorkspace(visiting.platform)
    for (const key of ['one', 'two', 'three']) await buildLink(visiting.platform, workspace, { key })
    const { page, open, problems } = await visiting.visit({ workspace })
    await open('/links')
    await pressCreate(page)
    await page.keyboard.type('https://example.com/keys')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.type('keys')
    await page.keyboard.press('ControlOrMeta+Enter')
    await row(page, '/keys').waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('x')
    await page.getByText('1 selected').waitFor()
    await page.keyboard.press('a')
    await page.getByRole('dialog', { name: /Archive: 1 link/ }).waitFor()
    await expectAccessible(page)
    await page.keyboard.press('Shift+Tab')
    await page.getByRole('button', { name: 'Archive 1 link' }).focus()
    await page.keyboard.press('Enter')
    await page.getByText('Changed 1 link').first().waitFor()
    await row(page, '/three').waitFor({ state: 'hidden' })
    await page.keyboard.press('ControlOrMeta+z')
    await row(page, '/three').waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('two')
    await row(page, '/one').waitFor({ state: 'hidden' })
    expect(page.url()).toContain('search=two')
    expect(problems).toEqual([])
  })

  test('what is wrong is said at its field, and a draft survives a reload', async () => {
    const workspace = await buildWorkspace(visiting.platform)
    await buildLink(visiting.platform, workspace, { key: 'taken' })
    const { page, open, problems } = await visiting.visit({ workspace })
    await open('/links')
    await pressCreate(page)
    const builder = page.getByRole('dialog', { name: 'New link' })
    await builder.getByRole('button', { name: 'Create and copy' }).click()
    await builder.getByText('Enter the address that the link leads to.').waitFor()
    await builder.getByLabel('Destination').fill('https://example.com/draft')
    await builder.getByLabel('Slug').fill('taken')
    await builder.getByRole('button', { name: 'Create and copy' }).click()
    await builder
      .getByText(/already taken/)
      .first()
      .waitFor()
    await page.reload()
    await page.getByRole('heading', { level: 1, name: 'Links' }).waitFor()
    await page.getByRole('button', { name: 'Create link' }).click()
    expect(await builder.getByLabel('Destination').inputValue()).toBe('https://example.com/draft')
    expect(problems).toEqual([])
  })

  test('somebody else’s change is shown before it is overwritten', async () => {
    const workspace = await buildWorkspace(visiting.platform)
    const link = await buildLink(visiting.platform, workspace, { key: 'shared' })
    const { page, open, problems } = await visiting.visit({ workspace })
    await open('/links')
    await row(page, '/shared').getByRole('button', { name: 'Actions' }).click()
    await page.getByRole('menuitem', { name: 'Edit' }).click()
    const editor = page.getByRole('dialog', { name: /^Edit/ })
    await editor.getByLabel('Comment').fill('mine')
    await page.waitForLoadState('networkidle')
    const call = createClient({ url: inject('server').api, token: workspace.key })
    await call('updateLink', { params: { linkId: link.id }, body: { comments: 'theirs' } })
    await editor.getByRole('button', { name: 'Save and copy' }).click()
    await editor.getByRole('button', { name: 'Load again' }).click()
    await expect.poll(() => editor.getByLabel('Comment').inputValue(), { timeout: patienceMs }).toBe('theirs')
    expect(problems).toEqual([])
  })

  test('hostile texts run no script and break no layout', async () => {
    const workspace = await buildWorkspace(visiting.platform)
    const hostile = '<img src=x onerror="document.title=1"><script>alert(1)</script>'
    const comments = `\u202Egnirts\u202C\u200B👩‍👩‍👧‍👦${'x'.repeat(9_000)}`
    const call = createClient({ url: inject('server').api, token: workspace.key })
    const tag = await call('createTag', { body: { name: '\u202E<b>tag</b> 🏳️‍🌈', color: 'red' } })
    await buildLink(visiting.platform, workspace, {
      key: 'x'.repeat(180),
      url: `https://example.com/${'y'.repeat(10_000)}?${encodeURIComponent(hostile)}`,
      title: hostile,
      comments,
      tagIds: [tag.id],
    })
    const link = await buildLink(visiting.platform, workspace, { key: 'h', title: hostile, comments: hostile })
    for (const width of Object.values(widths)) {
      const { page, open, problems, context } = await visiting.visit({ workspace, width })
      for (const path of ['/links', `/links/${link.id}`]) {
        await open(path)
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
        expect(await page.title()).not.toBe('1')
      }
      await open('/links')
      await row(page, 'xxxx').getByRole('link').click()
      await page.getByRole('heading', { name: 'History' }).waitFor()
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      expect(problems).toEqual([])
      await context.close()
    }
  })

  test('a viewer sees links and can change none', async () => {
    const workspace = await buildWorkspace(visiting.platform)
    await buildLink(visiting.platform, workspace, { key: 'seen' })
    const { page, open, problems } = await visiting.visit({ workspace, role: 'viewer' })
    await open('/links')
    await row(page, '/seen').waitFor()
    await page.keyboard.press('c')
    expect(await page.getByRole('button', { name: 'Create link' }).count()).toBe(0)
    expect(await page.getByRole('checkbox').count()).toBe(0)
    expect(await page.getByRole('dialog').count()).toBe(0)
    expect(problems).toEqual([])
  })

  test('only visible rows of a long list are in the page, and scrolling loads the rest', async () => {
    const workspace = await buildWorkspace(visiting.platform)
    const call = createClient({ url: inject('server').api, token: workspace.key })
    for (let page = 0; page < 3; page += 1) {
      const body = Array.from({ length: 100 }, (_, index) => ({
        url: 'https://example.com',
        key: `n${page * 100 + index}`,
      }))
      await call('bulkCreateLinks', { body })
    }
    const { page, open, problems } = await visiting.visit({ workspace })
    await open('/links?order=asc')
    await page.getByText('300 links').waitFor()
    for (let step = 0; step < 6; step += 1) {
      await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)')
      await page.waitForTimeout(300)
    }
    await row(page, '/n299').waitFor()
    expect(await page.locator('[data-row]').count()).toBeLessThanOrEqual(60)
    expect(problems).toEqual([])
  })

  test('every state is accessible in both themes, small and wide', async () => {
    const workspace = await buildWorkspace(visiting.platform)
    const link = await buildLink(visiting.platform, workspace, { key: 'a11y', password: 'x' })
    await eachWidth(async (width) => {
      const { page, open, problems, context } = await visiting.visit({ workspace, width })
      await open('/links')
      await page.getByRole('checkbox', { name: /a11y/ }).click()
      await expectAccessible(page)
      for (const path of ['/links?search=nothing-has-this', `/links/${link.id}`, '/links/deleted']) {
        await open(path)
        await expectAccessible(page)
      }
      await open('/links')
      await page.getByRole('button', { name: 'Create link' }).click()
      await page.getByRole('dialog', { name: 'New link' }).waitFor()
      await expectAccessible(page)
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      expect(problems).toEqual([])
      await context.close()
    })
  })
})
