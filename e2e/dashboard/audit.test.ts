import { readFile } from 'node:fs/promises'
import { createClient } from '@tributary/contract/client'
import type { Page, Route } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { buildLink, buildWorkspace } from '../../server/test/build.ts'
import { eachWidth, expectAccessible, lacksBrowser, openBrowser, type Visiting } from './browser.ts'

describe.skipIf(lacksBrowser)('audit log', () => {
  let visiting: Visiting
  beforeAll(async () => {
    visiting = await openBrowser()
  })
  afterAll(() => visiting?.[Symbol.asyncDispose]())

  const { api } = inject('server')
  const patience = { timeout: 60_000 }
  const callAs = (token: string) => createClient({ url: api, token })
  const row = (page: Page, text: string) => page.locator('[data-row]').filter({ hasText: text })
  const filter = async (page: Page, name: string, option: string) => {
    await page.getByRole('button', { name: /^Filter/ }).click()
    await page.getByRole('option', { name, exact: true }).click()
    await page.getByRole('combobox').fill(option)
    await page.getByRole('option', { name: option, exact: true }).click()
  }

  test('the entry of a change just made is found by its filters, with who and what, by mouse', async () => {
    const { page, open, workspace, member, problems } = await visiting.visit()
    const link = await buildLink(visiting.platform, workspace, { key: 'spring' })
    await open(`/links/${link.id}`)
    await page.getByRole('button', { name: 'Edit link' }).click()
    await page.getByLabel('Destination').fill('https://example.com/changed')
    await page.getByRole('button', { name: /^Save/ }).click()
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await callAs(workspace.key)('createTag', { body: { name: 'noise' } })

    await open('/settings/audit')
    await row(page, 'createTag').waitFor(patience)
    await filter(page, 'Who', member.name)
    await page.waitForURL(/actor=/)
    await row(page, 'createTag').waitFor({ state: 'hidden' })
    await filter(page, 'Operation', 'updateLink')
    await page.waitForURL(/operation=updateLink/)
    await page.reload()
    await row(page, 'updateLink').click()
    const drawer = page.getByRole('dialog', { name: 'updateLink' })
    await drawer.getByText(member.name).first().waitFor()
    await drawer.getByText(member.id).waitFor()
    const changes = drawer.getByRole('table', { name: new RegExp(link.id) })
    await changes.getByRole('row', { name: 'url https://example.com/landing https://example.com/changed' }).waitFor()
    await drawer.getByText(/^ses_/).waitFor()
    await drawer.getByRole('button', { name: `All entries about ${link.id}` }).click()
    await page.waitForURL(new RegExp(`object=${link.id}`))
    await row(page, 'updateLink').waitFor()
    expect(problems).toEqual([])
  })

  test('entries are filtered by object and day, opened and stepped through by keyboard alone', async () => {
    const { page, open, workspace, problems } = await visiting.visit()
    const call = callAs(workspace.key)
    const { id } = await call('createTag', { body: { name: 'first' } })
    await call('updateTag', { params: { id }, body: { name: 'second' } })
    await call('createTag', { body: { name: 'other' } })
    await open('/settings/audit')
    await row(page, 'updateTag').waitFor(patience)
    await page.keyboard.press('f')
    await page.getByRole('combobox', { name: 'Filter by' }).waitFor()
    await page.keyboard.type('Object')
    await page.keyboard.press('Enter')
    await page.getByLabel('Id of the object').waitFor()
    await page.keyboard.type(id)
    await page.keyboard.press('Enter')
    await page.waitForURL(new RegExp(`object=${id}`))
    await expect.poll(() => page.locator('[data-row]').count(), patience).toBe(2)
    await page.keyboard.press('f')
    await page.getByRole('combobox', { name: 'Filter by' }).waitFor()
    await page.keyboard.type('Days')
    await page.keyboard.press('Enter')
    await page.getByRole('combobox', { name: 'Days' }).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(/days=1d/)
    await row(page, 'updateTag').waitFor()
    await page.locator('[data-row-link]').first().focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'updateTag' }).getByText('second').waitFor()
    await page.keyboard.press('ArrowRight')
    await page.getByRole('dialog', { name: 'createTag' }).getByText('first').waitFor()
    await page.keyboard.press('ArrowLeft')
    await page.getByRole('dialog', { name: 'updateTag' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    expect(problems).toEqual([])
  })

  test('a log of 100,000 entries is scrolled with few rows in the page, and exported by its filters', async () => {
    const { page, open, workspace, problems } = await visiting.visit()
    await callAs(workspace.key)('createTag', { body: { name: 'exported' } })
    await open('/settings/audit?operation=createTag')
    await row(page, 'createTag').waitFor(patience)
    await page.getByRole('button', { name: 'Export' }).click()
    const downloading = page.waitForEvent('download')
    await page.getByRole('menuitem', { name: 'As CSV, for spreadsheets' }).click()
    const download = await downloading
    expect(download.suggestedFilename()).toMatch(/^audit-log-.*\.csv$/)
    const lines = (await readFile(await download.path(), 'utf8')).trim().split('\n')
    expect(lines).toHaveLength(2)
    expect(lines[1]).toContain('createTag')

    await page.route(/\/audit-log\?/, (route) => answerLongLog(route, 100_000))
    await open('/settings/audit?operation=test.entry')
    await row(page, 'test.entry').first().waitFor(patience)
    const rows = page.locator('[data-row]')
    const seen = new Set<string>()
    for (let step = 0; step < 12; step += 1) {
      await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)')
      await expect.poll(async () => rows.last().getAttribute('data-row'), patience).not.toBe([...seen].at(-1))
      seen.add((await rows.last().getAttribute('data-row')) ?? '')
      expect(await rows.count()).toBeLessThanOrEqual(60)
    }
    const order = [...seen].map(Number)
    expect(order).toEqual(order.toSorted((a, b) => b - a))
    expect((order[0] ?? 0) - (order.at(-1) ?? 0)).toBeGreaterThan(250)
    expect(problems).toEqual([])
  })

  test('a viewer reads the log without personal values; billing does not see it', async () => {
    const workspace = await buildWorkspace(visiting.platform)
    await callAs(workspace.key)('createTag', { body: { name: 'first' } })
    const { page, open, problems } = await visiting.visit({ workspace, role: 'viewer' })
    await open('/settings/audit')
    await row(page, 'createTag').getByText('API key').waitFor(patience)
    await row(page, 'createTag').click()
    await page.getByRole('dialog', { name: 'createTag' }).getByText('API key').first().waitFor()
    const billing = await visiting.visit({ workspace, role: 'billing' })
    await billing.open('/settings/audit')
    await billing.page.getByText('This did not load').waitFor()
    expect(await billing.page.getByRole('link', { name: 'Audit log' }).count()).toBe(0)
    expect([...problems, ...billing.problems]).toEqual([])
  })

  test('hostile values run no script and break no layout; every state is accessible', {
    timeout: 900_000,
  }, async () => {
    const workspace = await buildWorkspace(visiting.platform)
    const hostile = '\u202E<img src=x onerror="document.title=1">👩‍👩‍👧‍👦<script>alert(1)</script>'
    const call = callAs(workspace.key)
    const link = await buildLink(visiting.platform, workspace, { key: 'spring' })
    await call('updateLink', {
      params: { linkId: link.id },
      body: { title: hostile, comments: hostile.repeat(20), url: `https://example.com/${'z'.repeat(5_000)}` },
    })
    await call('createToken', { body: { name: hostile.slice(0, 60), kind: 'machine', scopes: ['links.read'] } })
    await eachWidth(async (width) => {
      const { page, open, problems, context } = await visiting.visit({ workspace, width })
      const expectSound = async () => {
        await expectAccessible(page)
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
        expect(await page.title()).not.toBe('1')
      }
      await open('/settings/audit')
      await row(page, 'updateLink').waitFor(patience)
      await expectSound()
      await page.getByRole('link', { name: 'updateLink' }).click()
      await page.getByRole('dialog', { name: 'updateLink' }).getByText('zzzz').first().waitFor()
      await expectSound()
      expect(await page.evaluate('document.querySelector("[role=dialog]").scrollWidth <= innerWidth')).toBe(true)
      await open('/settings/audit?operation=deleteWorkspace')
      await page.getByText('No entry matches').waitFor()
      await page.getByRole('button', { name: /^Filter/ }).click()
      await page.getByRole('option', { name: 'Days' }).click()
      await expectSound()
      expect(problems).toEqual([])
      await context.close()
    })
  })
})

/** Answers as the server would for a log of so many entries: a page of them by cursor. */
function answerLongLog(route: Route, total: number): Promise<void> {
  const { searchParams } = new URL(route.request().url())
  const first = Number(searchParams.get('cursor') ?? total + 1) - 1
  const count = Math.min(Number(searchParams.get('pageSize')), first)
  const entries = Array.from({ length: count }, (_, index) => ({
    sequence: first - index,
    at: new Date(Date.UTC(2026, 0, 1) + (first - index) * 1_000).toISOString(),
    actor: { kind: 'key', id: 'key_1', name: 'Nightly', credential: 'key_1', network: null },
    operation: 'test.entry',
    target: { kind: 'links', ids: [`link_${first - index}`] },
    requestId: null,
    changes: [],
    hash: '00',
  }))
  const headers = first > count ? { 'x-next-cursor': String(first - count + 1) } : undefined
  return route.fulfill({ json: entries, headers })
}
