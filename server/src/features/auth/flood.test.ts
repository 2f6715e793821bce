import { once } from 'node:events'
import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http'
import { afterAll, expect, inject, test, vi } from 'vitest'
import { startEngines } from '../../../../engines/start.ts'
import { buildUser } from '../../../test/build.ts'
import { openPerson, type Person } from '../../../test/person.ts'
import { startServer } from '../../../test/server-process.ts'
import { sized } from '../../../test/size.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { issueLink } from './one-time.ts'

// All attempts must fall into one window of the account's limit.
const windowMs = 15 * 60_000
vi.setConfig({ testTimeout: windowMs })
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
const ownerSignIns = 10
const ownerWithinMs = 10_000

test('a flood of guesses from many addresses is limited, and the owner on a known device gets in', async () => {
  const owner = await buildUser(platform, { password })
  const known = openPerson(api)
  expect((await known.post('/sign-in', { email: owner.email, password })).status).toBe(303)
  const started = performance.now()
  const statuses = new Map<number, number>()
  const agents = Array.from({ length: addresses }, (_, index) => {
    const localAddress = `127.1.${Math.floor(index / 250)}.${(index % 250) + 1}`
    return new Agent({ keepAlive: true, maxSockets: 1, localAddress })
  })
  const ownerTimes: number[] = []
  let next = 0
  async function guess(): Promise<void> {
    while (next < attempts) {
      const index = next++
      if (index % (attempts / ownerSignIns) === 0) ownerTimes.push(await signInKnown(known, owner.email))
      const fields = { email: owner.email, password: `guess ${index}` }
      const status = await postFrom(agents[index % addresses] as Agent, fields)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: 32 }, guess))
  for (const agent of agents) agent.destroy()
  const seconds = (performance.now() - started) / 1000
  const slowest = Math.round(Math.max(...ownerTimes))
  console.info(
    `${attempts} attempts from ${addresses} addresses in ${seconds.toFixed(1)} s (${Math.round(attempts / seconds)} per second): ` +
      `${JSON.stringify(Object.fromEntries(statuses))}; ${ownerTimes.length} sign-ins of the owner, slowest ${slowest} ms`,
  )
  const guesses = statuses.get(401) ?? 0
  // One attempt of the account's ten was the owner's first sign-in. While Valkey is slow, the process counts ten alone.
  expect(guesses).toBeGreaterThanOrEqual(9)
  expect(guesses).toBeLessThanOrEqual(20)
  expect(statuses.get(429)).toBe(attempts - guesses)
  expect(ownerTimes).toHaveLength(ownerSignIns)
  expect(slowest).toBeLessThan(ownerWithinMs)
  // On a new device the owner needs a link.
  const unknown = openPerson(api)
  expect((await unknown.post('/sign-in', { email: owner.email, password })).status).toBe(429)
  const token = new URL(await issueLink(platform, 'sign-in', { userId: owner.id })).searchParams.get('token') ?? ''
  expect((await unknown.post('/sign-in/use-link', { token })).status).toBe(303)
})

async function signInKnown(known: Person, email: string): Promise<number> {
  const started = performance.now()
  expect((await known.post('/sign-in', { email, password })).status).toBe(303)
  return performance.now() - started
}

/** Posts a sign-in; again if the server closed the idle connection at the same moment. */
async function postFrom(agent: Agent, fields: Record<string, string>): Promise<number> {
  const body = new URLSearchParams(fields).toString()
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    'content-length': String(body.length),
    origin: api,
    'sec-fetch-site': 'same-origin',
  }
  const sent = request(`${api}/sign-in`, { method: 'POST', agent, headers })
  try {
    return await answerTo(sent, body)
  } catch (error) {
    if (!sent.reusedSocket || (error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error
    return postFrom(agent, fields)
  }
}

async function answerTo(sent: ClientRequest, body: string): Promise<number> {
  sent.end(body)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  response.resume()
  await once(response, 'end')
  return response.statusCode ?? 0
}
