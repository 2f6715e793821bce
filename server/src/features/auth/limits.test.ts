import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { afterAll, expect, inject, test, vi } from 'vitest'
import { startEngines } from '../../../../engines/start.ts'
import { buildUser } from '../../../test/build.ts'
import { openPerson } from '../../../test/person.ts'
import { startServer } from '../../../test/server-process.ts'
import { sized } from '../../../test/size.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { issueLink } from './one-time.ts'

vi.setConfig({ testTimeout: 1_800_000 })
const platform = await openTestPlatform()
const valkey = await startEngines({ only: ['valkey'] })
const server = await startServer({ ...inject('environment'), ...valkey.urls, ROLES: 'api' })
afterAll(async () => {
  await server.stop()
  await valkey.stop()
})
const { api } = server
const password = 'vermilion teapot 7'
const { attempts, addresses } = sized({
  short: { attempts: 1_500, addresses: 30 },
  full: { attempts: 100_000, addresses: 1_000 },
})

test('a flood of guesses from many addresses is limited, and the owner on a known device gets in', async () => {
  const owner = await buildUser(platform, { password })
  const known = openPerson(api)
  expect((await known.post('/sign-in', { email: owner.email, password })).status).toBe(303)
  const statuses = new Map<number, number>()
  let next = 0
  const agents = Array.from({ length: addresses }, (_, index) => {
    const localAddress = `127.1.${Math.floor(index / 250)}.${(index % 250) + 1}`
    return new Agent({ keepAlive: true, maxSockets: 2, localAddress })
  })
  async function guess(): Promise<void> {
    while (next < attempts) {
      const index = next++
      const status = await postFrom(agents[index % addresses] as Agent, {
        email: owner.email,
        password: `guess ${index}`,
      })
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  }
  const flood = Promise.all(Array.from({ length: 32 }, guess))
  // In the middle of the flood.
  const during = await known.post('/sign-in', { email: owner.email, password })
  expect(during.status).toBe(303)
  await flood
  for (const agent of agents) agent.destroy()
  const guesses = statuses.get(401) ?? 0
  // One attempt of the account's ten was the owner's first sign-in. While Valkey is slow, the process counts ten alone.
  expect(guesses).toBeGreaterThanOrEqual(9)
  expect(guesses).toBeLessThanOrEqual(20)
  expect(statuses.get(429)).toBe(attempts - guesses)
  expect((await known.post('/sign-in', { email: owner.email, password })).status).toBe(303)
  // On a new device the owner needs a link.
  const unknown = openPerson(api)
  expect((await unknown.post('/sign-in', { email: owner.email, password })).status).toBe(429)
  const token = new URL(await issueLink(platform, 'sign-in', { userId: owner.id })).searchParams.get('token') ?? ''
  expect((await unknown.post('/sign-in/use-link', { token })).status).toBe(303)
})

test('the cookie of a known device is limited too, and works for its own user only', async () => {
  const [owner, other] = [await buildUser(platform, { password }), await buildUser(platform, { password })]
  const known = openPerson(api)
  await known.post('/sign-in', { email: owner.email, password })
  const guesses = async (email: string) => {
    const statuses = []
    for (let count = 0; count < 12; count++) {
      statuses.push((await known.post('/sign-in', { email, password: `guess ${count}` })).status)
    }
    return statuses.filter((status) => status === 401).length
  }
  expect(await guesses(owner.email)).toBe(10)
  expect(await guesses(other.email)).toBe(10)
})

async function postFrom(agent: Agent, fields: Record<string, string>): Promise<number> {
  const body = new URLSearchParams(fields).toString()
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    'content-length': String(body.length),
    origin: api,
    'sec-fetch-site': 'same-origin',
  }
  const sent = request(`${api}/sign-in`, { method: 'POST', agent, headers })
  sent.end(body)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  response.resume()
  await once(response, 'end')
  return response.statusCode ?? 0
}
