import { randomUUID } from 'node:crypto'
import type { QueryResult, RootOperationNode, UnknownRow } from 'kysely'
import { expect, inject, onTestFinished, test } from 'vitest'
import { buildWorkspace } from '../../test/build.ts'
import { startServer } from '../../test/server-process.ts'
import { eventually, openTestPlatform } from '../../test/stack.ts'
import { contextReader, createToken, revoke } from '../features/tokens/service.ts'
import type { Platform } from './context.ts'

const platform = await openTestPlatform()

async function start(settings: Record<string, string>) {
  const environment = { ...inject('environment'), ROLES: 'api', TRUSTED_PROXIES: '127.0.0.1', ...settings }
  const server = await startServer(environment)
  onTestFinished(async () => void (await server.stop()))
  const from = nextClient()
  return (path: string, key: string | undefined, address = from) =>
    fetch(server.api + path, {
      headers: {
        'x-forwarded-for': address,
        'x-forwarded-proto': 'https',
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
      },
    })
}

let clients = 0

/** Rate limits stay in Valkey for a minute, so each test uses another client address. */
function nextClient(): string {
  clients += 1
  return `2001:db8:${Math.floor(Math.random() * 65_536).toString(16)}:${clients.toString(16)}::1`
}

const limited = { UNAUTHENTICATED_REQUESTS_PER_MINUTE: '10' }

test('a client without a valid key is rate limited, whatever credentials it sends', async () => {
  const { id: workspaceId } = await buildWorkspace(platform)
  const revoked = await createToken(platform, { workspaceId, name: 'revoked' })
  await revoke(platform, revoked.id)
  const get = await start(limited)
  const keys = [undefined, 'trib_unknown', revoked.key, undefined, 'trib_other']
  for (const key of [...keys, ...keys]) expect((await get('/links', key)).status).toBe(401)
  for (const key of keys) {
    const response = await get('/links', key)
    expect(response.status).toBe(429)
    expect(response.headers.get('x-ratelimit-limit')).toBe('10')
    expect(response.headers.get('x-ratelimit-remaining')).toBe('0')
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await response.json()).toMatchObject({ error: { code: 'rate_limit_exceeded' } })
  }
  expect((await get('/links', undefined, nextClient())).status).toBe(401)
})

test('a client with a valid key on a rate-limited address is served', async () => {
  const { key } = await buildWorkspace(platform)
  const get = await start(limited)
  await eventually(async () => expect((await get('/links', undefined)).status).toBe(429))
  for (let count = 0; count < 20; count++) expect((await get('/links', key)).status).toBe(200)
})

test('an unknown key is looked up once, and a client with many invalid keys gets one lookup at a time', async () => {
  let lookups = 0
  const counting = { ...platform, db: platform.db.withPlugin(counter(() => lookups++)) } as Platform
  const read = contextReader()
  const refused = (key: string, isSuspect: boolean) =>
    expect(read(counting, { authorization: `Bearer ${key}`, page: '', isSuspect })).rejects.toMatchObject({
      code: 'unauthorized',
    })
  for (let count = 0; count < 5; count++) await refused('trib_same', false)
  expect(lookups).toBe(1)
  await Promise.all(Array.from({ length: 50 }, () => refused(`trib_${randomUUID()}`, true)))
  expect(lookups).toBe(2)
  const { key } = await buildWorkspace(platform)
  await read(counting, { authorization: `Bearer ${key}`, page: '' })
  await new Promise((resolve) => setTimeout(resolve, 800))
  // Occupies the only lookup slot; a cached valid key needs no lookup.
  const [, known] = await Promise.all([
    refused(`trib_${randomUUID()}`, true),
    read(counting, { authorization: `Bearer ${key}`, page: '', isSuspect: true }),
  ])
  expect(known.actor.id).toMatch(/^key_/)
})

/** Counts the SQL statements that look up an API key. */
function counter(onLookup: () => void) {
  return {
    transformQuery({ node }: { node: RootOperationNode }) {
      if (JSON.stringify(node).includes('"hash"')) onLookup()
      return node
    },
    transformResult: async ({ result }: { result: QueryResult<UnknownRow> }) => result,
  }
}
