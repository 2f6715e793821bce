import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { buildWorkspace } from '../../server/test/build.ts'
import { eachWidth, expectAccessible, lacksBrowser, openBrowser, type Visiting, widths } from './browser.ts'

const destinations = ['Home', 'Links', 'Analytics', 'Events', 'Customers', 'Partners', 'Domains', 'Settings']

describe.skipIf(lacksBrowser)('the shell', () => {
  let visiting: Visiting
  beforeAll(async () => {
    visiting = await openBrowser()
  })
  afterAll(() => visiting?.[Symbol.asyncDispose]())

  test('every page of the navigation opens by mouse, and calls no other host', async () => {
    const { page, open, problems } = await visiting.visit()
    await open()
    for (const name of destinations) {
      await page.getByRole('link', { name, exact: true }).click()
      await page.getByRole('heading', { level: 1, name }).waitFor()
      expect(await page.locator('aside a[aria-current=page]').textContent()).toBe(name)
    }
    expect(problems).toEqual([])
  })

  test('every page is accessible in both themes, small and wide', async () => {
    const workspace = await buildWorkspace(visiting.platform)
    await eachWidth(async (width) => {
      const { page, open, problems } = await visiting.visit({ workspace, width })
      await open()
      await expectAccessible(page)
      await open('/links')
      await expectAccessible(page)
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      expect(problems).toEqual([])
      await page.context().close()
    })
  })

  test('a small screen has a bar at the bottom whose menu has the rest', async () => {
    const { page, open, problems } = await visiting.visit({ width: widths.small })
    await open()
    const bar = page.getByRole('navigation', { name: 'Main' })
    await bar.getByRole('button', { name: 'More' }).click()
    await expectAccessible(page)
    await page.getByRole('menuitem', { name: 'Settings' }).click()
    await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor()
    expect(problems).toEqual([])
  })

  test('theme and language change at once and stay', async () => {
    const { page, open, problems } = await visiting.visit()
    await open('/links')
    await page.getByRole('button', { name: 'Account' }).click()
    await page.getByRole('menuitemradio', { name: 'Dark' }).click()
    expect(await page.evaluate('getComputedStyle(document.documentElement).colorScheme')).toBe('dark')
    await page.getByRole('button', { name: 'Account' }).click()
    await page.getByRole('menuitemradio', { name: 'Deutsch' }).click()
    await page.getByRole('link', { name: 'Einstellungen' }).waitFor()
    await page.reload()
    await page.getByRole('link', { name: 'Einstellungen' }).waitFor()
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark')
    expect(problems).toEqual([])
  })

  test('the workspace switch opens another workspace of the person', async () => {
    const { page, open, workspace } = await visiting.visit()
    await open('/links')
    await page.getByRole('button', { name: /Switch workspace/ }).click()
    await page.getByRole('menuitemradio', { name: workspace.name }).click()
    await page.waitForURL(new RegExp(`/app/${workspace.slug}$`))
  })

  test('a visitor without a session signs in and comes back', async () => {
    const { page, open, context } = await visiting.visit()
    await context.clearCookies()
    await open('/links?search=a').catch(() => {})
    await page.waitForURL(/\/sign-in\?next=%2Fapp%2F.*links%3Fsearch%3Da/)
  })

  test("another workspace's address shows nothing of it", async () => {
    const { page } = await visiting.visit()
    const other = await buildWorkspace(visiting.platform)
    await page.goto(`${inject('server').api}/app/${other.slug}/links`)
    await page.getByRole('heading', { name: 'There is nothing here' }).waitFor()
  })
})
