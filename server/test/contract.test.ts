import { operations } from '@tributary/contract/index'
import { scopes } from '@tributary/contract/permissions'
import { describe, expect, inject, test } from 'vitest'
import { openRedirect } from '../src/features/redirect/service.ts'
import { bindRoutes } from '../src/roles/api.ts'
import { buildWorkspace } from './build.ts'
import { openTestPlatform } from './stack.ts'

const guarded = operations.filter((operation) => operation.kind === 'json' || operation.kind === 'stream')
const platform = await openTestPlatform()
const { api } = inject('server')

test('every operation of the contract has a handler, and every handler an operation', async () => {
  await using redirect = await openRedirect(platform)
  const answered = bindRoutes(platform, redirect)
    .map((route) => route.operation.id)
    .sort()
  expect(answered).toEqual(operations.map((operation) => operation.id).sort())
})

test('only operations with a plan in the specification require one', () => {
  const gated = guarded.filter(({ plan }) => plan !== 'free')
  expect(Object.fromEntries(gated.map(({ id, plan }) => [id, plan]))).toEqual({
    listEvents: 'business',
    streamEvents: 'business',
    exportEvents: 'business',
    retrieveAnalytics: 'pro',
    retrieveAnalyticsBatch: 'pro',
    retrieveLinkStats: 'pro',
    retrieveVisitorsNow: 'pro',
  })
})

test.each(operations.filter(({ kind }) => kind === 'browser'))(
  '$id requires no key, and allows web pages of any site',
  async ({ path }) => {
    const response = await fetch(api + path, { method: 'POST', headers: { origin: 'https://example.com' }, body: '[]' })
    // Other tests may have used up a low rate limit.
    expect([400, 429]).toContain(response.status)
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
  },
)

describe.each(guarded)('$id', (operation) => {
  const url = api + operation.path.replaceAll(/\{\w+\}/g, 'unknown')
  const request = { method: operation.method.toUpperCase() }

  test('refuses a request without a key', async () => {
    const response = await fetch(url, request)
    expect(response.status).toBe(401)
    expect(await response.json()).toMatchObject({ error: { code: 'unauthorized' } })
  })

  test('refuses a key without its scope', async () => {
    const sufficient = [operation.scope, operation.scope.replace('.read', '.write'), 'apis.all', 'apis.read']
    const others = scopes.filter((scope) => !sufficient.includes(scope))
    const { key } = await buildWorkspace(platform, { scopes: others })
    const response = await fetch(url, { ...request, headers: { authorization: `Bearer ${key}` } })
    expect(response.status).toBe(403)
    expect(await response.json()).toMatchObject({ error: { code: 'forbidden' } })
  })
})
