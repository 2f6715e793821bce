import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eachWidth, expectAccessible, lacksBrowser, openBrowser, type Visiting, widths } from './browser.ts'
import { type Development, openDevelopment } from './development.ts'

describe.skipIf(lacksBrowser)('the dashboard in development', () => {
  let visiting: Visiting
  let development: Development
  let url = ''
  beforeAll(async () => {
    visiting = await openBrowser()
    development = await openDevelopment()
    url = development.url
  })
  afterAll(async () => {
    await development?.[Symbol.asyncDispose]()
    await visiting?.[Symbol.asyncDispose]()
  })

  const sections = ['Controls', 'Forms', 'Filters', 'Charts', 'Funnels', 'Maps', 'States', 'Overlays', 'Table']

  test('shows every part in every state', async () => {
    const { page } = await visiting.visit()
    const errors = watchErrors(page)
    await page.goto(`${url}/app/_parts`)
    await page.getByRole('heading', { level: 1, name: 'Parts' }).waitFor({ timeout: 120_000 })
    const headings = await page.getByRole('heading', { level: 2 }).allTextContents()
    expect(headings).toEqual(expect.arrayContaining(sections))
    expect(errors).toEqual([])
  })

  test.each(sections)('%s are accessible in both themes, small and wide', async (section) => {
    await eachWidth(async (width) => {
      const { page, context } = await visiting.visit({ width })
      const errors = watchErrors(page)
      await page.goto(`${url}/app/_parts?section=${section}`)
      await page.getByRole('heading', { level: 2, name: section, exact: true }).waitFor({ timeout: 120_000 })
      await expectAccessible(page)
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      expect(errors).toEqual([])
      await context.close()
    })
  })

  test('shows what opens above the page, accessible in both themes', async () => {
    const { page } = await visiting.visit({ width: widths.small })
    await page.goto(`${url}/app/_parts?section=Overlays`)
    for (const name of ['Open dialog', 'Open confirmation', 'Open drawer', 'Open menu', 'Show toast', 'Show error']) {
      await page.getByRole('button', { name }).click({ timeout: 120_000 })
      await expectAccessible(page, '[role=dialog], [role=menu], [role=region]')
      await page.keyboard.press('Escape')
    }
  })

  test('serves the pages of a workspace, whose calls reach the server', async () => {
    const { page, workspace } = await visiting.visit()
    await page.goto(`${url}/app/${workspace.slug}/links/tags`)
    await page.getByRole('button', { name: 'Create tag' }).first().click({ timeout: 120_000 })
    await page.getByLabel('Name').fill('Spring')
    await page.getByRole('dialog').getByRole('button', { name: 'Create tag' }).click()
    await page.getByRole('listitem').filter({ hasText: 'Spring' }).waitFor()
  })
})

function watchErrors(page: Page): string[] {
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(error.message))
  return errors
}
