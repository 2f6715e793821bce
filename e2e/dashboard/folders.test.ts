import { createClient } from '@tributary/contract/client'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { type BuiltWorkspace, buildLink, buildWorkspace } from '../../server/test/build.ts'
import { eachWidth, expectAccessible, lacksBrowser, openBrowser, type Visiting } from './browser.ts'

describe.skipIf(lacksBrowser)('folders, tags and UTM templates', () => {
  let visiting: Visiting
  beforeAll(async () => {
    visiting = await openBrowser()
  })
  afterAll(() => visiting?.[Symbol.asyncDispose]())

  /** Presses N until the dialog is open: keys come a moment after the page. */
  async function pressNew(page: Page): Promise<void> {
    const dialog = page.getByRole('dialog')
    await expect
      .poll(
        async () => {
          if (!(await dialog.isVisible())) await page.keyboard.press('n')
          return dialog.isVisible()
        },
        { timeout: 20_000, interval: 500 },
      )
      .toBe(true)
  }

  const connect = (workspace: BuiltWorkspace) => createClient({ url: inject('server').api, token: workspace.key })

  test('a folder is created, renamed, hidden and deleted by mouse; its links stay', async () => {
    const { page, open, workspace, problems } = await visiting.visit()
    await open('/links')
    await page.getByRole('button', { name: 'More' }).first().click()
    await page.getByRole('menuitem', { name: 'Folders' }).click()
    await page.getByRole('heading', { name: 'No folders yet' }).waitFor()
    await page.getByRole('button', { name: 'Create folder' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Autumn')
    await dialog.getByRole('button', { name: 'Create folder' }).click()
    await page.getByText('Members change its links').waitFor()
    const call = connect(workspace)
    const [folder] = await call('listFolders')
    const link = await buildLink(visiting.platform, workspace, { key: 'kept', folderId: folder?.id })
    await page.reload()
    await page.getByText('1 link', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Edit Autumn' }).click()
    await dialog.getByLabel('Name').fill('Winter')
    await dialog.getByRole('radio', { name: 'Don’t see it' }).click()
    await dialog.getByRole('button', { name: 'Save folder' }).click()
    await page.getByText('Hidden from members').waitFor()
    await page.getByRole('button', { name: 'Delete Winter' }).click()
    await dialog.getByText('Its links stay').waitFor()
    expect(await dialog.getByRole('button', { name: 'Delete folder' }).isDisabled()).toBe(true)
    await expectAccessible(page)
    await dialog.getByRole('textbox').fill('Winter')
    await dialog.getByRole('button', { name: 'Delete folder' }).click()
    await page.getByRole('heading', { name: 'No folders yet' }).waitFor()
    expect(await call('getLinkInfo', { query: { linkId: link.id } })).toMatchObject({ folderId: null })
    expect(problems).toEqual([])
  })

  test('a tag is created, coloured and deleted by keyboard alone, and comes back with Undo', async () => {
    const { page, open, workspace, problems } = await visiting.visit()
    await open('/links/tags')
    await pressNew(page)
    await page.getByRole('dialog').waitFor()
    await page.keyboard.type('press')
    await page.keyboard.press('Tab')
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Edit press' }).waitFor()
    const call = connect(workspace)
    expect(await call('getTags')).toMatchObject([{ name: 'press', color: 'green' }])
    await page.getByRole('button', { name: 'Delete press' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'No tags yet' }).waitFor()
    await page.keyboard.press('ControlOrMeta+z')
    await page.getByRole('button', { name: 'Edit press' }).waitFor()
    expect(problems).toEqual([])
  })

  test('a UTM template is created, changed and deleted', async () => {
    const { page, open, workspace, problems } = await visiting.visit()
    await open('/links/utm-templates')
    await pressNew(page)
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Letters')
    await dialog.getByLabel('utm_source').fill('newsletter')
    await page.keyboard.press('ControlOrMeta+Enter')
    await page.getByText('utm_source=newsletter').waitFor()
    await page.getByRole('button', { name: 'Edit Letters' }).click()
    await dialog.getByLabel('utm_medium').fill('email')
    await dialog.getByRole('button', { name: 'Save template' }).click()
    await page.getByText('utm_source=newsletter utm_medium=email').waitFor()
    const call = connect(workspace)
    expect(await call('listUtmTemplates')).toMatchObject([{ name: 'Letters', utm_medium: 'email' }])
    await page.getByRole('button', { name: 'Delete Letters' }).click()
    await page.getByText('Links keep their UTM values.').first().waitFor()
    expect(await call('listUtmTemplates')).toEqual([])
    expect(problems).toEqual([])
  })

  test('a taken name is said in the dialog, and viewers change nothing', async () => {
    const workspace = await buildWorkspace(visiting.platform)
    await connect(workspace)('createTag', { body: { name: 'taken' } })
    const { page, open, problems } = await visiting.visit({ workspace })
    await open('/links/tags')
    await pressNew(page)
    await page.getByRole('dialog').getByLabel('Name').fill('Taken')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').getByRole('alert').waitFor()
    expect(problems).toEqual([])
    const viewer = await visiting.visit({ workspace, role: 'viewer' })
    for (const path of ['/links/tags', '/links/folders', '/links/utm-templates']) {
      await viewer.open(path)
      expect(await viewer.page.getByRole('button', { name: /^(Create|Edit|Delete)/ }).count()).toBe(0)
    }
    await viewer.page.keyboard.press('n')
    expect(await viewer.page.getByRole('dialog').count()).toBe(0)
    expect(viewer.problems).toEqual([])
  })

  test('every state is accessible, and hostile names break no layout', async () => {
    const workspace = await buildWorkspace(visiting.platform)
    const call = connect(workspace)
    const name = '\u202E<img src=x onerror="document.title=1">👩‍👩‍👧‍👦'
    await call('createTag', { body: { name: name.slice(0, 50), color: 'pink' } })
    await call('createFolder', { body: { name: name + 'x'.repeat(120), description: name.repeat(6) } })
    await call('createUtmTemplate', { body: { name: name.slice(0, 50), utm_source: name + 'y'.repeat(150) } })
    await eachWidth(async (width) => {
      const { page, open, problems, context } = await visiting.visit({ workspace, width })
      await open('/links/tags')
      for (const path of ['/links/tags', '/links/folders', '/links/utm-templates']) {
        await open(path)
        await expectAccessible(page)
        await page.getByRole('button', { name: /^Edit/ }).click()
        await page.getByRole('dialog').waitFor()
        await expectAccessible(page)
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      }
      await open('/links/tags?search=nothing')
      expect(await page.title()).not.toBe('1')
      expect(problems).toEqual([])
      await context.close()
    })
  })
})
