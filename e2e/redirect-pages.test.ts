import { existsSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type RawBuilder, sql } from 'kysely'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { seal } from '../server/src/platform/seal.ts'
import { type BuiltWorkspace, buildLink, buildWorkspace } from '../server/test/build.ts'
import { openTestPlatform } from '../server/test/stack.ts'

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium'
const platform = await openTestPlatform()
let destination: Server
let browser: Browser
let workspace: BuiltWorkspace
let base: string

// Skipped without an installed browser, except in CI, which installs one.
describe.skipIf(!existsSync(executablePath) && !process.env.CI)('HTML pages of the redirect in a browser', () => {
  beforeAll(async () => {
    destination = createServer((request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/html' }).end(`<title>Arrived</title><p>${request.url}`)
    })
    await new Promise<void>((resolve) => destination.listen(0, '127.0.0.1', resolve))
    workspace = await buildWorkspace(platform)
    base = `http://${workspace.domain}:${new URL(inject('server').redirect).port}`
    const { id } = await make('locked', sql`title = NULL`)
    const sealed = seal(platform.config.ENCRYPTION_KEYS, id, 'open sesame')
    await sql`UPDATE links SET sealed_password = ${sealed} WHERE id = ${id}`.execute(platform.db)
    await make('off', sql`disabled_at = now()`)
    await make('over', sql`expires_at = now()`)
    await make('banned', sql`banned_at = now()`)
    await make('framed', sql`rewrite = true, title = 'A <b>shop</b> & more'`)
    await make('card', sql`proxy = true, title = '<img src=x onerror=alert(1)>', description = 'Soon & <i>sound</i>'`)
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  })
  afterAll(async () => {
    await browser?.close()
    destination?.close()
  })

  const looks: BrowserContextOptions[] = [
    { viewport: { width: 1280, height: 800 }, colorScheme: 'light', locale: 'en-GB' },
    { viewport: { width: 360, height: 640 }, colorScheme: 'dark', locale: 'de-DE' },
    { viewport: { width: 360, height: 640 }, colorScheme: 'light', locale: 'ja-JP' },
  ]
  test.each(looks)('are readable and load no other files: %o', async (look) => {
    for (const [path, status] of [
      ['none', 404],
      ['off', 410],
      ['over', 410],
      ['banned', 410],
      ['locked', 200],
      ['card', 200],
    ] as const) {
      const userAgent = path === 'card' ? 'Slackbot-LinkExpanding 1.0' : undefined
      const { page, problems } = await openPage({ ...look, userAgent })
      const response = await page.goto(`${base}/${path}`)
      expect(response?.status()).toBe(status)
      expect(await page.locator('html').getAttribute('lang')).toBe(look.locale?.slice(0, 2))
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      for (const { text, contrast } of await contrasts(page)) expect(contrast, `${path}: ${text}`).toBeGreaterThan(4.5)
      expect(problems).toEqual([])
      await page.context().close()
    }
  })

  test('the password form has the focus, reports a wrong password, and redirects with the right password', async () => {
    const { page, problems } = await openPage({ locale: 'en-GB' })
    await page.goto(`${base}/locked?a=b`)
    expect(await page.evaluate('document.activeElement?.id')).toBe('password')
    await page.keyboard.type('wrong')
    await Promise.all([page.waitForURL(`${base}/locked?a=b`), page.keyboard.press('Enter')])
    await page.getByRole('alert').waitFor()
    expect(await page.getByRole('alert').textContent()).toBe('That is not the password. Try again.')
    await page.getByLabel('Password').fill('open sesame')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.waitForURL(/\/landing\?a=b$/)
    expect(await page.title()).toBe('Arrived')
    expect(await page.context().cookies()).toEqual([])
    expect(problems).toEqual([])
  })

  test('a framed destination fills the window under the short URL', async () => {
    const { page, problems } = await openPage({ viewport: { width: 360, height: 640 } })
    await page.goto(`${base}/framed?a=b`)
    expect(await page.title()).toBe('A <b>shop</b> & more')
    expect(page.url()).toBe(`${base}/framed?a=b`)
    expect(await page.frameLocator('iframe').locator('p').textContent()).toBe('/landing?a=b')
    expect(await page.locator('iframe').boundingBox()).toMatchObject({ x: 0, y: 0, width: 360, height: 640 })
    expect(problems).toEqual([])
  })

  test('a link with an app scheme is shown as a button', async () => {
    await make('app', sql`url = 'tribtest://open/7?a=%22b%22'`)
    const { page } = await openPage({})
    await page.goto(`${base}/app`, { waitUntil: 'commit' })
    expect(await page.getByRole('link').getAttribute('href')).toBe('tribtest://open/7?a=%22b%22')
  })
})

async function make(key: string, change: RawBuilder<unknown>) {
  const url = `http://127.0.0.1:${(destination.address() as AddressInfo).port}/landing`
  const link = await buildLink(platform, workspace, { key, url })
  await sql`UPDATE links SET ${change} WHERE id = ${link.id}`.execute(platform.db)
  return link
}

/** Opens a new browser window; collects its errors and requests to other hosts. */
async function openPage(options: BrowserContextOptions): Promise<{ page: Page; problems: string[] }> {
  const page = await (await browser.newContext(options)).newPage()
  const problems: string[] = []
  page.on('console', (message) => {
    if (!message.text().includes('responded with a status of 4')) problems.push(message.text())
  })
  page.on('request', (request) => {
    if (!/^http:\/\/(127\.0\.0\.1|t-[\w-]+\.localhost):/.test(request.url())) problems.push(request.url())
  })
  return { page, problems }
}

/** Script that returns every piece of text with its foreground and background colour. */
const colours = `[...document.querySelectorAll('h1, p, label, button, a')].map((element) => {
  let under = element
  while (under.parentElement && getComputedStyle(under).backgroundColor === 'rgba(0, 0, 0, 0)') under = under.parentElement
  return [element.textContent, getComputedStyle(element).color, getComputedStyle(under).backgroundColor]
})`

/** Computes the contrast of each text, as WCAG defines it. */
async function contrasts(page: Page): Promise<{ text: string; contrast: number }[]> {
  const found: [string, string, string][] = await page.evaluate(colours)
  return found.map(([text, ...pair]) => {
    const [dark = 0, light = 0] = pair.map(luminance).sort((one, other) => one - other)
    return { text, contrast: (light + 0.05) / (dark + 0.05) }
  })
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = (colour.match(/[\d.]+/g) ?? []).map((value) => {
    const share = Number(value) / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
