import { sql } from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'
import { buildMember, buildUser, buildWorkspace } from '../../../test/build.ts'
import { callAs, callWithKey } from '../../../test/session.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { peopleHooks } from '../../roles/people.ts'
import { createToken } from '../tokens/service.ts'
import { forgetInvitee, inviteOffer, isInvited, issueInviteLink } from './service.ts'

const platform = await openTestPlatform()
const newEmail = () => `${crypto.randomUUID()}@example.com`

let workspace: Awaited<ReturnType<typeof buildWorkspace>>
let call: ReturnType<typeof callAs>

beforeEach(async () => {
  workspace = await buildWorkspace(platform)
  call = callAs(await buildMember(platform, workspace, 'owner'), workspace.id)
})

async function invite(email = newEmail(), role = 'member') {
  const { status, body } = await call('POST', '/invites', { email, role })
  expect(status, JSON.stringify(body)).toBe(201)
  return body.invites[0].invite as { id: string; email: string }
}

async function tokenFor(id: string): Promise<string> {
  const { link } = await issueInviteLink(platform, id)
  return new URL(link).searchParams.get('token') ?? ''
}

describe('createInvites', () => {
  test('returns the invite without a secret, and stores only a hash', async () => {
    const email = newEmail()
    const { body } = await call('POST', '/invites', { email: email.toUpperCase(), role: 'viewer' })
    expect(body.invites).toEqual([
      { email, error: null, invite: expect.objectContaining({ email, role: 'viewer', status: 'pending' }) },
    ])
    const { id } = body.invites[0].invite
    const token = await tokenFor(id)
    const { rows } = await sql`SELECT row_to_json(invites)::text AS text FROM invites WHERE id = ${id}`.execute(
      platform.db,
    )
    expect(JSON.stringify([rows, body])).not.toContain(token)
    const days = (Date.parse(body.invites[0].invite.expiresAt) - Date.now()) / 86_400_000
    expect(days).toBeGreaterThan(13.99)
    expect(days).toBeLessThanOrEqual(14)
  })

  test('invites a hundred at once, with a result for each', async () => {
    const member = await buildMember(platform, workspace, 'viewer')
    const emails = Array.from({ length: 98 }, newEmail)
    const invites = [...emails, member.email, emails[0]].map((email) => ({ email, role: 'member' }))
    const { status, body } = await call('POST', '/invites', { invites })
    expect(status, JSON.stringify(body)).toBe(201)
    const codes = body.invites.map(({ error }: { error: { code: string } | null }) => error?.code ?? 'ok')
    expect(codes).toEqual([...emails.map(() => 'ok'), 'conflict', 'conflict'])
    expect((await call('GET', '/invites')).body).toHaveLength(98)
    expect((await call('POST', '/invites', { invites: [...invites, invites[0]] })).status).toBe(422)
  })

  test('one address that is a member or invited already is a conflict', async () => {
    const { email } = await invite()
    expect((await call('POST', '/invites', { email, role: 'member' })).status).toBe(409)
  })

  test('nobody invites with a role above their own', async () => {
    const admin = callAs(await buildMember(platform, workspace, 'admin'), workspace.id)
    expect((await admin('POST', '/invites', { email: newEmail(), role: 'owner' })).status).toBe(403)
    expect((await admin('POST', '/invites', { email: newEmail(), role: 'admin' })).status).toBe(201)
    expect((await callWithKey(workspace.key)('POST', '/invites', { email: newEmail(), role: 'owner' })).status).toBe(
      403,
    )
    const member = callAs(await buildMember(platform, workspace, 'member'), workspace.id)
    expect((await member('POST', '/invites', { email: newEmail(), role: 'viewer' })).status).toBe(403)
  })

  test('an address gets only so many invites in a day', async () => {
    const email = newEmail()
    const { id } = await invite(email)
    for (let count = 1; count < platform.config.INVITES_PER_RECIPIENT_PER_DAY; count++) {
      expect((await call('POST', `/invites/${id}/renew`)).status).toBe(200)
    }
    expect((await call('POST', `/invites/${id}/renew`)).status).toBe(429)
    const other = await buildWorkspace(platform)
    expect((await callWithKey(other.key)('POST', '/invites', { email, role: 'member' })).status).toBe(429)
  })
})

test('an invite page shows what is offered, and an invited address may sign up', async () => {
  const { id, email } = await invite(newEmail(), 'billing')
  const offer = { workspaceName: workspace.name, email, role: 'billing' }
  expect(await inviteOffer(platform, await tokenFor(id))).toEqual(offer)
  expect(await isInvited(platform, email)).toBe(true)
  expect(await isInvited(platform, newEmail())).toBe(false)
})

