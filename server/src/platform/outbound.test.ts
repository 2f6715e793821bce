import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { spellings } from '../../test/spellings.ts'
import { checkUrl, fetchOutbound, isPublicAddress, OutboundError, type OutboundOptions } from './outbound.ts'

let canaryHits = 0
const canary = await serve('127.0.0.1', 0, (_request, response) => {
  canaryHits += 1
  response.end('canary')
})
// Without IPv6, a failed connection would look like a rejected address, so the table checks the reason too.
await serve('::1', canary, (_request, response) => {
  canaryHits += 1
  response.end('canary')
}).catch(() => 0)
const friend = await serve('127.0.0.2', 0, answerAsFriend)

const everyPort: [number, number][] = [[1, 65_535]]
const defaults: OutboundOptions = {
  timeoutMs: 2_000,
  maxBytes: 1_000,
  allow: { OUTBOUND_ALLOWED_PORTS: everyPort, OUTBOUND_ALLOWED_HOSTS: { names: [], ranges: [] } },
  // The worst DNS resolver: every name resolves to localhost.
  lookup: async () => [{ address: '127.0.0.1', family: 4 }],
}
const toFriend: OutboundOptions = {
  ...defaults,
  allow: { OUTBOUND_ALLOWED_PORTS: everyPort, OUTBOUND_ALLOWED_HOSTS: { names: [], ranges: ['127.0.0.2'] } },
  lookup: async () => [{ address: '127.0.0.2', family: 4 }],
}

beforeEach(() => {
  canaryHits = 0
})

describe('refused URLs', () => {
  test('the table has more than 200 spellings', () => {
    expect(new Set(spellings.map(([spelling]) => spelling)).size).toBeGreaterThan(200)
  })

  test.each(spellings)('%s', async (spelling, reason) => {
    expect(await readReason(spelling.replaceAll('{p}', String(canary)))).toBe(reason)
    expect(canaryHits).toBe(0)
  })

  test.each(['\t', '\n', '\r\n'])('white space %j does not hide a private address', async (space) => {
    const spelling = `ht${space}tp://127.${space}0.0.1:${canary}/`
    expect(await readReason(spelling)).toBe('private')
    expect(await readReason(space + spelling + space)).toBe('private')
    expect(canaryHits).toBe(0)
  })

  test.each([
    ['last', ['8.8.8.8', '127.0.0.1']],
    ['first', ['127.0.0.1', '8.8.8.8']],
    ['in another family', ['8.8.8.8', '::1']],
    ['as another family', ['8.8.8.8', '::ffff:127.0.0.1']],
    ['with a zone', ['2606:4700::1111', 'fe80::1%lo']],
    ['among very many', [...Array(5_000).fill('8.8.8.8'), '127.0.0.1']],
    ['as no address at all', ['8.8.8.8', 'localhost']],
  ])('a name with public addresses and a private one %s', async (_where, addresses) => {
    const lookup = async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
    expect(await readReason(`http://both.example:${canary}/`, { lookup })).toBe('private')
    expect(canaryHits).toBe(0)
  })

  test('DNS rebinding has no effect', async () => {
    const given = ['127.0.0.2', '127.0.0.1', '127.0.0.1', '127.0.0.1']
    let asked = 0
    const lookup = async () => [{ address: given[asked++] ?? '127.0.0.1', family: 4 }]
    const { body } = await fetchOutbound(`http://rebind.example:${friend}/`, { ...toFriend, lookup })
    expect(body.toString()).toBe('friend of rebind.example')
    expect([asked, canaryHits]).toEqual([1, 0])
    expect(await readReason(`http://rebind.example:${canary}/`, { ...toFriend, lookup })).toBe('private')
    expect(canaryHits).toBe(0)
  })

  test('a redirect is not followed', async () => {
    const answer = await fetchOutbound(`http://friend.example:${friend}/redirect`, toFriend)
    expect([answer.status, answer.headers.location]).toEqual([302, `http://127.0.0.1:${canary}/`])
    expect(canaryHits).toBe(0)
  })

  test('a proxy of the environment is not used', async () => {
    const before = { ...process.env }
    const proxy = `http://127.0.0.1:${canary}`
    Object.assign(process.env, { http_proxy: proxy, HTTP_PROXY: proxy, ALL_PROXY: proxy, NODE_USE_ENV_PROXY: '1' })
    const { body } = await fetchOutbound(`http://friend.example:${friend}/`, toFriend).finally(() => {
      process.env = before
    })
    expect([body.toString(), canaryHits]).toEqual(['friend of friend.example', 0])
  })

  test('ports other than 80 and 443 are rejected', async () => {
    const allow = { ...toFriend.allow, OUTBOUND_ALLOWED_PORTS: [[friend, friend + 1]] as [number, number][] }
    for (const port of [22, 25, 8_080, friend - 1, friend + 2]) {
      expect(await readReason(`http://friend.example:${port}/`, { ...toFriend, allow }), String(port)).toBe('port')
    }
    const { status } = await fetchOutbound(`http://friend.example:${friend}/`, { ...toFriend, allow })
    expect(status).toBe(200)
  })

  test('every non-public address is rejected, in every spelling', async () => {
    const octet = fc.integer({ min: 0, max: 255 })
    const privateAddress = fc.oneof(
      fc.tuple(fc.constantFrom(0, 10, 127), octet, octet, octet),
      fc.tuple(fc.constant(192), fc.constant(168), octet, octet),
      fc.tuple(fc.constant(169), fc.constant(254), octet, octet),
      fc.tuple(fc.constant(172), fc.integer({ min: 16, max: 31 }), octet, octet),
      fc.tuple(fc.constant(100), fc.integer({ min: 64, max: 127 }), octet, octet),
      fc.tuple(fc.integer({ min: 224, max: 255 }), octet, octet, octet),
    )
    await fc.assert(
      fc.asyncProperty(privateAddress, fc.nat({ max: 4 }), async ([a, b, c, d], form) => {
        const number = ((a * 256 + b) * 256 + c) * 256 + d
        const forms = [
          `${a}.${b}.${c}.${d}`,
          `0x${number.toString(16)}`,
          `0${a.toString(8)}.${b * 65_536 + c * 256 + d}`,
          `[::ffff:${a}.${b}.${c}.${d}]`,
          `[64:ff9b::${a}.${b}.${c}.${d}]`,
        ]
        expect(await readReason(`http://${forms[form]}:${canary}/`)).toBe('private')
      }),
    )
  })
})

