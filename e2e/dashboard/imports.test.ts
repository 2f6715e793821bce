import { readFile } from 'node:fs/promises'
import { createClient } from '@tributary/contract/client'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { type BuiltWorkspace, buildLink, buildWorkspace } from '../../server/test/build.ts'
import { eachWidth, expectAccessible, lacksBrowser, openBrowser, type Visiting } from './browser.ts'

describe.skipIf(lacksBrowser)('import and export of links', () => {
  let visiting: Visiting
  beforeAll(async () => {
    visiting = await openBrowser()
  })
  afterAll(() => visiting?.[Symbol.asyncDispose]())

  const connect = (workspace: BuiltWorkspace) => createClient({ url: inject('server').api, token: workspace.key })

  async function chooseFile(page: Page, name: string, lines: string[]): Promise<void> {
    await page
      .locator('input[type=file]')
      .setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(lines.join('\n')) })
  }

  test('an export of Bitly is checked row by row and imported with its tags', async () => {
    const workspace = await buildWorkspace(visiting.platform)
    await buildLink(visiting.platform, workspace, { key: 'taken' })
    const { page, open, problems } = await visiting.visit({ workspace })
    await open('/links')
    await page.getByRole('button', { name: 'More' }).first().click()
    await page.getByRole('menuitem', { name: 'Import links' }).click()
    await chooseFile(page, 'bitly.csv', [
      'Link,Title,Long URL,Tags,Clicks',
      ...Array.from(
        { length: 120 },
        (_, index) => `bit.ly/n${index},Page ${index},https://example.com/${index},"a, b",7`,
      ),
      'bit.ly/taken,Taken,https://example.com/taken,,1',
      'bit.ly/none,No destination,,,1',
      'bit.ly/n0,Again,https://example.com/again,,1',
    ])
    await page.getByText('123 rows').waitFor()
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Check the rows' }).click()
    await page.getByText('120 links can be imported, 3 rows can’t.').waitFor()
    await page.getByText('It has no destination.').waitFor()
    await page.getByText('An earlier row has the same address.').waitFor()
    await page.getByText(/already taken/).waitFor()
    await expectAccessible(page)
    const call = connect(workspace)
    expect(await call('getLinksCount')).toBe(1)
    await page.getByRole('button', { name: 'Import 120 links' }).click()
    await page.getByText('120 links were imported, 3 rows were not.').waitFor()
    expect(await call('getLinksCount')).toBe(121)
    const link = await call('getLinkInfo', { query: { domain: workspace.domain, key: 'n7' } })
    expect(link).toMatchObject({ url: 'https://example.com/7', title: 'Page 7' })
    expect(link.tags?.map(({ name }) => name).sort()).toEqual(['a', 'b'])
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download these rows' }).click(),
    ])
    expect(await readFile(await file.path(), 'utf8')).toContain('bit.ly/none,No destination,,,1,It has no destination.')
    expect(problems).toEqual([])
  })

  test('columns are chosen by keyboard, and what is shown is exported and can be imported again', async () => {
    const workspace = await buildWorkspace(visiting.platform)
    for (const key of ['one', 'two']) await buildLink(visiting.platform, workspace, { key, title: '=1+1' })
    const { page, open, problems } = await visiting.visit({ workspace })
    await open('/links?search=one')
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'More' }).first().focus()
    await page.keyboard.press('Enter')
    await page.getByRole('menuitem', { name: 'Export as CSV' }).focus()
    await page.keyboard.press('Enter')
    const text = await readFile(await (await download).path(), 'utf8')
    expect(text).toContain(`${workspace.domain},one,`)
    expect(text).toContain(",'=1+1,")
    expect(text).not.toContain('/two')
    await open('/links/import')
    await chooseFile(page, 'own.csv', ['where,what', 'https://example.com/x,fresh'])
    await page.getByText('Choose the column with the destination.').waitFor()
    await page.getByLabel('where').focus()
    await page.keyboard.type('Dest')
    await page.getByLabel('what').focus()
    await page.keyboard.type('Slug')
    await page.getByRole('button', { name: 'Check the rows' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Import 1 link' }).focus()
    await page.keyboard.press('Enter')
    await page.getByText('1 link was imported').waitFor()
    const found = await connect(workspace)('getLinkInfo', { query: { domain: workspace.domain, key: 'fresh' } })
    expect(found.url).toBe('https://example.com/x')
    expect(problems).toEqual([])
  })

  test('files that are none, viewers, and hostile cells', async () => {
    const viewer = await visiting.visit({ role: 'viewer' })
    await viewer.open('/links/import')
    await viewer.page.getByRole('heading', { name: 'You can’t import links' }).waitFor()
    await eachWidth(async (width) => {
      const { page, open, problems, context } = await visiting.visit({ width })
      await open('/links/import')
      await chooseFile(page, 'empty.csv', ['url'])
      await page.getByText('The file has no rows.').waitFor()
      await expectAccessible(page)
      const hostile = '<img src=x onerror=document.title=1>\u202E'
      await chooseFile(page, `${hostile.slice(0, 20)}.csv`, [
        `url,${hostile}${'x'.repeat(300)}`,
        `javascript:alert(1),${hostile}`,
        `${'y'.repeat(3_000)},z`,
      ])
      await page.getByRole('button', { name: 'Check the rows' }).click()
      await page.getByText('0 links can be imported').waitFor()
      await expectAccessible(page)
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      expect(await page.title()).not.toBe('1')
      expect(problems).toEqual([])
      await context.close()
    })
  })
})
