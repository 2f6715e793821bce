import { randomUUID } from 'node:crypto'
import { createClient } from '@tributary/contract/client'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { browser, buildConversionLink, buildUser } from '../../server/test/build.ts'
import { eachWidth, expectAccessible, lacksBrowser, openBrowser, type Visiting, widths } from './browser.ts'
import { openShortLink } from './short-link-visits.ts'

describe.skipIf(lacksBrowser)('home', () => {
  let visiting: Visiting
  beforeAll(async () => {
    visiting = await openBrowser()
  })
  afterAll(() => visiting?.[Symbol.asyncDispose]())

  const step = (page: Page, name: string, state: 'To do' | 'Done') =>
    page.getByRole('button', { name: new RegExp(`${name}.*${state}`) })

  /** A workspace with one lead, and with a sale of 49.00 if told. */
  async function buildTracked({ isSold }: { isSold: boolean }) {
    const { api } = inject('server')
    const { workspace, link } = await buildConversionLink(visiting.platform)
    const call = createClient({ url: api, token: workspace.key })
    const headers = { 'content-type': 'application/json', 'user-agent': browser, referer: 'https://shop.example.com/' }
    const body = JSON.stringify({ domain: workspace.domain, key: link.key })
    const { clickId } = (await (await fetch(`${api}/track/click`, { method: 'POST', headers, body })).json()) as {
      clickId: string
    }
    const customerExternalId = randomUUID()
    await call('trackLead', { body: { clickId, eventName: 'Sign up', customerExternalId } })
    const sell = () => call('trackSale', { body: { customerExternalId, amount: 4_900 } })
    if (isSold) await sell()
    return { workspace, link, sell }
  }

  test('the checklist shows what is next with real values, and turns done by itself', async () => {
    const { workspace, sell } = await buildTracked({ isSold: false })
    const { page, open, problems } = await visiting.visit({ workspace })
    await open()
    await page.getByText('4 of 5 steps are done').waitFor()
    const sale = page.getByRole('listitem').filter({ has: step(page, 'Report a sale', 'To do') })
    const call = (await sale.locator('pre').textContent()) ?? ''
    expect(call).toContain(`${inject('server').api}/track/sale`)
    expect(call).toContain(`Bearer ${workspace.key.slice(0, 8)}…`)
    expect(call).not.toContain(workspace.key)
    await step(page, 'Create a link', 'Done').click()
    await page.getByText(`"domain": "${workspace.domain}"`).waitFor()
    await sell()
    await page.getByRole('heading', { name: 'Your first sale is tracked' }).waitFor({ timeout: 6_000 })
    await step(page, 'Report a sale', 'Done').waitFor()
    await page.getByRole('button', { name: /^Sales today/ }).waitFor()
    await page.reload()
    await page.getByRole('button', { name: /^Sales today/ }).waitFor()
    expect(await page.getByText('Your first sale is tracked').count()).toBe(0)
    expect(problems).toEqual([])
  })

  test('the checklist is used and hidden by keyboard alone, and comes back', async () => {
    const { page, open, problems } = await visiting.visit()
    await open()
    await page.getByText('1 of 5 steps is done').waitFor()
    await step(page, 'Create a link', 'To do').focus()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    const builder = page.getByRole('dialog', { name: 'New link' })
    await builder.waitFor()
    await page.keyboard.type('https://example.com/pricing')
    await page.keyboard.press('ControlOrMeta+Enter')
    await step(page, 'Create a link', 'Done').waitFor()
    await step(page, 'Put the script on your pages', 'To do').waitFor()
    await page.getByRole('button', { name: 'Hide first steps' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'No clicks in the last 30 days' }).waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'Show first steps' }).focus()
    await page.keyboard.press('Enter')
    await page.getByText('2 of 5 steps are done').waitFor()
    expect(problems).toEqual([])
  })

  test('what happens now appears by itself, and stays where it is while somebody reads', async () => {
    const { workspace, link } = await buildTracked({ isSold: true })
    const { page, open, problems } = await visiting.visit({ workspace })
    await open()
    const latest = page.getByRole('list', { name: 'Latest events' })
    const rows = latest.getByRole('listitem')
    await rows.filter({ hasText: 'Sale' }).filter({ hasText: '49.00' }).waitFor()
    await rows.filter({ hasText: 'Lead' }).waitFor()
    await rows.nth(2).waitFor()
    await openShortLink(workspace, link.key)
    await rows.nth(3).waitFor()
    await latest.hover()
    await openShortLink(workspace, link.key)
    await page.getByText('1 visitor now').waitFor()
    await page.waitForTimeout(4_000)
    expect(await rows.count()).toBe(4)
    await page.mouse.move(0, 0)
    await rows.nth(4).waitFor()
    await rows.first().getByRole('link').click()
    await page.getByRole('heading', { name: `${workspace.domain}/${link.key}` }).waitFor()
    await rows.nth(4).waitFor()
    await page.getByRole('heading', { name: 'Top devices' }).waitFor()
    await expectAccessible(page)
    expect(problems).toEqual([])
  })

  test('figures are those of today, and each shows its chart', async () => {
    const { workspace } = await buildTracked({ isSold: true })
    const { page, open, problems } = await visiting.visit({ workspace })
    await open()
    const revenue = page.getByRole('button', { name: /^Revenue today/ })
    await expect.poll(() => revenue.textContent(), { timeout: 60_000 }).toContain('49.00')
    await revenue.click()
    await page
      .getByRole('slider', { name: /Revenue by day, last 30 days: .*49\.00 in all/ })
      .waitFor({ timeout: 90_000 })
    expect(await page.getByRole('table').getByRole('row').count()).toBe(31)
    expect(await page.getByRole('cell', { name: /not complete yet$/ }).count()).toBe(1)
    expect(problems).toEqual([])
  })

  test('the latest events wait when the limit of a second is used up', async () => {
    const { workspace } = await buildTracked({ isSold: true })
    const { page, open } = await visiting.visit({ workspace })
    let refusals = 0
    await page.route(/\/events\?.*event=clicks/, async (route) => {
      if (refusals > 0) return route.continue()
      refusals += 1
      await route.fulfill({
        status: 429,
        headers: { 'retry-after': '1' },
        json: { error: { code: 'rate_limit_exceeded', message: 'Try again in 1 s.', doc_url: '' } },
      })
    })
    await open()
    await page.getByRole('list', { name: 'Latest events' }).getByRole('listitem').first().waitFor()
    expect(refusals).toBe(1)
  })

  test('both states are accessible in both themes, small and wide', { timeout: 400_000 }, async () => {
    const tracked = await buildTracked({ isSold: true })
    const fresh = await visiting.visit()
    await eachWidth(async (width) => {
      for (const { workspace } of [tracked, fresh]) {
        const { page, open, problems } = await visiting.visit({ workspace, width })
        await open()
        await expectAccessible(page)
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
        expect(problems).toEqual([])
        await page.context().close()
      }
    })
  })

  test('a viewer sees the steps without actions', async () => {
    const { page, open, problems } = await visiting.visit({ role: 'viewer', width: widths.small })
    await open()
    await step(page, 'Create a link', 'To do').waitFor()
    for (const name of ['Create link', 'Create sample data', 'Add domain'])
      expect(await page.getByRole('button', { name, exact: true }).count(), name).toBe(0)
    expect(problems).toEqual([])
  })

  test('sample data is created in a workspace of its own, and one action removes it', {
    timeout: 500_000,
  }, async () => {
    const { page, open, problems } = await visiting.visit()
    await open()
    await page.getByRole('button', { name: 'Create sample data' }).click()
    await page.getByRole('link', { name: 'Open sample data' }).click({ timeout: 240_000 })
    await page.getByRole('button', { name: /^Clicks today/ }).waitFor()
    await page.getByRole('heading', { name: 'Top countries' }).waitFor()
    await open()
    await page.getByRole('button', { name: 'Delete sample data' }).click()
    await page.getByRole('button', { name: 'Create sample data' }).waitFor({ timeout: 240_000 })
    expect(problems).toEqual([])
  })
})