describe('acceptInvite', () => {
  test('makes the invited person a member, once', async () => {
    const user = await buildUser(platform)
    const { id } = await invite(user.email, 'viewer')
    const token = await tokenFor(id)
    const accept = () => callAs(user)('POST', '/invites/accept', { token })
    const { body } = await accept()
    expect(body).toEqual({ workspaceId: workspace.id, slug: workspace.slug, role: 'viewer' })
    expect((await callAs(user, workspace.id)('GET', '/links')).status).toBe(200)
    expect((await accept()).status).toBe(409)
    expect((await call('GET', '/invites?status=accepted')).body).toMatchObject([{ id, status: 'accepted' }])
    expect((await call('DELETE', `/invites/${id}`)).status).toBe(409)
  })

  test('50 concurrent acceptances make one member', async () => {
    const user = await buildUser(platform)
    const token = await tokenFor((await invite(user.email)).id)
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => callAs(user)('POST', '/invites/accept', { token })),
    )
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses).toEqual([200, ...Array.from({ length: 49 }, () => 409)])
    const members = await sql`SELECT FROM members WHERE workspace_id = ${workspace.id}`.execute(platform.db)
    expect(members.rows).toHaveLength(2)
  })

  test('an expired invite is 410 until it is renewed', async () => {
    const user = await buildUser(platform)
    const { id } = await invite(user.email)
    const token = await tokenFor(id)
    await sql`UPDATE invites SET expires_at = now() WHERE id = ${id}`.execute(platform.db)
    const { status, body } = await callAs(user)('POST', '/invites/accept', { token })
    expect([status, body.error.code]).toEqual([410, 'invite_expired'])
    expect((await call('GET', '/invites')).body).toMatchObject([{ id, status: 'expired' }])
    expect((await call('POST', `/invites/${id}/renew`)).body).toMatchObject({ status: 'pending' })
    expect((await callAs(user)('POST', '/invites/accept', { token })).status).toBe(404)
    expect((await callAs(user)('POST', '/invites/accept', { token: await tokenFor(id) })).status).toBe(200)
  })

  test('an invite of another address is 403 and says so', async () => {
    const [user, other] = [await buildUser(platform), await buildUser(platform)]
    const token = await tokenFor((await invite(user.email)).id)
    const { status, body } = await callAs(other)('POST', '/invites/accept', { token })
    expect(status).toBe(403)
    expect(body.error.message).toContain('for another address')
    expect(body.error.message).not.toContain(user.email)
    expect((await callAs(user)('POST', '/invites/accept', { token })).status).toBe(200)
  })

  test('a revoked or unknown invite is 404', async () => {
    const user = await buildUser(platform)
    const { id } = await invite(user.email)
    const token = await tokenFor(id)
    expect((await call('DELETE', `/invites/${id}`)).body).toEqual({ id })
    expect((await callAs(user)('POST', '/invites/accept', { token })).status).toBe(404)
    expect((await callAs(user)('POST', '/invites/accept', { token: 'x' })).status).toBe(404)
    expect((await call('POST', `/invites/${id}/renew`)).status).toBe(404)
  })
})

describe('open invites of a member', () => {
  const openRoles = async () =>
    (
      await sql<{ role: string }>`SELECT role FROM invites WHERE workspace_id = ${workspace.id} AND accepted_at IS NULL
      ORDER BY role`.execute(platform.db)
    ).rows.map(({ role }) => role)

  async function inviterWithInvites() {
    const inviter = await buildMember(platform, workspace, 'owner')
    for (const role of ['owner', 'viewer']) {
      await callAs(inviter, workspace.id)('POST', '/invites', { email: newEmail(), role })
    }
    await invite()
    return inviter
  }

  test('end when the member may no longer give their role', async () => {
    const { id } = await inviterWithInvites()
    expect(await openRoles()).toEqual(['member', 'owner', 'viewer'])
    await call('PATCH', `/members/${id}`, { role: 'admin' })
    expect(await openRoles()).toEqual(['member', 'viewer'])
    await call('DELETE', `/members/${id}`)
    expect(await openRoles()).toEqual(['member'])
  })

  test('end with the account of the member', async () => {
    const { id } = await inviterWithInvites()
    await peopleHooks.beforeDelete(platform, id)
    expect(await openRoles()).toEqual(['member'])
  })

  test('also those of their personal keys', async () => {
    const admin = await buildMember(platform, workspace, 'admin')
    const { key } = await createToken(platform, { workspaceId: workspace.id, name: 'own', userId: admin.id })
    expect((await callWithKey(key)('POST', '/invites', { email: newEmail(), role: 'admin' })).status).toBe(201)
    await call('DELETE', `/members/${admin.id}`)
    expect(await openRoles()).toEqual([])
  })
})

test('nothing about invites to an address remains after its account is deleted', async () => {
  const { email } = await invite()
  await forgetInvitee(platform, email)
  for (const table of ['invites', 'invite_emails']) {
    expect((await sql`SELECT FROM ${sql.table(table)} WHERE email = ${email}`.execute(platform.db)).rows).toEqual([])
  }
})
