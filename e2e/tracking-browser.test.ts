import { existsSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { getCustomer } from '../server/src/features/customers/service.ts'
import { createToken } from '../server/src/features/tokens/service.ts'
import { readTracker, scriptTag } from '../server/src/features/tracker/service.ts'
import { changeWorkspace } from '../server/src/features/workspaces/service.ts'
import { type BuiltWorkspace, buildLink, buildWorkspace } from '../server/test/build.ts'
import { contextIn } from '../server/test/context.ts'
import { eventually, openTestPlatform } from '../server/test/stack.ts'

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium'
const platform = await openTestPlatform()
const { api, redirect } = inject('server')
const { script } = await readTracker()
const ninetyDays = 90 * 86_400

let browser: Browser
let site: Server
let workspace: BuiltWorkspace
let publishableKey: string
let shortLinks: string
/** Host of the test site: the workspace's name below `.localhost`, so that tests do not share cookies. */
let shop: string

// Skipped without an installed browser, except in CI, which installs one.
describe.skipIf(!existsSync(executablePath) && !process.env.CI)('the tracker in a browser', () => {
  beforeAll(async () => {
    site = createServer((request, response) => void answer(request, response))
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
    workspace = await buildWorkspace(platform)
    shop = `shop-${workspace.slug}.localhost`
    shortLinks = `http://${workspace.domain}:${new URL(redirect).port}`
    await changeWorkspace(platform, workspace.id, { allowed_hostnames: [shop, `*.${shop}`] })
    const token = await createToken(platform, { workspaceId: workspace.id, name: 'page', isPublishable: true })
    publishableKey = token.key
  })
  afterAll(async () => {
    await browser?.close()
    site?.close()
  })

  test("a click on a short link leads to a sale, with two calls of the site's server", async () => {
    const link = await buildLink(platform, workspace, { key: 'story', url: pageAt('/'), trackConversion: true })
    const { page, context, problems } = await openPage()
    await page.goto(`${shortLinks}/story`)
    const clickId = new URL(page.url()).searchParams.get('trib_id') ?? ''
    expect(clickId).toMatch(/^[\w-]{40}$/)
    const [cookie, ...others] = await readCookies(context)
    expect(others).toEqual([])
    expect(cookie).toMatchObject({ name: 'trib_id', value: clickId, domain: shop, path: '/', sameSite: 'Lax' })
    expect(Math.abs((cookie?.expires ?? 0) - Date.now() / 1000 - ninetyDays)).toBeLessThan(600)

    await page.goto(pageAt('/signup'))
    await page.getByRole('button', { name: 'Sign up' }).click()
    await page.getByText('lead: 200').waitFor()
    await page.getByRole('button', { name: 'Buy' }).click()
    await page.getByText('sale: 200').waitFor()
    expect(problems).toEqual([])

    const [lead] = await eventually(() => readEvents('leads', link.id), 30_000)
    expect(lead).toMatchObject({
      event: 'lead',
      eventName: 'Sign up',
      click: { id: clickId },
      link: { id: link.id },
      customer: { externalId: 'customer-1' },
    })
    const [sale] = await eventually(() => readEvents('sales', link.id), 30_000)
    expect(sale).toMatchObject({
      event: 'sale',
      click: { id: clickId },
      link: { id: link.id },
      customer: { externalId: 'customer-1' },
      sale: { amount: 4_900, invoiceId: 'invoice-1' },
    })
  })

  test('calls that the page queued before the script loaded are sent, without a server', async () => {
    const link = await buildLink(platform, workspace, { key: 'queue', url: pageAt('/') })
    const { page, context, problems } = await openPage()
    await page.goto(pageAt('/queue', { key: publishableKey }))
    await eventually(async () => expect(await page.title()).toMatch(/^done [\w-]{40}$/))
    const [cookie] = await readCookies(context)
    expect(await page.title()).toBe(`done ${cookie?.value}`)
    expect(await page.evaluate('tributary.clickId()')).toBe(cookie?.value)
    const lead = `tributary.trackLead({ eventName: 'Trial', customerExternalId: 'customer-2' })`
    expect(await page.evaluate(lead)).toEqual({})
    const sale = `tributary.trackSale({ customerExternalId: 'customer-2', amount: 700, invoiceId: 'invoice-2' })`
    expect(await page.evaluate(sale)).toEqual({})
    const expansion = { includeExpandedFields: true }
    const customer = await getCustomer(contextIn(platform, workspace.id), 'ext_customer-2', expansion)
    expect(customer).toMatchObject({ sales: 1, saleAmount: 700, link: { id: link.id } })
    expect(problems).toEqual([])
  })

  test('parameter, cookie, subdomains and linked sites are configurable', async () => {
    const { page, context, problems } = await openPage()
    const settings = { param: 'via_id,trib_id', cookie: 'our_click', 'cookie-domain': shop, outbound: `*.${shop}` }
    const id = 'a'.repeat(40)
    await page.goto(`${pageAt('/links', settings)}&via_id=${id}&trib_id=${'b'.repeat(40)}`)
    expect(await readCookies(context)).toMatchObject([{ name: 'our_click', value: id, domain: `.${shop}` }])
    await page.getByRole('link', { name: 'Checkout' }).click()
    await page.waitForURL(/checkout\./)
    expect(new URL(page.url()).searchParams.get('via_id')).toBe(id)
    expect(new URL(page.url()).searchParams.get('a')).toBe('b')
    expect(await page.evaluate('document.cookie')).toBe(`our_click=${id}`)
    await page.goBack()
    await page.getByRole('link', { name: 'Elsewhere' }).click()
    await page.waitForURL(/127\.0\.0\.1/)
    expect(new URL(page.url()).search).toBe('?elsewhere')
    expect(problems).toEqual([])
  })

  test.each([
    ['first-click', 'a'],
    ['last-click', 'b'],
    [undefined, 'b'],
  ])('with attribution %s the right one of two clicks is stored', async (attribution, value) => {
    const { page, context } = await openPage()
    const settings: Record<string, string> = attribution ? { attribution } : {}
    for (const letter of ['a', 'b']) await page.goto(`${pageAt('/', settings)}&trib_id=${letter.repeat(40)}`)
    await page.goto(pageAt('/', settings))
    expect(await readCookies(context)).toMatchObject([{ value: value.repeat(40) }])
  })

  test('on https the cookie is secure', async () => {
    const { page, context } = await openPage()
    const body = `<!doctype html><title>Shop</title>${scriptTag('https://api.example', script)}`
    await page.route('https://shop.example/**', (route) => route.fulfill({ contentType: 'text/html', body }))
    const headers = { 'content-type': 'text/javascript', 'access-control-allow-origin': '*' }
    await page.route('https://api.example/**', (route) => route.fulfill({ headers, body: script.bytes }))
    await page.goto(`https://shop.example/?trib_id=${'a'.repeat(40)}`)
    expect(await context.cookies()).toMatchObject([{ name: 'trib_id', secure: true, sameSite: 'Lax' }])
  })

  test.each(['', 'short', `${'a'.repeat(40)};domain=evil.example`, 'ü'.repeat(40)])(
    '%j is not a click id and is not stored',
    async (id) => {
      const { page, context } = await openPage()
      await page.goto(`${pageAt('/')}&trib_id=${encodeURIComponent(id)}`)
      expect(await readCookies(context)).toEqual([])
    },
  )

  test.each(['doNotTrack', 'globalPrivacyControl'])('%s is honoured if the page opts in', async (signal) => {
    const { page, context } = await openPage()
    await page.addInitScript(`Object.defineProperty(navigator, '${signal}', { value: '1' })`)
    await page.goto(`${pageAt('/', { 'honour-dnt': '', key: publishableKey })}&trib_id=${'a'.repeat(40)}`)
    expect(await readCookies(context)).toEqual([])
    expect(await page.evaluate('tributary.clickId()')).toBeNull()
    const requests: string[] = []
    page.on('request', (request) => requests.push(request.url()))
    expect(await page.evaluate(`tributary.trackClick({ domain: '${workspace.domain}', key: 'queue' })`)).toBeNull()
    expect(await page.evaluate(`tributary.trackLead({ eventName: 'x', customerExternalId: 'x' })`)).toBeNull()
    expect(requests).toEqual([])
    await page.goto(`${pageAt('/')}&trib_id=${'a'.repeat(40)}`)
    expect(await readCookies(context)).toHaveLength(1)
  })

  test('the page gets the error of a rejected call', async () => {
    const { page } = await openPage()
    await page.goto(pageAt('/', { key: 'trib_pk_unknown' }))
    const call = `tributary.trackLead({ eventName: 'x', customerExternalId: 'x' }).catch((error) => error.message)`
    expect(await page.evaluate(call)).toContain('is not known')
  })
})

/** Returns a page URL; settings become attributes of the script tag. */
function pageAt(path: string, settings: Record<string, string> = {}): string {
  const { port } = site.address() as AddressInfo
  return `http://${shop}:${port}${path}?settings=${encodeURIComponent(JSON.stringify(settings))}`
}

const queue = () => `(window.tributary ??= []).push(['trackClick', { domain: '${workspace.domain}', key: 'queue' },
  (id) => { document.title = 'done ' + id }])`
const bodies: Record<string, () => string> = {
  '/queue': () => '<script src="/queue.js"></script>',
  '/signup': () => '<form method="post" action="/signup"><button>Sign up</button></form>',
  '/links': () => {
    const { port } = site.address() as AddressInfo
    return `<a href="http://checkout.${shop}:${port}/?a=b">Checkout</a> <a href="http://127.0.0.1:${port}/?elsewhere">Elsewhere</a>`
  },
}

/** Serves a site with a strict content security policy, and its small backend. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
  if (pathname === '/queue.js') {
    response.writeHead(200, { 'Content-Type': 'text/javascript' }).end(queue())
    return
  }
  await text(request)
  const clickId = /(?:^|; )trib_id=([\w-]+)/.exec(request.headers.cookie ?? '')?.[1] ?? ''
  const body =
    request.method === 'POST' ? await afterForm(pathname, clickId) : (bodies[pathname] ?? (() => '<p>Welcome</p>'))()
  const attributes = Object.entries(JSON.parse(searchParams.get('settings') ?? '{}') as Record<string, string>)
    .map(([name, value]) => `data-${name}="${value}"`)
    .join(' ')
  const tag = scriptTag(api, script).replace('<script ', `<script ${attributes} `)
  response.writeHead(200, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': `default-src 'none'; img-src data:; script-src 'self' ${api}; connect-src ${api}; form-action 'self'; base-uri 'none'; require-trusted-types-for 'script'`,
  })
  response.end(`<!doctype html><title>Shop</title><link rel="icon" href="data:,">${body}${tag}`)
}

/** Makes the two API calls that a developer adds to the site's server. */
async function afterForm(pathname: string, clickId: string): Promise<string> {
  const isLead = pathname === '/signup'
  const kind = isLead ? 'lead' : 'sale'
  const customer = { customerExternalId: 'customer-1', customerEmail: 'ada@example.com' }
  const sent = await fetch(`${api}/track/${kind}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${workspace.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(
      isLead ? { clickId, eventName: 'Sign up', ...customer } : { ...customer, amount: 4_900, invoiceId: 'invoice-1' },
    ),
  })
  return `<p>${kind}: ${sent.status}</p><form method="post" action="/buy"><button>Buy</button></form>`
}

/** Opens a page as a new visitor; collects the browser's errors. */
async function openPage(): Promise<{ page: Page; context: BrowserContext; problems: string[] }> {
  const context = await browser.newContext()
  const page = await context.newPage()
  const problems: string[] = []
  page.on('console', (message) => problems.push(message.text()))
  page.on('pageerror', (error) => problems.push(error.message))
  return { page, context, problems }
}

async function readCookies(context: BrowserContext) {
  return (await context.cookies()).filter(({ domain }) => domain.endsWith(shop))
}

async function readEvents(event: 'leads' | 'sales', linkId: string): Promise<object[]> {
  const response = await fetch(`${api}/events?event=${event}&interval=24h&linkId=${linkId}`, {
    headers: { authorization: `Bearer ${workspace.key}` },
  })
  const events = (await response.json()) as object[]
  expect(events).toHaveLength(1)
  return events
}
