import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { buildUser } from '../../../test/build.ts'
import { eventually, openTestPlatform } from '../../../test/stack.ts'
import { readCookie, sessionCookieName } from './cookies.ts'
import { openIdentity } from './identity.ts'
import { createUser, findSession, findUserByEmail, normalizeEmail, usersByIds } from './service.ts'

const platform = await openTestPlatform()
const identity = openIdentity(platform)

test('a session cookie finds its user', async () => {
  const user = await buildUser(platform, { name: 'Ada' })
  const session = await findSession(platform, `other=1; ${user.cookie}`)
  expect(session).toMatchObject({ userId: user.id, email: user.email, name: 'Ada', isEmailVerified: true })
  expect(session?.authenticatedAt).toBeInstanceOf(Date)
})

test('a cookie without a valid signature is not a session', async () => {
  const { cookie } = await buildUser(platform)
  const name = sessionCookieName(platform.config)
  const token = readCookie(cookie, name)?.split('.')[0] ?? ''
  for (const value of [token, `${token}.`, `${token}.AAAA`, '', '%']) {
    expect(await findSession(platform, `${name}=${value}`)).toBeUndefined()
  }
  expect(await findSession(platform, undefined)).toBeUndefined()
})

test('an ended session and a disabled user stop within a second', async () => {
  const [one, other] = [await buildUser(platform), await buildUser(platform)]
  expect(await findSession(platform, one.cookie)).toBeDefined()
  expect(await findSession(platform, other.cookie)).toBeDefined()
  await sql`DELETE FROM sessions WHERE user_id = ${one.id}`.execute(platform.db)
  await sql`UPDATE users SET disabled_at = now() WHERE id = ${other.id}`.execute(platform.db)
  await eventually(async () => {
    expect(await findSession(platform, one.cookie)).toBeUndefined()
    expect(await findSession(platform, other.cookie)).toBeUndefined()
  }, 1_000)
})

test('an e-mail address belongs to one user, in any letter case', async () => {
  const email = `${randomUUID()}@Example.com`
  const user = await createUser(platform, { email, name: 'Ada' })
  expect(user.email).toBe(email.toLowerCase())
  await expect(createUser(platform, { email: email.toUpperCase(), name: 'Eve' })).rejects.toThrow('exists already')
  expect((await findUserByEmail(platform, email))?.id).toBe(user.id)
  expect([...(await usersByIds(platform, [user.id, 'user_0'])).keys()]).toEqual([user.id])
})

test.each([
  'x1,victim@example.com',
  'a;b@example.com',
  'a(b)@example.com',
  'a:b@example.com',
  'a\0@example.com',
  'a@b',
])('%j is not an e-mail address', (text) => expect(() => normalizeEmail(text)).toThrow('is not an e-mail address'))

test('the identity library starts sessions that we read, and reads ours', async () => {
  const user = await buildUser(platform)
  const { headers } = await identity.api.signInProven({
    body: { userId: user.id },
    headers: new Headers(),
    returnHeaders: true,
  })
  const [setCookie = ''] = headers.getSetCookie()
  expect(setCookie).toMatch(/; Path=\/; HttpOnly; SameSite=Lax$/)
  expect(await findSession(platform, setCookie.split(';')[0])).toMatchObject({ userId: user.id })
  const seen = await identity.api.getSession({ headers: new Headers({ cookie: user.cookie }) })
  expect(seen?.user.id).toBe(user.id)
})
