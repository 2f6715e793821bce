import { readFile } from 'node:fs/promises'
import { createClient } from '@tributary/contract/client'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { type BuiltWorkspace, buildLink, buildWorkspace } from '../../server/test/build.ts'
import { discFile, scan } from '../../server/test/scan.ts'
import { eachWidth, expectAccessible, lacksBrowser, openBrowser, type Visiting } from './browser.ts'

describe.skipIf(lacksBrowser)('the designer of QR codes', () => {
  let visiting: Visiting
  beforeAll(async () => {
    visiting = await openBrowser()
  })
  afterAll(() => visiting?.[Symbol.asyncDispose]())

  const designer = (page: Page) => page.getByRole('dialog', { name: /^QR code of/ })
  const row = (page: Page, name: string) => page.locator('[data-row]').filter({ hasText: name })
  const connect = (workspace: BuiltWorkspace) => createClient({ url: inject('server').api, token: workspace.key })

  async function openFromMenu(page: Page, name: string): Promise<void> {
    await row(page, name).getByRole('button', { name: 'Actions' }).click()
    await page.getByRole('menuitem', { name: 'QR code' }).click()
    await designer(page)
      .getByText(/^It scans:/)
      .waitFor()
  }

  /** Presses J until the first row has the focus: keys come a moment after the page. */
  async function focusFirstRow(page: Page): Promise<void> {
    const isFocused = () => page.evaluate<boolean>('document.activeElement.closest("[data-row]") !== null')
    await expect
      .poll(
        async () => {
          if (!(await isFocused())) await page.keyboard.press('j')
          return isFocused()
        },
        { timeout: 20_000, interval: 500 },
      )
      .toBe(true)
  }

  async function download(page: Page, format: string): Promise<Buffer> {
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      designer(page)
        .getByRole('link', { name: `Download as ${format}` })
        .click(),
    ])
    return readFile(await file.path())
  }

  test('a link gets its own design by mouse, its files decode to the short link, and the inherited one comes back', async () => {
    const workspace = await buildWorkspace(visiting.platform)
    const link = await buildLink(visiting.platform, workspace, { key: 'poster' })
    const { page, open, problems } = await visiting.visit({ workspace })
    await open('/links')
    await openFromMenu(page, '/poster')
    const dialog = designer(page)
    await dialog.getByText('The default design applies').waitFor()
    await dialog.getByRole('radio', { name: 'Dots' }).click()
    await dialog.getByRole('radio', { name: 'Circle' }).click()
    await dialog.getByLabel('Code', { exact: true }).fill('#0b3c49')
    await dialog.getByLabel('Another colour for the markers').click()
    await dialog.getByLabel('Markers', { exact: true }).fill('#b23a48')
    await dialog.getByLabel('Text below the code').fill('Scan me')
    await dialog
      .locator('input[type=file]')
      .setInputFiles({ name: 'logo.png', mimeType: 'image/png', buffer: discFile(600) })
    await dialog.getByRole('button', { name: 'Remove the logo' }).waitFor()
    await dialog.getByRole('radio', { name: '4', exact: true }).click()
    await dialog.getByText(/^It scans:/).waitFor()
    await dialog.getByLabel('Width of the PNG').fill('700')
    const png = await download(page, 'PNG')
    expect(png.readUInt32BE(16)).toBe(700)
    expect(scan(png)).toBe(link.shortLink)
    expect((await download(page, 'SVG')).toString()).toContain('fill="#b23a48"')
    expect((await download(page, 'PDF')).toString('latin1')).toMatch(/^%PDF-/)
    await expectAccessible(page)
    await dialog.getByRole('button', { name: 'Save design' }).click()
    await dialog.waitFor({ state: 'hidden' })
    const call = connect(workspace)
    const read = () => call('getLinkQrDesign', { params: { linkId: link.id } })
    expect(await read()).toMatchObject({ source: 'link', scans: true, design: { shape: 'dots', label: 'Scan me' } })
    await open(`/links/${link.id}`)
    await page.getByRole('button', { name: 'Design', exact: false }).first().click()
    await dialog.getByText('This link has its own design.').waitFor()
    await dialog.getByRole('button', { name: 'Use the inherited design' }).click()
    await dialog.getByText('The default design applies').waitFor()
    expect(await read()).toMatchObject({ source: 'default' })
    expect(problems).toEqual([])
  })

  test('the designs of a domain and of the workspace are saved by keyboard alone', async () => {
    const workspace = await buildWorkspace(visiting.platform)
    const link = await buildLink(visiting.platform, workspace, { key: 'keys' })
    const { page, open, problems } = await visiting.visit({ workspace })
    const call = connect(workspace)
    for (const [steps, source] of [
      [2, 'workspace'],
      [1, 'domain'],
    ] as const) {
      await open('/links')
      await focusFirstRow(page)
      await page.keyboard.press('q')
      await designer(page)
        .getByText(/^It scans:/)
        .waitFor()
      await page.keyboard.press('Tab')
      for (let step = 0; step < steps; step += 1) await page.keyboard.press('ArrowRight')
      await page.keyboard.press('Tab')
      await page.keyboard.press(source === 'domain' ? 'ArrowRight' : 'ArrowLeft')
      await designer(page)
        .getByText(/^It scans:/)
        .waitFor()
      await page.keyboard.press('ControlOrMeta+Enter')
      await designer(page).waitFor({ state: 'hidden' })
      const shape = source === 'domain' ? 'square' : 'dots'
      const read = await call('getLinkQrDesign', { params: { linkId: link.id } })
      expect(read).toMatchObject({ source, design: { shape } })
    }
    await page.keyboard.press('q')
    await designer(page).getByText(`The design of ${workspace.domain} applies.`).waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('ControlOrMeta+z')
    await expect
      .poll(async () => (await call('getLinkQrDesign', { params: { linkId: link.id } })).source)
      .toBe('workspace')
    expect(problems).toEqual([])
  })

  test('what does not scan is said before saving, with what to change', async () => {
    const workspace = await buildWorkspace(visiting.platform)
    const link = await buildLink(visiting.platform, workspace, { key: 'pale' })
    const { page, open, problems } = await visiting.visit({ workspace })
    await open('/links')
    await openFromMenu(page, '/pale')
    const dialog = designer(page)
    await dialog.getByLabel('Code', { exact: true }).fill('#eeeeee')
    await dialog.getByText('Choose a darker code').waitFor()
    expect(await dialog.getByRole('button', { name: 'Save design' }).isDisabled()).toBe(true)
    expect(await dialog.getByRole('link', { name: 'Download as PNG' }).count()).toBe(0)
    await expectAccessible(page)
    await dialog.getByLabel('Code', { exact: true }).fill('#ffffff')
    await dialog.getByLabel('Background', { exact: true }).fill('#808080')
    await dialog.getByLabel('Another colour for the markers').click()
    await dialog.getByLabel('Markers', { exact: true }).fill('#000000')
    await dialog.getByText('It does not scan.').waitFor()
    await dialog.getByRole('button', { name: 'Save anyway' }).waitFor()
    await expectAccessible(page)
    await dialog.getByRole('button', { name: 'Use black on white' }).click()
    await dialog.getByText(/^It scans:/).waitFor()
    await dialog.getByLabel('Text below the code').fill('<b>')
    await dialog.getByText('It can’t be drawn.').waitFor()
    const call = connect(workspace)
    expect(await call('getLinkQrDesign', { params: { linkId: link.id } })).toMatchObject({ source: 'default' })
    expect(problems).toEqual([])
  })

  test('a new link is created with the design that was chosen in the builder', async () => {
    const { page, open, workspace, problems } = await visiting.visit()
    await open('/links')
    await page.getByRole('button', { name: 'Create link' }).first().click()
    const builder = page.getByRole('dialog', { name: 'New link' })
    await builder.getByLabel('Destination').fill('https://example.com/menu')
    await builder.getByLabel('Slug').fill('menu')
    await builder.getByRole('button', { name: 'Design the QR code' }).click()
    await designer(page).getByRole('radio', { name: 'Rounded' }).first().click()
    await designer(page)
      .getByText(/^It scans:/)
      .waitFor()
    await designer(page).getByRole('button', { name: 'Save design' }).click()
    await designer(page).waitFor({ state: 'hidden' })
    await builder.getByRole('button', { name: 'Create and copy' }).click()
    await row(page, '/menu').waitFor()
    const call = connect(workspace)
    const { id } = await call('getLinkInfo', { query: { domain: workspace.domain, key: 'menu' } })
    await expect
      .poll(() => call('getLinkQrDesign', { params: { linkId: id } }))
      .toMatchObject({ source: 'link', design: { shape: 'rounded' } })
    expect(problems).toEqual([])
  })

  test('members design their links only, and viewers download', async () => {
    const workspace = await buildWorkspace(visiting.platform)
    const link = await buildLink(visiting.platform, workspace, { key: 'roles' })
    const member = await visiting.visit({ workspace, role: 'member' })
    await member.open('/links')
    await openFromMenu(member.page, '/roles')
    expect(await designer(member.page).getByText('Design for').count()).toBe(0)
    expect(member.problems).toEqual([])
    const viewer = await visiting.visit({ workspace, role: 'viewer' })
    await viewer.open(`/links/${link.id}`)
    await viewer.page.getByRole('link', { name: 'Download as PDF' }).waitFor()
    expect(await viewer.page.getByRole('button', { name: 'Design' }).count()).toBe(0)
    await viewer.page.keyboard.press('q')
    expect(await designer(viewer.page).count()).toBe(0)
    expect(viewer.problems).toEqual([])
  })

  test('it is accessible in both themes, small and wide, and hostile texts break nothing', async () => {
    const workspace = await buildWorkspace(visiting.platform)
    await buildLink(visiting.platform, workspace, { key: `h${'x'.repeat(180)}` })
    await eachWidth(async (width) => {
      const { page, open, problems, context } = await visiting.visit({ workspace, width })
      await open('/links')
      await openFromMenu(page, '/hxx')
      const dialog = designer(page)
      await dialog.getByLabel('Text below the code').fill('\u202E<script>alert(1)</script>')
      await dialog.getByRole('textbox', { name: 'Logo' }).fill('javascript:alert(1)')
      await dialog.getByLabel('Code', { exact: true }).fill('red;}')
      await dialog.getByText('It can’t be drawn.').waitFor()
      await expectAccessible(page)
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      const fits = await dialog.evaluate((node) => node.scrollWidth <= node.clientWidth)
      expect(fits, `${width}`).toBe(true)
      expect(problems).toEqual([])
      await context.close()
    })
  })
})
