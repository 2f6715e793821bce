import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, describe, expect, inject, test } from 'vitest'
import { buildMember, buildUser, buildWorkspace } from '../../../test/build.ts'
import { startMailbox } from '../../../test/mailbox.ts'
import { openPerson } from '../../../test/person.ts'
import { startServer } from '../../../test/server-process.ts'
import { eventually, openTestPlatform } from '../../../test/stack.ts'
import { currentTotp, nextTotp } from '../../../test/totp.ts'
import { sessionCookieName } from './cookies.ts'
import { issueLink } from './one-time.ts'
import { findSession } from './service.ts'

const platform = await openTestPlatform()
const mailbox = await startMailbox()
const server = await startServer({
  ...inject('environment'),
  ROLES: 'api',
  SMTP_URL: mailbox.url,
  SIGNUP: 'domains',
  SIGNUP_DOMAINS: 'example.org',
  SIGN_IN_ATTEMPTS_PER_ADDRESS: '100000',
  SIGN_IN_ATTEMPTS_PER_MINUTE: '100000',
  SIGN_IN_VISITS_PER_MINUTE: '100000',
})
afterAll(async () => {
  await server.stop()
  await mailbox.stop()
})
const { api } = server
const password = 'vermilion teapot 7'
const sessionCookie = sessionCookieName(platform.config)

async function signedIn(given: { password?: string } = {}) {
  const user = await buildUser(platform, given)
  return { user, person: openPerson(api, user.cookie) }
}

const withPath = async (link: Promise<string>) => {
  const { pathname, search } = new URL(await link)
  return pathname + search
}
const tokenIn = (path: string) => new URL(path, api).searchParams.get('token') ?? ''

describe('sign-in with a password', () => {
  test('starts a session and leads to the account', async () => {
    const { email, id } = await buildUser(platform, { password })
    const person = openPerson(api)
    expect((await person.get('/sign-in?next=/docs')).text).toContain('name="next" value="/docs"')
    const answer = await person.post('/sign-in', { email: email.toUpperCase(), password, next: '/docs' })
    expect([answer.status, answer.location]).toEqual([303, '/docs'])
    const cookie = answer.setCookies.find((header) => header.startsWith(sessionCookie)) ?? ''
    expect(cookie).toMatch(/; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/)
    expect(await findSession(platform, cookie.split(';')[0])).toMatchObject({ userId: id })
    expect((await person.get('/account')).text).toContain(email)
  })

  test('a wrong password, an unknown address and a disabled user get the same answer', async () => {
    const [known, disabled] = [await buildUser(platform, { password }), await buildUser(platform, { password })]
    await sql`UPDATE users SET disabled_at = now() WHERE id = ${disabled.id}`.execute(platform.db)
    const attempts = [
      { email: known.email, password: 'wrong password' },
      { email: `${randomUUID()}@example.com`, password },
      { email: disabled.email, password },
      { email: 'no address', password },
    ]
    const answers = []
    for (const attempt of attempts) {
      const { status, text, setCookies } = await openPerson(api).post('/sign-in', attempt)
      answers.push([status, text.replaceAll(/nonce="[^"]+"|value="[^"]+"/g, ''), setCookies])
    }
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
    expect(answers[0]?.[0]).toBe(401)
  })

  test('every sign-in has a new session, and the former one of the browser ends', async () => {
    const { email } = await buildUser(platform, { password })
    const person = openPerson(api)
    await person.post('/sign-in', { email, password })
    const first = `${sessionCookie}=${person.cookies.get(sessionCookie)}`
    await person.post('/sign-in', { email, password })
    expect(`${sessionCookie}=${person.cookies.get(sessionCookie)}`).not.toBe(first)
    await eventually(async () => expect(await findSession(platform, first)).toBeUndefined(), 2_000)
  })

  test('signing out ends the session', async () => {
    const { user, person } = await signedIn()
    const answer = await person.post('/sign-out', {})
    expect(answer.location).toBe('/sign-in')
    expect((await openPerson(api, user.cookie).get('/account')).location).toBe('/sign-in?next=%2Faccount')
  })
})

