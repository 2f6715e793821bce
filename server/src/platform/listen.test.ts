import { createServer } from 'node:http'
import { connect, type Socket } from 'node:net'
import type { errorStatuses } from '@tributary/contract/operation'
import { describe, expect, inject, test } from 'vitest'
import { freePort } from '../../../engines/port.ts'
import { buildWorkspace } from '../../test/build.ts'
import { openTestPlatform } from '../../test/stack.ts'
import { newId } from './ids.ts'
import { listen, webServer } from './listen.ts'

const platform = await openTestPlatform()
const { api } = inject('server')
const { key } = await buildWorkspace(platform)
const authorized = `Host: localhost\r\nAuthorization: Bearer ${key}\r\n`

describe('malformed HTTP gets the error envelope too', () => {
  const noHttp = 'This is not valid HTTP.'
  const noAddress = 'The Host header or the path is missing or invalid.'
  test.each<[string, string, string]>([
    ['no HTTP at all', 'HELLO\r\n\r\n', noHttp],
    ['an unknown method', `EAT /links HTTP/1.1\r\n${authorized}\r\n`, noHttp],
    ['two lengths', `POST /links HTTP/1.1\r\n${authorized}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`, noHttp],
    ['a broken chunk', `POST /links HTTP/1.1\r\n${authorized}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}`, noHttp],
    ['no host', 'GET /links HTTP/1.1\r\n\r\n', noAddress],
    ['an empty host', 'GET /links HTTP/1.1\r\nHost:\r\n\r\n', noAddress],
    ['a host with a blank', 'GET /links HTTP/1.1\r\nHost: a b\r\n\r\n', noAddress],
    ['a host with a path', 'GET /links HTTP/1.1\r\nHost: a/b\r\n\r\n', noAddress],
    ['a host with a user', 'GET /links HTTP/1.1\r\nHost: a@b\r\n\r\n', noAddress],
    ['an odd number for a host', 'GET /links HTTP/1.1\r\nHost: 0x7f.1\r\n\r\n', noAddress],
    ['a path with a backslash', 'GET /a\\b HTTP/1.1\r\nHost: a\r\n\r\n', noAddress],
    ['no path', 'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n', noAddress],
  ])('%s', async (_name, request, message) => {
    const answer = await exchange(request)
    expect(answer).toEqual({ status: 400, body: refusal('bad_request', message) })
  })

  test.each<[string, string, number]>([
    ['an absolute address', `GET http://localhost/links HTTP/1.1\r\n${authorized}\r\n`, 200],
    ['an IPv4 address as host', `GET /links HTTP/1.1\r\n${authorized.replace('localhost', '127.0.0.1:80')}\r\n`, 200],
    ['an IPv6 address as host', `GET /links HTTP/1.1\r\n${authorized.replace('localhost', '[::1]:80')}\r\n`, 200],
    ['a host in capitals', `GET /links HTTP/1.1\r\n${authorized.replace('localhost', 'API.Example.COM:443')}\r\n`, 200],
    ['HTTP/1.0 without a host', `GET /links HTTP/1.0\r\nAuthorization: Bearer ${key}\r\n\r\n`, 200],
    ['HTTP/1.0 of a health check', 'GET /healthz HTTP/1.0\r\n\r\n', 200],
    [
      'an upgrade that is not offered',
      `GET /links HTTP/1.1\r\n${authorized}Connection: Upgrade\r\nUpgrade: x\r\n\r\n`,
      200,
    ],
    ['an unknown expectation', `GET /links HTTP/1.1\r\n${authorized}Expect: wonders\r\n\r\n`, 200],
  ])('%s is accepted', async (_name, request, status) => {
    expect((await exchange(request)).status).toBe(status)
  })
})

describe('the address and the headers of a request', () => {
  const tooLarge = (bytes: number) => `The URL and the headers together exceed the limit of ${bytes} bytes.`

  test('may have 128 KiB at the api, and a larger one is 422', async () => {
    const request = (bytes: number) => `GET /links HTTP/1.1\r\n${authorized}X-Long: ${'x'.repeat(bytes)}\r\n\r\n`
    expect((await exchange(request(130_000))).status).toBe(200)
    const answer = await exchange(request(131_072))
    expect(answer).toEqual({ status: 422, body: refusal('unprocessable_entity', tooLarge(131_072)) })
  })

  test('may have 16 KiB elsewhere', async () => {
    await using server = await listen(
      webServer(platform.config, (_, response) => response.end()),
      '127.0.0.1',
      0,
    )
    const response = await fetch(`http://127.0.0.1:${server.port}/?${'x'.repeat(16_384)}`)
    expect(response.status).toBe(422)
    expect(await response.json()).toMatchObject({ error: { message: tooLarge(16_384) } })
    expect((await fetch(`http://127.0.0.1:${server.port}/?${'x'.repeat(15_000)}`)).status).toBe(200)
  })

  test.each(['я', '漢', '😀😀'])('fit a `query` of 10,000 characters like %s, percent-encoded', async (sign) => {
    const { key } = await buildWorkspace(platform, { plan: 'business' })
    const value = sign.repeat(10_000 / sign.length - 20).slice(0, 9_980)
    const query = new URLSearchParams({ event: 'leads', query: `metadata['k']:'${value}'` })
    const response = await fetch(`${api}/events?${query}`, { headers: { authorization: `Bearer ${key}` } })
    expect([response.status, await response.json()]).toEqual([200, []])
  })

  test('fit a list of 1,000 links beside the longest query', async () => {
    const { key } = await buildWorkspace(platform, { plan: 'business' })
    const ids = Array.from({ length: 1_000 }, () => newId('link'))
    const query = new URLSearchParams({ event: 'leads', query: `metadata['k']:'${'я'.repeat(9_980)}'` })
    const response = await fetch(`${api}/events?${query}&linkId=${ids.join(',')}`, {
      headers: { authorization: `Bearer ${key}` },
    })
    expect(await response.json()).toEqual([])
  })
})