test.each(['8.8.8.8', '1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00:1450::1', '64:ff9b::8.8.8.8'])(
  '%s is public',
  (address) => expect(isPublicAddress(address)).toBe(true),
)

test.each([
  '168.63.129.16',
  '::ffff:168.63.129.16',
  '64:ff9b::168.63.129.16',
  '64:ff9b:1::a9fe:a9fe',
  '2002:a83f:8110::1',
  '2001:0:4136:e378:8000:63bf:3fff:fdd2',
  '2a00:1450::5efe:a9fe:a9fe',
  '2a00:1450::200:5efe:a9fe:a9fe',
  '192.0.0.192',
  '100.100.100.200',
  'fd00:ec2::254',
  'fd20:ce::254',
])('%s is not public', (address) => expect(isPublicAddress(address)).toBe(false))

describe('the operator can allow', () => {
  test('an address range', async () => {
    const answer = await fetchOutbound(`http://127.0.0.2:${friend}/`, toFriend)
    expect([answer.status, answer.body.toString()]).toEqual([200, 'friend of 127.0.0.2'])
  })

  test('a name, with any address', async () => {
    const allow = { ...defaults.allow, OUTBOUND_ALLOWED_HOSTS: { names: ['hook.internal'], ranges: [] } }
    const lookup = toFriend.lookup
    const { body } = await fetchOutbound(`http://HOOK.internal.:${friend}/`, { ...defaults, allow, lookup })
    expect(body.toString()).toBe('friend of hook.internal.')
    expect(await readReason(`http://127.0.0.2:${friend}/`, { allow, lookup })).toBe('private')
    expect(await readReason(`http://not.hook.internal:${friend}/`, { allow, lookup })).toBe('private')
  })

  test('method, headers and body arrive', async () => {
    const call = { method: 'POST', headers: { 'x-mark': 'yes' }, body: 'hello' } as const
    const { body } = await fetchOutbound(`http://friend.example:${friend}/echo`, { ...toFriend, ...call })
    expect(JSON.parse(body.toString())).toEqual({ method: 'POST', mark: 'yes', encoding: 'identity', text: 'hello' })
  })
})

