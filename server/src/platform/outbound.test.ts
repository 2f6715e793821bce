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
import { fetchOutbound, isPublicAddress, OutboundError, type OutboundOptions } from './outbound.ts'

let canaryHits = 0
const canary = await serve('127.0.0.1', 0, (_request, response) => {
  canaryHits += 1
  response.end('canary')
})
// Where there is no IPv6, a refused connection would look like a refused address: the table checks the reason too.
await serve('::1', canary, (_request, response) => {
  canaryHits += 1
  response.end('canary')
}).catch(() => 0)
const friend = await serve('127.0.0.2', 0, answerAsFriend)

const everyPort: [number, number][] = [[1, 65_535]]
const standard: OutboundOptions = {
  timeoutMs: 2_000,
  maxBytes: 1_000,
  allow: { OUTBOUND_ALLOWED_PORTS: everyPort, OUTBOUND_ALLOWED_HOSTS: { names: [], ranges: [] } },
  // The worst resolver there is: whatever the name, it leads home.
  lookup: async () => [{ address: '127.0.0.1', family: 4 }],
}
const toFriend: OutboundOptions = {
  ...standard,
  allow: { OUTBOUND_ALLOWED_PORTS: everyPort, OUTBOUND_ALLOWED_HOSTS: { names: [], ranges: ['127.0.0.2'] } },
  lookup: async () => [{ address: '127.0.0.2', family: 4 }],
}

beforeEach(() => {
  canaryHits = 0
})

