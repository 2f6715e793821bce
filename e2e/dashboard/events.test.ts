import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createClient } from '@tributary/contract/client'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { linkNumbers } from '../../server/src/features/links/service.ts'
import {
  type BuiltWorkspace,
  buildConversionLink,
  buildLink,
  buildWorkspace,
  browser as userAgent,
} from '../../server/test/build.ts'
import { contextIn } from '../../server/test/context.ts'
import { clickRow, leadRow, saleRow, storeEvents } from '../../server/test/events/feed-rows.ts'
import { eventually } from '../../server/test/stack.ts'
import { eachWidth, expectAccessible, lacksBrowser, openBrowser, type Visiting, widths } from './browser.ts'
import { openLine } from './cut-line.ts'
import { openShortLink } from './short-link-visits.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

describe.skipIf(lacksBrowser)('events', () => {
  let visiting: Visiting
  beforeAll(async () => {
    visiting = await openBrowser()
  })
  afterAll(() => visiting?.[Symbol.asyncDispose]())

  const { api } = inject('server')
  const callAs = ({ key }: BuiltWorkspace) => createClient({ url: api, token: key })
  const rows = (page: Page) => page.locator('[data-row]')
  const hasRows = (page: Page, count: number) => expect.poll(() => rows(page).count(), { timeout: 60_000 }).toBe(count)
  const state = (page: Page, text: string | RegExp) => page.getByRole('status').getByText(text)
  const isLive = (page: Page) => state(page, /^Live$/).waitFor()
  const cell = (page: Page, text: string) => rows(page).getByRole('button', { name: text, exact: true }).first()
  const fits = (page: Page) => page.evaluate('document.documentElement.scrollWidth <= innerWidth')

  /** A workspace with a link, and clicks of these countries on it, the first an hour ago and the others before. */
  async function buildClicks(countries: string[]) {
    const workspace = await buildWorkspace(visiting.platform)
    const link = await buildLink(visiting.platform, workspace, { key: 'spring', trackConversion: true })
    const [linkNumber = 0n] = await linkNumbers(contextIn(visiting.platform, workspace.id), { ids: [link.id] })
    const owner = { workspaceId: workspace.id, linkNumber }
    const clicks = countries.map((country, index) =>
      clickRow(owner, { country, city: `City ${index}`, timestamp: Date.now() - (index + 1) * hourMs }),
    )
    await storeEvents(visiting.platform, { clicks })
    return { workspace, link, owner }
  }

  /** A customer with a lead of a fresh click, or of one that is older than the attribution window. */
  async function trackCustomer(given: { isOld?: boolean; isSold?: boolean } = {}) {
    const { workspace, link, click } = await buildConversionLink(visiting.platform)
    const customerExternalId = randomUUID()
    const call = callAs(workspace)
    const track = async (headers: Record<string, string> = {}) => {
      const response = await fetch(`${api}/track/click`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'user-agent': userAgent, ...headers },
        body: JSON.stringify({ domain: workspace.domain, key: link.key }),
      })
      return ((await response.json()) as { clickId: string }).clickId
    }
    const clickId = given.isOld ? click({ at: Date.now() - 100 * dayMs }).id : await track()
    const lead = { clickId, eventName: 'Sign up', customerExternalId, customerName: 'Ada Lovelace' }
    await call('trackLead', { body: { ...lead, metadata: { plan: 'team' } } })
    const sell = () => call('trackSale', { body: { customerExternalId, amount: 4_900, invoiceId: randomUUID() } })
    if (given.isSold) await sell()
    return { workspace, link, call, sell }
  }

  test('a click arrives by itself, waits while the list is pointed at, and leads to its link, by mouse', async () => {
    const { workspace, link } = await buildClicks(['DE'])
    const { page, open, problems } = await visiting.visit({ workspace })
    await open('/events')
    await isLive(page)
    await hasRows(page, 1)
    await openShortLink(workspace, link.key)
    await hasRows(page, 2)
    await page.getByText(/^1 visitor now$/).waitFor()
    await rows(page).first().hover()
    await state(page, 'Paused while you point at the list').waitFor()
    await openShortLink(workspace, link.key)
    await page.getByRole('button', { name: 'Show 1 new' }).waitFor()
    expect(await rows(page).count()).toBe(2)
    await page.getByRole('button', { name: 'Show 1 new' }).click()
    await hasRows(page, 3)
    await page.mouse.move(5, 5)
    await page.locator('h1').click()
    await isLive(page)
    await rows(page).last().locator('[data-row-link]').click()
    const drawer = page.getByRole('dialog', { name: 'Click' })
    await drawer.getByText('Germany').waitFor()
    await page.getByText('Paused while you look at an event').waitFor()
    await drawer.getByRole('button', { name: 'JSON' }).click()
    const shown = JSON.parse((await drawer.locator('pre').textContent()) ?? '')
    const listed = await callAs(workspace)('listEvents', { query: { interval: '24h' } })
    const { link: shownLink, ...event } = shown
    const { link: listedLink, ...expected } = listed.at(-1) as (typeof listed)[number]
    expect(event).toEqual(expected)
    // Counters of the link have grown since the list was read.
    expect(Object.keys(shownLink)).toEqual(Object.keys(listedLink))
    await drawer.getByRole('button', { name: 'Details' }).click()
    await drawer.getByRole('link', { name: `${workspace.domain}/spring` }).click()
    await page.getByRole('heading', { level: 1, name: `${workspace.domain}/spring` }).waitFor()
    expect(problems).toEqual([])
  })

  test('events are watched, paused, filtered and followed to the customer by keyboard alone', async () => {
    const { workspace, sell } = await trackCustomer({ isSold: true })
    const { page, open, problems } = await visiting.visit({ workspace })
    await open('/events')
    await isLive(page)
    await page.keyboard.press('3')
    await page.waitForURL(/event=sales/)
    await rows(page).first().waitFor()
    await page.keyboard.press('Space')
    await state(page, /^Paused$/).waitFor()
    await sell()
    await page.getByRole('button', { name: 'Show 1 new' }).waitFor()
    await page.keyboard.press('n')
    await hasRows(page, 2)
    await page.keyboard.press('Space')
    await isLive(page)
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await state(page, 'Paused while the list has the focus').waitFor()
    await page.keyboard.press('Enter')
    const drawer = page.getByRole('dialog', { name: 'Sale: Purchase' })
    await drawer.getByText('By the lead that it follows.').waitFor()
    const journey = drawer.getByRole('listitem')
    await expect.poll(() => journey.count(), { timeout: 30_000 }).toBe(4)
    expect(await journey.allTextContents()).toEqual([
      expect.stringMatching(/^Click/),
      expect.stringMatching(/^LeadSign up/),
      expect.stringMatching(/^SalePurchase.*49\.00/),
      expect.stringMatching(/^SalePurchase.*49\.00/),
    ])
    await page.keyboard.press('Escape')
    await drawer.waitFor({ state: 'hidden' })
    await tabTo(page, 'Ada Lovelace')
    await page.keyboard.press('Enter')
    await page.getByRole('menuitem', { name: 'Only Ada Lovelace' }).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(/customerId=cus_/)
    await hasRows(page, 2)
    await page.keyboard.press('k')
    await page.keyboard.press('Enter')
    await drawer.waitFor()
    await tabTo(page, 'Ada Lovelace')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/customers\/cus_/)
    expect(problems).toEqual([])
  })

  /** Presses Tab until the focused control has this text. */
  async function tabTo(page: Page, text: string): Promise<void> {
    for (let presses = 0; presses < 30; presses += 1) {
      if ((await page.evaluate<string>('document.activeElement.textContent')) === text) return
      await page.keyboard.press('Tab')
    }
    throw new Error(`No control has the text ${text}.`)
  }

  test('a stream that was cut resumes, and no click is lost or doubled', async () => {
    await using line = await openLine(api)
    const { workspace, link } = await buildClicks(['DE'])
    const { page } = await visiting.visit({ workspace })
    await page.goto(`${line.url}/app/${workspace.slug}/events`)
    await isLive(page)
    await openShortLink(workspace, link.key)
    await hasRows(page, 2)
    line.cut()
    await state(page, /^(Reconnecting|Offline, trying again)$/).waitFor()
    for (let visits = 0; visits < 5; visits += 1) await openShortLink(workspace, link.key)
    await state(page, 'Offline, trying again').waitFor({ timeout: 60_000 })
    expect(await rows(page).count()).toBe(2)
    line.restore()
    await isLive(page)
    await hasRows(page, 7)
    await openShortLink(workspace, link.key)
    await hasRows(page, 8)
    const shown = await rows(page).evaluateAll((elements) => elements.map((row) => row.getAttribute('data-row')))
    const listed = await callAs(workspace)('listEvents', { query: { interval: '24h' } })
    expect(shown).toEqual(listed.map(({ click }) => click.id))
  })

  test('a cell filters by its value, or leaves it out, and the address has it', async () => {
    const { workspace } = await buildClicks(['DE', 'FR', 'FR', 'JP'])
    const { page, open, problems } = await visiting.visit({ workspace })
    await open('/events')
    await cell(page, 'France').click()
    await page.getByRole('menuitem', { name: 'Only France' }).click()
    await hasRows(page, 2)
    expect(page.url()).toContain('country=FR')
    await page.getByText('is').filter({ visible: true }).first().waitFor()
    await page.reload()
    await hasRows(page, 2)
    await page.getByRole('button', { name: 'Remove filter: Country' }).click()
    await hasRows(page, 4)
    await cell(page, 'Japan').click()
    await page.getByRole('menuitem', { name: 'Not Japan' }).click()
    await cell(page, 'Japan').waitFor({ state: 'detached' })
    await cell(page, 'Germany').click()
    await page.getByRole('menuitem', { name: 'Not Germany' }).click()
    await hasRows(page, 2)
    expect(page.url()).toContain('country=-JP%2CDE')
    await cell(page, 'City 1').click()
    await page.getByRole('menuitem', { name: 'Only City 1' }).click()
    await hasRows(page, 1)
    await page.getByRole('button', { name: 'Remove filter: City' }).click()
    await cell(page, 'France').click()
    await page.keyboard.press('Escape')
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('France')
    expect(problems).toEqual([])
  })

  test('a lead outside of the window is found, and says why it is not attributed and what to do', async () => {
    const { workspace } = await trackCustomer({ isOld: true })
    const { page, open, problems } = await visiting.visit({ workspace })
    await open('/events?event=leads')
    await page.getByRole('heading', { name: 'No leads in this period' }).waitFor()
    await page.keyboard.press('f')
    await page.getByRole('combobox', { name: 'Filter by' }).fill('Attribution')
    await page.keyboard.press('Enter')
    await page.getByRole('option', { name: 'Not attributed' }).click()
    await page.mouse.move(5, 5)
    await state(page, 'New ones every 5 seconds').waitFor()
    await rows(page).first().waitFor({ timeout: 60_000 })
    await rows(page).first().locator('[data-row-link]').click()
    const drawer = page.getByRole('dialog', { name: 'Lead: Sign up' })
    await drawer.getByRole('heading', { name: 'Why is this not attributed?' }).waitFor()
    await drawer.getByText('The window is 90 days.').waitFor()
    await drawer.getByText('With a window of 100 days or more').waitFor()
    await expectAccessible(page)
    await drawer.getByRole('link', { name: 'Change the days from click to lead' }).click()
    await page.getByLabel('Days from click to lead').waitFor()
    expect(problems).toEqual([])
  })

  test('columns are chosen for each kind and are there on the next visit', async () => {
    const { workspace } = await buildClicks(['DE'])
    const { page, open, problems } = await visiting.visit({ workspace })
    const header = (name: string) => page.getByRole('columnheader', { name, exact: true })
    await open('/events')
    await page.keyboard.press('o')
    for (const column of ['System', 'Country']) {
      const saving = page.waitForResponse((response) => response.request().method() === 'PATCH')
      await page.getByLabel(column, { exact: true }).click()
      await saving
    }
    await open('/events')
    await header('System').waitFor()
    expect(await header('Country').count()).toBe(0)
    await open('/events?event=leads')
    await page.keyboard.press('o')
    expect(await page.getByLabel('Country', { exact: true }).isChecked()).toBe(true)
    await page.keyboard.press('1')
    await page.keyboard.press('Escape')
    await open('/events')
    await page.keyboard.press('o')
    await page.getByRole('button', { name: 'Show default columns' }).click()
    await header('Country').waitFor()
    expect(problems).toEqual([])
  })

  test('an export has what is shown', async () => {
    const { workspace } = await buildClicks(['DE', 'FR', 'FR'])
    const { page, open } = await visiting.visit({ workspace })
    await open('/events?country=FR')
    await page.getByRole('button', { name: 'Export events' }).click()
    const downloading = page.waitForEvent('download')
    await page.getByRole('menuitem', { name: 'Export as NDJSON' }).click()
    const download = await downloading
    expect(download.suggestedFilename()).toMatch(/^clicks-.*\.ndjson$/)
    const lines = (await readFile(await download.path(), 'utf8')).trim().split('\n')
    expect(lines.map((line) => JSON.parse(line).country)).toEqual(['FR', 'FR'])
  })

  test('older events load while one scrolls down, and the list waits meanwhile', async () => {
    const { workspace, link } = await buildClicks(Array.from({ length: 250 }, () => 'DE'))
    const { page, open, problems } = await visiting.visit({ workspace })
    await open('/events')
    await isLive(page)
    for (let turns = 0; turns < 40 && (await page.getByText('City 249').count()) === 0; turns += 1) {
      await page.evaluate('scrollTo(0, document.body.scrollHeight)')
      await page.waitForTimeout(250)
    }
    await page.getByText('City 249').waitFor()
    await state(page, 'Paused while you read further down').waitFor({ state: 'attached' })
    expect(await rows(page).count()).toBeLessThanOrEqual(60)
    await openShortLink(workspace, link.key)
    await page.getByRole('button', { name: 'Show 1 new' }).click()
    await expect.poll(() => page.evaluate('scrollY')).toBe(0)
    await page.mouse.move(5, 5)
    await page.locator('h1').click()
    await isLive(page)
    await rows(page).filter({ hasText: 'City 0' }).waitFor()
    expect(problems).toEqual([])
  })

  test('a role without figures, and a plan without events, are told so', async () => {
    const { page, open } = await visiting.visit({ role: 'billing' })
    await open('/events')
    await page.getByRole('heading', { name: 'Your role shows no events' }).waitFor()
    const workspace = await buildWorkspace(visiting.platform, { plan: 'pro' })
    const other = await visiting.visit({ workspace, role: 'viewer' })
    await other.open('/events')
    await other.page.getByRole('heading', { name: 'Events need the business plan' }).waitFor()
    await expectAccessible(other.page)
  })

  /** Events whose every text is meant to break a page. */
  async function buildHostile() {
    const hostile = '\u202E<img src=x onerror="document.title=1">\u200B👩‍👩‍👧‍👦<script>alert(1)</script>'
    const long = hostile + 'x'.repeat(2_000)
    const { workspace, owner } = await buildClicks([])
    const call = callAs(workspace)
    const { id } = await call('createCustomer', {
      body: { externalId: 'c1', name: hostile.slice(0, 100), email: null },
    })
    const location = { city: long, region: long, continent: hostile, device: long, browser: long, os: long }
    const url = `https://example.com/${'y'.repeat(3_000)}?utm_source=${encodeURIComponent(long)}`
    const texts = { ...location, url, referer: `${'z'.repeat(250)}.example`, referer_url: url, trigger: hostile }
    const conversion = { ...texts, customer_id: id, event_name: long, metadata: JSON.stringify({ [long]: long }) }
    await storeEvents(visiting.platform, {
      clicks: [clickRow(owner, texts), clickRow(owner, { ...texts, country: 'Unknown' })],
      leads: [leadRow(owner, conversion)],
      sales: [saleRow(owner, { ...conversion, invoice_id: long, amount: '-900000000000000' })],
    })
    return workspace
  }

  test('hostile texts run no script and break no layout', { timeout: 400_000 }, async () => {
    const workspace = await buildHostile()
    for (const width of Object.values(widths)) {
      const { page, open, problems, context } = await visiting.visit({ workspace, width })
      for (const path of ['/events', '/events?event=leads', '/events?event=sales']) {
        await open(path)
        await rows(page).first().locator('[data-row-link]').click()
        await page.getByRole('dialog').getByText('Time', { exact: true }).waitFor()
        await page.getByRole('dialog').getByText('xxxx').first().waitFor()
        expect(await fits(page), path).toBe(true)
        expect(await page.evaluate('document.querySelector("[role=dialog]").scrollWidth <= innerWidth')).toBe(true)
        await page.getByRole('dialog').getByRole('button', { name: 'JSON' }).click()
        expect(await fits(page), path).toBe(true)
        await page.keyboard.press('Escape')
        if (width === widths.wide) {
          await rows(page).locator('button[aria-haspopup=menu]').nth(1).click()
          await page.getByRole('menuitem', { name: /^Only/ }).waitFor()
          expect(await fits(page), path).toBe(true)
          await page.getByRole('menuitem', { name: /^Only/ }).click()
          await rows(page).first().waitFor()
          expect(await fits(page), path).toBe(true)
        }
        expect(await page.title()).toBe('Events · Tributary')
      }
      expect(problems).toEqual([])
      await context.close()
    }
  })

  test('every state is accessible in both themes, small and wide', { timeout: 600_000 }, async () => {
    const { workspace } = await trackCustomer({ isSold: true })
    await eventually(async () =>
      expect(await callAs(workspace)('listEvents', { query: { event: 'sales' } })).toHaveLength(1),
    )
    await eachWidth(async (width) => {
      const { page, open, problems, context } = await visiting.visit({ workspace, width })
      for (const path of ['/events', '/events?event=sales', '/events?country=AQ&period=yesterday']) {
        await open(path)
        await page.getByRole('heading', { level: 1, name: 'Events' }).waitFor()
        await expectAccessible(page)
        expect(await fits(page), path).toBe(true)
      }
      await open('/events?event=sales')
      await page.getByRole('button', { name: 'Pause' }).click()
      await page.getByRole('button', { name: 'Columns and density' }).click()
      await page.getByLabel('Invoice', { exact: true }).waitFor()
      await expectAccessible(page)
      await page.keyboard.press('Escape')
      if (width === widths.wide) {
        await cell(page, 'Ada Lovelace').click()
        await page.getByRole('menuitem', { name: 'Open customer' }).waitFor()
        await expectAccessible(page)
        await page.keyboard.press('Escape')
      }
      await rows(page).first().locator('[data-row-link]').click()
      await page.getByRole('dialog').getByText('By the lead that it follows.').waitFor()
      await expect.poll(() => page.getByRole('dialog').getByRole('listitem').count(), { timeout: 30_000 }).toBe(3)
      await expectAccessible(page)
      await page.getByRole('dialog').getByRole('button', { name: 'JSON' }).click()
      await expectAccessible(page)
      expect(problems).toEqual([])
      await context.close()
    })
  })
})
