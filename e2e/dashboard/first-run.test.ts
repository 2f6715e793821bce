import { randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { addDomain } from '../../server/src/features/domains/service.ts'
import { createToken } from '../../server/src/features/tokens/service.ts'
import { requireWorkspace } from '../../server/src/features/workspaces/service.ts'
import { buildUser } from '../../server/test/build.ts'
import { lacksBrowser, openBrowser, type Visiting } from './browser.ts'

const { api, redirect } = inject('server')
/** How long a step may take to turn done after its event. */
const soonMs = 30_000

describe.skipIf(lacksBrowser)('the first run', () => {
  let visiting: Visiting
  let site: Site
  beforeAll(async () => {
    visiting = await openBrowser()
    site = await openSite()
  })
  afterAll(async () => {
    site?.close()
    await visiting?.[Symbol.asyncDispose]()
  })

  const step = (page: Page, name: string, state: 'To do' | 'Done') =>
    page.getByRole('button', { name: new RegExp(`${name}.*${state}`) })
  const isDone = (page: Page, name: string) => step(page, name, 'Done').waitFor({ timeout: soonMs })

  /** Opens the dashboard as a person without a workspace. */
  async function openNewPerson() {
    const user = await buildUser(visiting.platform)
    const { page, context, problems } = await visiting.visit()
    const [name = '', value = ''] = user.cookie.split('=')
    await context.clearCookies()
    await context.addCookies([{ name, value, url: api }])
    await page.goto(`${api}/app`)
    await page.getByRole('heading', { name: 'Create a workspace' }).waitFor()
    return { page, problems, slug: `first-${randomUUID().slice(0, 8)}` }
  }

  /** Adds a domain that needs no DNS, and a key for the site's server. */
  async function equip(slug: string) {
    const { id: workspaceId } = await requireWorkspace(visiting.platform, slug)
    const domain = `${slug}.localhost`
    await addDomain(visiting.platform, { workspaceId, slug: domain })
    const { key } = await createToken(visiting.platform, { workspaceId, name: 'Shop' })
    return { domain, key, shortLink: `http://${domain}:${new URL(redirect).port}` }
  }

  test('a person goes from an empty account to a tracked sale, and each step turns done by itself', {
    timeout: 300_000,
  }, async () => {
    const { page, problems, slug } = await openNewPerson()
    await page.getByLabel('Name').fill('First')
    await page.getByLabel('Slug').fill(slug)
    await page.getByRole('button', { name: 'Create workspace' }).click()
    await page.getByText('0 of 5 steps are done').waitFor()

    const { domain, key, shortLink } = await equip(slug)
    await isDone(page, 'Add your domain')

    await page.getByRole('button', { name: 'Create link' }).click()
    const builder = page.getByRole('dialog', { name: 'New link' })
    await builder.getByLabel('Destination').fill(site.address('/'))
    await builder.getByLabel('Slug').fill('spring')
    await builder.getByRole('button', { name: 'Create and copy' }).click()
    await isDone(page, 'Create a link')

    const tag = (await page.locator('pre').textContent()) ?? ''
    expect(tag).toBe(`<script defer src="${api}/tracker.js"></script>`)
    site.install(tag, key)
    const visitor = await (await visiting.browser.newContext()).newPage()
    await visitor.goto(site.address('/'))
    await visitor.evaluate(`tributary.trackClick({ domain: '${domain}', key: 'spring' })`)
    await isDone(page, 'Put the script on your pages')

    await visitor.goto(`${shortLink}/spring`)
    await visitor.getByRole('button', { name: 'Sign up' }).click()
    await visitor.getByText('lead: 200').waitFor()
    await isDone(page, 'Report a lead')

    await visitor.getByRole('button', { name: 'Buy' }).click()
    await visitor.getByText('sale: 200').waitFor()
    await isDone(page, 'Report a sale')
    await page.getByRole('heading', { name: 'Your first sale is tracked' }).waitFor()
    const revenue = page.getByRole('button', { name: /^Revenue today/ })
    await expect.poll(() => revenue.textContent(), { timeout: 40_000 }).toContain('49.00')
    await visitor.context().close()
    expect(problems).toEqual([])
  })

  test('the same way by keyboard alone', { timeout: 300_000 }, async () => {
    const { page, problems, slug } = await openNewPerson()
    await page.keyboard.type('First')
    await page.keyboard.press('Tab')
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type(slug)
    await page.keyboard.press('Enter')
    await page.getByText('0 of 5 steps are done').waitFor()
    const { key, shortLink } = await equip(slug)
    await isDone(page, 'Add your domain')
    await step(page, 'Create a link', 'To do').focus()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'New link' }).waitFor()
    await page.keyboard.type(site.address('/'))
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.type('keys')
    await page.keyboard.press('ControlOrMeta+Enter')
    await isDone(page, 'Create a link')
    site.install(`<script defer src="${api}/tracker.js"></script>`, key)
    const visitor = await (await visiting.browser.newContext()).newPage()
    await visitor.goto(`${shortLink}/keys`)
    for (const name of ['Sign up', 'Buy']) {
      await visitor.getByRole('button', { name }).focus()
      await visitor.keyboard.press('Enter')
      await visitor.getByText(name === 'Buy' ? 'sale: 200' : 'lead: 200').waitFor()
    }
    for (const name of ['Put the script on your pages', 'Report a lead', 'Report a sale']) await isDone(page, name)
    await page.getByRole('button', { name: 'Hide first steps' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Your first sale is tracked' }).waitFor({ state: 'hidden' })
    await visitor.context().close()
    expect(problems).toEqual([])
  })
})

type Site = { address(path: string): string; install(tag: string, key: string): void; close(): void }

/** A shop: its page has the script tag, and its server reports a lead and a sale, as the checklist shows. */
async function openSite(): Promise<Site> {
  let tag = ''
  let key = ''
  const send = async (clickId: string, isLead: boolean) => {
    const customerExternalId = clickId.slice(0, 20)
    const body = isLead
      ? { clickId, eventName: 'Sign up', customerExternalId }
      : { customerExternalId, amount: 4_900, invoiceId: clickId }
    const { status } = await fetch(`${api}/track/${isLead ? 'lead' : 'sale'}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return `<p>${isLead ? 'lead' : 'sale'}: ${status}</p>`
  }
  const server: Server = createServer(async (request, response) => {
    const clickId = /trib_id=([\w-]+)/.exec(request.headers.cookie ?? '')?.[1] ?? ''
    const said = request.method === 'POST' ? await send(clickId, request.url === '/lead') : ''
    const form = (path: string, name: string) => `<form method="post" action="${path}"><button>${name}</button></form>`
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
    response.end(`<!doctype html><title>Shop</title>${said}${form('/lead', 'Sign up')}${form('/sale', 'Buy')}${tag}`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    address: (path) => `http://shop.localhost:${port}${path}`,
    install: (given, forServer) => {
      tag = given
      key = forServer
    },
    close: () => server.close(),
  }
}