describe('links by e-mail', () => {
  test('a link signs in once, after a press of its button', async () => {
    const { email } = await buildUser(platform)
    const person = openPerson(api)
    expect((await person.post('/sign-in/link', { email, next: '/docs' })).text).toContain('a link is on its way')
    const link = await mailbox.waitForLink(email)
    const page = await person.get(link)
    expect(page.text).toContain('name="next" value="/docs"')
    expect(person.cookies.size).toBe(0)
    const use = { token: tokenIn(link), next: '/docs' }
    expect((await person.post('/sign-in/use-link', use)).location).toBe('/docs')
    expect((await person.get('/account')).status).toBe(200)
    expect((await person.get(`/sign-in/use-link?token=${use.token}&next=/docs`)).location).toBe('/docs')
    const again = await openPerson(api).post('/sign-in/use-link', use)
    expect([again.status, again.setCookies]).toEqual([404, []])
  })

  test('the e-mail has a text and an HTML part', async () => {
    const { email } = await buildUser(platform)
    await openPerson(api).post('/sign-in/link', { email })
    const { raw, text } = await mailbox.waitFor(email)
    expect(raw).toContain('Content-Type: text/plain')
    expect(raw).toContain('Content-Type: text/html')
    expect(text).toContain(`${api}/sign-in/use-link?token=`)
  })

  test('an unknown address gets the same answer and no e-mail', async () => {
    const [known, unknown] = [(await buildUser(platform)).email, `${randomUUID()}@example.com`]
    for (const path of ['/sign-in/link', '/reset-password']) {
      const texts = []
      for (const email of [known, unknown]) {
        const { status, text } = await openPerson(api).post(path, { email })
        texts.push(`${status}${text.replaceAll(/nonce="[^"]+"/g, '')}`)
      }
      expect(texts[0]).toBe(texts[1])
    }
    await mailbox.waitFor(known, 1)
    expect(mailbox.received.filter(({ to }) => to === unknown)).toEqual([])
  })

  test('an address gets few e-mails an hour', async () => {
    const { email } = await buildUser(platform)
    for (let count = 0; count < 15; count++) await openPerson(api).post('/sign-in/link', { email })
    await mailbox.waitFor(email, 4)
    // E-mails are sent up to 2.5 s after the response.
    await new Promise((resolve) => setTimeout(resolve, 3_000))
    // Five, and as many again if Valkey was slow meanwhile, because the process then counts alone.
    expect(mailbox.received.filter(({ to }) => to === email).length).toBeLessThanOrEqual(10)
  })

  test('the secrets of links are hashed in the database', async () => {
    const { id } = await buildUser(platform)
    const token = tokenIn(await withPath(issueLink(platform, 'sign-in', { userId: id })))
    const { rows } = await sql<{ text: string }>`SELECT v::text AS text FROM verifications v`.execute(platform.db)
    expect(rows.filter(({ text }) => text.includes(token))).toEqual([])
    expect(rows.some(({ text }) => text.includes(id))).toBe(true)
  })
})

