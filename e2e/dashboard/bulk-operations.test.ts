import { createClient } from '@tributary/contract/client'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { buildLink, buildWorkspace } from '../../server/test/build.ts'
import { eachWidth, expectAccessible, lacksBrowser, openBrowser, type Visiting } from './browser.ts'

describe.skipIf(lacksBrowser)('changes of many links', () => {
  let visiting: Visiting
  beforeAll(async () => {
    visiting = await openBrowser()
  })
  afterAll(() => visiting?.[Symbol.asyncDispose]())

  async function setUp() {
    const workspace = await buildWorkspace(visiting.platform)
    const urls = ['http://old.example/a', 'http://old.example/b', 'https://example.com/c']
    for (const url of urls) await buildLink(visiting.platform, workspace, { key: url.slice(-1), url })
    const call = createClient({ url: inject('server').api, token: workspace.key })
    return { workspace, call, read: () => call('getLinks', { query: { sortOrder: 'asc', showArchived: 'true' } }) }
  }
  const selectAll = (page: Page) => page.getByRole('checkbox', { name: 'Select all loaded rows' }).click()

  test('any fields are set by mouse, with a preview of each value, and undone', async () => {
    const { workspace, read } = await setUp()
    const { page, open, problems } = await visiting.visit({ workspace })
    await open('/links')
    await selectAll(page)
    await page.getByRole('button', { name: /^Edit/ }).click()
    const dialog = page.getByRole('dialog', { name: 'Edit the selected links' })
    for (const [field, value] of [
      ['Comment', 'For the fair'],
      ['UTM source', 'newsletter'],
      ['Expires', 'in 3 weeks'],
    ] as const) {
      await dialog.getByLabel(field, { exact: true }).click()
      await dialog.getByLabel(`${field}: value`).fill(value)
    }
    await dialog.getByLabel('Track leads and sales', { exact: true }).click()
    await dialog.getByRole('button', { name: 'Preview' }).click()
    const preview = page.getByRole('dialog', { name: 'Edit: 3 links' })
    await preview.getByText('For the fair').first().waitFor()
    await preview.getByText('https://example.com/c?utm_source=newsletter').waitFor()
    await preview.getByRole('button', { name: 'Edit 3 links' }).click()
    await page.getByText('Changed 3 links').first().waitFor()
    for (const link of await read()) {
      expect(link).toMatchObject({ comments: 'For the fair', utm_source: 'newsletter', trackConversion: true })
      expect(Date.parse(link.expiresAt)).toBeGreaterThan(Date.now() + 20 * 86_400_000)
    }
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Undone for 3 links').first().waitFor()
    for (const link of await read())
      expect(link).toMatchObject({ comments: null, utm_source: null, trackConversion: false, expiresAt: '' })
    expect(problems).toEqual([])
  })

  test('a part of destinations is replaced by keyboard, and a tag is added and removed', async () => {
    const { workspace, call, read } = await setUp()
    await call('createTag', { body: { name: 'fair', color: 'red' } })
    const { page, open, problems } = await visiting.visit({ workspace })
    await open('/links?search=old.example')
    await page.keyboard.press('j')
    await page.keyboard.press('x')
    await page.keyboard.press('j')
    await page.keyboard.press('x')
    await page.getByText('2 selected').waitFor()
    await page.keyboard.press('e')
    await page.getByLabel('Replace in the destination').fill('http://old.example')
    await page.getByLabel('With', { exact: true }).fill('https://new.example')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Edit 2 links' }).press('Enter')
    await page.getByText('Changed 2 links').first().waitFor()
    const urls = ['https://new.example/a', 'https://new.example/b', 'https://example.com/c']
    expect((await read()).map(({ url }) => url)).toEqual(urls)
    for (const [key, change, tagged] of [
      ['t', 'Add tag', 3],
      ['u', 'Remove tag', 0],
    ] as const) {
      await open('/links')
      await selectAll(page)
      await page.getByText('3 selected').waitFor()
      await page.keyboard.press(key)
      await page.getByRole('option', { name: 'fair' }).waitFor()
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: `${change} 3 links` }).press('Enter')
      await page.getByText('Changed 3 links').first().waitFor()
      expect((await read()).filter(({ tags }) => tags?.length === 1)).toHaveLength(tagged)
    }
    expect(problems).toEqual([])
  })

  test('a change that no link can have is said in the dialog', async () => {
    const { workspace } = await setUp()
    const { page, open, problems } = await visiting.visit({ workspace })
    await open('/links')
    await selectAll(page)
    await page.getByRole('button', { name: /^Edit/ }).click()
    const dialog = page.getByRole('dialog', { name: 'Edit the selected links' })
    await dialog.getByLabel('Expires', { exact: true }).click()
    await dialog.getByLabel('Expires: value').fill('never ever')
    await dialog.getByRole('button', { name: 'Preview' }).click()
    await dialog.getByRole('alert').waitFor()
    await dialog.getByLabel('Destination', { exact: true }).click()
    expect(await dialog.getByRole('button', { name: 'Preview' }).isDisabled()).toBe(true)
    expect(problems).toEqual([])
  })

  test('the dialog is accessible in both themes, small and wide', async () => {
    const { workspace } = await setUp()
    await eachWidth(async (width) => {
      const { page, open, context } = await visiting.visit({ workspace, width })
      await open('/links')
      await page
        .getByRole('checkbox', { name: /^Select/ })
        .last()
        .click()
      await page.getByRole('button', { name: /^Edit/ }).click()
      await page.getByLabel('Archived', { exact: true }).click()
      await expectAccessible(page)
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      await context.close()
    })
  })
})
