import { existsSync } from 'node:fs'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { bundleClient } from '../contract/test/bundle.ts'
import { buildWorkspace } from '../server/test/build.ts'
import { openTestPlatform } from '../server/test/stack.ts'

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium'
const platform = await openTestPlatform()
const { api } = inject('server')

let browser: Browser
let page: Page

// Skipped without an installed browser, except in CI, which installs one.
describe.skipIf(!existsSync(executablePath) && !process.env.CI)('the client of the contract in a browser', () => {
  beforeAll(async () => {
    const { code } = await bundleClient()
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
    page = await browser.newPage()
    const body = `<!doctype html><link rel="icon" href="data:,"><script>${code}</script>`
    await page.route(`${api}/app`, (route) => route.fulfill({ contentType: 'text/html', body }))
    await page.goto(`${api}/app`)
    await page.context().addCookies([{ name: 'session', value: 'of-a-person', url: api }])
  })
  afterAll(async () => void (await browser?.close()))

  test('creates and reads a link with a key, and sends no cookie', async () => {
    const { key } = await buildWorkspace(platform)
    const server = { url: api, token: key }
    const sent = page.waitForRequest((request) => request.method() === 'POST')
    const url = 'https://example.com/a?b=c'
    const link = (await call(server, 'createLink', { body: { url } })) as { id: string }
    expect(link).toMatchObject({ url })
    expect(await (await sent).headerValue('authorization')).toBe(`Bearer ${key}`)
    expect(await (await sent).headerValue('cookie')).toBeNull()
    expect(await call(server, 'getLinks', { query: { pageSize: 1, search: undefined } })).toMatchObject([link])
    const patched = { params: { linkId: link.id }, body: { comments: 'From a browser' } }
    expect(await call(server, 'updateLink', patched)).toMatchObject({ comments: 'From a browser' })
  })

  test('sends the cookie instead of a key', async () => {
    const sent = page.waitForRequest(`${api}/tags`)
    const answered = call({ url: '', credentials: 'same-origin' }, 'getTags')
    expect(await (await sent).headerValue('cookie')).toBe('session=of-a-person')
    expect(await (await sent).headerValue('authorization')).toBeNull()
    // The server has no sessions yet, so a cookie gets 401.
    expect(await answered).toMatchObject({ name: 'ApiError', status: 401, code: 'unauthorized' })
  })

  test('returns the raw response when it is an image', async () => {
    const type =
      await page.evaluate(`tributary.createClient({ url: '' })('getQRCode', { query: { url: 'https://example.com' } })
      .then((response) => response.headers.get('content-type'))`)
    expect(type).toBe('image/png')
  })
})

/** Calls the API client in the page; returns the fields of the error if the call fails. */
function call(server: object, operation: string, input = {}): Promise<unknown> {
  return page.evaluate(
    `tributary.createClient(${JSON.stringify(server)})(...${JSON.stringify([operation, input])})
      .catch(({ name, status, code }) => ({ name, status, code }))`,
  )
}
