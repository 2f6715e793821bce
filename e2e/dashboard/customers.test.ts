import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createClient } from '@tributary/contract/client'
import { sql } from 'kysely'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { countSale } from '../../server/src/features/customers/service.ts'
import { linkNumbers } from '../../server/src/features/links/service.ts'
import {
  type BuiltWorkspace,
  buildCustomer,
  buildLink,
  buildPartner,
  buildProgram,
  buildWorkspace,
  browser as userAgent,
} from '../../server/test/build.ts'
import { contextIn } from '../../server/test/context.ts'
import { findTables } from '../../server/test/find-text.ts'
import { eventually } from '../../server/test/stack.ts'
import { visit } from '../../server/test/visit.ts'
import { eachWidth, expectAccessible, lacksBrowser, openBrowser, type Visiting, widths } from './browser.ts'

describe.skipIf(lacksBrowser)('customers', { timeout: 600_000 }, () => {
  let visiting: Visiting
  beforeAll(async () => {
    visiting = await openBrowser()
  })
  afterAll(() => visiting?.[Symbol.asyncDispose]())

  const { api, redirect } = inject('server')
  const callAs = ({ key }: BuiltWorkspace) => createClient({ url: api, token: key })
  const row = (page: Page, name: string) => page.locator('[data-row]').filter({ hasText: name })
  const names = (page: Page) => page.locator('[data-row-link]').allTextContents()
  const timeline = (page: Page) => page.getByRole('list', { name: 'Journey' }).locator(':scope > li')

  /** A person who clicks, signs up, buys and is refunded in part; `mark` is in all of the person's texts. */
  async function trackPerson(workspace: BuiltWorkspace) {
    const mark = randomUUID().slice(0, 13)
    const person = { externalId: `user-${mark}`, name: `Ada ${mark}`, email: `${mark}@example.com` }
    const link = await buildLink(visiting.platform, workspace, { trackConversion: true })
    const { headers } = await visit(`${redirect}/${link.key}`, { host: workspace.domain, 'user-agent': userAgent })
    const clickId = new URL(String(headers.location)).searchParams.get('trib_id') ?? ''
    const call = callAs(workspace)
    const metadata = { note: `note-${mark}` }
    const customerExternalId = person.externalId
    await call('trackLead', {
      body: {
        ...{ clickId, eventName: 'Sign up', customerExternalId, metadata },
        ...{ customerName: person.name, customerEmail: person.email },
      },
    })
    await call('trackSale', { body: { customerExternalId, amount: 5_000, invoiceId: 'in_1', metadata } })
    await call('trackRefund', { body: { invoiceId: 'in_1', amount: 2_000 } })
    const [customer] = await call('getCustomers', { query: { externalId: customerExternalId } })
    const id = customer?.id ?? ''
    // Until the click is stored, the journey begins with the lead.
    await eventually(async () => {
      expect((await call('getCustomerJourney', { params: { id } })).events).toHaveLength(4)
      expect(await call('listEvents', { query: { event: 'sales', customerId: id } })).toHaveLength(2)
    })
    return { ...person, mark, id, clickId, link, call }
  }

  async function expectErased(page: Page, { id, mark, call }: Awaited<ReturnType<typeof trackPerson>>) {
    await page.getByRole('heading', { level: 1, name: 'Erased customer' }).waitFor()
    await page.getByText('Erased', { exact: true }).waitFor({ timeout: 120_000 })
    await page.getByText('Nothing about this person is stored any more.').waitFor()
    await expect(call('exportCustomer', { params: { id } })).rejects.toMatchObject({ status: 404 })
    expect(await findTables(visiting.platform, mark)).toEqual([])
  }

  test('a person is found by external id, read, exported and erased by mouse', async () => {
    const { page, open, workspace, problems } = await visiting.visit()
    const person = await trackPerson(workspace)
    await buildCustomer(visiting.platform, workspace, { name: 'Grace' })
    await open('/customers')
    await page.getByText('2 customers').waitFor()
    await page.getByRole('searchbox', { name: 'Search by name, e-mail or id' }).fill(person.externalId)
    await page.getByText('1 customer', { exact: true }).waitFor()
    expect(page.url()).toContain(`search=${person.externalId}`)
    await row(page, person.name).getByText('US$30.00').waitFor()
    await row(page, person.name).getByText(person.mark).first().click()
    await page.getByRole('heading', { level: 1, name: person.name }).waitFor()

    const [sale, refund] = await person.call('listEvents', {
      query: { event: 'sales', customerId: person.id, sortOrder: 'asc' },
    })
    const customer = await person.call('getCustomer', { params: { id: person.id } })
    expect([sale, refund].map((event) => event && 'sale' in event && event.sale.amount)).toEqual([5_000, -2_000])
    expect(customer).toMatchObject({ sales: 1, saleAmount: 3_000 })
    const figure = (name: string) => page.locator('dl > div').filter({ hasText: name }).locator('dd')
    expect(await figure('Value').textContent()).toBe('US$30.00')
    expect(await figure('Sales').first().textContent()).toBe('1')
    expect(await figure('Time to first sale').textContent()).toMatch(/second|minute/)
    const items = await timeline(page).allTextContents()
    expect(items.map((text) => /^(Refund|Sale|Lead|Click)/.exec(text)?.[0])).toEqual([
      'Refund',
      'Sale',
      'Lead',
      'Click',
    ])
    expect(items[0]).toContain('-US$20.00')
    expect(items[0]).toContain('Value US$30.00')
    expect(items[1]).toContain('US$50.00')
    expect(items[1]).toContain('Value US$50.00')
    expect(items[3]).toContain(`${workspace.domain}/${person.link.key}`)
    await timeline(page).nth(1).getByRole('button', { name: 'Details' }).click()
    await timeline(page).nth(1).getByText(`note-${person.mark}`).waitFor()
    await timeline(page).nth(1).getByText('in_1').waitFor()
    await page.getByLabel('Order of the journey').selectOption('asc')
    await expect.poll(async () => (await timeline(page).first().textContent())?.slice(0, 5)).toBe('Click')
    await page.getByRole('button', { name: 'Copy the external id' }).waitFor()

    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export everything' }).click(),
    ])
    expect(download.suggestedFilename()).toBe(`${person.id}.json`)
    const document = JSON.parse(await readFile(await download.path(), 'utf8'))
    expect(document.customer).toMatchObject({ id: person.id, externalId: person.externalId, email: person.email })
    expect(document.clicks).toMatchObject([{ id: person.clickId }])
    const metadata = { note: `note-${person.mark}` }
    expect(document.events).toMatchObject([
      { event: 'lead', eventName: 'Sign up', metadata, clickId: person.clickId },
      { event: 'sale', amount: 5_000, invoiceId: 'in_1', metadata },
      { event: 'refund', amount: -2_000, invoiceId: 'in_1', metadata },
    ])

    await page.getByRole('button', { name: 'Erase customer' }).click()
    const dialog = page.getByRole('dialog', { name: 'Erase customer' })
    const confirm = dialog.getByRole('button', { name: 'Erase customer' })
    expect(await confirm.isDisabled()).toBe(true)
    await dialog.getByRole('textbox').fill('Ada')
    expect(await confirm.isDisabled()).toBe(true)
    await dialog.getByRole('textbox').fill(person.name)
    await confirm.click()
    await expectErased(page, person)
    await page.getByRole('link', { name: 'All customers' }).click()
    await row(page, 'Grace').waitFor()
    expect(await row(page, person.mark).count()).toBe(0)
    expect(problems).toEqual([])
  })

  test('a person is found by the palette, read, exported and erased by keyboard alone', async () => {
    const { page, open, workspace, problems } = await visiting.visit()
    const person = await trackPerson(workspace)
    await open()
    await page.keyboard.press('ControlOrMeta+k')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.type(person.externalId)
    await page.getByRole('option', { name: person.name }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: person.name }).waitFor()
    await timeline(page).nth(3).waitFor()
    const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('x')])
    expect(await readFile(await download.path(), 'utf8')).toContain(person.mark)
    await page.keyboard.press('g')
    await page.keyboard.press('c')
    await row(page, person.name).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type(person.id)
    await page.getByText('1 customer', { exact: true }).waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: person.name }).waitFor()
    await timeline(page).first().waitFor()
    await page.keyboard.press('Backspace')
    await page.getByRole('dialog', { name: 'Erase customer' }).waitFor()
    await page.keyboard.type(person.name)
    await page.keyboard.press('Enter')
    await expectErased(page, person)
    await page.reload()
    await page.getByText('Nothing about this person is stored any more.').waitFor()
    expect(problems).toEqual([])
  })

  test('filters and order are in the address; both ways at any column that sorts', async () => {
    const { platform } = visiting
    const workspace = await buildWorkspace(platform)
    const ctx = contextIn(platform, workspace.id)
    await buildProgram(platform, workspace)
    const partner = await buildPartner(platform, workspace, { name: 'Shop Ltd' })
    const link = await buildLink(platform, workspace, { key: 'spring', partnerId: partner.id })
    const [linkNumber = 0n] = await linkNumbers(ctx, { ids: [link.id] })
    const people = ['Ada', 'Bob', 'Cleo']
    for (const [index, name] of people.entries()) {
      const { id } = await buildCustomer(
        platform,
        workspace,
        { name },
        index === 0 ? { clickId: '', linkNumber } : null,
      )
      const at = new Date(Date.now() - index * 86_400_000)
      if (index > 0) await countSale(ctx, id, { sales: 1, amount: index * 1_000, at })
    }
    await sql`UPDATE customers SET country = 'DE' WHERE workspace_id = ${workspace.id} AND name = 'Bob'`.execute(
      platform.db,
    )
    const { page, open, problems } = await visiting.visit({ workspace })
    await open('/customers')
    expect(await names(page)).toEqual(['Cleo', 'Bob', 'Ada'])
    const sortBy = (name: string) => page.getByRole('columnheader', { name }).getByRole('button').click()
    for (const [name, expected] of [
      ['Value', ['Cleo', 'Bob', 'Ada']],
      ['Value', ['Ada', 'Bob', 'Cleo']],
      ['First sale', ['Bob', 'Cleo', 'Ada']],
      ['First sale', ['Ada', 'Cleo', 'Bob']],
      ['Created', ['Cleo', 'Bob', 'Ada']],
      ['Created', ['Ada', 'Bob', 'Cleo']],
    ] as const) {
      await sortBy(name)
      await expect.poll(() => names(page)).toEqual(expected)
    }
    await page.keyboard.press('f')
    await page.getByRole('option', { name: 'Country' }).click()
    await page.getByRole('combobox', { name: 'Find a country' }).waitFor()
    await page.keyboard.type('german')
    await page.keyboard.press('Enter')
    await expect.poll(() => names(page)).toEqual(['Bob'])
    expect(page.url()).toContain('country=DE')
    await page.getByRole('button', { name: 'Remove filter: Country' }).click()
    await page.keyboard.press('f')
    await page.getByRole('option', { name: 'Partner' }).click()
    await page.getByRole('option', { name: 'Shop Ltd' }).click()
    await expect.poll(() => names(page)).toEqual(['Ada'])
    await open(`/customers?link=${link.id}`)
    await expect.poll(() => names(page)).toEqual(['Ada'])
    await row(page, 'Ada').getByText('Shop Ltd').waitFor()
    await row(page, 'Ada').getByText(`${workspace.domain}/spring`).waitFor()
    await open('/customers?search=nobody')
    await page.getByRole('button', { name: 'Clear search and filters' }).click()
    await expect.poll(() => names(page)).toHaveLength(3)
    expect(problems).toEqual([])
  })

  test('a list of 100,000 customers has few rows in the page, and its end is reached', async () => {
    const workspace = await buildWorkspace(visiting.platform)
    await sql`INSERT INTO customers (id, workspace_id, external_id, name)
      SELECT 'cus_' || gen_random_uuid(), ${workspace.id}, 'user-' || n, 'Person ' || n
      FROM generate_series(1, 100000) AS n`.execute(visiting.platform.db)
    await sql`ANALYZE customers`.execute(visiting.platform.db)
    const { page, open, problems } = await visiting.visit({ workspace })
    await open('/customers')
    await page.getByText('100,000 customers').waitFor()
    await page.getByRole('link', { name: 'Person 100000' }).waitFor()
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)')
    await page.getByRole('link', { name: 'Person 1', exact: true }).waitFor()
    expect(await page.locator('tbody tr').count()).toBeLessThanOrEqual(60)
    await page.evaluate('scrollTo(0, 0)')
    await page.keyboard.press('/')
    await page.keyboard.type('user-71234')
    await page.getByRole('link', { name: 'Person 71234' }).waitFor()
    await page.getByText('1 customer', { exact: true }).waitFor()
    expect(problems).toEqual([])
  })

  test('a viewer reads and exports, and can not erase; a billing member sees no customer', async () => {
    const workspace = await buildWorkspace(visiting.platform)
    const { id } = await buildCustomer(visiting.platform, workspace, { name: 'Grace' })
    const viewer = await visiting.visit({ workspace, role: 'viewer' })
    await viewer.open(`/customers/${id}`)
    await viewer.page.getByRole('button', { name: 'Export everything' }).waitFor()
    await viewer.page.keyboard.press('Backspace')
    expect(await viewer.page.getByRole('button', { name: /Erase/ }).count()).toBe(0)
    expect(await viewer.page.getByRole('dialog').count()).toBe(0)
    const billing = await visiting.visit({ workspace, role: 'billing' })
    for (const path of ['/customers', `/customers/${id}`]) {
      await billing.open(path)
      await billing.page.getByText('Your role does not include customers').waitFor()
      expect(await billing.page.getByText('Grace').count()).toBe(0)
    }
    await expectAccessible(billing.page)
    expect([...viewer.problems, ...billing.problems]).toEqual([])
  })

  test('hostile texts in every column run no script and break no layout', async () => {
    const { platform } = visiting
    const hostile = '\u202E<img src=x onerror="document.title=1">\u200B👩‍👩‍👧‍👦<script>alert(1)</script>'
    const long = 'W'.repeat(100)
    const workspace = await buildWorkspace(platform)
    await buildProgram(platform, workspace)
    const partner = await buildPartner(platform, workspace, { name: hostile })
    const key = 'y'.repeat(190)
    await buildLink(platform, workspace, { key, partnerId: partner.id, trackConversion: true })
    const { headers } = await visit(`${redirect}/${key}`, {
      ...{ host: workspace.domain, 'user-agent': userAgent },
      referer: `https://example.com/${encodeURIComponent(hostile)}`,
    })
    const clickId = new URL(String(headers.location)).searchParams.get('trib_id') ?? ''
    const call = callAs(workspace)
    const metadata = { [hostile]: { deep: [hostile.repeat(50), long.repeat(20)] } }
    const shared = { customerExternalId: hostile.slice(0, 100), metadata }
    const person = { customerName: hostile.slice(0, 100), customerEmail: `${'e'.repeat(60)}@example.com` }
    await call('trackLead', { body: { ...shared, ...person, clickId, eventName: hostile } })
    await call('trackSale', { body: { ...shared, eventName: long.repeat(2), amount: 999_999_999, invoiceId: long } })
    await call('trackRefund', { body: { invoiceId: long, amount: 1, refundId: hostile } })
    await buildCustomer(platform, workspace, { name: long, externalId: long })
    const [customer] = await call('getCustomers', { query: { externalId: shared.customerExternalId } })
    const id = customer?.id ?? ''
    await eventually(async () => expect((await call('getCustomerJourney', { params: { id } })).events).toHaveLength(4))
    for (const width of Object.values(widths)) {
      const { page, open, problems, context } = await visiting.visit({ workspace, width })
      await open('/customers')
      await page.getByText('WWWW').filter({ visible: true }).first().waitFor()
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      await open(`/customers/${id}`)
      for (const button of await page.getByRole('button', { name: 'Details' }).all()) await button.click()
      await page.getByText('WWWW').filter({ visible: true }).first().waitFor()
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      await page.getByRole('button', { name: 'Erase customer' }).click()
      const dialog = page.getByRole('dialog', { name: /^Erase/ })
      // The name can't be typed as it looks, so the id is asked for.
      await dialog.getByText(id).waitFor()
      expect(await page.evaluate('document.querySelector("[role=dialog]").scrollWidth <= innerWidth')).toBe(true)
      expect(await page.title()).not.toBe('1')
      expect(problems).toEqual([])
      await context.close()
    }
  })

  test('every state is accessible in both themes, small and wide', async () => {
    const workspace = await buildWorkspace(visiting.platform)
    const person = await trackPerson(workspace)
    const without = await buildCustomer(visiting.platform, workspace, { name: 'Grace' })
    await eachWidth(async (width) => {
      const { page, open, problems, context } = await visiting.visit({ workspace, width })
      await open('/customers')
      await row(page, 'Grace').waitFor()
      await expectAccessible(page)
      await open('/customers?search=nobody')
      await page.getByText('No customer matches').waitFor()
      await expectAccessible(page)
      await open(`/customers/${person.id}`)
      await timeline(page).first().getByRole('button', { name: 'Details' }).click()
      await timeline(page).nth(1).getByRole('button', { name: 'Details' }).click()
      await expectAccessible(page)
      await page.getByRole('button', { name: 'Erase customer' }).click()
      await page.getByRole('dialog', { name: /^Erase/ }).waitFor()
      await expectAccessible(page)
      await open(`/customers/${without.id}`)
      await page.getByText('No events yet').waitFor()
      await expectAccessible(page)
      await open('/customers/cus_unknown')
      await page.getByText('This workspace has no such customer').waitFor()
      await expectAccessible(page)
      expect(problems).toEqual([])
      await context.close()
    })
    const { page, open, problems } = await visiting.visit()
    await open('/customers')
    await page.getByText('No customers yet').waitFor()
    await expectAccessible(page)
    expect(problems).toEqual([])
  })
})
