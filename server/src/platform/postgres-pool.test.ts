import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { sql } from 'kysely'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { type BuiltWorkspace, buildCustomer, buildLink, buildWorkspace } from '../../test/build.ts'
import { contextIn } from '../../test/context.ts'
import { startServer } from '../../test/server-process.ts'
import { eventually, openTestPlatform } from '../../test/stack.ts'
import { visit } from '../../test/visit.ts'
import { openDns } from './dns.ts'
import { sendEmail } from './email.ts'
import { jetStream } from './nats.ts'
import { fetchOutbound } from './outbound.ts'
import { asTenant, PoolBusyError, transaction } from './postgres.ts'

const platform = await openTestPlatform()
const small = await openTestPlatform({ POSTGRES_POOL: '4', POSTGRES_WAIT_MS: '2000' })

async function start(settings: Record<string, string>) {
  const server = await startServer({ ...inject('environment'), ROLES: 'api,redirect', ...settings })
  onTestFinished(async () => void (await server.stop()))
  return server
}

/** A DNS server that never responds. */
async function silentDns(): Promise<string> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1')
  onTestFinished(() => void socket.close())
  await once(socket, 'listening')
  return `127.0.0.1:${socket.address().port}`
}

test('requests waiting for DNS hold no connection, also with an Idempotency-Key', { timeout: 90_000 }, async () => {
  const server = await start({ DNS_SERVERS: await silentDns(), POSTGRES_POOL: '4' })
  const [attacker, holder, honest] = [
    await buildWorkspace(platform),
    await buildWorkspace(platform),
    await buildWorkspace(platform),
  ]
  const links = await Promise.all(Array.from({ length: 5 }, () => buildLink(platform, honest)))
  const claims = Array.from({ length: 20 }, (_, number) =>
    call(server.api, attacker, '/domains', { slug: holder.domain }, { 'idempotency-key': `claim-${number}` }),
  )
  await new Promise((resolve) => setTimeout(resolve, 500))
  const statuses = await Promise.all(links.map(() => call(server.api, honest, '/links').then(({ status }) => status)))
  expect(statuses).toEqual(links.map(() => 200))
  const visits = await Promise.all(
    links.map(({ domain, key }) => visit(`${server.redirect}/${key}`, { host: domain, 'user-agent': 'Mozilla/5.0' })),
  )
  expect(visits.map(({ status }) => status)).toEqual(links.map(() => 302))
  // The requests of the hostile workspace may queue, but none fails.
  for (const { status } of await Promise.all(claims)) expect([409, 429]).toContain(status)
})

test('a workspace that uses half of the pool gets 429, and others use the rest', { timeout: 90_000 }, async () => {
  const server = await start({ POSTGRES_POOL: '4', POSTGRES_WAIT_MS: '1000' })
  const [busy, honest] = [await buildWorkspace(platform), await buildWorkspace(platform)]
  const { external_id } = await buildCustomer(platform, busy)
  const lead = { eventName: 'Sign up', customerExternalId: external_id, clickId: '' }
  const locked = await lockCustomers(busy)
  const waiting = Array.from({ length: 8 }, () => call(server.api, busy, '/track/lead', lead))
  await new Promise((resolve) => setTimeout(resolve, 300))
  for (let count = 0; count < 10; count++) expect((await call(server.api, honest, '/links')).status).toBe(200)
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  await locked.release()
  const answers = await Promise.all(waiting)
  const refused = answers.filter(({ status }) => status === 429)
  expect(refused).toHaveLength(6)
  for (const { headers } of refused) expect(headers.get('retry-after')).toBe('1')
  expect(await refused[0]?.json()).toMatchObject({
    error: { code: 'rate_limit_exceeded', message: 'The server is busy with other requests. Try again in a second.' },
  })
  // The two other leads waited for the lock and then failed, because their customer has no click.
  expect(answers.filter(({ status }) => status === 400)).toHaveLength(2)
})

describe('a pool', () => {
  test('gives one workspace at most half of its connections, in order', async () => {
    let most = 0
    let open = 0
    const lockOne = () =>
      asTenant('ws_one', () =>
        transaction({ db: small.db }, async ({ db }) => {
          open += 1
          most = Math.max(most, open)
          await sql`SELECT pg_sleep(0.02)`.execute(db)
          open -= 1
        }),
      )
    await Promise.all(Array.from({ length: 6 }, lockOne))
    expect(most).toBe(2)
  })

  test('rejects a caller that times out, and continues to serve', async () => {
    const sleepers = Array.from({ length: 4 }, () => sql`SELECT pg_sleep(4)`.execute(small.db))
    await expect(sql`SELECT 1`.execute(small.db)).rejects.toBeInstanceOf(PoolBusyError)
    await Promise.all(sleepers)
    await eventually(() => sql`SELECT 1`.execute(small.db))
  })
})

describe('inside a transaction', () => {
  const inside = (work: () => unknown) => transaction(platform, async () => void (await work()))
  const options = { timeoutMs: 1_000, maxBytes: 10, allow: { names: [], ranges: [], ports: [] } }

  test.each<[string, () => unknown]>([
    ['DNS', () => openDns([]).texts('example.com')],
    ['An outbound call', () => fetchOutbound('https://example.com', options as never)],
    ['E-mail', () => sendEmail(platform, { to: 'a@example.com', subject: 'a', text: 'a' })],
    ['JetStream', () => jetStream(platform.nats)],
  ])('%s is refused', async (what, work) => {
    await expect(inside(work)).rejects.toThrow(
      `${what} is called inside a transaction. Call it before the transaction begins.`,
    )
  })
})

/** Locks the customers of a workspace, so that its lead requests wait. */
async function lockCustomers({ id }: BuiltWorkspace) {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { promise: locked, resolve: isLocked } = Promise.withResolvers<void>()
  const locking = transaction(contextIn(platform, id), async ({ db }) => {
    await sql`SELECT FROM customers WHERE workspace_id = ${id} FOR UPDATE`.execute(db)
    isLocked()
    await promise
  })
  await locked
  return {
    release() {
      resolve()
      return locking
    },
  }
}

function call(api: string, { key }: BuiltWorkspace, path: string, body?: object, headers: Record<string, string> = {}) {
  return fetch(api + path, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    ...(body && { body: JSON.stringify(body) }),
  })
}
