import { errorCodes, errorStatuses } from '@tributary/contract/operation'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { buildLink, buildWorkspace } from '../../test/build.ts'
import { startServer } from '../../test/server-process.ts'
import { eventually, openTestPlatform } from '../../test/stack.ts'

const platform = await openTestPlatform()
const { api } = inject('server')
const workspace = await buildWorkspace(platform)
const authorization = `Bearer ${workspace.key}`

describe('the complete response of each error code', () => {
  test('bad_request', async () => {
    const answer = await call('POST', '/links', { body: '{}' })
    expect(answer).toEqual(refusal('bad_request', '`url` in the body is required.'))
  })

  test('unauthorized', async () => {
    const answer = await call('GET', '/links', { headers: { authorization: '' } })
    const advice = 'Send the header `Authorization: Bearer <API_KEY>`.'
    expect(answer).toEqual(refusal('unauthorized', `No API key or access token was sent. ${advice}`))
  })

  test('forbidden', async () => {
    const { key } = await buildWorkspace(platform, { scopes: ['links.read'] })
    const answer = await call('POST', '/links', { headers: { authorization: `Bearer ${key}` } })
    expect(answer).toEqual(refusal('forbidden', 'This key lacks the scope links.write. Create a key that has it.'))
  })

  test('not_found', async () => {
    const body = JSON.stringify({ url: 'https://example.com', domain: 'other.example.com' })
    const answer = await call('POST', '/links', { body })
    expect(answer).toEqual(refusal('not_found', 'There is no domain other.example.com in this workspace.'))
  })

  test('conflict', async () => {
    await buildLink(platform, workspace, { key: 'taken' })
    const answer = await call('POST', '/links', { body: JSON.stringify({ url: 'https://example.com', key: 'taken' }) })
    expect(answer).toEqual(refusal('conflict', `${workspace.domain}/taken is already taken. Choose another key.`))
  })

  test('unprocessable_entity', async () => {
    const answer = await call('GET', '/links?pageSize=101')
    expect(answer).toEqual(refusal('unprocessable_entity', '`pageSize` in the query must be at most 100, not 101.'))
  })

  test('rate_limit_exceeded', async () => {
    const { key } = await buildWorkspace(platform, { plan: 'business' })
    const headers = { authorization: `Bearer ${key}` }
    const answers = await Promise.all(Array.from({ length: 5 }, () => call('GET', '/events', { headers })))
    const message = 'The business plan allows 4 requests per second here. Try again in 1 s.'
    expect(answers.filter((answer) => answer.status === 429)).toEqual([refusal('rate_limit_exceeded', message)])
  })

  test('internal_server_error, with its cause only in the log', async () => {
    const environment = { ...inject('environment'), ROLES: 'api', CLICKHOUSE_URL: 'http://127.0.0.1:1' }
    const server = await startServer(environment)
    onTestFinished(async () => void (await server.stop()))
    const headers = { authorization, 'x-request-id': 'find-me' }
    const answer = await call('GET', '/events', { headers, api: server.api })
    const message = 'The server failed. Its log has the cause under request find-me.'
    expect(answer).toEqual(refusal('internal_server_error', message, server.api))
    const line = await eventually(async () => JSON.parse(server.log.find((text) => text.includes('find-me')) ?? ''))
    expect(line).toMatchObject({ level: 'error', requestId: 'find-me', method: 'GET', path: '/events' })
    expect(line.error).toMatchObject({ message: 'connect ECONNREFUSED 127.0.0.1:1', stack: expect.any(String) })
    expect(server.log.join()).not.toContain(workspace.key)
  })

  test.each(errorCodes)('the documentation page of %s exists', async (code) => {
    const page = await fetch(`${api}/docs/errors/${code}`)
    expect(page.status).toBe(200)
    expect(page.headers.get('content-type')).toMatch(/^text\/html/)
    expect(await page.text()).toContain(`Status ${errorStatuses[code]}`)
  })
})

describe('a path that does not exist', () => {
  test.each([
    ['GET', '/'],
    ['GET', '/nothing'],
    ['GET', '/links/'],
    ['GET', '//links'],
    ['GET', '/%zz'],
    ['DELETE', '/links'],
    ['PUT', '/events'],
    ['OPTIONS', '/links'],
    ['PROPFIND', '/links'],
  ])('%s %s is 401 without a valid key, and 404 with one', async (method, path) => {
    const message = `There is no ${method} ${path}. See /docs/reference for all operations.`
    expect(await call(method, path)).toEqual(refusal('not_found', message))
    for (const authorization of ['', 'Bearer trib_unknown']) {
      expect(await call(method, path, { headers: { authorization } })).toMatchObject({ status: 401 })
    }
  })

  test('a page of the documentation that does not exist is 404 for everyone', async () => {
    const answer = await call('GET', '/docs/errors/unknown_code', { headers: { authorization: '' } })
    expect(answer).toMatchObject({ status: 404 })
  })

  test('HEAD gets the response of GET without a body', async () => {
    const [known, unknown] = await Promise.all(
      ['/links', '/nothing'].map((path) => fetch(api + path, { method: 'HEAD', headers: { authorization } })),
    )
    expect([known?.status, await known?.text()]).toEqual([200, ''])
    expect([unknown?.status, await unknown?.text()]).toEqual([404, ''])
  })
})

