import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type ErrorCode, errorStatuses } from '@tributary/contract/operation'
import fc from 'fast-check'
import { PNG } from 'pngjs'
import { afterAll, describe, expect, inject, test } from 'vitest'
import { discFile, scan } from '../../../test/scan.ts'
import { startServer } from '../../../test/server-process.ts'

const logo = discFile()
const files = createServer((_request, response) => void response.end(logo))
await new Promise<void>((resolve) => files.listen(0, '127.0.0.1', resolve))
const { port } = files.address() as AddressInfo

const { api } = inject('server')
const proxied = await startServer({
  ...inject('environment'),
  ENVIRONMENT: 'production',
  ROLES: 'api',
  TRUSTED_PROXIES: '127.0.0.1',
  OUTBOUND_ALLOWED_HOSTS: '127.0.0.1',
  OUTBOUND_ALLOWED_PORTS: String(port),
})
afterAll(async () => {
  await proxied.stop()
  files.close()
})

const target = 'https://links.example.com/spring?qr=1'
const address = (query: Record<string, string>) => `/qr?${new URLSearchParams(query)}`

let visitors = 0
/** Requests a QR code; each call is another visitor by default. */
async function get(query: Record<string, string> | string, headers: Record<string, string> = {}, method = 'GET') {
  const visitor = `9.${(visitors >> 16) & 255}.${(visitors >> 8) & 255}.${visitors++ & 255}`
  const response = await fetch(proxied.api + (typeof query === 'string' ? query : address(query)), {
    method,
    headers: { 'x-forwarded-for': visitor, 'x-forwarded-proto': 'https', ...headers },
  })
  const bytes = Buffer.from(await response.arrayBuffer())
  return { status: response.status, headers: Object.fromEntries(response.headers), bytes }
}

function refusal(code: ErrorCode, message: unknown) {
  return { status: errorStatuses[code], error: { code, message, doc_url: `${proxied.api}/docs/errors/${code}` } }
}

async function refused(query: Record<string, string> | string, headers: Record<string, string> = {}) {
  const { status, headers: given, bytes } = await get(query, headers)
  expect(given['content-type']).toMatch(/^application\/json/)
  expect(given['cache-control']).toBeUndefined()
  return { status, ...JSON.parse(bytes.toString()) }
}

describe('an answer', () => {
  test('is a scannable PNG of 600 pixels, which everyone may cache for a day', async () => {
    const { status, headers, bytes } = await get({ url: target })
    expect(status).toBe(200)
    expect(headers).toMatchObject({
      'content-type': 'image/png',
      'cache-control': 'public, max-age=86400',
      etag: expect.stringMatching(/^"[\w-]{43}"$/),
      vary: 'Accept',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; img-src data:",
      'x-ratelimit-limit': '600',
      'x-ratelimit-remaining': '599',
      'x-request-id': expect.any(String),
    })
    expect(PNG.sync.read(bytes)).toMatchObject({ width: 600, height: 600 })
    expect(scan(bytes)).toBe(target)
  })

  test.each(['', 'Bearer wrong', 'Basic eDp5', 'nonsense'])('ignores the key %j', async (authorization) => {
    expect((await get({ url: target }, { authorization })).status).toBe(200)
  })

  test('accepts a URL that was not encoded', async () => {
    const { bytes } = await get('/qr?url=https://links.example.com/a?qr=1')
    expect(scan(bytes)).toBe('https://links.example.com/a?qr=1')
  })

  test.each([
    [{ format: 'svg' }, '*/*', 'image/svg+xml'],
    [{ format: 'png' }, 'image/svg+xml', 'image/png'],
    [{}, 'image/svg+xml', 'image/svg+xml'],
    [{}, 'image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8', 'image/png'],
    [{}, 'application/json', 'image/png'],
  ])('to %j and Accept: %s is %s', async (query, accept, type) => {
    const { headers, bytes } = await get({ url: target, ...query }, { accept })
    expect(headers['content-type']).toBe(type)
    expect(bytes.subarray(1, 4).toString()).toBe(type === 'image/png' ? 'PNG' : 'svg')
  })

  test('to HEAD has no body', async () => {
    const { status, headers, bytes } = await get({ url: target }, {}, 'HEAD')
    expect([status, headers['content-type'], bytes.length]).toEqual([200, 'image/png', 0])
  })

  test('applies every parameter', async () => {
    const query = {
      url: target,
      size: '333',
      level: 'H',
      fgColor: '#060',
      bgColor: 'ffe',
      margin: '5',
      hideLogo: 'false',
    }
    const { bytes } = await get(query)
    const { width, data } = PNG.sync.read(bytes)
    expect([width, data.subarray(0, 3).toString('hex'), scan(bytes)]).toEqual([333, 'ffffee', target])
    const withoutMargin = await get({ ...query, includeMargin: 'false' })
    expect(withoutMargin.bytes.equals((await get({ ...query, margin: '0' })).bytes)).toBe(true)
    expect(withoutMargin.bytes.equals(bytes)).toBe(false)
  })

  test('shows a logo that the server fetched', async () => {
    const { status, bytes } = await get({ url: target, logo: `http://127.0.0.1:${port}/logo.png` })
    expect([status, scan(bytes)]).toEqual([200, target])
    expect(
      PNG.sync
        .read(bytes)
        .data.subarray((300 * 600 + 300) * 4, (300 * 600 + 300) * 4 + 3)
        .toString('hex'),
    ).toBe('ffdc00')
  })
})

