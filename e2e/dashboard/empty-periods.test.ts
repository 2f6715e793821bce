import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { linkNumbers } from '../../server/src/features/links/service.ts'
import { buildLink, buildWorkspace } from '../../server/test/build.ts'
import { contextIn } from '../../server/test/context.ts'
import { clickRow, leadRow, saleRow, storeEvents } from '../../server/test/events/feed-rows.ts'
import { expectAccessible, lacksBrowser, openBrowser, type Visiting } from './browser.ts'
import { openShortLink } from './short-link-visits.ts'

const past = '2020-01-01..2020-01-31'

describe.skipIf(lacksBrowser)('events and analytics of a period without events', () => {
  let visiting: Visiting
  beforeAll(async () => {
    visiting = await openBrowser()
  })
  afterAll(() => visiting?.[Symbol.asyncDispose]())

  /** A workspace with a click, a lead, a sale, another sale of the same customer, and the refund of a third. */
  async function buildSales() {
    const workspace = await buildWorkspace(visiting.platform)
    const link = await buildLink(visiting.platform, workspace, { key: 'spring' })
    const [linkNumber = 0n] = await linkNumbers(contextIn(visiting.platform, workspace.id), { ids: [link.id] })
    const owner = { workspaceId: workspace.id, linkNumber }
    const sale = { event_name: 'Purchase', amount: '5000' }
    await storeEvents(visiting.platform, {
      clicks: [clickRow(owner)],
      leads: [leadRow(owner)],
      sales: [
        saleRow(owner, { ...sale, invoice_id: 'in_1' }),
        saleRow(owner, { ...sale, invoice_id: 'in_2' }),
        saleRow(owner, { ...sale, invoice_id: 'in_3', sales: 0, amount: '-5000' }),
      ],
    })
    return { workspace, link }
  }

  test('a past period without events leads to the last 30 days, and promises no new ones', async () => {
    const { workspace } = await buildSales()
    const { page, open, problems } = await visiting.visit({ workspace })
    const rows = page.locator('[data-row]')
    const showLastDays = page.getByRole('button', { name: 'Show the last 30 days' })
    await open(`/events?period=${past}`)
    await page.getByRole('heading', { name: 'Nothing happened in this period' }).waitFor()
    await page.getByText('The period is over and has no clicks.').waitFor()
    await expectAccessible(page)
    await showLastDays.click()
    await rows.first().waitFor()
    expect(page.url()).not.toContain('period')
    await open(`/events?country=AQ&period=${past}`)
    await page.getByRole('heading', { name: 'No event matches' }).waitFor()
    expect(await page.getByText('New ones appear here').count()).toBe(0)
    await showLastDays.click()
    await page.getByText('New ones appear here as they come.').waitFor()
    expect(page.url()).toContain('country=AQ')
    expect(await showLastDays.count()).toBe(0)
    expect(problems).toEqual([])
  })

  test('without leads or sales, the next step is to set up tracking', async () => {
    const { page, open, problems } = await visiting.visit()
    await open('/events')
    await page.getByRole('heading', { name: 'No clicks in this period' }).waitFor()
    expect(await page.getByRole('link', { name: 'Open the tracking settings' }).count()).toBe(0)
    for (const kind of ['leads', 'sales']) {
      await open(`/events?event=${kind}`)
      await page.getByRole('heading', { name: `No ${kind} in this period` }).waitFor()
      await page.getByRole('link', { name: 'Open the tracking settings' }).click()
      await page.getByRole('heading', { name: 'Check the installation' }).waitFor()
    }
    expect(problems).toEqual([])
  })

  test('analytics without events have a next step instead of cards, and sales are counted per lead', async () => {
    const { workspace } = await buildSales()
    const { page, open, problems } = await visiting.visit({ workspace })
    const cards = page.getByRole('button', { name: /^All: / })
    await open(`/analytics?period=${past}`)
    await page.getByRole('heading', { name: 'Nothing happened in this period' }).waitFor()
    expect(await cards.count()).toBe(0)
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Show the last 30 days' }).click()
    await cards.first().waitFor()
    await page
      .getByRole('button', { name: /^Sales/ })
      .filter({ hasText: /2 per lead$/ })
      .waitFor()
    await page.getByRole('button', { name: 'Funnel' }).click()
    await page.getByRole('cell', { name: '× 2' }).first().waitFor({ state: 'attached' })
    await open('/analytics?country=AQ')
    await page.getByRole('heading', { name: 'No event of this period matches the filters' }).waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await cards.first().waitFor()
    const empty = await visiting.visit()
    await empty.open('/analytics')
    await empty.page.getByRole('link', { name: 'Open your links' }).click()
    await empty.page.getByRole('heading', { level: 1, name: 'Links' }).waitFor()
    expect([...problems, ...empty.problems]).toEqual([])
  })

  test('a refund is called a refund in the list of sales', async () => {
    const { workspace } = await buildSales()
    const { page, open, problems } = await visiting.visit({ workspace })
    await open('/events?event=sales')
    const rows = page.locator('[data-row]')
    await rows.filter({ hasText: 'Refund: Purchase' }).filter({ hasText: '50.00' }).waitFor()
    expect(await rows.filter({ hasText: 'Refund' }).count()).toBe(1)
    expect(await rows.count()).toBe(3)
    expect(problems).toEqual([])
  })

  test('the button for new events covers no heading', async () => {
    const { workspace, link } = await buildSales()
    const { page, open, problems } = await visiting.visit({ workspace })
    await open('/events')
    await page
      .getByRole('status')
      .getByText(/^Live$/)
      .waitFor()
    await page.keyboard.press('Space')
    await openShortLink(workspace, link.key)
    const button = page.getByRole('button', { name: 'Show 1 new' })
    await button.waitFor()
    const headings = await page.locator('thead').boundingBox()
    const top = (await button.boundingBox())?.y ?? 0
    expect(top).toBeGreaterThanOrEqual((headings?.y ?? 0) + (headings?.height ?? 0))
    expect(problems).toEqual([])
  })
})
