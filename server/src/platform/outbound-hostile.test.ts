import { type AddressInfo, createServer, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { eventually } from '../../test/stack.ts'
import { fetchOutbound, OutboundError, type OutboundOptions } from './outbound.ts'

/*
 * Hostile receivers that try to block, exhaust or occupy their caller. Each speaks raw TCP, and
 * would never stop.
 */

const options: OutboundOptions = {
  timeoutMs: 20_000,
  maxBytes: 4_000,
  method: 'POST',
  body: '{}',
  allow: { OUTBOUND_ALLOWED_PORTS: [[1, 65_535]], OUTBOUND_ALLOWED_HOSTS: { names: [], ranges: ['127.0.0.2'] } },
}
const ok = 'HTTP/1.1 200 OK\r\n'
const chunked = `${ok}transfer-encoding: chunked\r\n\r\n`

describe('a flood', () => {
  test.each([
    ['of 102', '', 'HTTP/1.1 102 Processing\r\n\r\n'],
    ['of 103 with headers', '', 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'],
    ['of unexpected 100 responses', '', 'HTTP/1.1 100 Continue\r\n\r\n'],
    ['of empty lines before the response', '', '\r\n'],
    ['in the status text', 'HTTP/1.1 200 ', 'x'],
    ['in the name of a header', ok, 'x'],
    ['in the value of a header', `${ok}x: `, 'x'],
    ['of headers', ok, 'x: y\r\n'],
    ['after a protocol upgrade', `HTTP/1.1 101 Hi\r\nupgrade: x\r\n\r\n`, 'x'],
    ['of the body', `${ok}\r\n`, 'x'],
    ['of tiny chunks', chunked, '1\r\nx\r\n'],
    ['in chunk extensions', `${chunked}1;`, 'x'],
    ['of headers after the body', `${chunked}2\r\nok\r\n0\r\n`, 'x: y\r\n'],
  ])('%s is aborted soon', async (_where, beginning, endless) => {
    const { url, open } = await listen((socket) => flood(socket, beginning, endless))
    const started = Date.now()
    expect(await readReason(url)).toMatch(/^(size|unreachable)$/)
    expect(Date.now() - started).toBeLessThan(options.timeoutMs / 2)
    await eventually(async () => expect(open.size).toBe(0))
  })

  test.each([
    ['of the body', `${ok}\r\n`, 'x', 4_000],
    ['of tiny chunks', chunked, '1\r\nx\r\n', 4_000],
    ['in chunk extensions', `${chunked}1;`, 'x', 0],
    ['of headers after the body', `${chunked}2\r\nok\r\n0\r\n`, 'x: y\r\n', 2],
  ])('%s is cut off when the caller uses only the status', async (_where, beginning, endless, length) => {
    const { url, open } = await listen((socket) => flood(socket, beginning, endless))
    const { status, body } = await fetchOutbound(url, { ...options, cutsBody: true })
    expect([status, body.length]).toEqual([200, length])
    await eventually(async () => expect(open.size).toBe(0))
  })
})

describe('a trickle', () => {
  test.each([
    ['of nothing', '', ''],
    ['of 102', '', 'HTTP/1.1 102 Processing\r\n\r\n'],
    ['in a header', `${ok}x: `, 'x'],
    ['of the body', `${ok}\r\n`, 'x'],
  ])('%s is aborted at the timeout', async (_where, beginning, drop) => {
    const { url } = await listen((socket) => trickle(socket, beginning, drop))
    expect(await readReason(url, { timeoutMs: 500 })).toBe('timeout')
  })

  test('of a body does not delay a caller that needs only the status', async () => {
    const { url } = await listen((socket) => trickle(socket, `${ok}content-length: 1000\r\n\r\n`, 'x'))
    const started = Date.now()
    const { status } = await fetchOutbound(url, { ...options, cutsBody: true })
    expect(status).toBe(200)
    expect(Date.now() - started).toBeLessThan(options.timeoutMs / 2)
  })

  test('of a TLS handshake is aborted at the timeout', async () => {
    const { url } = await listen((socket) => trickle(socket, '\x16\x03\x03\x3f\xff\x02', '\0'))
    expect(await readReason(url.replace('http:', 'https:'), { timeoutMs: 500 })).toBe('timeout')
  })
})

describe('an answer', () => {
  test.each([
    ['after an interim response', 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 204 No\r\n\r\n', 204],
    ['that is followed by another', `HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n${ok}content-length: 0\r\n\r\n`, 500],
  ])('%s is the one that is returned', async (_what, text, expected) => {
    const { url } = await listen((socket) => socket.write(text))
    expect((await fetchOutbound(url, options)).status).toBe(expected)
  })

  test.each([
    ['of two lengths', `${ok}content-length: 0\r\ncontent-length: 2\r\n\r\nok`],
    ['of a length and chunks', `${ok}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\nok`],
    ['of a negative length', `${ok}content-length: -1\r\n\r\n`],
    ['of an unknown status', 'HTTP/1.1 20 OK\r\n\r\n'],
    ['of another protocol', 'SSH-2.0-OpenSSH_9.6\r\n'],
  ])('%s is not accepted as a response', async (_what, text) => {
    const { url } = await listen((socket) => socket.write(text))
    expect(await readReason(url)).toBe('unreachable')
  })
})

async function readReason(url: string, given: Partial<OutboundOptions> = {}): Promise<string> {
  const error = await fetchOutbound(url, { ...options, ...given }).catch((error: unknown) => error)
  if (!(error instanceof OutboundError)) throw new Error(`${url} was answered: ${JSON.stringify(error)}`)
  return error.reason
}

/** Starts a server that answers each request with `answer`; returns its open connections. */
async function listen(answer: (socket: Socket) => void): Promise<{ url: string; open: Set<Socket> }> {
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    open.add(socket)
    socket.on('close', () => open.delete(socket)).on('error', () => {})
    socket.once('data', () => answer(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.2', resolve))
  onTestFinished(async () => {
    for (const socket of open) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  return { url: `http://127.0.0.2:${(server.address() as AddressInfo).port}/`, open }
}

/** Writes endlessly, as fast as the client reads. */
function flood(socket: Socket, beginning: string, endless: string): void {
  const piece = endless.repeat(Math.ceil(16_384 / endless.length))
  const send = () => {
    if (socket.destroyed) return
    if (socket.write(piece)) setImmediate(send)
    else socket.once('drain', send)
  }
  socket.write(beginning)
  send()
}

function trickle(socket: Socket, beginning: string, drop: string): void {
  socket.write(beginning)
  const dripping = setInterval(() => socket.write(drop), 50)
  socket.on('close', () => clearInterval(dripping))
}