describe('a new password', () => {
  test('by a reset link ends every session and works from then on', async () => {
    const { user, person } = await signedIn({ password })
    await openPerson(api).post('/reset-password', { email: user.email })
    const link = await mailbox.waitForLink(user.email)
    const token = tokenIn(link)
    const weak = await openPerson(api).post('/reset-password/new', { token, password: 'password123' })
    expect([weak.status, weak.text]).toEqual([422, expect.stringContaining('easy to guess')])
    const saved = await openPerson(api).post('/reset-password/new', { token, password: 'nine llamas juggle' })
    expect(saved.text).toContain('Password saved')
    await eventually(async () => expect((await person.get('/account')).status).toBe(303), 2_000)
    const old = await openPerson(api).post('/sign-in', { email: user.email, password })
    expect(old.status).toBe(401)
    const now = await openPerson(api).post('/sign-in', { email: user.email, password: 'nine llamas juggle' })
    expect(now.status).toBe(303)
    expect((await openPerson(api).post('/reset-password/new', { token, password: 'nine llamas juggle' })).status).toBe(
      404,
    )
  })

  test('by the account page ends the other sessions only', async () => {
    const { user, person } = await signedIn({ password })
    const other = openPerson(api)
    await other.post('/sign-in', { email: user.email, password })
    const answer = await person.post('/account/password', { password: 'nine llamas juggle' })
    expect(answer.text).toContain('Your password is saved.')
    await eventually(async () => expect((await other.get('/account')).status).toBe(303), 2_000)
    expect((await person.get('/account')).status).toBe(200)
  })

  test('is refused when it is short', async () => {
    const { person } = await signedIn()
    const answer = await person.post('/account/password', { password: 'kV8#qpLz2' })
    expect([answer.status, answer.text]).toEqual([
      422,
      expect.stringContaining('9 characters. Choose one with 10 to 200.'),
    ])
  })
})

describe('a sensitive change', () => {
  test('asks for the password again after 15 minutes', async () => {
    const { user, person } = await signedIn({ password })
    await sql`UPDATE sessions SET authenticated_at = now() - interval '16 minutes' WHERE user_id = ${user.id}`.execute(
      platform.db,
    )
    const refused = await person.post('/account/email', { email: 'new@example.com' })
    expect(refused.location).toBe('/confirm?next=%2Faccount')
    expect((await person.post('/confirm', { currentPassword: 'wrong password' })).status).toBe(401)
    const confirmed = await person.post('/confirm', { currentPassword: password, next: '/account' })
    expect(confirmed.location).toBe('/account')
    expect((await person.post('/account/email', { email: 'new@example.com' })).status).toBe(200)
  })

  test('a program of a page confirms the password as JSON', async () => {
    const { user } = await signedIn({ password })
    await sql`UPDATE sessions SET authenticated_at = now() - interval '1 hour' WHERE user_id = ${user.id}`.execute(
      platform.db,
    )
    const headers = { cookie: user.cookie, origin: api, 'content-type': 'application/json' }
    const confirm = (body: object, more = {}) =>
      fetch(`${api}/auth/confirm`, { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify(body) })
    expect((await confirm({})).status).toBe(400)
    expect((await confirm({ password: 'wrong password' })).status).toBe(401)
    expect((await confirm({ password }, { cookie: '' })).status).toBe(401)
    expect((await confirm({ password }, { origin: 'https://evil.example' })).status).toBe(403)
    expect((await confirm({ password })).status).toBe(200)
    await eventually(async () => {
      const session = await findSession(platform, user.cookie)
      expect(Date.now() - (session?.authenticatedAt.getTime() ?? 0)).toBeLessThan(60_000)
    }, 2_000)
  })

  test('an e-mail address changes when its new owner opens the link', async () => {
    const { user, person } = await signedIn()
    const email = `${randomUUID()}@example.com`
    await person.post('/account/email', { email })
    const link = await mailbox.waitForLink(email)
    expect((await person.get(link)).text).toContain('Confirm')
    await person.post('/account/email/confirm', { token: tokenIn(link) })
    await eventually(async () => expect((await person.get('/account')).text).toContain(`Signed in as ${email}`), 2_000)
    expect((await sql`SELECT 1 FROM users WHERE email = ${user.email}`.execute(platform.db)).rows).toEqual([])
    expect((await mailbox.waitFor(user.email)).text).toContain(`now has the e-mail address ${email}`)
  })

  test('links to the former e-mail address end when it changes, and its limit of e-mails does not stop the notice', async () => {
    const { user, person } = await signedIn()
    const reset = tokenIn(await withPath(issueLink(platform, 'reset', { userId: user.id })))
    for (let count = 0; count < 8; count++) await openPerson(api).post('/sign-in/link', { email: user.email })
    await mailbox.waitFor(user.email, 4)
    const email = `${randomUUID()}@example.com`
    const token = tokenIn(await withPath(issueLink(platform, 'change-email', { userId: user.id, email })))
    expect((await person.post('/account/email/confirm', { token })).text).toContain('Address changed')
    expect((await mailbox.waitFor(user.email, 5)).text).toContain('ask the operator')
    expect((await openPerson(api).post('/reset-password/new', { token: reset, password })).status).toBe(404)
  })

  test('the last owner of a workspace cannot delete the account', async () => {
    const workspace = await buildWorkspace(platform)
    const owner = await buildMember(platform, workspace, 'owner')
    const person = openPerson(api, owner.cookie)
    const refused = await person.post('/account/delete', { confirmation: owner.email })
    expect([refused.status, refused.setCookies]).toEqual([409, []])
    expect(refused.text).toContain(`You are the last owner of the workspace ${workspace.name}.`)
    expect((await person.get('/account')).text).toContain(owner.email)
    await buildMember(platform, workspace, 'owner')
    expect((await person.post('/account/delete', { confirmation: owner.email })).text).toContain('Account deleted')
    expect((await sql`SELECT 1 FROM users WHERE id = ${owner.id}`.execute(platform.db)).rows).toEqual([])
  })

  test('an account is deleted by typing its address', async () => {
    const { user, person } = await signedIn()
    expect((await person.post('/account/delete', { confirmation: 'me' })).status).toBe(422)
    expect((await person.post('/account/delete', { confirmation: user.email })).text).toContain('Account deleted')
    expect((await sql`SELECT 1 FROM users WHERE id = ${user.id}`.execute(platform.db)).rows).toEqual([])
  })
})

