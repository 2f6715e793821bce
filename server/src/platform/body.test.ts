import { once } from 'node:events'
import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { operations } from '@tributary/contract/index'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { buildConversionLink, buildMember, buildWorkspace } from '../../test/build.ts'
import { openTestPlatform } from '../../test/stack.ts'
import { createToken } from '../features/tokens/service.ts'
import { hasUnreadBody, nestingProblem, parseJson, readBody } from './body.ts'
import { parse } from './validation.ts'

const platform = await openTestPlatform()
const { api } = inject('server')
const workspace = await buildWorkspace(platform)
const owner = await buildMember(platform, workspace, 'owner')
// A key of a user: preferences have no meaning for a machine key.
const personal = await createToken(platform, { workspaceId: workspace.id, name: 'own', userId: owner.id })
const authorization = `Bearer ${personal.key}`
const asUser = { cookie: owner.cookie, 'sec-fetch-site': 'same-origin' }
const megabyte = 1_048_576

const withBody = operations
  .filter((operation) => 'body' in operation)
  .filter(({ body }) => body.def.type !== 'undefined')

type Body = (typeof withBody)[number]
let calls = 0

/** Sends each request from another address, because operations for visitors have a limit for each. */
async function send(
  url: string,
  { method, body, credentials }: { method: string; body: string; credentials: Record<string, string> },
): Promise<Response> {
  const sent = request(url, {
    method,
    localAddress: `127.1.${calls >> 8}.${calls++ & 255}`,
    headers: { ...credentials, 'content-length': Buffer.byteLength(body) },
  })
  // A server that rejects a body may close the connection before all of it is sent.
  sent.on('error', () => {})
  const [answer] = (await Promise.all([once(sent, 'response'), sent.end(body)]))[0]
  return new Response(await text(answer), { status: answer.statusCode })
}

describe.each(withBody)('$id', ({ method, path, bodyLimit, ...access }) => {
  const isForKeys = !('actors' in access) || (access.actors as readonly string[]).includes('key')
  const credentials = isForKeys ? { authorization } : asUser
  const url = api + path.replaceAll(/\{\w+\}/g, isForKeys ? 'unknown' : workspace.id)
  const call = (body: string) => send(url, { method: method.toUpperCase(), body, credentials })

  test('refuses arrays and objects below 32 levels with 422', async () => {
    for (const body of ['['.repeat(33) + ']'.repeat(33), '{"a":'.repeat(33) + 1 + '}'.repeat(33)]) {
      const response = await call(body)
      expect(await response.json()).toMatchObject({
        error: {
          code: 'unprocessable_entity',
          message: 'The body has more than 32 levels of arrays and objects. Send less in one request.',
        },
      })
    }
  })

  test('responds to the deepest and the longest body within a second', async () => {
    const depth = Math.floor(bodyLimit / 2)
    const bodies = [
      '['.repeat(depth) + ']'.repeat(depth),
      `[${Array.from({ length: 100 }, () => '['.repeat(bodyLimit / 300) + ']'.repeat(bodyLimit / 300)).join()}]`,
      `{"a":${'['.repeat(31)}${'1,'.repeat(depth - 100)}1${']'.repeat(31)}}`,
      `{${Array.from({ length: bodyLimit / 20 }, (_, index) => `"key${index}":1`).join()}}`,
    ]
    for (const body of bodies) {
      const started = performance.now()
      const response = await call(body)
      expect([400, 404, 422]).toContain(response.status)
      expect(performance.now() - started).toBeLessThan(1_000)
    }
  })

  test('rejects a body above the limit with a message that states the limit', async () => {
    const response = await call(' '.repeat(bodyLimit + 1))
    expect(response.status).toBe(422)
    expect(await messageIn(response)).toContain(`larger than ${Math.min(bodyLimit, megabyte)} bytes`)
  })
})

