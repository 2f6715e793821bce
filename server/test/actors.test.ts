import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { operations } from '@tributary/contract/index'
import { type ActorKind, actorKinds, operation } from '@tributary/contract/operation'
import type { Scope } from '@tributary/contract/permissions'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { auditLog } from '../src/features/audit/service.ts'
import { openRedirect } from '../src/features/redirect/service.ts'
import type { Actor } from '../src/platform/context.ts'
import { unauthorized } from '../src/platform/errors.ts'
import { route, serve } from '../src/platform/http.ts'
import { openLog } from '../src/platform/log.ts'
import { openRateLimiter } from '../src/platform/rate-limit.ts'
import { bindRoutes } from '../src/roles/api.ts'
import { buildWorkspace } from './build.ts'
import { openTestPlatform } from './stack.ts'

/*
 * Calls every operation as every type of actor; the `Authorization` header has the type. New operations are included
 * automatically.
 */
const platform = await openTestPlatform()
const workspace = await buildWorkspace(platform)
const redirect = await openRedirect(platform)
let actors = 0

/** An operation for actors that no contract operation allows yet. */
const forPartners = operation({
  id: 'forPartners',
  method: 'get',
  path: '/for-partners',
  summary: 'A test',
  tag: 'Test',
  actors: ['partner', 'embed', 'system'],
  scope: 'links.read',
  response: z.strictObject({ kind: z.string(), id: z.string() }),
})

const logged: object[] = []
const log = openLog('debug', { write: (line) => void logged.push(JSON.parse(line)) })
const app = serve(
  [...bindRoutes(platform, redirect), route(forPartners, async ({ actor: { kind, id } }) => ({ kind, id }))],
  {
    platform: { ...platform, log },
    limiter: openRateLimiter(platform.valkey),
    recorder: auditLog,
    async openContext(platform, { authorization }) {
      const [kind, scope = 'apis.all'] = (authorization ?? '').split(' ') as [ActorKind, Scope]
      if (!actorKinds.includes(kind)) throw unauthorized('This test knows no such actor.')
      // Each request comes from another actor, so that no rate limit applies.
      const owner = { role: 'owner', authenticatedAt: new Date() }
      const id = `${workspace.id}_${actors++}`
      const ownKey = { userId: id }
      const actor = { kind, id, scopes: [scope], ...(kind === 'user' && owner), ...(kind === 'key' && ownKey) } as Actor
      return { ...platform, workspaceId: workspace.id, plan: 'enterprise', actor }
    },
  },
)
const server = createServer(getRequestListener(app.fetch))
let api = ''

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  api = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  await redirect[Symbol.asyncDispose]()
})

describe.each([...operations, forPartners])('$id', (operation) => {
  const allowed: readonly ActorKind[] = 'actors' in operation ? operation.actors : actorKinds

  test.each(actorKinds)('called by: %s', async (kind) => {
    const { status, message } = await call(operation, kind)
    if (allowed.includes(kind)) expect([401, 403], message).not.toContain(status)
    else {
      expect(status).toBe(403)
      expect(message).toContain(`call ${operation.path}: ${allowed.join(', ')}.`)
      expect(message).toContain(`comes from: ${kind}.`)
    }
  })
})

test('an operation without a list of actors allows keys, users and apps', () => {
  const named = operations.filter((operation) => 'actors' in operation).map(({ actors }) => actors.join())
  expect(new Set(named)).toEqual(new Set(['key,user,app', 'key,user', 'user']))
})

test('a service gets the calling actor', async () => {
  const response = await fetch(`${api}/for-partners`, { headers: { authorization: 'partner' } })
  expect(await response.json()).toEqual({ kind: 'partner', id: expect.stringMatching(workspace.id) })
})

test('the log has the actor of a rejected request', async () => {
  logged.length = 0
  await call(forPartners, 'user')
  expect(logged).toEqual([
    expect.objectContaining({ actor: expect.stringMatching(/^user \S+_\d+$/), code: 'forbidden' }),
  ])
})

test.each([
  ['key', 'This key lacks the scope links.write. Create a key that has it.'],
  ['user', 'This user lacks the scope links.write. Ask an owner of the workspace for it.'],
])('a %s without the scope of the operation gets 403', async (kind, message) => {
  const response = await fetch(`${api}/links`, {
    method: 'POST',
    headers: { authorization: `${kind} links.read`, 'sec-fetch-site': 'same-origin' },
  })
  expect(response.status).toBe(403)
  expect(await response.json()).toMatchObject({ error: { code: 'forbidden', message } })
})

async function call({ method, path }: { method: string; path: string }, kind: ActorKind) {
  const leave = new AbortController()
  const response = await fetch(api + path.replaceAll(/\{\w+\}/g, 'unknown'), {
    method: method.toUpperCase(),
    headers: { authorization: kind, 'sec-fetch-site': 'same-origin' },
    ...(method !== 'get' && { body: '[]' }),
    signal: leave.signal,
  })
  // Only error responses are read, because an open stream would not end by itself.
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  const answer = response.ok || !isJson ? undefined : ((await response.json()) as { error: { message: string } })
  leave.abort()
  return { status: response.status, message: answer?.error.message ?? '' }
}