test('the account lists sessions and ends one or all others', async () => {
  const { user, person } = await signedIn({ password })
  const others = [openPerson(api), openPerson(api)]
  const systems = ['X11; Linux x86_64', 'Windows NT 10.0; Win64; x64']
  for (const [index, other] of others.entries()) {
    const userAgent = `Mozilla/5.0 (${systems[index]}; rv:140.0) Gecko/20100101 Firefox/140.0`
    await other.post('/sign-in', { email: user.email, password }, { 'user-agent': userAgent })
  }
  const page = await person.get('/account')
  expect(page.text).toContain('Firefox on Linux')
  const id = /Firefox on Windows[\s\S]*?name="id" value="(\w[^"]+)"/.exec(page.text)?.[1] ?? ''
  expect((await person.post('/account/sessions/end', { id })).text).toContain('The session has ended.')
  await eventually(async () => expect((await others[1]?.get('/account'))?.status).toBe(303), 2_000)
  expect((await others[0]?.get('/account'))?.status).toBe(200)
  await person.post('/account/sessions/end', {})
  await eventually(async () => expect((await others[0]?.get('/account'))?.status).toBe(303), 2_000)
})

describe('a second factor', () => {
  async function withTotp() {
    const { user, person } = await signedIn({ password })
    const page = await person.post('/account/second-factor', {})
    const uri = unescapeHtml(/name="uri" value="([^"]+)"/.exec(page.text)?.[1] ?? '')
    const codes = unescapeHtml(/name="codes" value="([^"]+)"/.exec(page.text)?.[1] ?? '')
    const fields = { uri, codes }
    const wrong = await person.post('/account/second-factor/verify', { ...fields, code: '000000' })
    expect([wrong.status, wrong.text]).toEqual([401, expect.stringContaining('The code is wrong.')])
    const done = await person.post('/account/second-factor/verify', { ...fields, code: currentTotp(uri) })
    expect(done.location).toBe('/account')
    return { user, person, uri, codes: codes.split(' ') }
  }

  test('is asked for after a password and after a link', async () => {
    const { user, uri } = await withTotp()
    const person = openPerson(api)
    const first = await person.post('/sign-in', { email: user.email, password, next: '/docs' })
    expect(first.location).toBe('/two-factor?next=%2Fdocs')
    expect((await person.get('/account')).status).toBe(303)
    expect((await person.post('/two-factor', { code: '000000' })).status).toBe(401)
    const second = await person.post('/two-factor', { code: nextTotp(uri), next: '/docs' })
    expect(second.location).toBe('/docs')
    expect((await person.get('/account')).status).toBe(200)

    const other = openPerson(api)
    const token = tokenIn(await withPath(issueLink(platform, 'sign-in', { userId: user.id })))
    expect((await other.post('/sign-in/use-link', { token })).location).toBe('/two-factor?next=%2Fapp')
    expect((await other.get('/account')).status).toBe(303)
  })

  test('a code that was used is refused for the rest of its window', async () => {
    const { user, uri } = await withTotp()
    const enterCode = async (code: string) => {
      const person = openPerson(api)
      await person.post('/sign-in', { email: user.email, password })
      return person.post('/two-factor', { code })
    }
    const code = nextTotp(uri)
    const answers = await Promise.all([enterCode(code), enterCode(code)])
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 401])
    const refused = await enterCode(code)
    expect([refused.status, refused.text]).toEqual([401, expect.stringContaining('This code was used already.')])
    expect(refused.setCookies.filter((header) => header.startsWith(sessionCookie))).toEqual([])
  })

  test('a recovery code works once', async () => {
    const { user, codes } = await withTotp()
    const signInWith = async (code: string) => {
      const person = openPerson(api)
      await person.post('/sign-in', { email: user.email, password })
      return (await person.post('/two-factor', { code })).status
    }
    expect(await signInWith(codes[0] ?? '')).toBe(303)
    expect(await signInWith(codes[0] ?? '')).toBe(401)
    expect(await signInWith(codes[1] ?? '')).toBe(303)
  })

  test('new recovery codes replace the former ones, and it can be turned off', async () => {
    const { user, person, codes } = await withTotp()
    const page = await person.post('/account/recovery-codes', {})
    expect(page.text.match(/<li><code>/g)).toHaveLength(10)
    expect(page.text).not.toContain(codes[0])
    expect((await person.post('/account/second-factor/remove', {})).location).toBe('/account')
    expect((await openPerson(api).post('/sign-in', { email: user.email, password })).location).toBe('/app')
  })
})