describe('a client that already has the picture', () => {
  test.each([
    ['the same', (tag: string) => tag, 304],
    ['among others', (tag: string) => `"a", ${tag} ,"b"`, 304],
    ['weak', (tag: string) => `W/${tag}`, 304],
    ['any', () => '*', 304],
    ['another', () => '"another"', 200],
  ])('%s', async (_, tagNames, status) => {
    const { headers } = await get({ url: target })
    const again = await get({ url: target }, { 'if-none-match': tagNames(headers.etag ?? '') })
    expect(again.status).toBe(status)
    expect(again.headers).toMatchObject({
      etag: headers.etag,
      'cache-control': 'public, max-age=86400',
      vary: 'Accept',
    })
    if (status === 304) expect(again.bytes).toHaveLength(0)
  })

  test('gets a new ETag when a parameter differs, and the same when it is only spelled differently', async () => {
    const tag = async (query: Record<string, string>) => (await get({ url: target, ...query })).headers.etag
    const first = await tag({})
    expect(await tag({ fgColor: '000', bgColor: '#ffffff', size: '600', hideLogo: '0', unknown: 'x' })).toBe(first)
    const others = await Promise.all(
      [{ size: '601' }, { level: 'M' }, { margin: '3' }, { fgColor: '#001' }, { format: 'svg' }].map(tag as never),
    )
    expect(new Set([first, ...others]).size).toBe(6)
  })
})

describe('an invalid request', () => {
  test.each<[Record<string, string> | string, ErrorCode, string]>([
    ['/qr', 'bad_request', '`url` in the query is required.'],
    ['/qr?url=', 'bad_request', '`url` in the query is required.'],
    ['/qr?url=a&url=b', 'bad_request', '`url` in the query is given more than once. Send it once.'],
    [{ url: 'a', size: 'big' }, 'bad_request', '`size` in the query must be a number, not "big".'],
    [{ url: 'a', hideLogo: 'maybe' }, 'bad_request', '`hideLogo` in the query must be true or false, not "maybe".'],
    [{ url: 'a', size: '2001' }, 'unprocessable_entity', '`size` in the query must be at most 2000, not 2001.'],
    [{ url: 'a', size: '31' }, 'unprocessable_entity', '`size` in the query must be at least 32, not 31.'],
    [{ url: 'a', size: '99.5' }, 'unprocessable_entity', '`size` in the query must be a whole number.'],
    [{ url: 'a', margin: '21' }, 'unprocessable_entity', '`margin` in the query must be at most 20, not 21.'],
    [
      { url: 'a', level: 'X' },
      'unprocessable_entity',
      '`level` in the query must be one of `L`, `M`, `Q`, `H`, not "X".',
    ],
    [
      { url: 'a', format: 'gif' },
      'unprocessable_entity',
      '`format` in the query must be one of `png`, `svg`, `pdf`, not "gif".',
    ],
    [{ url: 'a', fgColor: 'red' }, 'unprocessable_entity', '`fgColor` in the query must match'],
    [{ url: 'a', bgColor: '#12345' }, 'unprocessable_entity', '`bgColor` in the query must match'],
    [{ url: 'a', fgColor: '#fff' }, 'unprocessable_entity', '`fgColor` and `bgColor` in the query are too alike'],
    [{ url: 'a', logo: 'x' }, 'unprocessable_entity', '`logo` in the query must be an http(s) URL'],
    [{ url: 'a', logo: 'http://10.0.0.1/' }, 'unprocessable_entity', '`logo` in the query could not be fetched'],
    [{ url: 'a\0' }, 'unprocessable_entity', '`url` in the query must not contain the character U+0000'],
    [{ url: 'x'.repeat(2_954) }, 'unprocessable_entity', '`url` in the query is too long for a QR code of level L'],
    [{ url: 'x'.repeat(1_274), level: 'H' }, 'unprocessable_entity', '`url` in the query is too long for a QR code of'],
    [{ url: 'x'.repeat(500), size: '80' }, 'unprocessable_entity', '`size` in the query must be at least 81 for this'],
  ])('%j: %s', async (query, code, message) => {
    expect(await refused(query)).toEqual(refusal(code, expect.stringContaining(message)))
  })

  test('a QR code request over unencrypted HTTP is refused', async () => {
    const answer = await refused({ url: target }, { 'x-forwarded-proto': 'http' })
    expect(answer).toEqual(refusal('forbidden', expect.stringMatching(/^Unencrypted HTTP is not supported/)))
  })

  test.each(['POST', 'PUT', 'DELETE'])('%s is a separate path, which needs a key', async (method) => {
    expect((await get({ url: target }, {}, method)).status).toBe(401)
  })
})