test('the worst body of each operation blocks the event loop for less than 50 ms', () => {
  const slowest = withBody.map((operation) => ({
    id: operation.id,
    ms: Math.max(...worstBodies(operation).map(timed)),
  }))
  expect(slowest.filter(({ ms }) => ms >= 50)).toEqual([])

  /** Returns the CPU time of this thread, the fastest of three runs, because the machine may be busy. */
  function timed({ operation, text }: ReturnType<typeof worstBodies>[number]): number {
    const bytes = Buffer.from(text)
    const runs = Array.from({ length: 3 }, () => {
      const started = process.threadCpuUsage()
      try {
        parse(operation.body, parseJson(bytes, operation), 'body')
      } catch {}
      const { user, system } = process.threadCpuUsage(started)
      return (user + system) / 1_000
    })
    return Math.min(...runs)
  }
})

test('a body with too large a Content-Length is rejected before it is sent', async () => {
  const answered = Promise.withResolvers<number | undefined>()
  const headers = { authorization, 'content-length': 100 * megabyte }
  const sending = request(`${api}/links`, { method: 'POST', headers }, (response) =>
    answered.resolve(response.statusCode),
  )
  sending.on('error', () => {})
  sending.write('{')
  expect(await answered.promise).toBe(422)
  sending.destroy()
})

test('after a rejected body the connection stays usable, or the response has Connection: close', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const send = (body: string) =>
    new Promise<(string | number | undefined)[]>((resolve, reject) => {
      const sending = request(`${api}/links`, { method: 'POST', headers: { authorization }, agent }, (response) => {
        response.resume().on('end', () => resolve([response.statusCode, response.headers.connection]))
      })
      sending.on('error', reject).end(body)
    })
  for (let round = 0; round < 5; round++) {
    expect(await send(' '.repeat(3 * megabyte))).toEqual([422, 'keep-alive'])
    expect(await send(JSON.stringify({ url: 'https://example.com' }))).toEqual([200, 'keep-alive'])
  }
  agent.destroy()
})

test('a chunked body is rejected at the limit, and the connection closes if the client continues', async () => {
  const answered = Promise.withResolvers<number | undefined>()
  const closed = Promise.withResolvers<void>()
  const sending = request(`${api}/links`, { method: 'POST', headers: { authorization } }, (response) => {
    answered.resolve(response.statusCode)
    response.resume()
  })
  sending.on('error', () => closed.resolve()).on('close', () => closed.resolve())
  let sent = 0
  const send = (most: number) => {
    while (!sending.destroyed && sent < most) {
      sent += 65_536
      if (!sending.write(Buffer.alloc(65_536, 0x20))) return void sending.once('drain', () => send(most))
    }
  }
  // A client that does not pause may get a connection reset instead of the response.
  send(2 * megabyte)
  expect(await answered.promise).toBe(422)
  send(200 * megabyte)
  await closed.promise
  expect(sent).toBeLessThan(60 * megabyte)
})

test('a compressed body is refused with 400', async () => {
  const headers = { authorization, 'content-encoding': 'gzip' }
  const body = gzipSync(Buffer.alloc(megabyte, 0x20))
  const response = await fetch(`${api}/links`, { method: 'POST', headers, body })
  expect(response.status).toBe(400)
  expect(await messageIn(response)).toContain('Send the body uncompressed.')
})

test('a number beyond the range of a double is refused, a very long one is accepted', async () => {
  const { workspace, click } = await buildConversionLink(platform)
  const lead = (metadata: string) =>
    fetch(`${api}/track/lead`, {
      method: 'POST',
      headers: { authorization: `Bearer ${workspace.key}` },
      body: `{"clickId":"${click().id}","eventName":"a","customerExternalId":"c","metadata":${metadata}}`,
    })
  const refused = await lead('{"a":{"b":[1e999]}}')
  expect(refused.status).toBe(422)
  expect(await messageIn(refused)).toBe('`metadata.a.b[0]` in the body must be a number below 1.8e308.')
  expect((await lead(`{"a":0.${'1'.repeat(9_000)}}`)).status).toBe(200)
})