describe('sign-up', () => {
  test('an address of an allowed domain gets a link for a new account', async () => {
    const email = `${randomUUID()}@example.org`
    const person = openPerson(api)
    await person.post('/sign-up', { email })
    const link = await mailbox.waitForLink(email)
    expect((await person.get(link)).text).toContain(email)
    const fields = { token: tokenIn(link), name: 'Ada', password }
    expect((await person.post('/sign-up/new', { ...fields, password: 'short' })).status).toBe(422)
    expect((await person.post('/sign-up/new', fields)).location).toBe('/app')
    expect((await person.get('/account')).text).toContain(email)
    expect((await person.post('/sign-up/new', fields)).status).toBe(404)
  })

  test('an existing account and a foreign domain get the same answer', async () => {
    const email = `${randomUUID()}@example.org`
    await buildUser(platform, { email })
    const foreign = `${randomUUID()}@example.net`
    const texts = []
    for (const address of [email, foreign, `${randomUUID()}@example.org`]) {
      const { status, text } = await openPerson(api).post('/sign-up', { email: address })
      texts.push(`${status}${text.replaceAll(/nonce="[^"]+"/g, '')}`)
    }
    expect(new Set(texts).size).toBe(1)
    expect((await mailbox.waitFor(email)).text).toContain('You have one already')
    expect(mailbox.received.filter(({ to }) => to === foreign)).toEqual([])
  })
})

function unescapeHtml(text: string): string {
  return text.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
}
