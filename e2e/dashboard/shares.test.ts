import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { buildMember } from '../../server/test/build.ts'
import { buildShared } from '../../server/test/shares.ts'
import {
  eachWidth,
  expectAccessible,
  lacksBrowser,
  openBrowser,
  patienceMs,
  type Visiting,
  watchProblems,
  widths,
} from './browser.ts'

const hostile = '\u202E<img src=x onerror="document.title=1">\u200B👩‍👩‍👧‍👦<script>alert(1)</script>$&'

describe.skipIf(lacksBrowser)('shares', () => {
  let visiting: Visiting
  beforeAll(async () => {
    visiting = await openBrowser()
  })
  afterAll(() => visiting?.[Symbol.asyncDispose]())

  const { api } = inject('server')
  const setUp = () => buildShared(visiting.platform, api)

  /** Opens an address in a new browser, in which nobody is signed in. */
  async function arrive(address: string, { width = widths.wide as number, locale = 'en-GB' } = {}) {
    const viewport = { width, height: width < 720 ? 780 : 900 }
    const context = await visiting.browser.newContext({ viewport, locale, reducedMotion: 'reduce' })
    const page = await context.newPage()
    page.setDefaultTimeout(patienceMs)
    const problems = watchProblems(page, api)
    const response = await page.goto(address)
    await page.locator('h1').waitFor()
    return { page, context, problems, status: response?.status() }
  }

  const figure = (page: Page, name: string) => page.getByRole('button', { name: new RegExp(`^${name}`) })
  const fits = (page: Page) => page.evaluate('document.documentElement.scrollWidth <= innerWidth')
  const readHead = async (address: string) => (await (await fetch(address)).text()).split('</head>')[0] ?? ''

  async function typePassword(page: Page, password: string): Promise<void> {
    await page.getByLabel('Password').fill('')
    await page.keyboard.type(password)
    await page.keyboard.press('Enter')
  }

  test('a link is shared with a password, opened signed out, stopped and continued, by mouse', async () => {
    const { workspace, link } = await setUp()
    const { page, open, problems } = await visiting.visit({ workspace })
    await open(`/links/${link.id}`)
    await page.getByRole('button', { name: 'Share statistics' }).click()
    const form = page.getByRole('dialog', { name: 'Share statistics' })
    await form.getByLabel('Title').fill('Spring campaign')
    await form.getByLabel('Ask for a password').click()
    expect(await form.getByRole('button', { name: 'Create page' }).isDisabled()).toBe(true)
    await form.getByLabel('Password', { exact: true }).fill('open sesame')
    await form.getByLabel('Last day').fill('2090-12-31')
    await form.getByRole('button', { name: 'Create page' }).click()
    const dialog = page.getByRole('dialog', { name: 'Public pages' })
    await dialog.getByText('Until 31 Dec 2090').waitFor()
    await dialog.getByText('With password').waitFor()
    const address = (await dialog.getByRole('link', { name: /as a visitor/ }).getAttribute('href')) ?? ''
    expect(address).toMatch(/\/share\/share_\w{24}$/)

    expect(await readHead(address)).toContain('<title>Shared statistics</title>')
    expect(await readHead(address)).not.toContain('Spring')
    const theirs = await arrive(address)
    await theirs.page.getByLabel('Password').fill('wrong')
    await theirs.page.getByRole('button', { name: 'Show statistics' }).click()
    await theirs.page.getByText('This is not the password.').waitFor()
    expect(await theirs.page.getByText('Spring').count()).toBe(0)
    await theirs.page.getByLabel('Password').fill('open sesame')
    await theirs.page.getByRole('button', { name: 'Show statistics' }).click()
    await theirs.page.getByRole('heading', { level: 1, name: 'Spring campaign' }).waitFor()
    await figure(theirs.page, 'Clicks').getByText('3', { exact: true }).waitFor()
    expect(await theirs.page.getByText(/Leads|Sales|Revenue/).count()).toBe(0)
    await theirs.page.getByRole('button', { name: 'Only France' }).click()
    await figure(theirs.page, 'Clicks').getByText('2', { exact: true }).waitFor()
    await theirs.page.getByLabel('Period').selectOption('24h')
    await figure(theirs.page, 'Clicks').getByText('1', { exact: true }).waitFor()
    await theirs.page.reload()
    await figure(theirs.page, 'Clicks').getByText('1', { exact: true }).waitFor()
    await theirs.page.getByRole('button', { name: 'Remove filter: Country' }).click()
    await figure(theirs.page, 'Clicks').getByText('2', { exact: true }).waitFor()
    const cookies = await theirs.context.cookies()
    expect(cookies).toMatchObject([{ name: 'tributary_share', httpOnly: true, sameSite: 'Strict' }])
    expect(JSON.stringify(cookies)).not.toContain('sesame')

    await dialog.getByRole('button', { name: /^Stop sharing/ }).click()
    await dialog.getByText('Ended').waitFor()
    expect((await theirs.page.reload())?.status()).toBe(404)
    await theirs.page.getByRole('heading', { name: 'There are no statistics here' }).waitFor()
    await dialog.getByRole('button', { name: 'Share again: Spring campaign' }).click()
    await dialog.getByText('Until 31 Dec 2090').waitFor()
    await theirs.page.reload()
    await theirs.page.getByRole('heading', { level: 1, name: 'Spring campaign' }).waitFor()
    expect([...problems, ...theirs.problems]).toEqual([])
    await theirs.context.close()
  })

  test('a folder is shared with a password, and opened signed out, by keyboard alone', async () => {
    const { workspace, folder } = await setUp()
    const { page, open, problems } = await visiting.visit({ workspace })
    await open('/links/folders')
    await page.getByRole('button', { name: `Share statistics of ${folder.name}` }).focus()
    await page.keyboard.press('Enter')
    const form = page.getByRole('dialog', { name: 'Share statistics' })
    await form.waitFor()
    await page.keyboard.type('Our spring')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Space')
    await page.keyboard.press('Tab')
    await page.keyboard.type('sesame')
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Public pages' })
    const link = dialog.getByRole('link', { name: 'Open Our spring as a visitor' })
    await link.waitFor()
    const isFocused = () => page.evaluate("document.activeElement?.getAttribute('aria-label') ?? ''")
    for (let step = 0; step < 20 && !/as a visitor$/.test(String(await isFocused())); step += 1)
      await page.keyboard.press('Tab')
    expect(await isFocused()).toBe('Open Our spring as a visitor')

    const theirs = await arrive((await link.getAttribute('href')) ?? '')
    await theirs.page.keyboard.type('wrong')
    await theirs.page.keyboard.press('Enter')
    await theirs.page.getByRole('alert').getByText('This is not the password.').waitFor()
    await typePassword(theirs.page, 'sesame')
    await theirs.page.getByRole('heading', { level: 1, name: 'Our spring' }).waitFor()
    await theirs.page.getByLabel('Period').focus()
    await theirs.page.keyboard.press('Home')
    await figure(theirs.page, 'Clicks').waitFor()
    await theirs.page.getByRole('button', { name: 'Browsers' }).focus()
    await theirs.page.keyboard.press('Enter')
    await theirs.page.getByRole('button', { name: 'Only Chrome' }).focus()
    await theirs.page.keyboard.press('Enter')
    await theirs.page.getByRole('button', { name: 'Remove filter: Browser' }).focus()
    await theirs.page.keyboard.press('Enter')
    await theirs.page.getByRole('list', { name: 'Filters' }).waitFor({ state: 'hidden' })

    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    const label = 'document.activeElement.getAttribute("aria-label")'
    await expect.poll(() => page.evaluate(label)).toBe(`Share statistics of ${folder.name}`)
    expect([...problems, ...theirs.problems]).toEqual([])
    await theirs.context.close()
  })

  test('a page with a title shows it in previews; one of a link its address; an ended one nothing', async () => {
    const { share, link } = await setUp()
    const titled = await share({ linkId: link.id, title: `Hello ${hostile}`.slice(0, 100) })
    const head = await readHead(titled.url)
    expect(head).toMatch(/<meta property="og:title" content="Hello /)
    expect(head).toContain('og:description')
    expect(head).not.toMatch(/<img|<script>alert/)
    const plain = await share({ linkId: link.id })
    expect(await readHead(plain.url)).toContain(`<title>${link.shortLink.replace('https://', '')}</title>`)
    const ended = await share({ linkId: link.id, title: 'Secret', endsAt: '2020-01-01T00:00:00Z' })
    expect(await readHead(ended.url)).not.toContain('Secret')
    const { page, status, problems, context } = await arrive(ended.url)
    expect(status).toBe(404)
    await page.getByRole('heading', { name: 'There are no statistics here' }).waitFor()
    expect(problems).toEqual([])
    await context.close()
  })

  test('a shared view has its filters and period, and conversions if the owner shows them', async () => {
    const { share, saveView } = await setUp()
    const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)
    const { id: viewId } = await saveView({ country: '-US', period: `${day(4)}..${day(0)}`, chart: 'bars' })
    const { url } = await share({ viewId, title: 'Europe', showConversions: true })
    const { page, problems, context } = await arrive(url)
    await page.getByText('Country is not United States').waitFor()
    await figure(page, 'Clicks').getByText('3', { exact: true }).waitFor()
    await figure(page, 'Leads').getByText('2', { exact: true }).waitFor()
    await figure(page, 'Revenue').getByText('$50.19').waitFor()
    await figure(page, 'Revenue').click()
    await page
      .getByRole('img', { name: /^Revenue over time: \$50\.19/ })
      .or(page.getByLabel(/^Revenue over time/))
      .first()
      .waitFor()
    expect(await page.getByLabel('Period').locator('option').count()).toBe(2)
    await page.getByLabel('Period').selectOption('own')
    await page.getByLabel('First day').fill(day(1))
    await page.getByLabel('Last day').fill(day(0))
    await figure(page, 'Clicks').getByText('2', { exact: true }).waitFor()
    await context.close()
    expect(problems).toEqual([])
  })

  test('all pages of a workspace are listed in the settings, edited and deleted', async () => {
    const { workspace, share, link, folder } = await setUp()
    await share({ linkId: link.id, title: 'One' })
    await share({ folderId: folder.id, title: 'Two', password: 'sesame', endsAt: '2020-01-01T00:00:00Z' })
    const { page, open, problems } = await visiting.visit({ workspace })
    await open('/settings/shares')
    const row = (title: string) => page.getByRole('main').getByRole('listitem').filter({ hasText: title })
    await row('One').getByText(link.shortLink, { exact: true }).waitFor()
    await row('Two').getByText('Ended').waitFor()
    await page.getByRole('button', { name: 'Edit page: One' }).click()
    const form = page.getByRole('dialog', { name: 'Edit page' })
    await form.getByLabel('Show leads, sales and revenue').click()
    await form.getByRole('button', { name: 'Save page' }).click()
    await row('One').getByText('With leads and sales').waitFor()
    await page.getByRole('button', { name: 'Edit page: Two' }).click()
    await form.getByLabel('Show leads, sales and revenue').click()
    await form.getByRole('button', { name: 'Save page' }).click()
    await row('Two').getByText('With leads and sales', { exact: true }).waitFor()
    await row('Two').getByText('With password', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Delete page: Two' }).click()
    const confirm = page.getByRole('dialog', { name: 'Delete page' })
    await confirm.getByRole('textbox').fill('Two')
    await confirm.getByRole('button', { name: 'Delete page' }).click()
    await row('Two').waitFor({ state: 'hidden' })
    expect(problems).toEqual([])
  })

  test('a workspace without pages says where they are made; one with many lists all of them', async () => {
    const { workspace, share, link } = await setUp()
    const { page, open, problems } = await visiting.visit({ workspace })
    for (const name of ['links', 'analytics']) {
      await open('/settings/shares')
      await page.getByRole('link', { name: `Open ${name}` }).click()
      await page.getByRole('heading', { level: 1, name: new RegExp(name, 'i') }).waitFor()
    }
    for (let number = 1; number <= 101; number += 1) await share({ linkId: link.id, title: `Page ${number}` })
    await open('/settings/shares')
    await page.getByText('Page 1', { exact: true }).waitFor()
    expect(await page.getByRole('button', { name: /^Edit page/ }).count()).toBe(101)
    expect(problems).toEqual([])
  })

  test('own days begin with those of the chosen period; the last value is unfinished if the period reaches now', async () => {
    const { share, link } = await setUp()
    const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)
    const { url } = await share({ linkId: link.id })
    const { page, problems, context } = await arrive(url)
    const unfinished = page.getByRole('cell', { name: /not complete yet$/ })
    await figure(page, 'Clicks').getByText('3', { exact: true }).waitFor()
    expect(await unfinished.count()).toBe(1)
    await page.getByLabel('Period').selectOption('own')
    expect(await page.getByLabel('First day').inputValue()).toBe(day(29))
    expect(await page.getByLabel('Last day').inputValue()).toBe(day(0))
    await page.getByLabel('Period').selectOption('7d')
    await page.getByLabel('First day').waitFor({ state: 'hidden' })
    await page.getByLabel('Period').selectOption('own')
    expect(await page.getByLabel('First day').inputValue()).toBe(day(6))
    await page.getByLabel('Last day').fill(day(2))
    await figure(page, 'Clicks').getByText('1', { exact: true }).waitFor()
    await expect.poll(() => unfinished.count()).toBe(0)
    await page.reload()
    expect(await page.getByLabel('First day').inputValue()).toBe(day(6))
    await context.close()
    expect(problems).toEqual([])
  })

  test('a viewer sees the pages and can change none; a link with publicStats has its address', async () => {
    const { workspace, share, link, call } = await setUp()
    await share({ linkId: link.id, title: 'One' })
    await call('updateLink', { params: { linkId: link.id }, body: { publicStats: true } })
    const { page, open, problems } = await visiting.visit({ workspace, role: 'viewer' })
    await open('/settings/shares')
    await page.getByText('One', { exact: true }).waitFor()
    expect(await page.getByRole('button', { name: /Edit|Stop|Delete/ }).count()).toBe(0)
    await open(`/links/${link.id}`)
    expect(await page.getByRole('button', { name: 'Share statistics' }).count()).toBe(0)
    const address = page.getByRole('link', { name: `${api}/share/${link.id}` })
    const theirs = await arrive((await address.getAttribute('href')) ?? '')
    await figure(theirs.page, 'Clicks').getByText('3', { exact: true }).waitFor()
    expect([...problems, ...theirs.problems]).toEqual([])
    await theirs.context.close()
  })

  test('the page speaks the language of the visitor', async () => {
    const { share, link } = await setUp()
    const { url } = await share({ linkId: link.id, password: 'sesame' })
    const { page, problems, context } = await arrive(url, { locale: 'de-DE' })
    await page.getByRole('heading', { name: 'Geteilte Statistik' }).waitFor()
    await page.getByLabel('Passwort').fill('sesame')
    await page.keyboard.press('Enter')
    await page
      .getByRole('button', { name: /Deutschland/ })
      .first()
      .waitFor()
    expect(problems).toEqual([])
    await context.close()
  })

  test('hostile texts run no script and break no layout', async () => {
    const { workspace, share, saveView, folder, call } = await setUp()
    await call('updateFolder', { params: { id: folder.id }, body: { name: `${hostile}${'x'.repeat(100)}` } })
    const { id: viewId } = await saveView({
      referer: `-${hostile.replaceAll(/[,\\ -]/g, '\\$&')}`,
      os: 'y'.repeat(900),
    })
    const title = `${hostile}${'z'.repeat(100)}`.slice(0, 100)
    const shares = [await share({ viewId, title }), await share({ folderId: folder.id, title })]
    for (const width of Object.values(widths)) {
      for (const { url } of shares) {
        const { page, problems, context } = await arrive(url, { width })
        await page.getByText('zzzz').first().waitFor()
        expect(await fits(page)).toBe(true)
        expect(await page.title()).toBe(title)
        expect(problems).toEqual([])
        await context.close()
      }
      const { page, open, problems, context } = await visiting.visit({ workspace, width })
      for (const path of ['/settings/shares', '/links/folders']) {
        await open(path)
        await page.getByText('xxxx').first().waitFor()
        expect(await fits(page)).toBe(true)
      }
      await page.getByRole('button', { name: /^Share statistics of/ }).click()
      await page.getByRole('dialog', { name: 'Public pages' }).getByText('zzzz').first().waitFor()
      expect(await page.evaluate('document.querySelector("[role=dialog]").scrollWidth <= innerWidth')).toBe(true)
      expect(problems).toEqual([])
      await context.close()
    }
  })

  test('every state is accessible in both themes, small and wide', async () => {
    const { workspace, share, link, folder } = await setUp()
    const open = await share({ linkId: link.id, title: 'Spring', showConversions: true })
    const locked = await share({ linkId: link.id, password: 'sesame', endsAt: '2090-01-01T00:00:00Z' })
    await share({ linkId: link.id, endsAt: '2020-01-01T00:00:00Z' })
    await buildMember(visiting.platform, workspace, 'viewer')
    const isAccessible = async (page: Page, context?: BrowserContext) => {
      await expectAccessible(page)
      expect(await fits(page)).toBe(true)
      await context?.close()
    }
    await eachWidth(async (width) => {
      const visitor = await arrive(`${open.url}?country=FR,DE&os=-Windows`, { width })
      await visitor.page
        .getByRole('button', { name: 'Only iOS' })
        .or(visitor.page.getByRole('button', { name: 'Only France' }))
        .first()
        .waitFor()
      await visitor.page.getByLabel('Period').selectOption('own')
      await isAccessible(visitor.page, visitor.context)
      const asked = await arrive(locked.url, { width })
      await asked.page.getByLabel('Password').fill('wrong')
      await asked.page.keyboard.press('Enter')
      await asked.page.getByRole('alert').waitFor()
      await isAccessible(asked.page, asked.context)
      const missing = await arrive(`${api}/share/share_none`, { width })
      await isAccessible(missing.page, missing.context)
      const owner = await visiting.visit({ workspace, width })
      await owner.open('/settings/shares')
      await owner.page.getByText('Spring').first().waitFor()
      await isAccessible(owner.page)
      await owner.open(`/links/${link.id}`)
      await owner.page.getByRole('button', { name: 'Share statistics' }).click()
      const dialog = owner.page.getByRole('dialog', { name: 'Public pages' })
      await dialog.getByText('Spring').first().waitFor()
      await isAccessible(owner.page)
      await dialog.getByRole('button', { name: 'Create another page' }).click()
      await owner.page.getByLabel('Ask for a password').click()
      await isAccessible(owner.page)
      await owner.open('/links/folders')
      await owner.page.getByRole('button', { name: `Share statistics of ${folder.name}` }).waitFor()
      await isAccessible(owner.page, owner.context)
      expect([...visitor.problems, ...asked.problems, ...missing.problems, ...owner.problems]).toEqual([])
    })
  })
})
