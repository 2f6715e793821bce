import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Role } from '@tributary/contract/permissions'
import type { Result, RunOptions } from 'axe-core'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { expect, inject } from 'vitest'
import { readConfig } from '../../server/src/platform/config.ts'
import type { Platform } from '../../server/src/platform/context.ts'
import { openPlatform } from '../../server/src/platform/handles.ts'
import { openLog } from '../../server/src/platform/log.ts'
import { type BuiltUser, type BuiltWorkspace, buildMember, buildWorkspace } from '../../server/test/build.ts'
import { sized } from '../../server/test/size.ts'
import { watchRequests } from './quiet.ts'

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium'
/** Whether tests run without a browser: on a machine without Chromium, except in CI, which installs it. */
export const lacksBrowser = !existsSync(executablePath) && !process.env.CI

/** Long, because a busy test machine is slow, not broken. */
export const patienceMs = 90_000
export const widths = { small: 360, wide: 1440 } as const

export type Visitor = {
  page: Page
  context: BrowserContext
  workspace: BuiltWorkspace
  member: BuiltUser
  /** Opens a page of the workspace, by its path below `/app/{workspace}`, and waits for its heading and its requests. */
  open(path?: string): Promise<void>
  /** What went wrong so far: script errors, refusals by the content security policy, requests to other hosts. */
  problems: string[]
}

export type Visiting = AsyncDisposable & {
  browser: Browser
  platform: Platform
  /** A browser in which a new member of a workspace is signed in: of a new one, or of that given. */
  visit(given?: { workspace?: BuiltWorkspace; role?: Role; width?: number; locale?: string }): Promise<Visitor>
}

/** Starts a browser. The server is that of the test run. */
export async function openBrowser(): Promise<Visiting> {
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  const platform = await openPlatform(readConfig(inject('environment')), openLog('silent'))
  return {
    browser,
    platform,
    async visit({ workspace: given, role = 'owner', width = widths.wide, locale = 'en-GB' } = {}) {
      const workspace = given ?? (await buildWorkspace(platform))
      const member = await buildMember(platform, workspace, role)
      const viewport = { width, height: width < 720 ? 780 : 900 }
      const context = await browser.newContext({ viewport, locale, reducedMotion: 'reduce' })
      const { api } = inject('server')
      await context.addCookies(parseCookies(member.cookie).map((cookie) => ({ ...cookie, url: api })))
      const page = await context.newPage()
      page.setDefaultTimeout(patienceMs)
      const problems = watchProblems(page, api)
      const untilQuiet = watchRequests(page)
      const open = async (path = '') => {
        await page.goto(`${api}/app/${workspace.slug}${path}`)
        await page.locator('h1, h2').filter({ visible: true }).first().waitFor()
        await untilQuiet()
      }
      return { page, context, workspace, member, open, problems }
    },
    async [Symbol.asyncDispose]() {
      await browser.close()
      await platform[Symbol.asyncDispose]()
    },
  }
}

const colourRules = ['color-contrast', 'link-in-text-block']
let areColoursKnown = false

/** Expects no violation of WCAG 2.2 A and AA, nor of axe's best practices, in both themes; in the page, or in a part of it. */
export async function expectAccessible(page: Page, part = ':root'): Promise<void> {
  await page.emulateMedia({ colorScheme: 'light' })
  const found = await findViolations(page, part, areColoursKnown ? withoutColours : {})
  if (!areColoursKnown) {
    await page.emulateMedia({ colorScheme: 'dark' })
    // Themes differ in colours only.
    found.push(...(await findViolations(page, part, { runOnly: colourRules })))
  }
  expect(found).toEqual([])
}

const withoutColours: RunOptions = { rules: Object.fromEntries(colourRules.map((id) => [id, { enabled: false }])) }
// Not @axe-core/playwright: it loads the library into the page again for every check, which takes longer than the check.
const axeScript = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

async function findViolations(page: Page, part: string, rules: RunOptions): Promise<string[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axeScript)
  const options: RunOptions = { resultTypes: ['violations'], ...rules }
  const running = `axe.run(${JSON.stringify({ include: [part] })}, ${JSON.stringify(options)})`
  const violations = await page.evaluate<Result[]>(`${running}.then(({ violations }) => violations)`)
  return violations.flatMap(({ id, help, nodes }) => {
    // An open menu is at the end of the document, outside of landmarks, as the pattern for menus wants it.
    const faulty = nodes.filter(({ html }) => id !== 'region' || !html.startsWith('<div data-radix-popper'))
    return faulty.map(({ html }) => `${id}: ${help}\n  ${html}`)
  })
}

/**
 * Calls the test at both widths, in turn. In the short form, `expectAccessible` checks colours on the small screen only:
 * they are the same on the wide one, and take most of the time.
 */
export async function eachWidth(test: (width: number) => Promise<void>) {
  await test(widths.small)
  areColoursKnown = sized({ short: true, full: false })
  try {
    await test(widths.wide)
  } finally {
    areColoursKnown = false
  }
}

function parseCookies(header: string): { name: string; value: string }[] {
  return header.split('; ').map((pair) => {
    const at = pair.indexOf('=')
    return { name: pair.slice(0, at), value: pair.slice(at + 1) }
  })
}

/** Collects script errors, refusals by the content security policy, and requests to other hosts. */
export function watchProblems(page: Page, api: string): string[] {
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`))
  page.on('console', (message) => {
    if (message.type() === 'error' && !/Failed to load resource/.test(message.text())) problems.push(message.text())
  })
  page.on('request', (request) => {
    const url = new URL(request.url())
    if (!['data:', 'blob:'].includes(url.protocol) && url.origin !== api)
      problems.push(`foreign host: ${request.url()}`)
  })
  return problems
}
