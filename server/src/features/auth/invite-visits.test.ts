import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { afterAll, expect, test } from 'vitest'
import { buildUser } from '../../../test/build.ts'
import { openPerson } from '../../../test/person.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { AppError, conflict } from '../../platform/errors.ts'
import { openRateLimiter } from '../../platform/rate-limit.ts'
import { authRoutes } from './routes.ts'
import { findUserByEmail } from './service.ts'

const platform = await openTestPlatform({ SIGN_IN_VISITS_PER_MINUTE: '100000' })
/** Invites by token: the address that each names, and who accepted it. */
const invites = new Map<string, { email: string; userId?: string }>()
const hooks = {
  beforeDelete: async () => {},
  isInvited: async () => false,
  countKeys: async () => 0,
  createFirstWorkspace: async () => {},
  async readInvite(_platform: unknown, token: string) {
    const invite = invites.get(token)
    if (!invite) throw new AppError('invite_expired', 'This invite expired.')
    if (invite.userId) throw conflict('This invite was used already.')
    return { email: invite.email, workspaceName: 'Acme', role: 'member' }
  },
  async acceptInvite(_platform: unknown, userId: string, token: string) {
    await hooks.readInvite(_platform, token)
    Object.assign(invites.get(token) ?? {}, { userId })
    return { slug: 'acme' }
  },
}
const web = createServer()
web.listen(0, '127.0.0.1')
await once(web, 'listening')
const api = `http://127.0.0.1:${(web.address() as AddressInfo).port}`
const config = { ...platform.config, API_URL: api }
const app = authRoutes({ ...platform, config }, openRateLimiter(platform.valkey), hooks)
web.on('request', getRequestListener(app.fetch))
afterAll(() => void web.close())

function invite(email = `${randomUUID()}@example.com`) {
  const token = randomUUID()
  invites.set(token, { email })
  return { email, token }
}

test('a new person creates an account and joins', async () => {
  const { email, token } = invite()
  const person = openPerson(api)
  expect((await person.get(`/invite?token=${token}`)).text).toContain('Create account and join')
  const weak = await person.post('/invite/new', { token, name: 'Ada', password: 'password123' })
  expect([weak.status, await findUserByEmail(platform, email)]).toEqual([422, undefined])
  const joined = await person.post('/invite/new', { token, name: 'Ada', password: 'vermilion teapot 7' })
  expect([joined.status, joined.location]).toEqual([303, '/app'])
  expect(invites.get(token)?.userId).toBe((await findUserByEmail(platform, email))?.id)
  expect((await person.get(`/invite?token=${token}`)).status).toBe(409)
})

test('an existing person signs in and joins', async () => {
  const user = await buildUser(platform)
  const { token } = invite(user.email)
  const stranger = await openPerson(api).get(`/invite?token=${token}`)
  expect(stranger.text).toContain(`/sign-in?next=${encodeURIComponent(`/invite?token=${token}`)}`)
  const person = openPerson(api, user.cookie)
  expect((await person.get(`/invite?token=${token}`)).text).toContain('Join Acme')
  const joined = await person.post('/invite', { token })
  expect([joined.status, joined.location]).toEqual([303, '/app/acme'])
  expect(invites.get(token)?.userId).toBe(user.id)
})

test('a taken address is refused, and further attempts with its invite count as sign-ins', async () => {
  const { token } = invite((await buildUser(platform)).email)
  const attempt = () => openPerson(api).post('/invite/new', { token, name: 'Eve', password: 'vermilion teapot 7' })
  const taken = await attempt()
  expect([taken.status, taken.text]).toEqual([409, expect.stringContaining('exists already')])
  for (let count = 1; count < platform.config.SIGN_IN_ATTEMPTS_PER_ACCOUNT; count++) await attempt()
  expect((await attempt()).status).toBe(429)
})

test('an expired invite and one for another address say so', async () => {
  const person = openPerson(api, (await buildUser(platform)).cookie)
  expect((await person.get('/invite?token=unknown')).status).toBe(410)
  const foreign = await person.get(`/invite?token=${invite().token}`)
  expect([foreign.status, foreign.text]).toEqual([403, expect.stringContaining('for another e-mail address')])
})
