import { createClient } from '@tributary/contract/client'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { linkNumbers } from '../../server/src/features/links/service.ts'
import { type BuiltWorkspace, buildLink, buildWorkspace } from '../../server/test/build.ts'
import { contextIn } from '../../server/test/context.ts'
import { clickRow, leadRow, saleRow, storeEvents } from '../../server/test/events/feed-rows.ts'
import { eachWidth, expectAccessible, lacksBrowser, openBrowser, type Visiting, widths } from './browser.ts'

const dayMs = 86_400_000

describe.skipIf(lacksBrowser)('analytics', () => {
  let visiting: Visiting
  let workspace: BuiltWorkspace
  beforeAll(async () => {
    visiting = await openBrowser()
    workspace = await buildCampaigns()
  })
  afterAll(() => visiting?.[Symbol.asyncDispose]())

  /** Two weeks before this one: `autumn` fell from 60 clicks a week to 7, `menu` rose from 14 to 28, `gone` went to none. */
  async function buildCampaigns() {
    const workspace = await buildWorkspace(visiting.platform)
    const ctx = contextIn(visiting.platform, workspace.id)
    const link = await buildLink(visiting.platform, workspace, { key: 'shoes' })
    const [linkNumber] = await linkNumbers(ctx, { ids: [link.id] })
    const owner = { workspaceId: workspace.id, linkNumber: linkNumber as bigint }
    const at = (day: string, index: number) => Date.parse(`${day}T08:00:00Z`) + index * 60_000
    const clicks = (day: string, count: number, given: object) =>
      Array.from({ length: count }, (_, index) => clickRow(owner, { timestamp: at(day, index), ...given }))
    const { before, last } = weeks()
    await storeEvents(visiting.platform, {
      clicks: [
        ...clicks(before, 60, { utm_campaign: 'autumn' }),
        ...clicks(last, 7, { utm_campaign: 'autumn', country: 'AT' }),
        ...clicks(before, 14, { utm_campaign: 'menu', browser: 'Firefox' }),
        ...clicks(last, 28, { utm_campaign: 'menu', browser: 'Firefox' }),
        ...clicks(before, 3, { utm_campaign: 'gone' }),
      ],
      leads: [leadRow(owner, { timestamp: at(last, 0), utm_campaign: 'menu' })],
      sales: [saleRow(owner, { timestamp: at(last, 1), utm_campaign: 'menu', amount: '4900' })],
    })
    return workspace
  }

  const total = (page: Page, name: string) => page.getByRole('button', { name: new RegExp(`^${name}`) })
  const card = (page: Page, caption: string) => page.getByRole('table', { name: caption, exact: true })
  const rows = async (page: Page, caption: string) => {
    const texts = await card(page, caption).locator('tbody tr').allInnerTexts()
    return texts.map((text) =>
      text
        .replaceAll(/\s+/g, ' ')
        .replace(/^Only /, '')
        .trim(),
    )
  }
  const expectRows = (page: Page, caption: string, expected: (string | RegExp)[]) =>
    expect
      .poll(() => rows(page, caption), { timeout: 20_000 })
      .toEqual(expected.map((one) => (typeof one === 'string' ? one : expect.stringMatching(one))))
  /** Opens the page that was just shared as somebody who is not signed in, by its password. */
  async function expectOpenedSignedOut(page: Page, password: string, title: string): Promise<void> {
    const link = page.getByRole('link', { name: `Open ${title} as a visitor` })
    const address = (await link.getAttribute('href')) ?? ''
    const context = await visiting.browser.newContext({ locale: 'en-GB' })
    const theirs = await context.newPage()
    await theirs.goto(address)
    await theirs.getByLabel('Password').waitFor()
    expect(await theirs.getByText(title).count()).toBe(0)
    await theirs.keyboard.type(password)
    await theirs.keyboard.press('Enter')
    await theirs.getByRole('heading', { level: 1, name: title }).waitFor()
    await total(theirs, 'Clicks').filter({ hasText: '7' }).waitFor()
    await context.close()
  }
  const parameters = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams)

  test('the campaign that fell last week is found by mouse: compared, filtered and noted', async () => {
    const { page, open, problems } = await visiting.visit({ workspace })
    await open('/analytics?period=wtd')
    await page.getByRole('button', { name: 'Period before' }).click()
    await total(page, 'Clicks').filter({ hasText: '35' }).waitFor()
    await page.getByRole('button', { name: /^Compare/ }).click()
    await page.getByRole('menuitemradio', { name: 'What fell most' }).click()
    await total(page, 'Clicks')
      .filter({ hasText: /35.*54.5%.*from 77/s })
      .waitFor()
    await expectRows(page, 'Campaigns', [/^autumn 7 .*down by 88.3%$/, /^gone 0 .*down by 100%$/])
    await card(page, 'Campaigns').getByRole('button', { name: 'Only autumn' }).click()
    await total(page, 'Clicks')
      .filter({ hasText: /7.*from 60/s })
      .waitFor()
    expect(parameters(page)).toMatchObject({ utm_campaign: 'autumn', compare: 'previous', order: 'fell' })
    const chart = page.getByRole('slider', { name: /^Clicks by day/ })
    const box = await chart.boundingBox()
    await chart.click({ position: { x: (box?.width ?? 0) * 0.5, y: 60 } })
    const dialog = page.getByRole('dialog', { name: /^Notes on/ })
    await dialog.getByLabel('What happened on this day').fill('Budget was cut')
    await dialog.getByRole('button', { name: 'Add note' }).click()
    await dialog.waitFor({ state: 'hidden' })
    await page
      .getByRole('cell', { name: /Budget was cut/ })
      .first()
      .waitFor({ state: 'attached' })
    await page.reload()
    await total(page, 'Clicks')
      .filter({ hasText: /7.*from 60/s })
      .waitFor()
    await page
      .getByRole('cell', { name: /Budget was cut/ })
      .first()
      .waitFor({ state: 'attached' })
    await page.getByRole('button', { name: 'Share view' }).click()
    await page.getByLabel('Name of the view').fill('Autumn fell')
    await page.getByRole('button', { name: 'Save view' }).click()
    await page.waitForURL(/view=view_/)
    const form = page.getByRole('dialog', { name: 'Share statistics' })
    await form.getByLabel('Title').fill('Why autumn fell')
    await form.getByLabel('Ask for a password').click()
    await form.getByLabel('Password', { exact: true }).fill('leaves')
    await form.getByRole('button', { name: 'Create page' }).click()
    await expectOpenedSignedOut(page, 'leaves', 'Why autumn fell')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Remove filter: UTM campaign' }).click()
    await total(page, 'Clicks').filter({ hasText: '35' }).waitFor()
    expect(problems).toEqual([])
  })

  test('the same by keyboard alone, and saved as a view', async () => {
    const { page, open, problems } = await visiting.visit({ workspace })
    await open('/analytics?period=wtd')
    const press = (keys: string) => page.keyboard.press(keys)
    await press('ArrowLeft')
    await total(page, 'Clicks').filter({ hasText: '35' }).waitFor()
    await press('v')
    await total(page, 'Clicks')
      .filter({ hasText: /from 77/ })
      .waitFor()
    await press('f')
    await page.getByRole('combobox', { name: 'Filter by' }).waitFor()
    await page.keyboard.type('campaign')
    await press('Enter')
    await page.getByRole('option', { name: 'autumn' }).waitFor()
    await page.keyboard.type('aut')
    await press('Enter')
    await press('Escape')
    await total(page, 'Clicks')
      .filter({ hasText: /7.*from 60/s })
      .waitFor()
    await page.getByRole('slider', { name: /^Clicks by day/ }).focus()
    await press('Home')
    await press('ArrowRight')
    await press('Enter')
    await page.getByLabel('What happened on this day').waitFor()
    await page.keyboard.type('By keyboard')
    await press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await page
      .getByRole('cell', { name: /By keyboard/ })
      .first()
      .waitFor({ state: 'attached' })
    await page.getByRole('heading', { level: 1 }).click()
    await press('s')
    await page.getByLabel('Name of the view').waitFor()
    await page.keyboard.type('Autumn')
    await press('Enter')
    await page.getByRole('button', { name: /^Autumn S/ }).waitFor()
    expect(parameters(page).view).toMatch(/^view_/)
    const call = createClient({ url: inject('server').api, token: workspace.key })
    await open('/analytics')
    await press('s')
    await page.getByRole('button', { name: 'Autumn', exact: true }).click()
    await total(page, 'Clicks')
      .filter({ hasText: /7.*from 60/s })
      .waitFor()
    expect(await call('listNotes', { query: { search: '' } as never })).not.toEqual([])
    await press('Control+k')
    await page.getByPlaceholder(/^Find links/).waitFor()
    await page.keyboard.type('Share a saved view')
    await page.getByRole('option', { name: 'Share a saved view with others', selected: true }).waitFor()
    await press('Enter')
    await page.getByRole('dialog', { name: 'Share statistics' }).waitFor()
    await page.keyboard.type('Autumn')
    await press('Tab')
    await press('Space')
    await press('Tab')
    await page.keyboard.type('leaves')
    await press('Enter')
    await expectOpenedSignedOut(page, 'leaves', 'Autumn')
    expect(problems).toEqual([])
  })

  test('changes to a view are saved or left out before it is shared, and deleting it warns of its public page', async () => {
    const { page, open, problems } = await visiting.visit({ workspace })
    const call = createClient({ url: inject('server').api, token: workspace.key })
    const query = { period: `${weeks().last}..${weeks().end}`, utm_campaign: 'autumn' }
    const saved = await call('createView', {
      body: { screen: 'analytics', name: 'Autumn leaves', query, visibility: 'shared' },
    })
    const share = () => page.getByRole('button', { name: 'Share view' }).click()
    const warning = page.getByRole('dialog', { name: 'Your changes are not saved' })
    await open(`/analytics?period=${query.period}&utm_campaign=menu&view=${saved.id}`)
    await page.getByText('changed', { exact: true }).waitFor({ state: 'attached' })
    await share()
    await warning.getByText('Public pages show the saved view “Autumn leaves”, without your changes.').waitFor()
    await expectAccessible(page)
    await warning.getByRole('button', { name: 'Save as a new view' }).click()
    await page.getByLabel('Name of the view').fill('Menu')
    await page.getByLabel('Share it with the workspace').click()
    await page.getByRole('button', { name: 'Save view' }).click()
    const form = page.getByRole('dialog', { name: 'Share statistics' })
    await form.getByLabel('Title').fill('The menu')
    await form.getByRole('button', { name: 'Create page' }).click()
    const pages = page.getByRole('dialog', { name: 'Public pages' })
    await pages.getByText('The menu').first().waitFor()
    const shares = await call('listShares')
    expect(shares.filter(({ viewId }) => viewId === saved.id)).toEqual([])
    expect(shares.find(({ title }) => title === 'The menu')).toMatchObject({ name: 'Menu' })
    await page.keyboard.press('Escape')
    const removeFilter = page.getByRole('button', { name: 'Remove filter: UTM campaign' })
    await removeFilter.click()
    await removeFilter.waitFor({ state: 'hidden' })
    await share()
    await warning.getByRole('button', { name: 'Continue without the changes' }).click()
    await pages.waitFor()
    await page.keyboard.press('Escape')
    await share()
    await warning.getByRole('button', { name: 'Update “Menu”' }).click()
    await pages.waitFor()
    const views = await call('listViews')
    expect(views.find(({ name }) => name === 'Menu')?.query).toEqual({ period: query.period })
    await page.keyboard.press('Escape')
    await pages.waitFor({ state: 'hidden' })

    const toast = (text: string) => page.getByRole('listitem').filter({ hasText: text })
    await page.keyboard.press('s')
    await page.getByRole('button', { name: 'Delete “Menu”' }).click()
    const confirm = page.getByRole('dialog', { name: 'Delete view' })
    await confirm.getByText('Its public page ends for good.').waitFor()
    expect(await call('listViews')).toHaveLength(views.length)
    await confirm.getByRole('textbox').fill('Menu')
    await confirm.getByRole('button', { name: 'Delete view' }).click()
    await toast('Deleted “Menu”').waitFor()
    expect(await toast('Deleted “Menu”').getByRole('button', { name: 'Undo' }).count()).toBe(0)
    await expect.poll(() => page.url()).not.toContain('view=')
    await open(`/analytics?view=${saved.id}`)
    await page.keyboard.press('s')
    await page.getByRole('button', { name: 'Delete “Autumn leaves”' }).click()
    await toast('Deleted “Autumn leaves”').getByRole('button', { name: 'Undo' }).waitFor()
    expect(problems).toEqual([])
  })

  test('the cards below the screen are asked for a moment later, and together with the others once they are in view', async () => {
    const { page, open, problems } = await visiting.visit({ workspace })
    const asked: string[][] = []
    page.on('request', (request) => {
      if (request.url().endsWith('/analytics/batch')) asked.push(request.postDataJSON().groupBy)
    })
    await open(`/analytics?period=${weeks().last}..${weeks().end}`)
    await card(page, 'Destinations').waitFor()
    const first = ['count', 'timeseries', 'top_links', 'referers', 'utm_campaigns']
    const later = ['countries', 'devices', 'top_urls']
    expect(asked.splice(0)).toEqual([first, later])
    await card(page, 'Campaigns').getByRole('button', { name: 'Only menu' }).click()
    await total(page, 'Clicks').filter({ hasText: '28' }).waitFor()
    await page.waitForTimeout(2_000)
    await expect.poll(() => asked).toEqual([first, later])
    asked.length = 0
    await card(page, 'Destinations').scrollIntoViewIfNeeded()
    await page.waitForTimeout(500)
    await page.getByRole('button', { name: 'Remove filter: UTM campaign' }).click()
    await total(page, 'Clicks').filter({ hasText: '35' }).waitFor()
    await page.waitForTimeout(2_000)
    expect(asked).toEqual([[...first, ...later]])
    expect(problems).toEqual([])
  })

  test('all values are searched, several are chosen or left out, and a card and the page are exported', async () => {
    const { page, open, problems } = await visiting.visit({ workspace })
    await open(`/analytics?period=${weeks().before}..${weeks().end}`)
    await total(page, 'Clicks').filter({ hasText: '112' }).waitFor()
    await page.getByRole('button', { name: 'All: Campaigns' }).click()
    const dialog = page.getByRole('dialog', { name: 'Campaigns' })
    await dialog.getByRole('searchbox', { name: 'Search Campaigns' }).fill('a')
    await expect.poll(() => dialog.getByRole('listitem').allInnerTexts()).toHaveLength(1)
    await dialog.getByRole('checkbox').click()
    await dialog.getByRole('searchbox', { name: 'Search Campaigns' }).fill('')
    await dialog.getByRole('listitem').filter({ hasText: 'gone' }).getByRole('checkbox').click()
    await dialog.getByRole('button', { name: 'is not' }).click()
    const cardFile = page.waitForEvent('download')
    await dialog.getByRole('button', { name: 'Export as CSV' }).click()
    expect(await readDownload(await cardFile)).toContain('autumn,autumn,67,0,0,0')
    await dialog.getByRole('button', { name: 'Filter by 2 values' }).click()
    await total(page, 'Clicks').filter({ hasText: '42' }).waitFor()
    expect(parameters(page).utm_campaign).toBe('-autumn,gone')
    await expectRows(page, 'Campaigns', ['menu 42 100%'])
    const pageFile = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export figures as CSV' }).click()
    const text = await readDownload(await pageFile)
    expect(text).toContain('total,,,42,1,1,4900')
    expect(text).toContain('utm_campaigns,menu,menu,42,1,1,4900')
    expect(problems).toEqual([])
  })

  test('a card switches its dimension, rows follow the measure, the map and the funnel show the same', async () => {
    const { page, open, problems } = await visiting.visit({ workspace })
    await open(`/analytics?period=${weeks().before}..${weeks().end}`)
    await page.getByRole('button', { name: 'Browsers' }).click()
    await expectRows(page, 'Browsers', [/^Chrome 70 /, /^Firefox 42 /])
    await total(page, 'Revenue').click()
    await expectRows(page, 'Browsers', ['Chrome US$49.00 100%'])
    await total(page, 'Clicks').click()
    await page.getByRole('button', { name: 'Map', exact: true }).click()
    await page.getByRole('table', { name: /Clicks by country/ }).waitFor({ state: 'attached' })
    const map = page.getByRole('table', { name: /Clicks by country/ })
    expect(await map.textContent()).toContain('Germany105')
    await page.getByRole('button', { name: 'Funnel' }).click()
    const funnel = page.getByRole('table', { name: /From clicks to leads to sales/ })
    await funnel.waitFor({ state: 'attached' })
    expect(await funnel.textContent()).toMatch(/Clicks112.*Leads1.*Sales1/)
    expect(parameters(page)).toMatchObject({ tabs: 'browsers', map: 'true', chart: 'funnel' })
    expect(problems).toEqual([])
  })

  test('hostile values run no script and break no layout; states are accessible at both widths', async () => {
    const hostile = '<img src=x onerror=alert(1)>‮"\'; DROP TABLE'
    const other = await buildWorkspace(visiting.platform)
    const ctx = contextIn(visiting.platform, other.id)
    const link = await buildLink(visiting.platform, other)
    const [linkNumber] = await linkNumbers(ctx, { ids: [link.id] })
    const long = 'W'.repeat(500)
    const facts = {
      utm_campaign: hostile,
      utm_source: long,
      city: hostile,
      browser: hostile,
      os: long,
      device: hostile,
    }
    const owner = { workspaceId: other.id, linkNumber: linkNumber as bigint }
    await storeEvents(visiting.platform, {
      clicks: [clickRow(owner, { ...facts, referer: hostile, referer_url: long, url: `https://example.com/${long}` })],
    })
    await eachWidth(async (width) => {
      const { page, open, problems } = await visiting.visit({ workspace: other, width })
      await open('/analytics?tabs=utm_sources,cities,browsers&compare=previous')
      await page.getByRole('table', { name: 'Browsers' }).waitFor()
      const { scrollWidth } = await page.evaluate<{ scrollWidth: number }>(
        '({ scrollWidth: document.body.scrollWidth })',
      )
      expect(scrollWidth).toBeLessThanOrEqual(width)
      await expectAccessible(page)
      if (width === widths.wide) {
        await page.getByRole('button', { name: 'All: Browsers' }).click()
        await page.getByRole('dialog').getByRole('checkbox').first().waitFor()
        await expectAccessible(page)
      }
      expect(problems).toEqual([])
    })
  })

  test('an empty period says so; a failing server is said with a way to repeat; billing sees no figures', async () => {
    const { page, open } = await visiting.visit({ workspace })
    await open('/analytics?period=2020-01-01..2020-01-31')
    await page.getByRole('heading', { name: 'Nothing happened in this period' }).waitFor()
    await page.route('**/analytics/batch', (route) => route.fulfill({ status: 400, body: '{}' }))
    await open('/analytics?period=7d')
    await page.getByRole('button', { name: 'Try again' }).waitFor()
    await page.unroute('**/analytics/batch')
    await page.getByRole('button', { name: 'Try again' }).click()
    await total(page, 'Clicks').waitFor()
    const billing = await visiting.visit({ workspace, role: 'billing' })
    await billing.open('/analytics')
    await billing.page.getByText('Your role shows no figures').waitFor()
  })
})

/** Mondays of the week before the last and of the last, and the last one's Sunday, in UTC. */
function weeks() {
  const today = new Date(new Date().toISOString().slice(0, 10))
  const monday = today.getTime() - ((today.getUTCDay() + 6) % 7) * dayMs
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10)
  return { before: day(monday - 14 * dayMs), last: day(monday - 7 * dayMs), end: day(monday - dayMs) }
}

async function readDownload(download: { createReadStream(): Promise<AsyncIterable<Buffer>> }): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of await download.createReadStream()) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