describe('an answer', () => {
  test.each([
    ['/announced', 'size'],
    ['/endless', 'size'],
    ['/silent', 'timeout'],
    ['/slow', 'timeout'],
    ['/broken', 'unreachable'],
    ['/half', 'unreachable'],
  ])('%s ends with %s', async (path, reason) => {
    const started = Date.now()
    expect(await readReason(`http://friend.example:${friend}${path}`, { ...toFriend, timeoutMs: 300 })).toBe(reason)
    expect(Date.now() - started).toBeLessThan(1_000)
  })

  test.each([
    ['/announced', 0],
    ['/endless', 1_000],
    ['/slow', undefined],
    ['/half', undefined],
  ])('%s is cut off when the caller uses only the status', async (path, length) => {
    const options = { ...toFriend, timeoutMs: 500, cutsBody: true }
    const answer = await fetchOutbound(`http://friend.example:${friend}${path}`, options)
    expect(answer.status).toBe(200)
    if (length !== undefined) expect(answer.body).toHaveLength(length)
  })

  test('without a status fails, even when the caller uses only the status', async () => {
    const options = { timeoutMs: 300, cutsBody: true }
    expect(await readReason(`http://friend.example:${friend}/silent`, { ...toFriend, ...options })).toBe('timeout')
    expect(await readReason(`http://friend.example:${friend}/broken`, { ...toFriend, ...options })).toBe('unreachable')
  })

  test('of exactly the maximum size is accepted, and compressed bytes stay compressed', async () => {
    const { body } = await fetchOutbound(`http://friend.example:${friend}/exact`, toFriend)
    expect(body.length).toBe(1_000)
    const packed = await fetchOutbound(`http://friend.example:${friend}/packed`, toFriend)
    expect([packed.headers['content-encoding'], packed.body.length < 1_000]).toEqual(['gzip', true])
  })

  test('times out or fails when the DNS resolver does', async () => {
    const url = `http://friend.example:${friend}/`
    expect(await readReason(url, { lookup: () => new Promise(() => {}), timeoutMs: 100 })).toBe('timeout')
    expect(await readReason(url, { lookup: () => Promise.reject(new Error('ENOTFOUND')) })).toBe('unresolvable')
    expect(await readReason(url, { lookup: async () => [] })).toBe('unresolvable')
  })

  test("the system's resolver is the default", async () => {
    expect(await readReason(`http://localhost:${canary}/`, { lookup: undefined })).toBe('private')
    const allow = { ...defaults.allow, OUTBOUND_ALLOWED_HOSTS: { names: ['localhost'], ranges: [] } }
    const { body } = await fetchOutbound(`http://localhost:${canary}/`, { ...defaults, allow, lookup: undefined })
    expect(body.toString()).toBe('canary')
  })

  test('with an untrusted certificate is rejected', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tributary-outbound-'))
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
    const subject = ['-subj', '/CN=friend.example', '-days', '1', '-nodes', '-keyout', key, '-out', cert]
    await promisify(execFile)('openssl', ['req', '-x509', '-newkey', 'rsa:2048', ...subject])
    const server = createTlsServer({ key: await readFile(key), cert: await readFile(cert) }, answerAsFriend)
    const port = await new Promise<number>((resolve) => {
      server.listen(0, '127.0.0.2', () => resolve((server.address() as AddressInfo).port))
    })
    expect(await readReason(`https://friend.example:${port}/`, toFriend)).toBe('unreachable')
    server.close()
    await rm(folder, { recursive: true })
  })
})

async function readReason(url: string, options: Partial<OutboundOptions> = {}): Promise<string> {
  const error = await fetchOutbound(url, { ...defaults, ...options }).catch((error: unknown) => error)
  if (!(error instanceof OutboundError)) throw new Error(`${url} was not refused: ${JSON.stringify(error)}`)
  return error.reason
}

async function serve(host: string, port: number, listener: RequestListener): Promise<number> {
  const server = createServer(listener)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

function answerAsFriend(...[request, response]: Parameters<RequestListener>): void {
  const answers: Record<string, () => void> = {
    '/redirect': () => response.writeHead(302, { location: `http://127.0.0.1:${canary}/` }).end(),
    '/announced': () => response.writeHead(200, { 'content-length': 1_001 }).flushHeaders(),
    '/endless': () => void setInterval(() => response.write('x'.repeat(400)), 5).unref(),
    '/silent': () => {},
    '/slow': () => void setInterval(() => response.write('x'), 50).unref(),
    '/broken': () => response.socket?.end('nonsense\r\n\r\n'),
    '/half': () => {
      response.writeHead(200, { 'content-length': 100 })
      response.write('half', () => response.socket?.destroy())
    },
    '/exact': () => response.end('x'.repeat(1_000)),
    '/packed': () => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('x'.repeat(100_000))),
    '/echo': () => {
      const { method, headers } = request
      request.on('data', (chunk) => {
        const mark = headers['x-mark']
        response.end(JSON.stringify({ method, mark, encoding: headers['accept-encoding'], text: String(chunk) }))
      })
    },
  }
  const otherwise = () => response.end(`friend of ${request.headers.host?.replace(/:\d+$/, '')}`)
  ;(answers[request.url ?? ''] ?? otherwise)()
}

describe('a URL is checked before any call', () => {
  test.each([
    ['https://example.com/', undefined],
    ['https://localhost/', undefined],
    ['https://93.184.216.34:8443/', undefined],
    ['http://127.0.0.1/', 'private'],
    ['http://0177.1/', 'private'],
    ['http://[::ffff:7f00:1]/', 'private'],
    ['http://127.0.0.1./', 'private'],
    ['gopher://example.com/', 'scheme'],
    ['http://a:b@example.com/', 'credentials'],
    ['example.com', 'url'],
  ])('%s: %s', (url, reason) => expect(checkUrl(url, defaults.allow)).toBe(reason))

  test('the port, unless it is allowed, and what the operator allows', () => {
    expect(checkUrl('http://example.com:8080/', { ...defaults.allow, OUTBOUND_ALLOWED_PORTS: [] })).toBe('port')
    expect(checkUrl('http://127.0.0.2/', toFriend.allow)).toBeUndefined()
  })
})
