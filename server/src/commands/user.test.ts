import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { afterAll, expect, inject, test, vi } from 'vitest'
import { buildUser, buildWorkspace } from '../../test/build.ts'
import { openOwnDatabase } from '../../test/own-database.ts'
import { openPerson } from '../../test/person.ts'
import { startServer } from '../../test/server-process.ts'
import { welcomeFirstUser } from '../features/auth/sign-up.ts'
import { countPersonalKeys, createToken } from '../features/tokens/service.ts'

const platform = await openOwnDatabase()
const environment = { ...inject('environment'), POSTGRES_URL: platform.config.POSTGRES_URL }
const server = await startServer({ ...environment, ROLES: 'api' })
afterAll(() => server.stop())
const { api } = server

// A long timeout, because starting a process is slow on a busy machine.
vi.setConfig({ testTimeout: 120_000 })
const main = fileURLToPath(new URL('../main.ts', import.meta.url))

async function user(...words: string[]): Promise<{ stdout: string; stderr: string }> {
  const env = { PATH: process.env.PATH, ...environment, API_URL: api }
  const child = spawn(process.execPath, [main, 'user', ...words], { env })
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { stdout, stderr }
}

const path = (link: string) => link.trim().slice(api.length)
const tokenIn = (link: string) => new URL(link.trim().split('\n').at(-1) ?? '').searchParams.get('token') ?? ''
const password = 'vermilion teapot 7'

test('the first person needs the setup link, which the log and a command print', async () => {
  const form = { email: 'owner@example.com', name: 'Ada', password, workspace: 'Acme' }
  const logged = server.log.map((line) => /"setupLink":"([^"]+)"/.exec(line)?.[1]).find(Boolean) ?? ''
  expect(logged.startsWith(`${api}/setup?token=`)).toBe(true)
  expect((await openPerson(api).get(path(logged))).status).toBe(200)
  expect((await openPerson(api).get('/setup')).status).toBe(404)
  const guessed = await openPerson(api).post('/setup', { ...form, token: 'guess' })
  expect([guessed.status, guessed.setCookies]).toEqual([404, []])
  const printed = (await user('setup-link')).stdout
  const person = openPerson(api)
  expect((await person.post('/setup', { ...form, token: tokenIn(printed) })).location).toBe('/app')
  expect((await person.get('/account')).text).toContain('owner@example.com')
  const late = await openPerson(api).post('/setup', { ...form, email: 'eve@example.com', token: tokenIn(logged) })
  expect([late.status, late.text]).toEqual([409, expect.stringContaining('set up already')])
  expect((await user('setup-link')).stderr).toContain('There are users already')
})

test('the first person is an operator, and only the command makes another one', async () => {
  const readOperators = async () => {
    const users = JSON.parse((await user('list', '--json')).stdout) as { email: string; operator: string }[]
    return users.filter(({ operator }) => operator === 'yes').map(({ email }) => email)
  }
  expect(await readOperators()).toEqual(['owner@example.com'])
  const { email } = await buildUser(platform)
  expect((await user('operator', email, 'on')).stdout).toBe(`${email} is an operator now.\n`)
  expect(await readOperators()).toEqual(['owner@example.com', email])
  expect((await user('operator', email, 'yes')).stderr).toContain('Write on or off')
  expect((await user('operator', email, 'off')).stdout).toContain('no longer an operator')
  expect(await readOperators()).toEqual(['owner@example.com'])
})

test('a user is created, listed, disabled and enabled', async () => {
  const email = `${randomUUID()}@example.com`
  const created = (await user('create', email, '--name', 'Eve')).stdout
  const person = openPerson(api)
  expect((await person.post('/sign-in/use-link', { token: tokenIn(created) })).location).toBe('/app')
  expect((await user('list')).stdout).toContain(email)
  await user('disable', email)
  expect((await user('link', email)).stderr).toContain('is disabled')
  await user('enable', email)
  const link = (await user('link', email)).stdout
  expect((await person.post('/sign-in/use-link', { token: tokenIn(link) })).location).toBe('/app')
  expect((await user('create', email)).stderr).toContain('exists already')
  expect((await user('create', 'weak@example.com', '--password', 'password123')).stderr).toContain('easy to guess')
})

test('a reset ends the sessions and prints a link for a new password', async () => {
  const email = `${randomUUID()}@example.com`
  const person = openPerson(api)
  const created = (await user('create', email)).stdout
  await person.post('/sign-in/use-link', { token: tokenIn(created) })
  const link = (await user('reset', email, '--second-factor')).stdout
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  expect((await person.get('/account')).status).toBe(303)
  await person.post('/reset-password/new', { token: tokenIn(link), password })
  expect((await person.post('/sign-in', { email, password })).location).toBe('/app')
  expect((await user('link', 'nobody@example.com')).stderr).toContain('There is no user nobody@example.com')
})

test('a reset also removes passkeys and revokes personal keys', async () => {
  const { id, email } = await buildUser(platform)
  const workspace = await buildWorkspace(platform)
  await createToken(platform, { workspaceId: workspace.id, name: 'own', userId: id })
  await sql`INSERT INTO passkeys (id, user_id, public_key, credential_id, counter, device_type, backed_up)
    VALUES (${id}, ${id}, 'key', ${id}, 0, 'singleDevice', false)`.execute(platform.db)
  expect((await user('reset', email)).stdout).toContain('removed 1 passkeys and revoked 1 personal keys.')
  expect(await countPersonalKeys(platform, id)).toBe(0)
  expect((await sql`SELECT FROM passkeys WHERE user_id = ${id}`.execute(platform.db)).rows).toEqual([])
})

test('INIT_OWNER_EMAIL is created once, with a workspace, and prints no setup link', async () => {
  const own = await openOwnDatabase()
  const config = { ...own.config, INIT_OWNER_EMAIL: 'Init@example.com', INIT_OWNER_PASSWORD: password }
  const workspaces: string[] = []
  const hooks = {
    beforeDelete: async () => {},
    isInvited: async () => false,
    countKeys: async () => 0,
    createFirstWorkspace: async (_platform: unknown, _userId: string, name: string) => void workspaces.push(name),
    readInvite: () => Promise.reject(new Error('no invites')),
    acceptInvite: () => Promise.reject(new Error('no invites')),
  }
  await Promise.all([1, 2, 3].map(() => welcomeFirstUser({ ...own, config }, hooks)))
  await welcomeFirstUser({ ...own, config }, hooks)
  expect((await sql`SELECT email, is_operator FROM users`.execute(own.db)).rows).toEqual([
    { email: 'init@example.com', is_operator: true },
  ])
  expect(workspaces).toEqual(['My workspace'])
  expect((await sql`SELECT FROM verifications`.execute(own.db)).rows).toEqual([])
})
