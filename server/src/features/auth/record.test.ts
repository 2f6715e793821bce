import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, describe, expect, inject, test } from 'vitest'
import { type BuiltUser, buildUser } from '../../../test/build.ts'
import { openPerson, type Person } from '../../../test/person.ts'
import { startServer } from '../../../test/server-process.ts'
import { eventually, openTestPlatform } from '../../../test/stack.ts'
import { currentTotp, nextTotp } from '../../../test/totp.ts'
import { verifyAudit } from '../audit/service.ts'
import { issueLink } from './one-time.ts'
import { findSession } from './service.ts'

const platform = await openTestPlatform()
const server = await startServer({
  ...inject('environment'),
  ROLES: 'api',
  SIGN_IN_ATTEMPTS_PER_ADDRESS: '100000',
  SIGN_IN_ATTEMPTS_PER_MINUTE: '100000',
  SIGN_IN_VISITS_PER_MINUTE: '100000',
})
afterAll(() => server.stop())
const { api } = server
const password = 'vermilion teapot 7'
const wrong = 'cerulean kettle 8'

type Row = {
  credential: string | null
  person: string
  changes: { after: object }[]
  hash: Buffer | null
  text: string
}

async function findEntries(userId: string, operation: string): Promise<Row[]> {
  const result = await sql<Row>`SELECT credential, person, changes, hash, row_to_json(entry)::text AS text
    FROM audit_entries AS entry WHERE workspace_id = 'installation' AND target_ids = ARRAY[${userId}]
    AND operation = ${operation} ORDER BY number`.execute(platform.db)
  return result.rows
}

function waitForEntry(userId: string, operation: string): Promise<Row> {
  return eventually(async () => {
    const [entry] = await findEntries(userId, operation)
    if (!entry) throw new Error(`no entry of ${operation}`)
    return entry
  }, 5_000)
}

async function failures(name: string): Promise<number> {
  const result = await sql<{ count: bigint }>`SELECT sum(count) AS count FROM audit_counts
    WHERE name = ${name}`.execute(platform.db)
  return Number(result.rows[0]?.count ?? 0)
}

describe('a sign-in', () => {
  test('leaves an entry with its session', async () => {
    const { id, email } = await buildUser(platform, { password })
    const { setCookies } = await openPerson(api).post('/sign-in', { email, password })
    const session = await findSession(platform, setCookies.map((cookie) => cookie.split(';')[0]).join('; '))
    const entry = await waitForEntry(id, 'sign-in')
    expect(entry).toMatchObject({ credential: session?.id, person: id, changes: [{ after: { method: 'password' } }] })
    expect(entry.text).toContain('"sealed_network":"\\\\x')
    expect(await findEntries(id, 'sign-in-failed')).toEqual([])
  })

  test('by a link leaves an entry without the token', async () => {
    const { id } = await buildUser(platform)
    const token = new URL(await issueLink(platform, 'sign-in', { userId: id })).searchParams.get('token') ?? ''
    await openPerson(api).post('/sign-in/use-link', { token })
    const entry = await waitForEntry(id, 'sign-in')
    expect(entry.changes).toMatchObject([{ after: { method: 'link' } }])
    expect(entry.text).not.toContain(token)
  })

  test('with a wrong password leaves an entry without the password', async () => {
    const { id, email } = await buildUser(platform, { password })
    await openPerson(api).post('/sign-in', { email, password: wrong })
    const entry = await waitForEntry(id, 'sign-in-failed')
    expect(entry).toMatchObject({ credential: null, changes: [{ after: { method: 'password' } }] })
    expect(entry.text).not.toMatch(/cerulean|example\.com|127\.0\.0/)
    expect(await findEntries(id, 'sign-in')).toEqual([])
  })

  test('without an account is only counted', async () => {
    const before = await failures('sign-in-failed')
    const email = `${randomUUID()}@example.com`
    await openPerson(api).post('/sign-in', { email, password })
    await eventually(async () => expect(await failures('sign-in-failed')).toBeGreaterThan(before), 5_000)
    expect(await findEntries('', 'sign-in-failed')).toEqual([])
  })

  test('with a wrong code of the second factor leaves an entry of its user, and the right one an entry with the session', async () => {
    const { user, uri } = await withSecondFactor()
    const person = openPerson(api)
    await person.post('/sign-in', { email: user.email, password })
    expect((await person.post('/two-factor', { code: '00000-00000' })).status).toBe(401)
    const failed = await waitForEntry(user.id, 'sign-in-failed')
    expect(failed.changes).toMatchObject([{ after: { method: 'second factor' } }])
    expect(await findEntries(user.id, 'sign-in')).toEqual([])
    await person.post('/two-factor', { code: nextTotp(uri) })
    const entry = await waitForEntry(user.id, 'sign-in')
    expect(entry).toMatchObject({ credential: expect.stringMatching(/^ses_/) })
  })
})