/** `{p}` is the port of a server that must never be reached. */
const spellings: Record<string, string> = {
  private: `
    http://127.0.0.1:{p}/ http://127.0.0.1:{p} http://127.0.0.1:{p}/?a#b HTTP://127.0.0.1:{p}/ http:127.0.0.1:{p}
    http:/127.0.0.1:{p}/ http:///127.0.0.1:{p}/ http:////127.0.0.1:{p}/ http:\\\\127.0.0.1:{p}\\ http://127.0.0.1.:{p}/
    http://127.0.0.2:{p}/ http://127.1.2.3:{p}/ http://127.255.255.255:{p}/ http://127.1:{p}/ http://127.0.1:{p}/
    http://127.1.:{p}/ http://2130706433:{p}/ http://2130706433.:{p}/ http://0x7f000001:{p}/ http://0x7F000001:{p}/
    http://0x7f.0.0.1:{p}/ http://0x7f.0x0.0x0.0x1:{p}/ http://0x7f.1:{p}/ http://0X7f.1:{p}/ http://0177.0.0.1:{p}/
    http://0177.0.0.01:{p}/ http://0177.1:{p}/ http://017700000001:{p}/ http://00000177.0.0.1:{p}/
    http://0x7f.0.1:{p}/ http://127.0x0.1:{p}/ http://0x000000007f000001:{p}/ http://127.0.0.0x1:{p}/
    http://127.00.00.01:{p}/ http://0x0000007f.0.0.1:{p}/ http://0177.0x0.0.1:{p}/ http://127.65535:{p}/
    http://127.16777215:{p}/ http://0x7f.0xffffff:{p}/
    http://%31%32%37.0.0.1:{p}/ http://127%2e0%2e0%2e1:{p}/ http://127.0.0.%31:{p}/ http://%30x7f.1:{p}/
    http://１２７.０.０.１:{p}/ http://127。0。0。1:{p}/ http://127．0．0．1:{p}/ http://127｡0｡0｡1:{p}/ http://①②⑦.⓪.⓪.①:{p}/
    http://𝟏𝟐𝟕.𝟎.𝟎.𝟏:{p}/ http://１２７。１:{p}/ http://0ｘ7f.1:{p}/ http://127.0.0.1​:{p}/ http://127.­0.0.1:{p}/
    http://0.0.0.0:{p}/ http://0:{p}/ http://0x0:{p}/ http://00:{p}/ http://0.1:{p}/ http://0.255.255.255:{p}/
    http://[::1]:{p}/ http://[0:0:0:0:0:0:0:1]:{p}/ http://[0000::0001]:{p}/ http://[0::1]:{p}/ http://[::0001]:{p}/
    http://[::0.0.0.1]:{p}/ http://[::]:{p}/ http://[0::0]:{p}/ http://[::127.0.0.1]:{p}/ http://[::7f00:1]:{p}/
    http://[::ffff:127.0.0.1]:{p}/ http://[::ffff:7f00:1]:{p}/ http://[::FFFF:7F00:0001]:{p}/
    http://[0:0:0:0:0:ffff:127.0.0.1]:{p}/ http://[::ffff:10.0.0.1]:{p}/ http://[::ffff:169.254.169.254]:{p}/
    http://[::ffff:0.0.0.0]:{p}/ http://[::ffff:192.168.1.1]:{p}/ http://[::ffff:0:127.0.0.1]:{p}/
    http://[64:ff9b::127.0.0.1]:{p}/ http://[64:ff9b::7f00:1]:{p}/ http://[64:ff9b::10.0.0.1]:{p}/
    http://[64:ff9b::169.254.169.254]:{p}/ http://[64:ff9b::]:{p}/ http://[64:ff9b:1::127.0.0.1]:{p}/
    http://[64:ff9b:1::8.8.8.8]:{p}/ http://[2002:7f00:1::]:{p}/ http://[2002:7f00:0001::1]:{p}/
    http://[2002:a00:1::]:{p}/ http://[2002:a9fe:a9fe::]:{p}/ http://[2001::1]:{p}/
    http://[2001:0:7f00:1::]:{p}/ http://[2001:0:4136:e378:8000:63bf:80ff:fffe]:{p}/ http://[2001:db8::1]:{p}/
    http://[3fff::1]:{p}/ http://[2001:2::1]:{p}/ http://[2001:10::1]:{p}/ http://[2001:20::1]:{p}/
    http://[fe80::1]:{p}/ http://[febf::1]:{p}/ http://[fec0::1]:{p}/ http://[fc00::1]:{p}/ http://[fd00::1]:{p}/
    http://[fd00:ec2::254]:{p}/ http://[fdff:ffff::1]:{p}/ http://[ff02::1]:{p}/ http://[ff0e::1]:{p}/
    http://[100::1]:{p}/ http://[4000::1]:{p}/ http://[5f00::1]:{p}/ http://[::2]:{p}/
    http://10.0.0.1:{p}/ http://10.255.255.255:{p}/ http://172.16.0.1:{p}/ http://172.31.255.255:{p}/
    http://192.168.0.1:{p}/ http://192.168.1.1:{p}/ http://3232235777:{p}/ http://0xa9fea9fe:{p}/ http://2852039166:{p}/
    http://169.254.169.254:{p}/latest/meta-data/ http://169.254.169.254.:{p}/ http://0251.0376.0251.0376:{p}/
    http://169.254.0.1:{p}/ http://169.254.170.2:{p}/ http://100.64.0.1:{p}/ http://100.100.100.200:{p}/
    http://100.127.255.255:{p}/ http://192.0.0.1:{p}/ http://192.0.0.192:{p}/ http://192.0.2.1:{p}/
    http://192.88.99.1:{p}/ http://198.18.0.1:{p}/ http://198.19.255.255:{p}/ http://198.51.100.1:{p}/
    http://203.0.113.1:{p}/ http://224.0.0.1:{p}/ http://239.255.255.255:{p}/ http://240.0.0.1:{p}/
    http://255.255.255.255:{p}/ http://4294967295:{p}/
    http://localhost:{p}/ http://LOCALHOST:{p}/ http://localhost.:{p}/ http://ｌｏｃａｌｈｏｓｔ:{p}/ http://ⓛocalhost:{p}/
    http://%6cocalhost:{p}/ http://localhost.localdomain:{p}/ http://anything.localhost:{p}/ http://internal:{p}/
    http://127.0.0.1.nip.example:{p}/ http://7f000001.rebind.example:{p}/ http://metadata.google.internal:{p}/
    http://xn--lcalhost-54a.example:{p}/ http://löcalhost.example:{p}/ http://example.com.:{p}/ http://ip6-localhost:{p}/
    https://127.0.0.1:{p}/ https://localhost:{p}/ https://[::1]:{p}/ https://2130706433:{p}/
    http://127.0.0.1:{p}/..;@example.com/ http://127.0.0.1:{p}/@example.com http://127.0.0.1:{p}?@example.com/
    http://127.0.0.1:{p}#@example.com/ http://127.0.0.1:{p}\\@example.com/ http://example.com:{p}/%2f%2f127.0.0.1`,
  credentials: `
    http://example.com@127.0.0.1:{p}/ http://example.com:80@127.0.0.1:{p}/ http://user:pass@127.0.0.1:{p}/
    http://example.com%00@127.0.0.1:{p}/ http://:secret@127.0.0.1:{p}/ http://a@b@127.0.0.1:{p}/
    http://127.0.0.1:{p}@example.com/ http://127.0.0.1%3A{p}@example.com/ https://example.com&@127.0.0.1:{p}/`,
  scheme: `
    file:///etc/passwd ftp://127.0.0.1:{p}/ gopher://127.0.0.1:{p}/_GET dict://127.0.0.1:{p}/ ws://127.0.0.1:{p}/
    wss://127.0.0.1:{p}/ unix:/var/run/docker.sock http+unix://%2fvar%2frun%2fdocker.sock/ data:text/plain,hello
    blob:http://127.0.0.1:{p}/1 javascript:fetch("http://127.0.0.1") jar:http://127.0.0.1!/ localhost:{p}
    view-source:http://127.0.0.1:{p}/ about:blank ldap://127.0.0.1:{p}/`,
  url: `
    //127.0.0.1:{p}/ /etc/passwd 127.0.0.1 127.0.0.1:{p} http:// http://[::1 http://[::1%25lo]:{p}/ http://[fe80::1%25lo]/
    http://256.256.256.256:{p}/ http://127.0.0.1.5:{p}/ http://4294967296:{p}/ http://0x100000000:{p}/ http://127.0.0.08:{p}/
    http://127.0.0.1:99999/ http://exa%00mple.com:{p}/ http://127.0.0.1%20:{p}/ http://[127.0.0.1]:{p}/ http://1.2.3.4.5:{p}/
    http://[::ffff:127.0.0.1.]:{p}/`,
}
const table = Object.entries(spellings).flatMap(([reason, text]) =>
  text
    .trim()
    .split(/\s+/)
    .map((spelling) => [spelling, reason] as const),
)

