import { randomUUID } from 'node:crypto'
import { createClient } from '@tributary/contract/client'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { addDomain } from '../../server/src/features/domains/service.ts'
import { buildLink, buildWorkspace } from '../../server/test/build.ts'
import { setZone } from '../../server/test/dns-server.ts'
import { eachWidth, expectAccessible, lacksBrowser, openBrowser, type Visiting, widths } from './browser.ts'

describe.skipIf(lacksBrowser)('domains', () => {
  let visiting: Visiting
  beforeAll(async () => {
    visiting = await openBrowser()
  })
  afterAll(() => visiting?.[Symbol.asyncDispose]())

  const dns = inject('dns')
  const newName = () => `go-${randomUUID().slice(0, 8)}.example.com`
  const row = (page: Page, name: string) => page.locator('[data-row]').filter({ hasText: name })
  const state = (page: Page, text: string | RegExp) => page.getByRole('status').filter({ hasText: text })
  const callAs = (key: string) => createClient({ url: inject('server').api, token: key })

  test('a domain is added, shows what DNS lacks, becomes valid by itself, and is edited by mouse', async () => {
    const { page, open, workspace, problems } = await visiting.visit()
    const name = newName()
    await setZone(dns, name, [{ type: 'A', data: '203.0.113.9' }])
    await open('/domains')
    await row(page, workspace.domain).getByText('Verified').waitFor()
    await page.getByRole('button', { name: 'Add domain' }).click()
    const drawer = page.getByRole('dialog', { name: 'Add domain' })
    await drawer.getByLabel('Name').fill(`https://${name}/`)
    await drawer.getByLabel('Address for unknown links').fill('example.com/404')
    await drawer.getByLabel('Address of the bare domain').fill('https://example.com/home')
    await drawer.getByRole('button', { name: 'Add domain' }).click()
    await page.getByRole('heading', { level: 1, name }).waitFor()
    await state(page, 'Waiting for DNS').waitFor()
    await page.getByText('The name leads to 203.0.113.9, another server.').waitFor()
    await page.getByText('DNS has the address 203.0.113.9, another server.').waitFor()
    await page.getByRole('button', { name: 'Copy the value of the CNAME record' }).waitFor()
    await page.getByText('https://example.com/404').waitFor()
    await page.getByText('https://example.com/home').waitFor()
    await setZone(dns, name, [{ type: 'CNAME', data: 'cname.tributary.example' }])
    await state(page, 'Verified, waiting for the certificate').waitFor({ timeout: 60_000 })
    await page.getByText(/^Checked at /).waitFor()
    await page.getByText('None yet').waitFor()
    await page.getByRole('button', { name: 'Edit domain' }).click()
    const editor = page.getByRole('dialog', { name: `Edit ${name}` })
    await editor.getByLabel('Placeholder').fill('https://example.com/shoes')
    await editor.getByLabel('Address of the bare domain').fill('')
    await editor.getByRole('button', { name: 'Save domain' }).click()
    await editor.waitFor({ state: 'hidden' })
    await page.getByText('https://example.com/shoes').waitFor()
    await page.getByText('https://example.com/home').waitFor({ state: 'hidden' })
    await page.getByRole('link', { name: 'All domains' }).click()
    await row(page, name).getByRole('button', { name: 'Actions' }).click()
    await page.getByRole('menuitem', { name: 'Make default' }).click()
    await row(page, name).getByText('default for new links').waitFor()
    await row(page, name).getByRole('button', { name: 'Actions' }).click()
    await page.getByRole('menuitem', { name: 'Archive' }).click()
    await row(page, name).waitFor({ state: 'hidden' })
    await page.getByRole('checkbox', { name: 'Show archived' }).click()
    await row(page, name).getByText('archived').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await row(page, name).getByText('archived').waitFor({ state: 'hidden' })
    expect(problems).toEqual([])
  })

  test('a domain is added, checked and deleted by keyboard alone', async () => {
    const { page, open, workspace, problems } = await visiting.visit()
    const name = newName()
    await open('/domains')
    await row(page, workspace.domain).waitFor()
    await page.keyboard.press('n')
    await page.getByRole('dialog', { name: 'Add domain' }).waitFor()
    await page.keyboard.type(name)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name }).waitFor()
    await state(page, 'Waiting for DNS').waitFor()
    await buildLink(visiting.platform, workspace, { domain: name, key: 'one' })
    await setZone(dns, name, [
      { type: 'A', data: '192.0.2.10' },
      { type: 'AAAA', data: '2001:db8::10' },
    ])
    await page.waitForTimeout(5_500)
    await page.getByRole('button', { name: 'Check now' }).focus()
    await page.keyboard.press('Enter')
    await state(page, 'Verified').waitFor()
    await page.getByRole('button', { name: `Actions for ${name}` }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('menuitem', { name: 'Edit' }).waitFor()
    await expect
      .poll(
        async () => {
          await page.keyboard.press('End')
          return page.evaluate('document.activeElement.textContent')
        },
        { timeout: 20_000, interval: 500 },
      )
      .toBe('Delete')
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: `Delete ${name}` })
    await dialog.getByText('1 link on this domain is deleted with it').waitFor()
    await expectAccessible(page)
    expect(await dialog.getByRole('button', { name: 'Delete domain' }).isDisabled()).toBe(true)
    await page.keyboard.type(name)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Domains' }).waitFor()
    await row(page, workspace.domain).waitFor()
    await row(page, name).waitFor({ state: 'hidden' })
    expect(problems).toEqual([])
  })

  test('what is wrong is said at its field, also that another workspace has the domain', async () => {
    const other = await buildWorkspace(visiting.platform)
    const { page, open, problems } = await visiting.visit()
    await open('/domains')
    await page.getByRole('button', { name: 'Add domain' }).click()
    const drawer = page.getByRole('dialog', { name: 'Add domain' })
    const add = () => drawer.getByRole('button', { name: 'Add domain' }).click()
    await add()
    await drawer.getByText('Enter the name of the domain').waitFor()
    await drawer.getByLabel('Name').fill('not a host')
    await add()
    await drawer.getByText('Must be a host name').waitFor()
    await drawer.getByLabel('Name').fill(newName())
    await drawer.getByLabel('Address for expired links').fill('ftp://example.com')
    await add()
    await drawer.getByText(/Must start with http/).waitFor()
    expect(await page.evaluate('document.activeElement.value')).toBe('ftp://example.com')
    await drawer.getByLabel('Address for expired links').fill('')
    await drawer.getByLabel('Name').fill(other.domain)
    await add()
    await drawer.getByText(/Another workspace has the domain .* set the TXT record/).waitFor()
    expect(problems).toEqual([])
  })

  test('somebody else’s change is shown before it is overwritten', async () => {
    const { page, open, workspace, problems } = await visiting.visit()
    await open(`/domains/${workspace.domain}`)
    await page.getByRole('button', { name: 'Edit domain' }).click()
    const editor = page.getByRole('dialog', { name: /^Edit/ })
    await editor.getByLabel('Placeholder').fill('mine')
    const call = callAs(workspace.key)
    await call('updateDomain', { params: { slug: workspace.domain }, body: { placeholder: 'theirs' } })
    await editor.getByRole('button', { name: 'Save domain' }).click()
    await editor.getByRole('button', { name: 'Load again' }).click()
    expect(await editor.getByLabel('Placeholder').inputValue()).toBe('theirs')
    expect(problems).toEqual([])
  })

  test('a colleague without an account sees the page with the records until it ends', async () => {
    const { page, open, workspace, problems } = await visiting.visit()
    await open(`/domains/${workspace.domain}`)
    await page.getByRole('button', { name: 'Create link' }).click()
    const link = page.getByRole('link', { name: /setup-page\?token=/ })
    const address = (await link.getAttribute('href')) ?? ''
    const colleague = await visiting.browser.newContext()
    const theirs = await colleague.newPage()
    await theirs.goto(address)
    await theirs.getByText('cname.tributary.example').first().waitFor()
    await page.getByRole('button', { name: 'End former link' }).click()
    await link.waitFor({ state: 'hidden' })
    expect((await theirs.goto(address))?.status()).toBe(404)
    await colleague.close()
    expect(problems).toEqual([])
  })

  test('a viewer sees domains and their state, and can change none', async () => {
    const { page, open, workspace, problems } = await visiting.visit({ role: 'viewer' })
    await open('/domains')
    await row(page, workspace.domain).waitFor()
    await page.keyboard.press('n')
    expect(await page.getByRole('dialog').count()).toBe(0)
    expect(await page.getByRole('button', { name: /Add domain|Actions/ }).count()).toBe(0)
    await open(`/domains/${workspace.domain}`)
    await state(page, 'Verified').waitFor()
    expect(await page.getByRole('button', { name: /Edit|Create link|Actions|End/ }).count()).toBe(0)
    expect(problems).toEqual([])
  })

  test('hostile texts run no script and break no layout', async () => {
    const workspace = await buildWorkspace(visiting.platform)
    const slug = `${`${'x'.repeat(60)}.`.repeat(2)}${randomUUID().slice(0, 8)}.example.com`
    await addDomain(visiting.platform, { workspaceId: workspace.id, slug })
    const hostile = '\u202E<img src=x onerror="document.title=1">\u200B👩‍👩‍👧‍👦<script>alert(1)</script>'
    const call = callAs(workspace.key)
    const address = `https://example.com/${'y'.repeat(10_000)}?${encodeURIComponent(hostile)}`
    await call('updateDomain', {
      params: { slug },
      body: { placeholder: hostile.slice(0, 100), notFoundUrl: address, expiredUrl: address },
    })
    await setZone(dns, `_tributary.${slug}`, [{ type: 'TXT', data: hostile }])
    await setZone(dns, slug, [{ type: 'TXT', data: hostile }])
    for (const width of Object.values(widths)) {
      const { page, open, problems, context } = await visiting.visit({ workspace, width })
      for (const path of ['/domains', `/domains/${slug}`]) {
        await open(path)
        await page.getByText('xxxx').filter({ visible: true }).first().waitFor()
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
        expect(await page.title()).not.toBe('1')
      }
      await page.getByRole('button', { name: 'Edit domain' }).click()
      const editor = page.getByRole('dialog', { name: /^Edit/ })
      for (const label of ['Name', 'Placeholder', 'Address for unknown links', 'Address of the bare domain'])
        await editor.getByLabel(label).fill(hostile.repeat(100))
      await editor.getByRole('button', { name: 'Save domain' }).click()
      await editor.getByRole('alert').first().waitFor()
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      expect(await page.evaluate('document.querySelector("[role=dialog]").scrollWidth <= innerWidth')).toBe(true)
      expect(problems).toEqual([])
      await context.close()
    }
  })

  test('every state is accessible in both themes, small and wide', async () => {
    const workspace = await buildWorkspace(visiting.platform)
    const pending = newName()
    await setZone(dns, pending, [{ type: 'A', data: '203.0.113.9' }])
    await callAs(workspace.key)('createDomain', { body: { slug: pending } })
    await eachWidth(async (width) => {
      const { page, open, problems, context } = await visiting.visit({ workspace, width })
      await open('/domains')
      await expectAccessible(page)
      await page.getByRole('button', { name: 'Add domain' }).click()
      await page.getByRole('dialog', { name: 'Add domain' }).waitFor()
      await expectAccessible(page)
      for (const path of ['/domains?search=nothing-has-this', `/domains/${pending}`]) {
        await open(path)
        await expectAccessible(page)
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      }
      expect(problems).toEqual([])
      await context.close()
    })
  })
})