describe.skipIf(lacksBrowser)('a new workspace', () => {
  let visiting: Visiting
  beforeAll(async () => {
    visiting = await openBrowser()
  })
  afterAll(() => visiting?.[Symbol.asyncDispose]())

  test('a person without any creates the first one, by keyboard alone', async () => {
    const { api } = inject('server')
    const user = await buildUser(visiting.platform)
    const { page, context, problems } = await visiting.visit()
    await context.clearCookies()
    const [name = '', value = ''] = user.cookie.split('=')
    await context.addCookies([{ name, value, url: api }])
    await page.goto(`${api}/app`)
    await page.getByRole('heading', { name: 'Create a workspace' }).waitFor()
    await expectAccessible(page)
    await page.keyboard.press('Enter')
    await page.getByText('Enter a name.').waitFor()
    const slug = `acme-${randomUUID().slice(0, 8)}`
    await page.keyboard.type(slug.replace('-', ' '))
    await page.getByText(`${api}/app/${slug}`).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(`${api}/app/${slug}`)
    await page.getByText('0 of 5 steps are done').waitFor()
    expect(problems).toEqual([])
  })

  test('a taken slug is said at its field', async () => {
    const { page, open, workspace } = await visiting.visit()
    await open('/links')
    await page.getByRole('button', { name: /Switch workspace/ }).click()
    await page.getByRole('menuitem', { name: 'Create workspace' }).click()
    await page.getByLabel('Name').fill('Another')
    await page.getByLabel('Slug').fill('no good')
    await page.getByText('Use 3 to 48 lower-case letters').waitFor()
    await page.getByLabel('Slug').fill(workspace.slug)
    await page.getByRole('button', { name: 'Create workspace' }).click()
    await page.getByText(`The workspace slug ${workspace.slug} is taken`).waitFor()
    await expectAccessible(page)
  })
})