describe('what must not be reached', () => {
  test('there are more than 120 spellings', () => {
    expect(new Set(table.map(([spelling]) => spelling)).size).toBeGreaterThan(120)
  })

  test.each(table)('%s', async (spelling, reason) => {
    expect(await reasonOf(spelling.replaceAll('{p}', String(canary)))).toBe(reason)
    expect(canaryHits).toBe(0)
  })

  test.each(['\t', '\n', '\r\n'])('white space %j hides nothing', async (space) => {
    const spelling = `ht${space}tp://127.${space}0.0.1:${canary}/`
    expect(await reasonOf(spelling)).toBe('private')
    expect(await reasonOf(space + spelling + space)).toBe('private')
    expect(canaryHits).toBe(0)
  })

  test('a name with one public and one private address', async () => {
    const lookup = async () => [
      { address: '8.8.8.8', family: 4 },
      { address: '127.0.0.1', family: 4 },
    ]
    expect(await reasonOf(`http://both.example:${canary}/`, { lookup })).toBe('private')
    expect(canaryHits).toBe(0)
  })

  test('a name whose address changes after the check', async () => {
    const given = ['127.0.0.2', '127.0.0.1', '127.0.0.1', '127.0.0.1']
    let asked = 0
    const lookup = async () => [{ address: given[asked++] ?? '127.0.0.1', family: 4 }]
    const { body } = await fetchOutbound(`http://rebind.example:${friend}/`, { ...toFriend, lookup })
    expect(body.toString()).toBe('friend of rebind.example')
    expect([asked, canaryHits]).toEqual([1, 0])
    expect(await reasonOf(`http://rebind.example:${canary}/`, { ...toFriend, lookup })).toBe('private')
    expect(canaryHits).toBe(0)
  })

  test('what a redirect leads to', async () => {
    const answer = await fetchOutbound(`http://friend.example:${friend}/redirect`, toFriend)
    expect([answer.status, answer.headers.location]).toEqual([302, `http://127.0.0.1:${canary}/`])
    expect(canaryHits).toBe(0)
  })

  test('a proxy of the environment', async () => {
    const before = { ...process.env }
    const proxy = `http://127.0.0.1:${canary}`
    Object.assign(process.env, { http_proxy: proxy, HTTP_PROXY: proxy, ALL_PROXY: proxy, NODE_USE_ENV_PROXY: '1' })
    const { body } = await fetchOutbound(`http://friend.example:${friend}/`, toFriend).finally(() => {
      process.env = before
    })
    expect([body.toString(), canaryHits]).toEqual(['friend of friend.example', 0])
  })

  test('another port than 80 and 443', async () => {
    const allow = { ...toFriend.allow, OUTBOUND_ALLOWED_PORTS: [[friend, friend + 1]] as [number, number][] }
    for (const port of [22, 25, 8_080, friend - 1, friend + 2]) {
      expect(await reasonOf(`http://friend.example:${port}/`, { ...toFriend, allow }), String(port)).toBe('port')
    }
    const { status } = await fetchOutbound(`http://friend.example:${friend}/`, { ...toFriend, allow })
    expect(status).toBe(200)
  })

  test('any address that is not public, however it is written', async () => {
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
        expect(await reasonOf(`http://${forms[form]}:${canary}/`)).toBe('private')
      }),
    )
  })
})

