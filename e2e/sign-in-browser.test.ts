import { existsSync } from 'node:fs'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { freePort } from '../engines/port.ts'
import { buildUser } from '../server/test/build.ts'
import { type ServerProcess, startServer } from '../server/test/server-process.ts'
import { openTestPlatform } from '../server/test/stack.ts'
import { currentTotp, nextTotp } from '../server/test/totp.ts'

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium'
const port = String(await freePort())
// Passkeys and `__Host-` cookies work on localhost, but not on an IP address without HTTPS.
const api = `http://localhost:${port}`
const platform = await openTestPlatform({ API_URL: api })
const password = 'vermilion teapot 7'

let server: ServerProcess
let browser: Browser

// Skipped without an installed browser, except in CI, which installs one.
describe.skipIf(!existsSync(executablePath) && !process.env.CI)('sign-in in a browser', () => {
  beforeAll(async () => {
    const limits = { SIGN_IN_VISITS_PER_MINUTE: '100000', SIGN_IN_ATTEMPTS_PER_ADDRESS: '100000' }
    server = await startServer({ ...inject('environment'), ROLES: 'api', API_PORT: port, API_URL: api, ...limits })
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
  })

  test('a passkey is added and signs in, without a password and with a __Host- cookie', async () => {
    const user = await buildUser(platform, { password })
    const { page, context } = await openPage()
    await addAuthenticator(context, page)
    await signIn(page, user.email)
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await page.getByText(/added \d+ \w+ \d{4}/).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL(`${api}/sign-in`)
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await page.waitForURL(/\/app/)
    await page.goto(`${api}/account`)
    expect(await page.textContent('main')).toContain(`Signed in as ${user.email}`)
    const session = (await context.cookies(api)).find(({ name }) => name === '__Host-tributary.session_token')
    expect(session).toMatchObject({ httpOnly: true, secure: true, sameSite: 'Lax', path: '/', domain: 'localhost' })
    await context.close()
  })

  test('an authenticator app is the second factor', async () => {
    const user = await buildUser(platform, { password })
    const { page, context } = await openPage()
    await signIn(page, user.email)
    await page.getByRole('button', { name: 'Set up' }).click()
    const uri = await page.inputValue('input[name=uri]', { strict: true })
    expect(await page.locator('.card svg').count()).toBe(1)
    await page.fill('#code', currentTotp(uri))
    await page.getByRole('button', { name: 'Turn on' }).click()
    await page.waitForURL(`${api}/account`)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await fillSignIn(page, user.email)
    await page.waitForURL(/two-factor/)
    await page.fill('#code', nextTotp(uri))
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.waitForURL(/\/app/)
    await context.close()
  })

  test('pages need no JavaScript and fit a narrow screen, in light and dark', async () => {
    const user = await buildUser(platform, { password })
    for (const colorScheme of ['light', 'dark'] as const) {
      const options = { javaScriptEnabled: false, viewport: { width: 360, height: 700 }, colorScheme }
      const { page, context } = await openPage(options)
      await signIn(page, user.email)
      const width = await page.locator('main').boundingBox()
      expect(width?.width).toBeLessThanOrEqual(360)
      const card = await page.locator('.card').boundingBox()
      expect((card?.x ?? 0) + (card?.width ?? 0)).toBeLessThanOrEqual(360)
      await context.close()
    }
  })

  test('a page of another site changes nothing with the cookie of a signed-in user', async () => {
    const user = await buildUser(platform, { password, name: 'Ada' })
    const { page, context } = await openPage()
    await signIn(page, user.email)
    const form = `<form method="post" action="${api}/account/name"><input name="name" value="Eve"></form>`
    await page.route('http://evil.example/', (route) =>
      route.fulfill({ contentType: 'text/html', body: `${form}<script>document.forms[0].submit()</script>` }),
    )
    const answered = page.waitForResponse(`${api}/account/name`)
    await page.goto('http://evil.example/').catch(() => {})
    expect([303, 403]).toContain((await answered).status())
    await page.goto(`${api}/account`)
    expect(await page.inputValue('#name')).toBe('Ada')
    await context.close()
  })

  test('a sibling domain can not set the session cookie', async () => {
    const { page, context } = await openPage()
    const sibling = `http://evil.localhost:${port}/`
    await page.route(sibling, (route) => route.fulfill({ contentType: 'text/html', body: '<p>' }))
    await page.goto(sibling)
    const name = '__Host-tributary.session_token'
    await page.evaluate(`for (const rest of ['; Domain=localhost', '; Domain=localhost; Secure', '; Domain=.localhost; Secure'])
      document.cookie = '${name}=planted; Path=/' + rest`)
    await page.goto(`${api}/sign-in`)
    expect((await context.cookies(api)).filter((cookie) => cookie.name === name)).toEqual([])
    await context.close()
  })
})

async function openPage(options: Parameters<Browser['newContext']>[0] = {}) {
  const context = await browser.newContext(options)
  const page = await context.newPage()
  await page.goto(`${api}/sign-in?next=/account`)
  return { page, context }
}

async function fillSignIn(page: Page, email: string): Promise<void> {
  await page.fill('#email', email)
  await page.fill('#password', password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

async function signIn(page: Page, email: string): Promise<void> {
  await fillSignIn(page, email)
  await page.waitForURL(`${api}/account`)
}

/** Gives the page a platform authenticator that always verifies its user. */
async function addAuthenticator(context: BrowserContext, page: Page): Promise<void> {
  const session = await context.newCDPSession(page)
  await session.send('WebAuthn.enable')
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
}
