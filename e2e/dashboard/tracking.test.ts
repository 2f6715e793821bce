import { createClient } from '@tributary/contract/client'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { readTracker, scriptTag } from '../../server/src/features/tracker/service.ts'
import { buildWorkspace } from '../../server/test/build.ts'
import { eachWidth, expectAccessible, lacksBrowser, openBrowser, type Visiting } from './browser.ts'
import { startSite } from './site.ts'

describe.skipIf(lacksBrowser)('tracking', () => {
  let visiting: Visiting
  let tag: string
  beforeAll(async () => {
    visiting = await openBrowser()
    tag = scriptTag(api, (await readTracker()).script)
  })
  afterAll(() => visiting?.[Symbol.asyncDispose]())

  const { api } = inject('server')
  const patience = { timeout: 60_000 }
  const callAs = (token: string) => createClient({ url: api, token })
  const state = (page: Page, text: string) => page.getByRole('status').filter({ hasText: text })
  const check = async (page: Page, address: string) => {
    await page.getByLabel('Address of a page').fill(address)
    await page.getByRole('button', { name: 'Check page' }).click()
  }

  test('the check goes green by itself on a page that loads the script, by keyboard alone', async () => {
    const { page, open, context, workspace, problems } = await visiting.visit()
    const site = await startSite({ '/pricing': tag })
    await open('/settings/tracking')
    await page.getByText(`<script defer src="${api}/tracker.js"></script>`).waitFor()
    await page.getByLabel('Address of a page').focus()
    await page.keyboard.type(`${site}/pricing`)
    await page.keyboard.press('Enter')
    await state(page, 'Waiting for the page to report in').waitFor()
    await page.getByText('The script tag is there and leads to this server.').waitFor()
    await expect.poll(() => page.evaluate('document.activeElement.textContent'), patience).toBe('Open the page')
    const opened = context.waitForEvent('page')
    await page.keyboard.press('Enter')
    const shop = await opened
    const reported = await shop.waitForResponse(/install-checks\/reports/)
    const reportedAt = Date.now()
    expect(reported.status()).toBe(200)
    await state(page, 'The script is installed').waitFor()
    expect(Date.now() - reportedAt).toBeLessThan(10_000)
    await page.getByText('/pricing reported in').waitFor()
    expect(await shop.evaluate('document.cookie')).toBe('')
    await page.reload()
    await state(page, 'The script is installed').waitFor()
    const steps = await callAs(workspace.key)('listSetupSteps')
    expect(steps.find(({ step }) => step === 'script')?.done).toBe(true)
    expect(problems).toEqual([])
  })

  test('what was found otherwise is explained; a refused host is allowed with one press', async () => {
    const { page, open, context, workspace, problems } = await visiting.visit()
    const policy = "default-src 'none'; script-src 'self'"
    const site = await startSite({
      '/plain': '<p>Welcome</p>',
      '/other': '<script src="https://other.example/tracker.js"></script>',
      '/strict': (_, response) =>
        response.writeHead(200, { 'content-type': 'text/html', 'content-security-policy': policy }).end(tag),
      '/': tag,
    })
    await callAs(workspace.key)('updateWorkspace', {
      params: { idOrSlug: workspace.slug },
      body: { allowedHostnames: ['shop.example'] },
    })
    await open('/settings/tracking')
    await page.getByRole('button', { name: 'Check page' }).click()
    await page.getByText('Enter the address of a page, such as').waitFor()
    await check(page, 'ftp://shop.example')
    await page.getByText('Must be an absolute URL').waitFor()
    const findings = {
      '/none': 'The page answered with status 404.',
      '/plain': 'The script tag is missing.',
      '/other': 'The script tag points to another server: https://other.example/tracker.js',
      '/strict': `Add ${api} to its directive script-src`,
    }
    for (const [path, finding] of Object.entries(findings)) {
      await check(page, site + path)
      await page.getByText(finding).waitFor()
    }
    await check(page, 'http://127.0.0.1:1/')
    await page.getByText('The server can’t read the page.').waitFor()
    await check(page, site)
    // Until then the link is that of the check before.
    await state(page, site).waitFor()
    const opened = context.waitForEvent('page')
    await page.getByRole('link', { name: 'Open the page' }).click()
    await opened
    await state(page, 'The script runs, but its host is not allowed').waitFor()
    await page.getByRole('button', { name: `Allow ${new URL(site).hostname}` }).click()
    await state(page, 'The script is installed').waitFor()
    expect(await page.getByLabel('Host names').inputValue()).toBe(`shop.example\n${new URL(site).hostname}`)
    expect(problems).toEqual([])
  })

  test('a check that does not exist is gone, and is not read again', async () => {
    const { page, open } = await visiting.visit()
    const reads: string[] = []
    page.on('request', (request) => {
      if (request.url().includes('/install-checks/nope')) reads.push(request.url())
    })
    await open('/settings/tracking?check=nope')
    await page.getByText('This check is gone. Check the page again.').waitFor()
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0)
    await page.waitForTimeout(3_500)
    expect(reads).toHaveLength(1)
  })

  test('a test lead and sale arrive, say what came back, and are removed again', async () => {
    const { page, open, workspace, problems } = await visiting.visit({ role: 'admin' })
    // A workspace with allowed hosts sends tests all the same.
    const call = callAs(workspace.key)
    await call('updateWorkspace', {
      params: { idOrSlug: workspace.slug },
      body: { allowedHostnames: ['shop.example'] },
    })
    await open('/settings/tracking')
    await page.getByRole('button', { name: 'Send test lead' }).click()
    await page.getByText('Response to POST /track/lead').waitFor()
    const row = page.getByRole('list', { name: 'Test customers' }).getByRole('listitem')
    await row.getByText('tributary-test-').waitFor()
    await row.getByText('The lead has arrived').waitFor(patience)
    await row.getByRole('button', { name: 'Send test sale' }).click()
    await page.getByText('Response to POST /track/sale').waitFor()
    await row.getByText('The sale has arrived').waitFor(patience)
    const [customer] = await call('getCustomers', { query: { search: 'tributary-test-' } })
    expect(customer).toMatchObject({ name: 'Test customer', sales: 1, saleAmount: 100 })
    const [sale] = await call('listEvents', { query: { event: 'sales', interval: '24h' } })
    expect(sale).toMatchObject({ eventName: 'Test sale', metadata: { test: true } })
    await page.reload()
    await row.getByText('The sale has arrived').waitFor(patience)
    await row.getByRole('button', { name: 'Remove' }).click()
    await page.getByText('Removed the test customer').first().waitFor()
    await row.waitFor({ state: 'hidden' })
    expect(await call('getCustomers', { query: { search: 'tributary-test-' } })).toEqual([])
    expect(await call('getLinksCount')).toBe(0)
    await expect
      .poll(
        async () => (await call('retrieveAnalytics', { query: { event: 'sales', interval: '24h' } })) as object,
        patience,
      )
      .toMatchObject({ saleAmount: 0 })
    expect(problems).toEqual([])
  })

  test('hosts and a publishable key are set; a change by somebody else is not overwritten', async () => {
    const { page, open, workspace, problems } = await visiting.visit()
    const call = callAs(workspace.key)
    await open('/settings/tracking')
    await page.getByLabel('Host names').fill('https://shop.example/, *.shop.example')
    await page.getByRole('button', { name: 'Save hosts' }).click()
    await expect.poll(() => page.getByLabel('Host names').inputValue(), patience).toBe('shop.example\n*.shop.example')
    await page.getByLabel('Host names').fill('not a host!')
    await page.getByRole('button', { name: 'Save hosts' }).click()
    await page.getByRole('alert').filter({ hasText: 'not' }).waitFor()
    await call('updateWorkspace', { params: { idOrSlug: workspace.slug }, body: { allowedHostnames: [] } })
    await page.getByLabel('Host names').fill('mine.example')
    await page.getByRole('button', { name: 'Save hosts' }).click()
    await page.getByRole('button', { name: 'Load again' }).click()
    await expect.poll(() => page.getByLabel('Host names').inputValue(), patience).toBe('')
    await page.getByRole('button', { name: 'Create publishable key' }).click()
    await page.getByText(/data-key="trib_pk_/).waitFor()
    await page.getByText(/^Pages without a server send leads/).waitFor()
    expect((await call('listTokens')).filter(({ kind }) => kind === 'publishable')).toHaveLength(1)
    expect(problems).toEqual([])
  })

  test('a viewer checks pages and changes nothing; a member is told who sends tests', async () => {
    const workspace = await buildWorkspace(visiting.platform)
    const site = await startSite({ '/': tag })
    const { page, open, problems } = await visiting.visit({ workspace, role: 'viewer' })
    await open('/settings/tracking')
    expect(await page.getByLabel('Host names').isDisabled()).toBe(true)
    expect(await page.getByRole('button', { name: /Save|Send|Create/ }).count()).toBe(0)
    await check(page, site)
    await page.getByRole('link', { name: 'Open the page' }).waitFor()
    const member = await visiting.visit({ workspace, role: 'member' })
    await member.open('/settings/tracking')
    await member.page.getByText('Owners and admins can send them.').waitFor()
    const billing = await visiting.visit({ workspace, role: 'billing' })
    await billing.open('/settings/tracking')
    await billing.page.getByText('This did not load').waitFor()
    expect([...problems, ...member.problems, ...billing.problems]).toEqual([])
  })

  test('hostile pages run no script and break no layout; all is accessible', { timeout: 900_000 }, async () => {
    const workspace = await buildWorkspace(visiting.platform)
    const hostile = `\u202E<img src=x onerror="document.title=1">${'y'.repeat(300)}`
    const site = await startSite({
      '/': `<script src="https://other.example/${encodeURIComponent(hostile)}/tracker.js"></script>`,
    })
    const call = callAs(workspace.key)
    const { id } = await call('createInstallCheck', { body: { url: `${site}/?x=${encodeURIComponent(hostile)}` } })
    const reported = await call('createInstallCheck', { body: { url: `${site}/` } })
    const response = await fetch(`${api}/install-checks/reports`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain', origin: `https://${'h'.repeat(60)}.example` },
      body: JSON.stringify({ check: reported.id, path: `/${hostile}`, version: '<b>1</b>', isOff: true }),
    })
    expect(response.status).toBe(200)
    await eachWidth(async (width) => {
      const { page, open, problems, context } = await visiting.visit({ workspace, width })
      for (const [check, text] of [
        [id, 'The script tag points to another server'],
        [reported.id, 'Your browser asks not to be tracked'],
      ]) {
        await open(`/settings/tracking?check=${check}`)
        await page.getByText(text as string).waitFor()
        await expectAccessible(page)
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
        expect(await page.title()).not.toBe('1')
      }
      expect(problems).toEqual([])
      await context.close()
    })
  })
})