describe('a body', () => {
  const url = 'https://example.com'

  test.each<[string, string | Uint8Array, string]>([
    ['broken JSON', '{"url": ', 'The body is not valid JSON: Unexpected end of JSON input.'],
    ['JavaScript', "{ url: 'x' }", 'The body is not valid JSON: Expected property name'],
    ['an array', '[]', 'The body must be an object, not an array.'],
    ['a string', '"x"', 'The body must be an object, not "x".'],
    ['a number', '5', 'The body must be an object, not 5.'],
    ['null', 'null', 'The body must be an object, not null.'],
    ['nothing', '', '`url` in the body is required.'],
    ['blanks', '  ', 'The body is not valid JSON: Unexpected end of JSON input.'],
    ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 'The body is not valid JSON: '],
    ['a form', 'url=https%3A%2F%2Fexample.com', 'The body is not valid JSON: '],
    ['compressed', Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]), 'The body is not valid JSON: '],
  ])('of %s is 400', async (_name, body, message) => {
    const answer = await call('POST', '/links', { body })
    expect(answer.status).toBe(400)
    expect(answer.body).toEqual(refusal('bad_request', expect.stringContaining(message)).body)
  })

  test('of 2 MB is 422', async () => {
    const body = JSON.stringify({ url, externalId: 'x'.repeat(2 * 1024 * 1024) })
    const message = 'The body is larger than 131072 bytes, the limit of this operation. Send less in one request.'
    expect(await call('POST', '/links', { body })).toEqual(refusal('unprocessable_entity', message))
  })

  test('of 2 MB without a key is 401', async () => {
    const answer = await call('POST', '/links', { body: 'x'.repeat(2 * 1024 * 1024), headers: { authorization: '' } })
    expect(answer.status).toBe(401)
  })

  test('just below the limit is accepted', async () => {
    const body = JSON.stringify({ url }).padEnd(131_072)
    expect((await call('POST', '/links', { body })).status).toBe(200)
    expect((await call('POST', '/links', { body: `${body} ` })).status).toBe(422)
  })

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=utf-8', ''])(
    'of JSON with content type %j is accepted',
    async (type) => {
      const body = Buffer.from(JSON.stringify({ url }))
      const answer = await call('POST', '/links', { body, headers: { authorization, 'content-type': type } })
      expect(answer).toMatchObject({ status: 200, body: { url } })
    },
  )

  test('with a character that no database stores is 422', async () => {
    const body = JSON.stringify({ url, externalId: 'a\0b' })
    const message = '`externalId` in the body must not contain the character U+0000 or half of a surrogate pair.'
    expect(await call('POST', '/links', { body })).toEqual(refusal('unprocessable_entity', message))
  })
})

describe('the request id', () => {
  test.each(['abc-123', 'A_b.c', 'x'.repeat(100)])('%s is returned', async (id) => {
    const response = await fetch(`${api}/links`, { headers: { authorization, 'x-request-id': id } })
    expect(response.headers.get('x-request-id')).toBe(id)
  })

  test.each(['a b', 'x'.repeat(101), '"', ''])('%j is replaced', async (id) => {
    const response = await fetch(`${api}/links`, { headers: { authorization, 'x-request-id': id } })
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('is on every response', async () => {
    const paths = ['/links', '/links?page=0', '/events', '/nothing', '/docs/errors', '/openapi.json']
    const ids = await Promise.all(paths.map(async (path) => (await fetch(api + path)).headers.get('x-request-id')))
    expect(new Set(ids).size).toBe(paths.length)
    expect(ids.every((id) => /^[0-9a-f-]{36}$/.test(id ?? ''))).toBe(true)
  })
})

type Call = { body?: string | Uint8Array; headers?: Record<string, string>; api?: string }

async function call(method: string, path: string, given: Call = {}) {
  const response = await fetch((given.api ?? api) + path, {
    method,
    headers: given.headers ?? { authorization },
    body: given.body as RequestInit['body'],
  })
  expect(response.headers.get('content-type')).toBe('application/json')
  return { status: response.status, body: await response.json() }
}

function refusal(code: (typeof errorCodes)[number], message: unknown, base = api) {
  return {
    status: errorStatuses[code],
    body: { error: { code, message, doc_url: `${base}/docs/errors/${code}` } },
  }
}