test('`__proto__` in JSON changes no prototype, and the last of duplicate keys counts', async () => {
  const body = '{"url":"https://one.example","__proto__":{"archived":true},"url":"https://two.example"}'
  const response = await fetch(`${api}/links`, { method: 'POST', headers: { authorization }, body })
  expect(await response.json()).toMatchObject({ url: 'https://two.example', archived: false })
  expect(({} as { archived?: boolean }).archived).toBeUndefined()
})

test.each([
  ['brackets in a text', JSON.stringify({ a: '['.repeat(100) }), true],
  ['an escaped quote before brackets', JSON.stringify({ a: `"${'{'.repeat(100)}` }), true],
  ['a backslash at the end of a text', JSON.stringify({ a: '\\', b: '['.repeat(40) }), true],
  ['32 levels', '['.repeat(32) + ']'.repeat(32), true],
  ['33 levels', '['.repeat(33) + ']'.repeat(33), false],
  ['levels beside each other', `[${Array.from({ length: 1_000 }, () => '[[]]').join()}]`, true],
  ['30,000 values', `[${'1,'.repeat(29_997)}1]`, true],
  ['30,001 values', `[${'1,'.repeat(29_999)}1]`, false],
])('%s', (_name, json, isFine) => {
  expect(nestingProblem(Buffer.from(json), 30_000) === undefined).toBe(isFine)
  if (isFine) expect(parseJson(Buffer.from(json), { bodyValues: 30_000 })).toEqual(JSON.parse(json))
})

async function messageIn(response: Response): Promise<string> {
  const { error } = (await response.json()) as { error: { message: string } }
  return error.message
}

/** Builds the longest bodies with the most values that the operation accepts, all in one field. */
function worstBodies(operation: Body) {
  const { bodyLimit, bodyValues } = operation
  const count = Math.min(bodyValues - 100, Math.floor(bodyLimit / 16))
  const numbered = (text: (index: number) => string) => Array.from({ length: count }, (_, index) => text(index)).join()
  const room = bodyLimit - 100
  const values = [
    `[${numbered(() => '1')}]`,
    `{${numbered((index) => `"k${index}":1`)}}`,
    `[${'{"url":1},'.repeat(count / 2)}1]`,
    `"${'x'.repeat(room)}"`,
    `"${'😀'.repeat(room / 4)}"`,
    `"${'a@'.repeat(room / 2)}"`,
    `"https://${'a.'.repeat(room / 2)}"`,
    `"${' '.repeat(room)}"`,
  ]
  const texts = bodyFields(operation).flatMap((field) => values.map((value) => `{"${field}":${value}}`))
  return [...values, ...texts].map((text) => ({ operation, text }))
}

function bodyFields(operation: Body): string[] {
  const schema = z.toJSONSchema(operation.body as z.ZodType, { io: 'input', unrepresentable: 'any' })
  return Object.keys(schema.properties ?? {})
}

test.each([{ 'content-length': '1000' }, {}])('a body that times out is refused: %o', async (headers) => {
  const outcome = Promise.withResolvers<unknown>()
  const server = createServer(async (incoming, response) => {
    const config = { BODY_LIMIT_BYTES: megabyte, BODY_DEADLINE_MS: 100 }
    const error = await readBody(incoming, { bodyLimit: 65_536 }, config).catch((error: unknown) => error)
    outcome.resolve({ error, isUnread: hasUnreadBody(incoming) })
    response.end()
  }).listen(0, '127.0.0.1')
  onTestFinished(() => server.closeAllConnections())
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  const sending = request({ port, method: 'POST', headers }).on('error', () => {})
  onTestFinished(() => void sending.destroy())
  sending.write('{')
  const message = expect.stringContaining('did not arrive within 100 ms')
  expect(await outcome.promise).toMatchObject({ error: { status: 400, message }, isUnread: true })
})