test('after 600 requests in a minute a visitor gets 429 for every QR code, and other visitors do not', async () => {
  const visitor = { 'x-forwarded-for': '2001:4860:1:2::1' }
  const neighbour = { 'x-forwarded-for': '2001:4860:1:2:ffff::2' }
  const statuses: number[] = []
  for (let round = 0; round < 12; round++) {
    const batch = Array.from({ length: 50 }, (_, at) => get(at % 2 ? { url: 'a' } : {}, at % 3 ? visitor : neighbour))
    statuses.push(...(await Promise.all(batch)).map(({ status }) => status))
  }
  expect(new Set(statuses)).toEqual(new Set([200, 400]))
  const { status, headers, bytes } = await get({ url: 'a' }, visitor)
  expect({ status, ...JSON.parse(bytes.toString()) }).toEqual(
    refusal(
      'rate_limit_exceeded',
      `600 requests per minute are allowed here. Try again in ${headers['retry-after']} s.`,
    ),
  )
  expect(headers).toMatchObject({ 'x-ratelimit-limit': '600', 'x-ratelimit-remaining': '0' })
  expect((await get({ url: 'a' }, neighbour)).status).toBe(429)
  expect((await get({ url: 'a' }, { 'x-forwarded-for': '2001:4860:1:3::1' })).status).toBe(200)
})

test('2,000 random requests get an image or an error response, and the server stays healthy', async () => {
  const sometimes = (...values: fc.Arbitrary<string>[]) => fc.option(fc.oneof(...values), { nil: undefined, freq: 4 })
  const number = fc.oneof(fc.integer({ min: -5, max: 2_100 }).map(String), fc.double().map(String), fc.string())
  const color = fc.oneof(fc.stringMatching(/^#?[0-9a-fA-F]{3}([0-9a-fA-F]{3})?$/), fc.string())
  const text = fc.oneof(fc.string(), fc.string({ unit: 'binary', maxLength: 300 }), fc.webUrl())
  const boolean = fc.constantFrom('true', 'false', '1', '0', 'TRUE', 'yes')
  const inline = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes).toString('base64'))
  const query = fc.record({
    url: sometimes(text, fc.string({ minLength: 500, maxLength: 3_000 })),
    logo: fc.option(
      fc.oneof(
        { weight: 9, arbitrary: fc.string() },
        inline.map((data) => `data:image/png;base64,${data}`),
      ),
      {
        nil: undefined,
        freq: 1,
      },
    ),
    size: sometimes(number, fc.constantFrom('32', '64', '100')),
    level: sometimes(fc.constantFrom('L', 'M', 'Q', 'H'), fc.string()),
    fgColor: sometimes(color),
    bgColor: sometimes(color),
    hideLogo: sometimes(boolean),
    margin: sometimes(number, fc.constantFrom('0', '4')),
    includeMargin: sometimes(boolean),
    format: sometimes(fc.constantFrom('png', 'svg'), fc.string()),
  })
  const tally: Record<number, number> = {}
  const queries = fc.sample(query, 2_000)
  while (queries.length > 0) {
    const batch = queries.splice(0, 20).map((given) => JSON.parse(JSON.stringify(given)) as Record<string, string>)
    for (const { status, headers, bytes } of await Promise.all(batch.map((given) => get(given)))) {
      tally[status] = (tally[status] ?? 0) + 1
      if (status === 200) expect(headers['content-type']).toMatch(/^image\//)
      else expect(JSON.parse(bytes.toString()).error.code).toMatch(/^(bad_request|unprocessable_entity)$/)
    }
  }
  expect(Object.keys(tally)).toEqual(['200', '400', '422'])
  expect((await get({ url: target })).status).toBe(200)
  expect(proxied.log.filter((line) => line.includes('"level":"error"'))).toEqual([])
}, 120_000)

test('GET /qr counts its requests under its own name, and is in the API reference', async () => {
  const metrics = await fetch(`${proxied.ops}/metrics`).then((response) => response.text())
  expect(metrics).toContain('tributary_request_seconds_count{role="api",slot="0",operation="getQRCode",status="200"}')
  const { paths } = (await fetch(`${api}/openapi.json`).then((response) => response.json())) as {
    paths: Record<
      string,
      { get: { operationId: string; security: unknown[]; responses: Record<string, { content: object }> } }
    >
  }
  expect(paths['/qr']?.get).toMatchObject({ operationId: 'getQRCode', security: [] })
  expect(Object.keys(paths['/qr']?.get.responses['200']?.content ?? {})).toEqual([
    'image/png',
    'image/svg+xml',
    'application/pdf',
  ])
})