async function withSecondFactor(): Promise<{ user: BuiltUser; person: Person; uri: string }> {
  const user = await buildUser(platform, { password })
  const person = openPerson(api, user.cookie)
  const page = await person.post('/account/second-factor', {})
  const read = (name: string) =>
    new RegExp(`name="${name}" value="([^"]*)"`).exec(page.text)?.[1]?.replaceAll('&amp;', '&') ?? ''
  const uri = read('uri')
  await person.post('/account/second-factor/verify', { uri, codes: read('codes'), code: currentTotp(uri) })
  return { user, person, uri }
}

type Case = [operation: string, act: (person: Person, user: BuiltUser) => Promise<unknown>]
const cases: Case[] = [
  ['name-changed', (person) => person.post('/account/name', { name: 'Grace' })],
  ['password-changed', (person) => person.post('/account/password', { password: wrong })],
  ['session-ended', (person) => person.post('/sign-out', {})],
  [
    'passkey-removed',
    async (person, { id }) => {
      const passkey = randomUUID()
      await sql`INSERT INTO passkeys (id, user_id, public_key, credential_id, counter, device_type, backed_up)
        VALUES (${passkey}, ${id}, 'key', ${passkey}, 0, 'singleDevice', false)`.execute(platform.db)
      await person.post('/account/passkeys/remove', { id: passkey })
    },
  ],
  [
    'password-reset',
    async (person, { id }) => {
      const token = new URL(await issueLink(platform, 'reset', { userId: id })).searchParams.get('token') ?? ''
      await person.post('/reset-password/new', { token, password: wrong })
    },
  ],
  [
    'email-changed',
    async (person, { id }) => {
      const value = { userId: id, email: `${randomUUID()}@example.com` }
      const token = new URL(await issueLink(platform, 'change-email', value)).searchParams.get('token') ?? ''
      await person.post('/account/email/confirm', { token })
    },
  ],
]

test.each(cases)('%s is recorded, without secrets and personal values in clear text', async (operation, act) => {
  const user = await buildUser(platform, { password })
  await act(openPerson(api, user.cookie), user)
  const [entry, ...more] = await findEntries(user.id, operation)
  expect(more).toEqual([])
  expect(entry?.text).toContain(`"actor_id":"${user.id}"`)
  expect(entry?.text).not.toMatch(/cerulean|Grace|example\.com/)
})

test('a change that is refused leaves no entry', async () => {
  const user = await buildUser(platform, { password })
  const person = openPerson(api, user.cookie)
  await person.post('/account/password', { password: 'short' })
  await person.post('/account/passkeys/remove', { id: 'none' })
  await person.post('/account/sessions/end', { id: 'none' })
  for (const operation of ['password-changed', 'passkey-removed', 'session-ended'])
    expect(await findEntries(user.id, operation)).toEqual([])
})

test('a second factor leaves entries when it is turned on, renewed and turned off', async () => {
  const { user, person } = await withSecondFactor()
  expect(await findEntries(user.id, 'second-factor-on')).toHaveLength(1)
  await person.post('/account/recovery-codes', {})
  expect(await findEntries(user.id, 'recovery-codes-renewed')).toHaveLength(1)
  await person.post('/account/second-factor/remove', {})
  expect(await findEntries(user.id, 'second-factor-off')).toHaveLength(1)
})

test('deleting the account erases its values in entries, and the log still verifies', async () => {
  const { id, email } = await buildUser(platform, { password })
  const person = openPerson(api)
  await person.post('/sign-in', { email, password })
  await waitForEntry(id, 'sign-in')
  const keys = () => sql`SELECT 1 FROM audit_person_keys WHERE person = ${id}`.execute(platform.db)
  expect((await keys()).rows).toHaveLength(1)
  await person.post('/account/delete', { confirmation: email })
  expect((await keys()).rows).toEqual([])
  await eventually(async () => expect((await findEntries(id, 'account-deleted'))[0]?.hash).toBeTruthy())
  expect(await findEntries(id, 'sign-in')).toHaveLength(1)
  expect(await verifyAudit(platform, { workspaceId: 'installation' })).toEqual([])
})
