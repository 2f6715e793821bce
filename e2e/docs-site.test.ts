import { execFile } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { errorCodes } from '@tributary/contract/operation'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { settings } from '../server/src/platform/settings.ts'
import { type ServerProcess, startServer } from '../server/test/server-process.ts'

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium'
const root = fileURLToPath(new URL('..', import.meta.url))
const folder = join(root, 'docs/dist')

let server: ServerProcess
let origin: string
/** HTML of each page, by path from the site's folder. */
let pages: Map<string, string>

beforeAll(async () => {
  await promisify(execFile)('npm', ['run', 'docs'], { cwd: root })
  pages = new Map(
    globSync('**/*.html', { cwd: folder }).map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
  )
  server = await startServer({ ...inject('environment'), ROLES: 'api' })
  origin = server.api
})
afterAll(async () => {
  await server?.stop()
})

test('has every planned page', () => {
  const guides = ['nextjs', 'shop', 'mobile', 'migrating', 'domains', 'privacy', 'scaling', 'security', 'configuration']
  const expectedPages = ['index', 'quick-start', 'concepts', 'errors/index', ...guides.map((name) => `guides/${name}`)]
  for (const page of [...expectedPages, ...errorCodes.map((code) => `errors/${code}`)])
    expect([...pages.keys()]).toContain(`${page}.html`)
  for (const code of errorCodes) expect(pages.get(`errors/${code}.html`)).toMatch(new RegExp(`<h1[^>]*>${code} `))
  const shown = pages.get('guides/configuration.html') ?? ''
  expect(Object.keys(settings).filter((name) => !shown.includes(`<code>${name}</code>`))).toEqual([])
})

test('has no dead link, and loads nothing from other hosts', async () => {
  const dead: string[] = []
  const answers = finder()
  const anchors = new Map([...pages].map(([name, html]) => [name, new Set(attributes(html, 'id'))]))
  for (const [name, html] of pages) {
    for (const address of [...attributes(html, 'href'), ...attributes(html, 'src')]) {
      const target = new URL(address, `${origin}/docs/${name.replace(/(index)?\.html$/, '')}`)
      if (target.origin !== origin) continue
      const { isFound, file } = await answers(target)
      const isThere = target.hash === '' || anchors.get(file)?.has(decodeURIComponent(target.hash.slice(1)))
      if (!isFound || !isThere) dead.push(`${name}: ${address}`)
    }
    if (/<(script|img|iframe|link)[^>]+(src|href)="(https?:)?\/\//.test(html))
      dead.push(`${name} loads from another host`)
  }
  expect(dead).toEqual([])
}, 240_000)

test('every page has the same inline scripts, as its content security policy requires', () => {
  const inline = (html: string) =>
    [...html.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g)].map(([, text]) => text)
  for (const [name, html] of pages) expect(inline(html), name).toEqual(inline(pages.get('index.html') ?? ''))
})

// Skipped without an installed browser, except in CI, which installs one.
describe.skipIf(!existsSync(executablePath) && !process.env.CI)('in a browser', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  })
  afterAll(() => browser?.close())

  const looks: BrowserContextOptions[] = [
    { viewport: { width: 1366, height: 850 }, colorScheme: 'light' },
    { viewport: { width: 360, height: 640 }, colorScheme: 'dark' },
  ]
  test.each(looks)('pages fit the screen and load nothing from other hosts: %o', async (look) => {
    const { page, problems } = await openPage(browser, look)
    for (const path of [
      '',
      'quick-start',
      'guides/scaling',
      'guides/webhooks',
      'errors/',
      'errors/conflict',
      'reference',
    ]) {
      await page.goto(`${origin}/docs/${path}`, { waitUntil: 'networkidle' })
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), path).toBe(true)
      const isDark = await page.evaluate(`matchMedia('(prefers-color-scheme: dark)').matches`)
      if (path !== 'reference')
        expect(await page.evaluate(`document.documentElement.classList.contains('dark')`)).toBe(isDark)
    }
    await page.getByRole('heading', { name: 'Tributary API' }).waitFor()
    expect(problems).toEqual([])
    await page.context().close()
  })

  test('search finds pages by obvious words and opens them', async () => {
    const { page, problems } = await openPage(browser, {})
    await page.goto(`${origin}/docs/`, { waitUntil: 'networkidle' })
    await page.getByRole('button', { name: 'Search' }).click()
    const first = 'li:first-child > .result'
    for (const [words, position] of [
      ['webhook', 'guides/webhooks'],
      ['422', 'guides/errors'],
      ['exchange rates', 'guides/tracking'],
      ['SDK', 'guides/compatibility'],
      ['TLS', 'guides/'],
      ['sizing table', 'guides/scaling'],
    ] as const) {
      await page.locator('#localsearch-input').fill(words)
      await page.locator(`${first}[href^="/docs/${position}"]`).waitFor()
    }
    await page.locator(first).click()
    await page.waitForURL(/\/docs\/guides\/scaling/)
    expect(problems).toEqual([])
    await page.context().close()
  })

  test('pages are readable without scripts, also the page for an unknown path', async () => {
    const { page } = await openPage(browser, { javaScriptEnabled: false })
    for (const [path, words] of [
      ['quick-start', 'npm run demo'],
      ['errors/conflict', 'What to do'],
      ['none', 'No such page'],
      ['reference', 'OpenAPI document'],
    ] as const) {
      await page.goto(`${origin}/docs/${path}`)
      expect(await page.evaluate('document.body.innerText'), path).toContain(words)
    }
    await page.context().close()
  })

  test('old URLs of the API reference redirect to the current one', async () => {
    const { page } = await openPage(browser, {})
    await page.goto(`${origin}/docs#tag/links`)
    await page.waitForURL(/\/docs\/reference#tag\/links/)
    await page.context().close()
  })
})

/** Returns a function that checks whether a URL exists; each URL is fetched once. */
function finder() {
  const found = new Map<string, Promise<{ isFound: boolean; file: string }>>()
  const find = async (address: string) => {
    const response = await fetch(address)
    await response.body?.cancel()
    const path = new URL(response.url).pathname.replace(/^\/docs\//, '').replace(/(^|\/)$/, '$1index')
    return { isFound: response.ok, file: `${path}.html` }
  }
  return ({ origin, pathname }: URL) => {
    const address = origin + pathname
    const answer = found.get(address) ?? find(address)
    found.set(address, answer)
    return answer
  }
}

async function openPage(browser: Browser, options: BrowserContextOptions): Promise<{ page: Page; problems: string[] }> {
  const page = await (await browser.newContext(options)).newPage()
  const problems: string[] = []
  page.on('console', (message) => {
    if (!message.text().startsWith('@scalar/api-reference')) problems.push(message.text())
  })
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('request', (request) => {
    if (!/^(data:|blob:)/.test(request.url()) && new URL(request.url()).origin !== origin) problems.push(request.url())
  })
  return { page, problems }
}

function attributes(html: string, name: string): string[] {
  return [...html.matchAll(new RegExp(`\\s${name}="([^"]*)"`, 'g'))].map(([, value = '']) =>
    value.replaceAll('&amp;', '&'),
  )
}
