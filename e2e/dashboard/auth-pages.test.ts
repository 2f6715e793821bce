import { type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { buildDashboard } from '../../demo/dashboard.ts'
import { freePort } from '../../engines/port.ts'
import { createDatabase } from '../../engines/postgres.ts'
import { createInvites, issueInviteLink } from '../../server/src/features/invites/service.ts'
import { requireWorkspace } from '../../server/src/features/workspaces/service.ts'
import { contextIn } from '../../server/test/context.ts'
import { openOwnDatabase } from '../../server/test/own-database.ts'
import { type ServerProcess, startServer } from '../../server/test/server-process.ts'
import { currentTotp, nextTotp } from '../../server/test/totp.ts'
import { eachWidth, expectAccessible, lacksBrowser, patienceMs } from './browser.ts'

const port = String(await freePort())
const api = `http://localhost:${port}`
const owner = { email: 'owner@example.com', password: 'vermilion teapot 7' }
// A database without users, so that the server prints a setup link.
const database = await createDatabase(
  inject('environment').POSTGRES_URL as string,
  `pages_${crypto.randomUUID().replaceAll('-', '')}`,
)
const platform = await openOwnDatabase({ POSTGRES_URL: database, API_URL: api })

describe.skipIf(lacksBrowser)('sign-in and account pages', () => {
  let server: ServerProcess
  let browser: Awaited<ReturnType<typeof chromium.launch>>
  let setupLink = ''

  beforeAll(async () => {
    await buildDashboard()
    const environment = { ...inject('environment'), POSTGRES_URL: database, API_URL: api, API_PORT: port }
    const settings = { ROLES: 'api', LOG_LEVEL: 'info', SIGN_IN_VISITS_PER_MINUTE: '100000' }
    server = await startServer({ ...environment, ...settings }, (line) => {
      setupLink ||= /"setupLink":"([^"]+)"/.exec(line)?.[1] ?? ''
    })
    browser = await chromium.launch({
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: ['--no-sandbox'],
    })
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
  })

  async function openPage(given: Parameters<typeof browser.newContext>[0] = {}) {
    const context = await browser.newContext({ locale: 'en-GB', ...given })
    const page = await context.newPage()
    page.setDefaultTimeout(patienceMs)
    return { context, page }
  }

  /** Expects the page to be accessible and to fit, in both themes and widths. */
  async function expectGood(page: Page): Promise<void> {
    await eachWidth(async (width) => {
      await page.setViewportSize({ width, height: 800 })
      await expectAccessible(page)
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), page.url()).toBe(true)
    })
  }

  async function signIn(page: Page): Promise<void> {
    await page.getByLabel('E-mail address').fill(owner.email)
    await page.getByLabel('Password').fill(owner.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
  }

  let signedIn: BrowserContext

  test('the setup link leads to an account, a workspace and the dashboard, by keyboard alone', async () => {
    const { page, context } = await openPage()
    await page.goto(setupLink)
    await expectGood(page)
    await page.getByLabel('E-mail address').focus()
    await page.keyboard.type(owner.email)
    for (const value of ['Olga Owner', owner.password, 'Acme']) {
      await page.keyboard.press('Tab')
      await page.keyboard.press('ControlOrMeta+a')
      await page.keyboard.type(value)
    }
    await page.keyboard.press('Enter')
    await page.waitForURL(`${api}/app/acme`)
    await page.getByRole('heading', { name: 'Your first tracked sale' }).waitFor()
    signedIn = context
  })

  test('a used setup link and unknown links say so', async () => {
    const { page } = await openPage()
    for (const path of [setupLink, `${api}/invite?token=x`, `${api}/sign-in/use-link?token=x`]) {
      await page.goto(path)
      await expectGood(page)
    }
  })

  test.each(['/sign-in', '/sign-in/link', '/reset-password', '/sign-up', '/two-factor'])(
    '%s is accessible',
    async (path) => {
      const { page, context } = await openPage()
      await page.goto(api + path)
      await expectGood(page)
      await context.close()
    },
  )

  test('pages follow the language of the browser', async () => {
    const { page, context } = await openPage({ locale: 'de-AT' })
    await page.goto(`${api}/sign-in`)
    await page.getByRole('heading', { name: 'Anmelden' }).waitFor()
    expect(await page.evaluate('document.documentElement.lang')).toBe('de')
    await page.getByLabel('E-Mail-Adresse').fill(owner.email)
    await page.getByLabel('Passwort').fill('not the password')
    await page.getByRole('button', { name: 'Anmelden' }).click()
    await page.getByText('E-Mail-Adresse oder Passwort ist falsch.').waitFor()
    await expectGood(page)
    await context.close()
  })

  test('an invite is accessible for a new person and for somebody else', async () => {
    const other = await signedIn.newPage()
    const { id } = await requireWorkspace(platform, 'acme')
    const { invites } = await createInvites(contextIn(platform, id), { email: 'new@example.com', role: 'member' })
    const { link } = await issueInviteLink(platform, invites[0]?.invite?.id ?? '')
    await other.goto(link)
    await expectGood(other)
    const { page, context } = await openPage()
    await page.goto(link)
    await expectGood(page)
    await page.getByLabel('Your name').fill('Nina New')
    await page.getByLabel('New password').fill(owner.password)
    await page.getByRole('button', { name: 'Create account and join' }).click()
    await page.waitForURL(`${api}/app/acme`)
    await context.close()
  })

  test('the account, its second factor and the confirmation are accessible', { timeout: 300_000 }, async () => {
    const page = await signedIn.newPage()
    await page.goto(`${api}/account`)
    await expectGood(page)
    await page.getByRole('button', { name: 'Set up' }).click()
    const uri = await page.inputValue('input[name=uri]')
    await expectGood(page)
    await page.getByLabel('Code').fill(currentTotp(uri))
    await page.getByRole('button', { name: 'Turn on' }).click()
    await page.waitForURL(`${api}/account`)
    await page.goto(`${api}/confirm?next=/account`)
    await expectGood(page)

    const again = await openPage()
    await again.page.goto(`${api}/sign-in`)
    await signIn(again.page)
    await again.page.waitForURL(/two-factor/)
    await expectGood(again.page)
    await again.page.getByLabel('Code').fill(nextTotp(uri))
    await again.page.getByRole('button', { name: 'Continue' }).click()
    await again.page.waitForURL(`${api}/app/acme`)
  })
})
