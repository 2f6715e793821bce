import { afterAll, expect, inject, test } from 'vitest'
import { buildUser } from '../../../test/build.ts'
import { openPerson } from '../../../test/person.ts'
import { startServer } from '../../../test/server-process.ts'
import { openTestPlatform } from '../../../test/stack.ts'

const platform = await openTestPlatform()
const limits = { SIGN_IN_ATTEMPTS_PER_ADDRESS: '100000', SIGN_IN_VISITS_PER_MINUTE: '100000' }
const server = await startServer({ ...inject('environment'), ROLES: 'api', ...limits })
afterAll(() => server.stop())
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
