import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { buildWorkspace } from '../../test/build.ts'
import { startServer } from '../../test/server-process.ts'
import { eventually, openTestPlatform } from '../../test/stack.ts'
import { createToken, revoke } from '../features/tokens/service.ts'

const platform = await openTestPlatform()
const { api } = inject('server')
const workspace = await buildWorkspace(platform)

describe('the Authorization header', () => {
  test.each([
    ['Bearer', ' '],
    ['bearer', ' '],
    ['BEARER', ' '],
    ['bEaReR', '  '],
  ])('accepts the scheme %s', async (scheme, gap) => {
    expect((await get('/links', `${scheme}${gap}${workspace.key}`)).status).toBe(200)
  })

  test.each([
    ['nothing', ''],
    ['the key alone', workspace.key],
    ['no key', 'Bearer'],
    ['another scheme', `Basic ${Buffer.from(`${workspace.key}:`).toString('base64')}`],
    ['two keys', `Bearer ${workspace.key} ${workspace.key}`],
  ])('with %s gets 401 and the expected format', async (_name, header) => {
    const response = await get('/links', header)
    expect(response.status).toBe(401)
    expect(await readMessage(response)).toBe(
      'No API key or access token was sent. Send the header `Authorization: Bearer <API_KEY>`.',
    )
  })

  test.each([
    ['an unknown key', 'trib_unknown'],
    ['a key in another case', workspace.key.toUpperCase()],
    ['a part of a key', workspace.key.slice(0, -1)],
    ['the id of a key', workspace.keyId],
  ])('with %s is 401', async (_name, key) => {
    const response = await get('/links', `Bearer ${key}`)
    expect(response.status).toBe(401)
    expect(await readMessage(response)).toMatch(/^This API key or access token is not known\./)
    expect(response.headers.has('x-ratelimit-limit')).toBe(false)
  })
})

describe('a key stops', () => {
  test('on every process within a second of its revocation', async () => {
    const other = await startServer({ ...inject('environment'), ROLES: 'api' })
    onTestFinished(async () => void (await other.stop()))
    const bases = [api, other.api]
    const { id, key } = await createToken(platform, { workspaceId: workspace.id, name: 'short-lived' })
    const statuses = () => Promise.all(bases.map(async (base) => (await get('/links', `Bearer ${key}`, base)).status))
    expect(await statuses()).toEqual([200, 200])
    await revoke(platform, id)
    await eventually(async () => expect(await statuses()).toEqual([401, 401]), 1_000)
    const response = await get('/links', `Bearer ${key}`)
    expect(await readMessage(response)).toBe('This API key has been revoked. Create a new one.')
  })

  test('when it expires', async () => {
    const expiresAt = new Date(Date.now() + 1_000)
    const { key } = await createToken(platform, { workspaceId: workspace.id, name: 'expires', expiresAt })
    expect((await get('/links', `Bearer ${key}`)).status).toBe(200)
    const refused = await eventually(async () => {
      const response = await get('/links', `Bearer ${key}`)
      expect(response.status).toBe(401)
      return response
    }, 3_000)
    expect(Date.now()).toBeGreaterThanOrEqual(expiresAt.getTime())
    expect(await readMessage(refused)).toBe(`This API key expired at ${expiresAt.toISOString()}. Create a new one.`)
  })
})

describe('every response to a valid key has the remaining limit', () => {
  test.each<[string, number, string, RequestInit]>([
    ['success', 200, '/links', {}],
    ['analytics', 200, '/events', {}],
    ['malformed', 400, '/links', { method: 'POST', body: '{' }],
    ['unknown domain', 404, '/links', { method: 'POST', body: '{"url":"https://example.com","domain":"x.example"}' }],
    ['unknown path', 404, '/nothing', {}],
    ['wrong method', 404, '/links', { method: 'DELETE' }],
    ['not allowed', 422, '/links?page=0', {}],
    ['too large', 422, '/links', { method: 'POST', body: 'x'.repeat(2_000_000) }],
  ])('%s, %d', async (_name, status, path, request) => {
    const { key } = await buildWorkspace(platform)
    const response = await get(path, `Bearer ${key}`, api, request)
    expect(response.status).toBe(status)
    const limit = path === '/events' ? { most: 100, seconds: 1 } : { most: 60_000, seconds: 60 }
    expectLimit(response, { limit: limit.most, remaining: limit.most - 1, seconds: limit.seconds })
    // The rate limit window of a second may have ended by now.
    if (limit.seconds === 1) return
    const next = await get(path, `Bearer ${key}`, api, request)
    expectLimit(next, { limit: limit.most, remaining: limit.most - 2, seconds: limit.seconds })
  })

  test('missing scope, 403', async () => {
    const { key } = await buildWorkspace(platform, { plan: 'pro', scopes: ['links.read'] })
    const response = await get('/links', `Bearer ${key}`, api, { method: 'POST' })
    expect(response.status).toBe(403)
    expectLimit(response, { limit: 600, remaining: 599, seconds: 60 })
  })
})

function get(path: string, authorization: string, base = api, request: RequestInit = {}) {
  return fetch(base + path, { ...request, headers: { authorization } })
}

async function readMessage(response: Response): Promise<string> {
  return ((await response.json()) as { error: { message: string } }).error.message
}

function expectLimit(response: Response, expected: { limit: number; remaining: number; seconds: number }) {
  const now = Date.now() / 1000
  expect(response.headers.get('x-ratelimit-limit')).toBe(String(expected.limit))
  expect(response.headers.get('x-ratelimit-remaining')).toBe(String(expected.remaining))
  const reset = Number(response.headers.get('x-ratelimit-reset'))
  expect(Number.isInteger(reset)).toBe(true)
  expect(reset).toBeGreaterThanOrEqual(Math.floor(now))
  expect(reset).toBeLessThanOrEqual(Math.ceil(now + expected.seconds))
  const retryAfter = response.headers.get('retry-after') ?? ''
  expect(retryAfter).toMatch(/^[1-9]\d*$/)
  expect(Number(retryAfter)).toBeLessThanOrEqual(expected.seconds)
}
