import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterAll, describe, expect, inject, test } from 'vitest'
import { buildMember, buildUser, buildWorkspace } from '../../../test/build.ts'
import { startMailbox } from '../../../test/mailbox.ts'
import { openPerson } from '../../../test/person.ts'
import { startServer } from '../../../test/server-process.ts'
import { eventually, openTestPlatform } from '../../../test/stack.ts'
import { currentTotp } from '../../../test/totp.ts'
import { createToken } from '../tokens/service.ts'
import { issueLink } from './one-time.ts'

const platform = await openTestPlatform()
const mailbox = await startMailbox()
const server = await startServer({
  ...inject('environment'),
  ROLES: 'api',
  SMTP_URL: mailbox.url,
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

async function signedIn() {
  const user = await buildUser(platform, { password })
  return { user, person: openPerson(api, user.cookie) }
}

const tokenIn = (link: string) => new URL(link, api).searchParams.get('token') ?? ''
const readEmail = async (userId: string) =>
  (await sql<{ email: string }>`SELECT email FROM users WHERE id = ${userId}`.execute(platform.db)).rows[0]?.email

describe('the link that changes an e-mail address', () => {
  test('works only in a browser that is signed in to the account which the e-mail names', async () => {
    const [owner, other] = [await signedIn(), await signedIn()]
    const email = `${randomUUID()}@example.com`
    await owner.person.post('/account/email', { email })
    const link = await mailbox.waitForLink(email)
    expect((await mailbox.waitFor(email)).text).toContain(`The Tributary account of ${owner.user.email} asks`)

    const stranger = openPerson(api)
    expect((await stranger.get(link)).location).toBe(`/sign-in?next=${encodeURIComponent(link)}`)
    expect((await stranger.post('/account/email/confirm', { token: tokenIn(link) })).status).toBe(303)
    const answers = [
      await other.person.get(link),
      await other.person.post('/account/email/confirm', { token: tokenIn(link) }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([403, 403])
    expect(answers[1]?.text).toContain(`You are signed in as ${other.user.email}.`)
    expect(await readEmail(owner.user.id)).toBe(owner.user.email)

    expect((await owner.person.get(link)).text).toContain(`to the account of ${owner.user.email} with ${email}`)
    await owner.person.post('/account/email/confirm', { token: tokenIn(link) })
    expect(await readEmail(owner.user.id)).toBe(email)
  })
})

describe('the time of the last proof', () => {
  async function makeOlder(userId: string) {
    await sql`UPDATE sessions SET authenticated_at = now() - interval '14 minutes', expires_at = now() + interval '1 hour'
      WHERE user_id = ${userId}`.execute(platform.db)
  }
  const times = async (userId: string) =>
    (
      await sql<{ proof: number; left: number }>`SELECT extract(epoch FROM now() - authenticated_at)::int AS proof,
      extract(epoch FROM expires_at - now())::int AS left FROM sessions WHERE user_id = ${userId}`.execute(platform.db)
    ).rows

  test('is not renewed by turning off a second factor that is off', async () => {
    const { user, person } = await signedIn()
    await makeOlder(user.id)
    const refused = await person.post('/account/second-factor/remove', {})
    expect([refused.status, refused.setCookies]).toEqual([409, []])
    expect((await times(user.id))[0]?.proof).toBeGreaterThan(800)
  })

  test('passes to the session that replaces one when a second factor is turned on and off', async () => {
    const { user, person } = await signedIn()
    await makeOlder(user.id)
    const { text } = await person.post('/account/second-factor', {})
    const uri = (/name="uri" value="([^"]+)"/.exec(text)?.[1] ?? '').replaceAll('&#38;', '&')
    const on = await person.post('/account/second-factor/verify', { uri, codes: '', code: currentTotp(uri) })
    const off = await person.post('/account/second-factor/remove', {})
    expect([on.location, off.location]).toEqual(['/account', '/account'])
    const rows = await times(user.id)
    expect(rows).toHaveLength(1)
    expect(rows[0]?.proof).toBeGreaterThan(800)
    expect(rows[0]?.left).toBeLessThanOrEqual(3_600)
  })
})

test('after a new password by a link, the page counts the passkeys and keys that still work', async () => {
  const workspace = await buildWorkspace(platform)
  const user = await buildMember(platform, workspace, 'member')
  await createToken(platform, { workspaceId: workspace.id, name: 'own', userId: user.id })
  const id = randomUUID()
  await sql`INSERT INTO passkeys (id, user_id, public_key, credential_id, counter, device_type, backed_up)
    VALUES (${id}, ${user.id}, 'key', ${id}, 0, 'singleDevice', false)`.execute(platform.db)
  const token = tokenIn(await issueLink(platform, 'reset', { userId: user.id }))
  const { text } = await openPerson(api).post('/reset-password/new', { token, password })
  expect(text).toContain('Still valid: 1 passkey and 1 personal API key.')
})

test('a changed password and a removed second factor are reported by e-mail', async () => {
  const { user, person } = await signedIn()
  await person.post('/account/password', { password: 'ultramarine kettle 9' })
  expect((await mailbox.waitFor(user.email)).text).toContain('The password of your account was changed.')
  const { text } = await person.post('/account/second-factor', {})
  const uri = (/name="uri" value="([^"]+)"/.exec(text)?.[1] ?? '').replaceAll('&#38;', '&')
  await person.post('/account/second-factor/verify', { uri, codes: '', code: currentTotp(uri) })
  await person.post('/account/second-factor/remove', {})
  const notice = await mailbox.waitFor(user.email, 1)
  expect(notice.text).toContain('The second factor of your account was turned off.')
  expect(notice.text).toContain(`${api}/reset-password`)
  const token = tokenIn(await issueLink(platform, 'reset', { userId: user.id }))
  await openPerson(api).post('/reset-password/new', { token, password })
  expect((await mailbox.waitFor(user.email, 2)).text).toContain('was reset by a link')
})

test('requests that the identity library refuses say what to do', async () => {
  const { user, person } = await signedIn()
  const off = await person.post('/account/recovery-codes', {})
  expect([off.status, off.text]).toEqual([409, expect.stringContaining('The second factor is off.')])
  const { text } = await person.post('/account/second-factor', {})
  const uri = (/name="uri" value="([^"]+)"/.exec(text)?.[1] ?? '').replaceAll('&#38;', '&')
  const codes = (/name="codes" value="([^"]+)"/.exec(text)?.[1] ?? '').split(' ')
  await person.post('/account/second-factor/verify', { uri, codes: '', code: currentTotp(uri) })
  const on = await person.post('/account/second-factor', {})
  expect([on.status, on.text]).toEqual([409, expect.stringContaining('The second factor is on already.')])

  const people = [openPerson(api), openPerson(api), openPerson(api)]
  for (const each of people) await each.post('/sign-in', { email: user.email, password })
  const answers = await Promise.all(people.map((each) => each.post('/two-factor', { code: codes[0] ?? '' })))
  expect(answers.filter(({ status }) => status === 303)).toHaveLength(1)
  expect(answers.filter(({ status }) => status >= 500)).toEqual([])
})

