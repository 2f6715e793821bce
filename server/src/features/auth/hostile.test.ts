import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, describe, expect, inject, test } from 'vitest'
import { buildUser } from '../../../test/build.ts'
import { startMailbox } from '../../../test/mailbox.ts'
import { openPerson } from '../../../test/person.ts'
import { startServer } from '../../../test/server-process.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { sessionCookieName } from './cookies.ts'

const platform = await openTestPlatform()
const mailbox = await startMailbox()
const limits = { SIGN_IN_ATTEMPTS_PER_ADDRESS: '100000', SIGN_IN_VISITS_PER_MINUTE: '100000' }
const server = await startServer({
  ...inject('environment'),
  ROLES: 'api',
  SIGNUP: 'open',
  SMTP_URL: mailbox.url,
  ...limits,
})
afterAll(async () => {
  await server.stop()
  await mailbox.stop()
})
const { api } = server
const password = 'vermilion teapot 7'

async function signedIn() {
  const user = await buildUser(platform)
  return { user, person: openPerson(api, user.cookie) }
}

test.each([
  ['another origin', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
  ['a sibling domain', { origin: 'http://other.127.0.0.1', 'sec-fetch-site': 'same-site' }],
  ['a page without origin', { origin: 'null', 'sec-fetch-site': 'same-origin' }],
])('a form of %s is refused', async (_name, headers) => {
  const { person } = await signedIn()
  expect((await person.post('/account/name', { name: 'Eve' }, headers)).status).toBe(403)
  const { email } = await buildUser(platform, { password })
  const signIn = await openPerson(api).post('/sign-in', { email, password }, headers)
  expect([signIn.status, signIn.setCookies]).toEqual([403, []])
})

describe('a forged host', () => {
  type Case = [path: string, prepare: () => Promise<{ to: string; email: string; cookie?: string }>]
  const existing = async () => {
    const { email } = await buildUser(platform)
    return { to: email, email }
  }
  const cases: Case[] = [
    ['/sign-in/link', existing],
    ['/reset-password', existing],
    ['/sign-up', existing],
    ['/sign-up', async () => ({ ...newAddress() })],
    ['/account/email', async () => ({ ...newAddress(), cookie: (await buildUser(platform)).cookie })],
  ]

  test.each(cases)('changes no link in the e-mail of %s', async (path, prepare) => {
    const { to, ...fields } = await prepare()
    const answer = await postForged(path, fields)
    expect(answer.status).toBe(200)
    expect(JSON.stringify(answer)).not.toContain('evil')
    const { text, raw } = await mailbox.waitFor(to)
    const links = text.match(/https?:[^\s"<]+/g) ?? []
    expect(links.length).toBeGreaterThanOrEqual(2)
    expect(links.filter((link) => new URL(link).origin !== api)).toEqual([])
    expect(raw).not.toContain('evil')
  })

  const newAddress = () => {
    const email = `${randomUUID()}@example.com`
    return { to: email, email }
  }
})

describe('session fixation', () => {
  const name = sessionCookieName(platform.config)

  test('a session that was planted in the browser does not become one of the user who signs in there', async () => {
    const [attacker, victim] = [await buildUser(platform), await buildUser(platform, { password })]
    const browser = openPerson(api, attacker.cookie)
    expect((await browser.post('/sign-in', { email: victim.email, password })).status).toBe(303)
    expect(`${name}=${browser.cookies.get(name)}`).not.toBe(attacker.cookie)
    expect((await browser.get('/account')).text).toContain(victim.email)
    expect((await openPerson(api, attacker.cookie).get('/account')).text).not.toContain(victim.email)
  })

  test('a token that the attacker chose is not used', async () => {
    const victim = await buildUser(platform, { password })
    for (const planted of ['chosen', `chosen.${'A'.repeat(43)}=`, '']) {
      const browser = openPerson(api, `${name}=${encodeURIComponent(planted)}`)
      await browser.post('/sign-in', { email: victim.email, password })
      expect(browser.cookies.get(name)).not.toContain('chosen')
      expect((await openPerson(api, `${name}=${encodeURIComponent(planted)}`).get('/account')).status).toBe(303)
    }
  })

  test('the session before the confirmation of a password stays that of its own user', async () => {
    const [attacker, victim] = [await buildUser(platform), await buildUser(platform, { password })]
    const browser = openPerson(api, attacker.cookie)
    expect((await browser.post('/confirm', { currentPassword: password })).status).toBe(401)
    expect((await browser.get('/account')).text).not.toContain(victim.email)
  })
})

test.each([
  'https://evil.example',
  '//evil.example',
  '/\\evil.example',
  '/%09/evil.example',
  'javascript:alert(1)',
  '/a/..//evil.example',
])('next=%s leads to no other site', async (next) => {
  const { email } = await buildUser(platform, { password })
  const { location } = await openPerson(api).post('/sign-in', { email, password, next })
  expect(new URL(location ?? '', api).origin).toBe(api)
  expect(location).toMatch(/^\/(?![/\\])/)
})

test('pages allow no foreign content, no frames and no caching', async () => {
  const { headers, text } = await openPerson(api).get('/sign-in')
  const policy = headers.get('content-security-policy') ?? ''
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain("frame-ancestors 'none'")
  expect(headers.get('cache-control')).toBe('no-store')
  expect(text).not.toMatch(/ on\w+=|style="/)
})

test('names are escaped', async () => {
  const { person } = await signedIn()
  const page = await person.post('/account/name', { name: '"><script>alert(1)</script>' })
  expect(page.text).not.toContain('<script>alert')
})

test.each([
  '/auth/sign-up/email',
  '/auth/sign-in/email',
  '/auth/get-session',
  '/auth/update-user',
  '/auth/delete-user',
  '/auth/list-sessions',
])("the library's %s is not reachable", async (path) => {
  const { person } = await signedIn()
  expect((await person.post(path, {})).status).toBe(404)
})

test('a large form is refused', async () => {
  expect((await openPerson(api).post('/sign-in', { email: 'a'.repeat(100_000), password })).status).toBe(422)
})

/** Posts a form with a `Host` header of another site, which `fetch` does not allow. */
async function postForged(path: string, { cookie, ...fields }: { cookie?: string; email: string }) {
  const body = new URLSearchParams(fields).toString()
  const headers = {
    host: 'evil.example',
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'https',
    forwarded: 'host=evil.example;proto=https',
    origin: api,
    'sec-fetch-site': 'same-origin',
    'content-type': 'application/x-www-form-urlencoded',
    'content-length': String(body.length),
    ...(cookie && { cookie }),
  }
  const sent = request(`${api}${path}`, { method: 'POST', headers, agent: false })
  sent.end(body)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return { status: response.statusCode, headers: response.headers, text: await text(response) }
}
