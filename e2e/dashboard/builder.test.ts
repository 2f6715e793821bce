import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildLink, buildWorkspace } from '../../server/test/build.ts'
import { eachWidth, expectAccessible, lacksBrowser, openBrowser, type Visiting } from './browser.ts'
import { findBuilder, findLink, paste } from './builder-steps.ts'

describe.skipIf(lacksBrowser)('the builder', () => {
  let visiting: Visiting
  beforeAll(async () => {
    visiting = await openBrowser()
  })
  afterAll(() => visiting?.[Symbol.asyncDispose]())

  test('targeting, a test, a preview and ids are set, shown on the link’s page, and changed', async () => {
    const { page, open, workspace, problems } = await visiting.visit()
    await open('/links')
    await paste(page, 'https://example.com/all')
    const builder = findBuilder(page)
    await builder.getByLabel('Slug').fill('all')
    await builder.getByRole('button', { name: 'Targeting' }).click()
    await builder.getByLabel('Android').fill('android.example.com')
    await builder.getByLabel('Add a country').click()
    await page.getByPlaceholder('Search countries').fill('Austria')
    await page.getByRole('option', { name: 'Austria' }).click()
    await builder.getByLabel('Austria', { exact: true }).fill('example.at')
    await builder.getByRole('button', { name: 'A/B test' }).click()
    await builder.getByRole('button', { name: 'Start a test' }).click()
    await builder.getByLabel('Destination B, 50 %').fill('example.com/b')
    await builder.getByRole('slider').focus()
    for (let times = 0; times < 2; times += 1) await page.keyboard.press('PageUp')
    await builder.getByLabel('Destination A, 70 %').waitFor()
    await builder.getByRole('button', { name: 'Preview' }).click()
    await builder.getByText('Own title, description and picture').click()
    await builder.getByLabel('Title', { exact: true }).fill('Everything at once')
    for (const network of ['LinkedIn', 'X', 'Slack', 'Facebook']) {
      await builder.getByRole('radio', { name: network, exact: true }).click()
      await builder.locator('[data-network]').getByText('Everything at once').waitFor()
    }
    await builder.getByRole('button', { name: 'Advanced' }).click()
    await builder.getByText('Keep the short address in the browser').click()
    await builder.getByLabel('Tenant id').fill('tenant-7')
    await builder.getByRole('button', { name: 'Create and copy' }).click()
    await page.locator('[data-row]').filter({ hasText: '/all' }).getByRole('link').click()
    await page.getByText('https://example.at').waitFor()
    const link = await findLink(workspace, 'all')
    expect(link).toMatchObject({
      android: 'https://android.example.com',
      geo: { AT: 'https://example.at' },
      testVariants: [
        { url: 'https://example.com/all', percentage: 70 },
        { url: 'https://example.com/b', percentage: 30 },
      ],
      proxy: true,
      title: 'Everything at once',
      rewrite: true,
      tenantId: 'tenant-7',
    })
    expect(Date.parse(link.testCompletedAt)).toBeGreaterThan(Date.now() + 13 * 86_400_000)
    await page.getByRole('button', { name: 'Actions' }).click()
    await page.getByRole('menuitem', { name: 'Edit' }).click()
    const editor = page.getByRole('dialog', { name: /^Edit/ })
    await editor.getByRole('button', { name: 'Leave out Austria' }).click()
    await editor.getByRole('button', { name: 'Leave out destination B' }).click()
    await editor.getByRole('button', { name: 'Save and copy' }).click()
    await editor.waitFor({ state: 'hidden' })
    const changed = await findLink(workspace, 'all')
    expect([changed.geo, changed.testVariants ?? null]).toEqual([null, null])
    expect(problems).toEqual([])
  })

  test('every section is accessible in both themes, small and wide, and hostile texts break nothing', async () => {
    const workspace = await buildWorkspace(visiting.platform)
    const hostile = `\u202E<img src=x onerror="document.title=1">${'x'.repeat(300)}`
    await buildLink(visiting.platform, workspace, {
      key: 'full',
      geo: { DE: `https://example.com/${'d'.repeat(300)}` },
      testVariants: [
        { url: `https://example.com/${'a'.repeat(300)}`, percentage: 90 },
        { url: 'https://example.com/b', percentage: 10 },
      ],
      proxy: true,
      title: hostile,
      description: hostile,
      utm_source: hostile.slice(0, 200),
      expiresAt: '2099-01-01',
      password: 'x',
      externalId: hostile.slice(0, 200),
    })
    await eachWidth(async (width) => {
      const { page, open, problems, context } = await visiting.visit({ workspace, width })
      await open('/links')
      await page.locator('[data-row], [data-card]').getByRole('button', { name: 'Actions' }).first().click()
      await page.getByRole('menuitem', { name: 'Edit' }).click()
      await page.getByRole('slider').waitFor()
      for (const network of ['LinkedIn', 'X', 'Slack', 'Facebook']) {
        await page.getByRole('radio', { name: network, exact: true }).click()
        await expectAccessible(page)
      }
      expect(await page.evaluate('document.querySelector("[role=dialog]").scrollWidth <= innerWidth')).toBe(true)
      expect(await page.title()).not.toBe('1')
      expect(problems).toEqual([])
      await context.close()
    })
  })
})