test.each(['8.8.8.8', '1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00:1450::1', '64:ff9b::8.8.8.8'])(
  '%s is public',
  (address) => expect(isPublicAddress(address)).toBe(true),
)

describe('what the operator allowed', () => {
  test('an address range', async () => {
    const answer = await fetchOutbound(`http://127.0.0.2:${friend}/`, toFriend)
    expect([answer.status, answer.body.toString()]).toEqual([200, 'friend of 127.0.0.2'])
  })

  test('a name, with any address', async () => {
    const allow = { ...standard.allow, OUTBOUND_ALLOWED_HOSTS: { names: ['hook.internal'], ranges: [] } }
    const lookup = toFriend.lookup
    const { body } = await fetchOutbound(`http://HOOK.internal.:${friend}/`, { ...standard, allow, lookup })
    expect(body.toString()).toBe('friend of hook.internal.')
    expect(await reasonOf(`http://127.0.0.2:${friend}/`, { allow, lookup })).toBe('private')
    expect(await reasonOf(`http://not.hook.internal:${friend}/`, { allow, lookup })).toBe('private')
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
    expect(await reasonOf(`http://friend.example:${friend}${path}`, { ...toFriend, timeoutMs: 300 })).toBe(reason)
    expect(Date.now() - started).toBeLessThan(1_000)
  })

  test('of exactly the allowed size is taken, and compressed bytes stay compressed', async () => {
    const { body } = await fetchOutbound(`http://friend.example:${friend}/exact`, toFriend)
    expect(body.length).toBe(1_000)
    const packed = await fetchOutbound(`http://friend.example:${friend}/packed`, toFriend)
    expect([packed.headers['content-encoding'], packed.body.length < 1_000]).toEqual(['gzip', true])
  })

  test('of a resolver that says nothing, or fails, ends too', async () => {
    const url = `http://friend.example:${friend}/`
    expect(await reasonOf(url, { lookup: () => new Promise(() => {}), timeoutMs: 100 })).toBe('timeout')
    expect(await reasonOf(url, { lookup: () => Promise.reject(new Error('ENOTFOUND')) })).toBe('unresolvable')
    expect(await reasonOf(url, { lookup: async () => [] })).toBe('unresolvable')
  })

  test('the resolver of the system is asked when no other is given', async () => {
    expect(await reasonOf(`http://localhost:${canary}/`, { lookup: undefined })).toBe('private')
    const allow = { ...standard.allow, OUTBOUND_ALLOWED_HOSTS: { names: ['localhost'], ranges: [] } }
    const { body } = await fetchOutbound(`http://localhost:${canary}/`, { ...standard, allow, lookup: undefined })
    expect(body.toString()).toBe('canary')
  })

  test('with a certificate that nobody vouches for is none', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tributary-outbound-'))
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
    const subject = ['-subj', '/CN=friend.example', '-days', '1', '-nodes', '-keyout', key, '-out', cert]
    await promisify(execFile)('openssl', ['req', '-x509', '-newkey', 'rsa:2048', ...subject])
    const server = createTlsServer({ key: await readFile(key), cert: await readFile(cert) }, answerAsFriend)
    const port = await new Promise<number>((resolve) => {
      server.listen(0, '127.0.0.2', () => resolve((server.address() as AddressInfo).port))
    })
    expect(await reasonOf(`https://friend.example:${port}/`, toFriend)).toBe('unreachable')
    server.close()
    await rm(folder, { recursive: true })
  })
})

async function reasonOf(url: string, options: Partial<OutboundOptions> = {}): Promise<string> {
  const error = await fetchOutbound(url, { ...standard, ...options }).catch((error: unknown) => error)
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