describe('a body that never arrives', () => {
  const tooLarge = 'The body is larger than 131072 bytes, the limit of this operation. Send less in one request.'

  test('of 100 MB is refused by its Content-Length', async () => {
    const answer = await exchange(`POST /links HTTP/1.1\r\n${authorized}Content-Length: 100000000\r\n\r\n{"url":`)
    expect(answer).toEqual({ status: 422, body: refusal('unprocessable_entity', tooLarge) })
  })

  test('is refused without a key', async () => {
    const answer = await exchange('POST /links HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000\r\n\r\n{"url":')
    expect(answer.status).toBe(401)
  })

  test('gets 100 Continue first if the client expects it', async () => {
    const head = `POST /links HTTP/1.1\r\n${authorized}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n`
    const socket = open()
    socket.write(head)
    expect(await read(socket, /\r\n\r\n/)).toBe('HTTP/1.1 100 Continue\r\n\r\n')
    socket.write('{}')
    expect(await read(socket, /\}$/)).toMatch(/^HTTP\/1\.1 400 /)
    socket.destroy()
  })

  test('does not affect other requests when its connection breaks', async () => {
    const socket = open()
    socket.write(`POST /links HTTP/1.1\r\n${authorized}Content-Length: 100\r\n\r\n{"url":`)
    await new Promise((resolve) => setTimeout(resolve, 20))
    socket.destroy()
    expect((await exchange(`GET /links HTTP/1.1\r\n${authorized}\r\n`)).status).toBe(200)
  })
})

describe('a stop', () => {
  test('closes idle connections at once and others after their request, and accepts no new ones', async () => {
    let finish = () => {}
    const begun = Promise.withResolvers<void>()
    const server = createServer((request, response) => {
      if (request.url === '/quick') return response.end('quick')
      finish = () => response.end('slow')
      begun.resolve()
    })
    server.keepAliveTimeout = 65_000
    const listening = await listen(server, '127.0.0.1', 0, 10_000)
    const address = `http://127.0.0.1:${listening.port}`
    await fetch(`${address}/quick`)
    const slow = fetch(`${address}/slow`)
    await begun.promise

    const started = performance.now()
    const stopped = Promise.resolve(listening[Symbol.asyncDispose]())
    await expect(fetch(`${address}/quick`)).rejects.toThrow()
    finish()
    expect(await (await slow).text()).toBe('slow')
    await stopped
    expect(performance.now() - started).toBeLessThan(5_000)
  })

  test('closes connections that do not end within the grace period', async () => {
    const begun = Promise.withResolvers<void>()
    const listening = await listen(
      createServer(() => begun.resolve()),
      '127.0.0.1',
      0,
      100,
    )
    const hanging = expect(fetch(`http://127.0.0.1:${listening.port}`)).rejects.toThrow()
    await begun.promise
    await listening[Symbol.asyncDispose]()
    await hanging
  })
})

test('a port in use and a missing certificate are reported', async () => {
  const port = await freePort()
  await using _first = await listen(createServer(), '127.0.0.1', port)
  await expect(listen(createServer(), '127.0.0.1', port)).rejects.toThrow(
    `Port ${port} on 127.0.0.1 is in use. Set another port.`,
  )
  const config = { ...platform.config, TLS_CERT: '/no/cert.pem', TLS_KEY: '/no/key.pem' }
  expect(() => webServer(config, () => {})).toThrow(/^TLS_CERT and TLS_KEY can't be used: ENOENT.*\/no\/cert\.pem/)
})

function open(): Socket {
  return connect(Number(new URL(api).port), '127.0.0.1')
}

/** Sends bytes over TCP and parses one HTTP response. */
async function exchange(request: string): Promise<{ status: number; body: unknown }> {
  const socket = open()
  socket.write(request)
  const text = await read(socket, /\r\n\r\n.*[}\]]$/s)
  socket.destroy()
  const [head = '', body = ''] = text.split('\r\n\r\n')
  expect(head.toLowerCase()).toContain('content-type: application/json')
  return { status: Number(head.split(' ')[1]), body: JSON.parse(body) }
}

function read(socket: Socket, until: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const onData = (chunk: Buffer) => {
      text += chunk
      if (!until.test(text)) return
      socket.off('data', onData)
      resolve(text)
    }
    socket.on('data', onData)
    socket.once('error', reject)
    socket.once('close', () => reject(new Error(`The connection ended after ${JSON.stringify(text)}`)))
  })
}

function refusal(code: keyof typeof errorStatuses, message: string) {
  return { error: { code, message, doc_url: `${api}/docs/errors/${code}` } }
}
