import { createClient } from '@tributary/contract/client'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { browser, buildLink, buildWorkspace } from '../../server/test/build.ts'
import { visit } from '../../server/test/visit.ts'
import { eachWidth, expectAccessible, lacksBrowser, openBrowser, type Visiting } from './browser.ts'

describe.skipIf(lacksBrowser)('usage', () => {
  let visiting: Visiting
  beforeAll(async () => {
    visiting = await openBrowser()
  })
  afterAll(() => visiting?.[Symbol.asyncDispose]())

  const { api, redirect } = inject('server')

  test('the screen has what the API counts, with the limits and events by day, also for billing', async () => {
    const { page, open, workspace, problems } = await visiting.visit({ role: 'billing' })
    const call = createClient({ url: api, token: workspace.key })
    await buildLink(visiting.platform, workspace, { key: 'spring' })
    await visit(`${redirect}/spring`, { host: workspace.domain, 'user-agent': browser })
    const params = { idOrSlug: workspace.slug }
    await expect
      .poll(async () => (await call('getWorkspaceUsage', { params })).events.used, { timeout: 60_000 })
      .toBe(1)
    const usage = await call('getWorkspaceUsage', { params })
    await open('/settings')
    await page.getByRole('link', { name: 'Usage' }).focus()
    await page.keyboard.press('Enter')
    const row = (name: string) => page.getByRole('table', { name: 'Limits' }).getByRole('row', { name })
    await row('Links').getByRole('cell', { name: '1', exact: true }).waitFor()
    const format = (value: number | null) => new Intl.NumberFormat('en-GB').format(value ?? 0)
    await row('Links')
      .getByRole('cell', { name: format(usage.links.limit), exact: true })
      .waitFor()
    await row('Members and open invites').getByRole('cell', { name: '1', exact: true }).waitFor()
    await row('Keys').getByRole('cell', { name: '1', exact: true }).waitFor()
    await row('Stored webhook events').waitFor()
    await page.getByRole('slider', { name: /^Events by day in .*: 1 in all$/ }).waitFor()
    await page.getByRole('cell', { name: '1, not complete yet' }).waitFor({ state: 'attached' })
    expect(problems).toEqual([])
  })

  test('it is accessible and fits in both widths', { timeout: 600_000 }, async () => {
    const workspace = await buildWorkspace(visiting.platform)
    await eachWidth(async (width) => {
      const { page, open, problems, context } = await visiting.visit({ workspace, width })
      await open('/settings/usage')
      await page.getByRole('table', { name: 'Limits' }).waitFor()
      await expectAccessible(page)
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      expect(problems).toEqual([])
      await context.close()
    })
  })
})
