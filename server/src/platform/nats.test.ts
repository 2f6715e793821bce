import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { jetstreamManager } from '@nats-io/jetstream'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startEngines } from '../../../engines/start.ts'
import { openTestPlatform } from '../../test/stack.ts'
import { openLog } from './log.ts'
import { closeNats, ensureStreams, eventStream, natsServers, openNats, untilReachable } from './nats.ts'

const { nats, config } = await openTestPlatform()

/** Starts a server that greets like NATS; `answer` gets what the client sends. */
async function startFake(answer: (socket: Socket, data: string) => void): Promise<string> {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    socket.write('INFO {"server_id":"x","version":"2.15.0","proto":1,"headers":true,"max_payload":1048576}\r\n')
    socket.on('data', (data) => answer(socket, String(data)))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `nats://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('a NATS URL', () => {
  test.each([
    ['nats://a.example.com:4222', { servers: ['a.example.com:4222'] }],
    ['nats://a.example.com', { servers: ['a.example.com'] }],
    ['nats://a:1, nats://b:2', { servers: ['a:1', 'b:2'] }],
    ['nats://me:s%40cret@a:1,nats://b:2', { servers: ['a:1', 'b:2'], user: 'me', pass: 's@cret' }],
    ['nats://t0ken@a:1', { servers: ['a:1'], token: 't0ken' }],
    ['tls://a:1', { servers: ['a:1'], tls: {} }],
    ['nats://[::1]:4222', { servers: ['[::1]:4222'] }],
  ])('%s is parsed', (url, target) => {
    expect(natsServers(url)).toEqual(target)
  })

  test('with a password is used to log in', async () => {
    const login = Promise.withResolvers<string>()
    const fake = await startFake((socket, data) => {
      login.resolve(data)
      socket.end("-ERR 'Authorization Violation'\r\n")
    })
    const url = fake.replace('nats://', 'nats://me:s%40cret@')
    await expect(openNats({ ...config, NATS_URL: url }, openLog('silent'))).rejects.toThrow(
      /^NATS at 127\.0\.0\.1:\d+: .*authorization/i,
    )
    expect(await login.promise).toMatch(/^CONNECT .*"user":"me","pass":"s@cret"/)
  })
})

test('a server that falls silent without closing the connection is left within 20 seconds', async () => {
  const connected = new WeakSet<Socket>()
  // Answers only while it connects, as a server that loses its power right afterwards.
  const url = await startFake((socket) => {
    if (!connected.has(socket)) socket.write('PONG\r\n')
    connected.add(socket)
  })
  const silent = await openNats({ ...config, NATS_URL: url }, openLog('silent'))
  onTestFinished(() => silent.close())
  const began = performance.now()
  for await (const { type } of silent.status()) if (type === 'disconnect') break
  expect(performance.now() - began).toBeLessThan(20_000)
}, 60_000)

test('a redirect that NATS refuses starts, and connects when NATS accepts it', async () => {
  let refusals = 0
  const url = await startFake((socket, data) => {
    if (refusals++ < 20) socket.end("-ERR 'Authorization Violation'\r\n")
    else for (const _ of data.matchAll(/PING/g)) socket.write('PONG\r\n')
  })
  const late = await openNats({ ...config, ROLES: ['redirect'], NATS_URL: url }, openLog('silent'))
  onTestFinished(() => late.close())
  const states: string[] = []
  void (async () => {
    for await (const { type } of late.status()) states.push(type)
  })()
  await expect(late.flush()).rejects.toThrow('NATS is unreachable')
  await untilReachable(late)
  expect(refusals).toBeGreaterThan(20)
  expect(states.slice(0, 2)).toEqual(['disconnect', 'reconnect'])
}, 60_000)

test('streams are created once and follow the settings', async () => {
  const manager = await jetstreamManager(nats)
  const days = async () => {
    const { config: stream } = await manager.streams.info(eventStream(0))
    return stream.max_age / 1e9 / 86_400
  }
  await Promise.all([ensureStreams(nats, config), ensureStreams(nats, config)])
  expect(await days()).toBe(config.EVENT_RETENTION_DAYS)
  await ensureStreams(nats, { ...config, EVENT_RETENTION_DAYS: 45 })
  expect(await days()).toBe(45)
  await ensureStreams(nats, config)
  expect(await days()).toBe(config.EVENT_RETENTION_DAYS)
})

test('a connection closes even while NATS hangs or is down', async () => {
  const engines = await startEngines({ only: ['nats'] })
  onTestFinished(() => engines.stop())
  const open = () => openNats({ ...config, ...engines.urls }, openLog('silent'))
  const [normal, hanging, lost] = await Promise.all([open(), open(), open()])
  await closeNats(normal)
  expect(normal.isClosed()).toBe(true)

  const started = performance.now()
  engines.processes.nats?.kill('SIGSTOP')
  await closeNats(hanging)
  engines.processes.nats?.kill('SIGCONT')
  expect(hanging.isClosed()).toBe(true)

  await engines.processes.nats?.stop()
  await closeNats(lost)
  expect(lost.isClosed()).toBe(true)
  expect(performance.now() - started).toBeLessThan(8_000)
})
