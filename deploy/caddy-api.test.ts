import { createServer } from 'node:http'
import { expect, test } from 'vitest'
import { freePort } from '../engines/port.ts'
import { type Listening, listen } from '../server/src/platform/listen.ts'
import { eventually } from '../server/test/stack.ts'
import { startCaddy } from './test/caddy.ts'

const apiHost = 'api.example.com'
const all = 8

test('CADDY_SERVERS=several: no write fails because another did, or because an api drains or restarts', async () => {
  const [one, other] = [await openApi('one'), await openApi('other')]
  await using _one = one
  await using _other = other
  await using caddy = await startCaddy({
    API_HOST: apiHost,
    API_UPSTREAM: `127.0.0.1:${one.port} 127.0.0.1:${other.port}`,
    CADDY_SERVERS: 'several',
  })
  const write = async (path = '/links') => {
    const { status, body } = await caddy.ask(apiHost, { path, method: 'POST', body: '{}' })
    return `${status} ${body}`
  }
  const writeOften = async () => new Set(await Promise.all(Array.from({ length: all }, () => write())))
  const both = new Set(['200 one', '200 other'])
  await eventually(async () => expect(await writeOften()).toEqual(both), 30_000)

  for (let turn = 0; turn < 4; turn += 1) expect(await write('/closed')).toMatch(/^502/)
  expect(await writeOften()).toEqual(both)

  one.drain()
  const drained = performance.now() + 3_000
  while (performance.now() < drained) expect(await write()).toMatch(/^200/)
  expect(await writeOften()).toEqual(new Set(['200 other']))
  await one.stop()
  expect(await writeOften()).toEqual(new Set(['200 other']))
  await one.start()
  await eventually(async () => expect(await writeOften()).toEqual(both), 30_000)
})

/** Answers with its name, or closes the connection without an answer. Its health check is as that of the api. */
async function openApi(name: string) {
  const port = await freePort()
  let isDraining = false
  let listening: Listening | undefined
  const api = {
    port,
    async start() {
      const server = createServer((request, response) => {
        if (request.url === '/closed') return request.socket.destroy()
        response.writeHead(request.url === '/healthz' && isDraining ? 503 : 200).end(name)
      })
      isDraining = false
      listening = await listen(server, '127.0.0.1', port)
    },
    drain() {
      isDraining = true
    },
    async stop() {
      await listening?.[Symbol.asyncDispose]()
      listening = undefined
    },
    [Symbol.asyncDispose]: () => api.stop(),
  }
  await api.start()
  return api
}