test.each([
  ['/sign-in', { email: 'a\0@example.com', password }],
  ['/account/sessions/end', { id: 'a\0' }],
])('a control character in a field of %s is refused', async (path, fields) => {
  const { person } = await signedIn()
  expect((await person.post(path, fields)).status).toBe(422)
})

test('a sign-in link names the account before it is used', async () => {
  const user = await buildUser(platform)
  const { pathname, search } = new URL(await issueLink(platform, 'sign-in', { userId: user.id }))
  expect((await openPerson(api).get(pathname + search)).text).toContain(`signs you in as ${user.email}`)
})

test('with a further sign-in, the oldest of 100 sessions ends', async () => {
  const user = await buildUser(platform, { password })
  await sql`INSERT INTO sessions (id, user_id, token, expires_at, created_at)
    SELECT ${user.id} || n, ${user.id}, ${user.id} || n, now() + interval '1 day', now() - n * interval '1 minute'
    FROM generate_series(1, 120) AS n`.execute(platform.db)
  await openPerson(api).post('/sign-in', { email: user.email, password })
  const { rows } = await sql<{ id: string }>`SELECT id FROM sessions WHERE user_id = ${user.id}`.execute(platform.db)
  expect(rows).toHaveLength(100)
  expect(rows.map(({ id }) => id)).not.toContain(`${user.id}99`)
})

test('requests for sign-in links do not use up the e-mails for a new password, nor those of a known device', async () => {
  const user = await buildUser(platform, { password })
  const known = openPerson(api)
  await known.post('/sign-in', { email: user.email, password })
  for (let count = 0; count < 7; count++) await openPerson(api).post('/sign-in/link', { email: user.email })
  await mailbox.waitFor(user.email, 4)
  await openPerson(api).post('/reset-password', { email: user.email })
  expect((await mailbox.waitFor(user.email, 5)).text).toContain('Choose a new password')
  await known.post('/sign-in/link', { email: user.email })
  expect((await mailbox.waitFor(user.email, 6)).text).toContain('sign in to Tributary')
})

test('a user sends at most 20 e-mails a day to new addresses', async () => {
  const { person } = await signedIn()
  const host = `${randomUUID()}.example.com`
  for (let count = 0; count < 24; count++) await person.post('/account/email', { email: `a${count}@${host}` })
  const sent = () => mailbox.received.filter(({ to }) => to.endsWith(host)).length
  await eventually(async () => expect(sent()).toBe(20))
  await sleep(3_000)
  expect(sent()).toBe(20)
})
