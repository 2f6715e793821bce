import { Webhook } from 'standardwebhooks'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { setZone } from '../../../test/dns-server.ts'
import { allowLoopback, type Receiver, startReceiver } from '../../../test/webhooks.ts'
import { readConfig } from '../../platform/config.ts'
import { callReceiver } from './call.ts'
import { newSecret } from './secrets.ts'

const config = readConfig({ ...inject('environment'), ...allowLoopback, API_URL: 'https://api.example.com' })
const platform = { config, now: () => new Date() }
const body = JSON.stringify({ id: 'evt_1', event: 'link.created', note: 'grün 🎉' })
const secrets = [newSecret(), newSecret()]

describe('a webhook call', () => {
  test('a call is signed with each secret, and the Standard Webhooks package verifies it with these only', async () => {
    const receiver = await listen()
    const called = await call(receiver.url)
    expect(called).toMatchObject({ outcome: 'delivered', responseStatus: 204, responseExcerpt: '', problem: null })
    const { headers, body: heard } = receiver.heard[0] as Receiver['heard'][0]
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'Tributary-Webhooks/1.0 (+https://api.example.com)',
      'webhook-id': 'evt_1',
    })
    const given = headers as Record<string, string>
    for (const secret of secrets) expect(new Webhook(secret).verify(heard, given)).toEqual(JSON.parse(body))
    expect(() => new Webhook(newSecret()).verify(heard, given)).toThrow('No matching signature')
    expect(() => new Webhook(secrets[0] as string).verify(`${heard} `, given)).toThrow('No matching signature')
  })

  test.each([
    [200, 'delivered', null],
    [299, 'delivered', null],
    [400, 'refused', 'The receiver answered 400 instead of 2xx.'],
    [500, 'refused', 'The receiver answered 500 instead of 2xx.'],
    [410, 'gone', 'The receiver answered 410: it wants no more events.'],
    [304, 'refused', expect.stringContaining('Redirects are not followed')],
  ])('a %d response is explained to the workspace', async (status, outcome, problem) => {
    const receiver = await listen((response) => response.writeHead(status).end())
    expect(await call(receiver.url)).toMatchObject({ outcome, problem, responseStatus: status })
  })

  test('a call does not follow a redirect', async () => {
    const canary = await listen()
    const receiver = await listen((response) => response.writeHead(307, { location: canary.url }).end())
    expect(await call(receiver.url)).toMatchObject({ outcome: 'refused', responseStatus: 307 })
    expect(canary.heard).toEqual([])
  })

  test('a 2xx response of any size is a success, and its beginning is stored', async () => {
    const receiver = await listen((response) => response.end('ä\0'.repeat(100_000)))
    const { outcome, responseExcerpt } = await call(receiver.url)
    expect([outcome, responseExcerpt]).toEqual(['delivered', 'ä\uFFFD'.repeat(500)])
  })

  test('a call reads the Retry-After header of the response', async () => {
    const receiver = await listen((response) => response.writeHead(503, { 'retry-after': '120' }).end())
    expect(await call(receiver.url)).toMatchObject({ outcome: 'refused', retryAfterMs: 120_000 })
  })

  test('a call fails when the response is truncated', async () => {
    const receiver = await listen((response) => response.socket?.destroy())
    const said = { outcome: 'unreachable', responseStatus: null, responseExcerpt: null }
    expect(await call(receiver.url)).toMatchObject(said)
  })
})

describe('the error of a webhook call that was not made', () => {
  const hidden = 'The host of the address is not public, or did not send a valid HTTP response.'

  test.each([
    ['http://127.0.0.1/', hidden],
    ['http://169.254.169.254/latest/meta-data/', hidden],
    ['http://no-such-name.example/', hidden],
    ['http://localhost/', hidden],
    ['ftp://example.com/', 'The address must begin with http:// or https://, and have no user name or password.'],
    ['http://example.com:22/', 'The address must use port 80 or 443.'],
  ])('%s', async (url, problem) => {
    const strict = { ...platform, config: readConfig(inject('environment')) }
    const called = await callReceiver(strict, { url, eventId: 'evt_1', body, secrets })
    expect(called).toMatchObject({ outcome: 'unreachable', responseStatus: null, problem })
  })
})

test("receiver hosts are resolved by DNS_SERVERS, and allowed hosts by the system's resolver", async () => {
  const receiver = await listen()
  await setZone(inject('dns'), 'call.receiver.example', [{ type: 'A', data: '127.0.0.1' }])
  expect(await call(`http://call.receiver.example:${receiver.port}/`)).toMatchObject({ outcome: 'delivered' })
  expect(await call(`http://localhost:${receiver.port}/`)).toMatchObject({ outcome: 'unreachable' })
  const known = readConfig({ ...inject('environment'), ...allowLoopback, OUTBOUND_ALLOWED_HOSTS: 'localhost' })
  const input = { url: `http://localhost:${receiver.port}/`, eventId: 'evt_1', body, secrets }
  expect(await callReceiver({ ...platform, config: known }, input)).toMatchObject({ outcome: 'delivered' })
})

async function listen(answer?: Parameters<typeof startReceiver>[0]): Promise<Receiver> {
  const receiver = await startReceiver(answer)
  onTestFinished(() => receiver[Symbol.asyncDispose]())
  return receiver
}

function call(url: string) {
  return callReceiver(platform, { url, eventId: 'evt_1', body, secrets })
}
