import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Role } from '@tributary/contract/permissions'
import { sql } from 'kysely'
import { describe, expect, inject, test } from 'vitest'
import { buildMember, buildUser, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { callAs, callWithKey } from '../../../test/session.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { setDisabled } from '../auth/administration.ts'
import { startSession } from '../auth/service.ts'
import { createFolder } from '../folders/service.ts'
import { createToken } from '../tokens/service.ts'
import { createWorkspace } from '../workspaces/service.ts'
import { addMember, requireNoLastOwner } from './service.ts'

const platform = await openTestPlatform()

async function setUp(role: Role = 'owner') {
  const workspace = await buildWorkspace(platform)
  const user = await buildMember(platform, workspace, role)
  return { workspace, user, call: callAs(user, workspace.slug) }
}

describe('the workspace of a signed-in user', () => {
  test('is named by id or slug', async () => {
    const { workspace, user } = await setUp('viewer')
    for (const name of [workspace.id, workspace.slug]) {
      expect(await callAs(user, name)('GET', '/links')).toMatchObject({ status: 200 })
    }
  })

  test('must be named', async () => {
    const { user } = await setUp()
    const { status, body } = await callAs(user)('GET', '/links')
    expect(status).toBe(400)
    expect(body.error.message).toContain('`Tributary-Workspace`')
  })

  test('is unknown to others, as one that does not exist', async () => {
    const { workspace } = await setUp()
    const stranger = await buildUser(platform)
    const answers = await Promise.all(
      [workspace.slug, 'no-such'].map((name) => callAs(stranger, name)('GET', '/links')),
    )
    expect(answers.map(({ status }) => status)).toEqual([404, 404])
    expect(answers[0]?.body.error.message.replace(workspace.slug, 'no-such')).toBe(answers[1]?.body.error.message)
  })

  test('limits its requests as those of a key: each user has one limit for all sessions', async () => {
    const workspace = await buildWorkspace(platform, { plan: 'free' })
    const [user, other] = [
      await buildMember(platform, workspace, 'member'),
      await buildMember(platform, workspace, 'member'),
    ]
    const second = { cookie: await startSession(platform, user.id) }
    const answers = []
    for (let count = 0; count < 60; count++) {
      answers.push(await callAs(count % 2 ? user : second, workspace.slug)('GET', '/tags'))
    }
    expect(answers.map(({ status }) => status)).toEqual(Array(60).fill(200))
    expect(answers.at(-1)?.headers.get('x-ratelimit-limit')).toBe('60')
    expect(answers.at(-1)?.headers.get('x-ratelimit-remaining')).toBe('0')
    for (const session of [user, second]) {
      const refused = await callAs(session, workspace.slug)('GET', '/tags')
      expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limit_exceeded'])
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    }
    expect((await callAs(other, workspace.slug)('GET', '/tags')).status).toBe(200)
    expect((await callWithKey(workspace.key)('GET', '/tags')).status).toBe(200)
  })

  test('a write needs a page of our own', async () => {
    const { call } = await setUp()
    const { status } = await call('POST', '/tags', { name: 'x' }, { 'sec-fetch-site': 'cross-site' })
    expect(status).toBe(403)
  })

  test('an ended session is refused within a second', async () => {
    const { user, call } = await setUp()
    expect((await call('GET', '/members')).status).toBe(200)
    await sql`DELETE FROM sessions WHERE user_id = ${user.id}`.execute(platform.db)
    await sleep(1_000)
    expect((await call('GET', '/members')).status).toBe(401)
  })
})

describe('listMembers and getMember', () => {
  test('show role, name and folders', async () => {
    const { workspace, user, call } = await setUp()
    const { body } = await call('GET', '/members')
    expect(body).toEqual([
      {
        userId: user.id,
        name: user.name,
        email: user.email,
        role: 'owner',
        folders: [],
        createdAt: expect.any(String),
      },
    ])
    expect((await call('GET', `/members/${user.id}`)).body).toEqual(body[0])
    const stranger = await buildUser(platform)
    expect((await callWithKey(workspace.key)('GET', `/members/${stranger.id}`)).status).toBe(404)
  })
})

describe('updateMember', () => {
  test('a new role counts within a second', async () => {
    const { workspace, call } = await setUp()
    const other = await buildMember(platform, workspace, 'member')
    const theirs = callAs(other, workspace.id)
    expect((await theirs('POST', '/tags', { name: 'a' })).status).toBe(201)
    const { body } = await call('PATCH', `/members/${other.id}`, { role: 'viewer' })
    expect(body).toMatchObject({ userId: other.id, role: 'viewer' })
    await sleep(1_000)
    expect((await theirs('POST', '/tags', { name: 'b' })).status).toBe(403)
    expect((await theirs('GET', '/tags')).status).toBe(200)
  })

  test('replaces the folders of a member', async () => {
    const { workspace, call } = await setUp()
    const other = await buildMember(platform, workspace, 'member')
    const folder = await createFolder(contextIn(platform, workspace.id), { name: 'f', accessLevel: 'write' })
    const folders = [{ folderId: folder.id, access: 'none' }]
    expect((await call('PATCH', `/members/${other.id}`, { folders })).body.folders).toEqual(folders)
    expect((await call('PATCH', `/members/${other.id}`, { folders: [] })).body.folders).toEqual([])
    const unknown = await call('PATCH', `/members/${other.id}`, { folders: [{ folderId: 'fold_x', access: 'read' }] })
    expect(unknown.status).toBe(404)
    expect((await call('PATCH', `/members/${other.id}`, { folders: [...folders, ...folders] })).status).toBe(422)
  })

  test('an admin neither changes nor makes owners', async () => {
    const { workspace, user } = await setUp()
    const admin = await buildMember(platform, workspace, 'admin')
    const member = await buildMember(platform, workspace, 'member')
    const call = callAs(admin, workspace.id)
    expect((await call('PATCH', `/members/${user.id}`, { role: 'viewer' })).status).toBe(403)
    expect((await call('DELETE', `/members/${user.id}`)).status).toBe(403)
    expect((await call('PATCH', `/members/${member.id}`, { role: 'owner' })).status).toBe(403)
    expect((await call('PATCH', `/members/${member.id}`, { role: 'admin' })).status).toBe(200)
  })

  test('a key gives no role with scopes that it lacks', async () => {
    const workspace = await buildWorkspace(platform, { scopes: ['workspaces.write', 'apis.read', 'preferences.write'] })
    const member = await buildMember(platform, workspace, 'billing')
    const call = callWithKey(workspace.key)
    expect((await call('PATCH', `/members/${member.id}`, { role: 'admin' })).status).toBe(403)
    expect((await call('PATCH', `/members/${member.id}`, { role: 'owner' })).status).toBe(403)
    expect((await call('PATCH', `/members/${member.id}`, { role: 'viewer' })).status).toBe(200)
  })

  test('the last owner stays owner', async () => {
    const { user, call } = await setUp()
    expect(await call('PATCH', `/members/${user.id}`, { role: 'admin' })).toMatchObject({ status: 409 })
    expect(await call('DELETE', `/members/${user.id}`)).toMatchObject({ status: 409 })
  })

  test('50 concurrent demotions of two owners leave one', async () => {
    const { workspace, user, call } = await setUp()
    const other = await buildMember(platform, workspace, 'owner')
    const theirs = callAs(other, workspace.id)
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        index % 2 === 0
          ? call('PATCH', `/members/${other.id}`, { role: 'member' })
          : theirs('PATCH', `/members/${user.id}`, { role: 'member' }),
      ),
    )
    const owners = await sql`SELECT FROM members WHERE workspace_id = ${workspace.id} AND role = 'owner'`.execute(
      platform.db,
    )
    expect(owners.rows).toHaveLength(1)
    expect(answers.filter(({ status }) => status >= 500)).toEqual([])
  })
})

test('changes of owners need a recent sign-in, as a transfer does', async () => {
  const { workspace, user, call } = await setUp()
  const [owner, member] = [
    await buildMember(platform, workspace, 'owner'),
    await buildMember(platform, workspace, 'member'),
  ]
  await sql`UPDATE sessions SET authenticated_at = now() - interval '1 hour' WHERE user_id = ${user.id}`.execute(
    platform.db,
  )
  const answers = [
    await call('PATCH', `/members/${member.id}`, { role: 'owner' }),
    await call('PATCH', `/members/${owner.id}`, { role: 'viewer' }),
    await call('DELETE', `/members/${owner.id}`),
    await call('POST', '/invites', { email: `${randomUUID()}@example.com`, role: 'owner' }),
  ]
  expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403])
  expect(answers[0]?.body.error.message).toContain('within the last 15 minutes')
  expect((await call('PATCH', `/members/${member.id}`, { role: 'admin' })).status).toBe(200)
})

test('nobody owns more workspaces than WORKSPACES_PER_USER by a transfer, a role or an invite', async () => {
  const { workspace, call } = await setUp()
  const other = await buildMember(platform, workspace, 'admin')
  for (let count = 0; count < platform.config.WORKSPACES_PER_USER; count++) {
    const { id } = await createWorkspace(platform, { name: `w-${randomUUID().slice(0, 13)}` })
    await addMember({ db: platform.db, workspaceId: id }, other.id, 'owner')
  }
  const answers = [
    await call('PATCH', `/members/${other.id}`, { role: 'owner' }),
    await call('POST', `/workspaces/${workspace.id}/transfer`, { userId: other.id }),
  ]
  expect(answers.map(({ status }) => status)).toEqual([403, 403])
  expect(answers[1]?.body.error.message).toContain('WORKSPACES_PER_USER')
})

test('a key that a removed member created in the last moment does not work after a new invite', async () => {
  const { workspace, user } = await setUp('member')
  await sql`DELETE FROM members WHERE user_id = ${user.id}`.execute(platform.db)
  const { key } = await createToken(platform, { workspaceId: workspace.id, name: 'late', userId: user.id })
  await addMember({ db: platform.db, workspaceId: workspace.id }, user.id, 'member')
  expect((await callWithKey(key)('GET', '/tags')).status).toBe(401)
})

test('a personal key of a disabled user stops within a second, and works again when the user is enabled', async () => {
  const { workspace, user } = await setUp('admin')
  const { key } = await createToken(platform, { workspaceId: workspace.id, name: 'own', userId: user.id })
  const status = async () => (await callWithKey(key)('GET', '/tags')).status
  expect(await status()).toBe(200)
  await setDisabled(platform, user.email, true)
  await sleep(1_000)
  expect(await status()).toBe(401)
  await setDisabled(platform, user.email, false)
  expect(await status()).toBe(200)
})

test('an account of a last owner must stay', async () => {
  const { workspace, user } = await setUp()
  await expect(requireNoLastOwner(platform, user.id)).rejects.toMatchObject({ code: 'conflict' })
  await buildMember(platform, workspace, 'owner')
  await expect(requireNoLastOwner(platform, user.id)).resolves.toBeUndefined()
})

describe('removeMember', () => {
  test('ends an open event stream of the member', async () => {
    const { workspace, call } = await setUp()
    const other = await buildMember(platform, workspace, 'viewer')
    const headers = { cookie: other.cookie, 'tributary-workspace': workspace.id }
    const stream = await fetch(`${inject('server').api}/events/stream`, { headers })
    expect(stream.status).toBe(200)
    const ended = stream.text().then(
      () => 'ended',
      () => 'ended',
    )
    await call('DELETE', `/members/${other.id}`)
    expect(await Promise.race([ended, sleep(6_000, 'open')])).toBe('ended')
  })

  test('ends membership, folders and personal keys within a second', async () => {
    const { workspace, call } = await setUp()
    const other = await buildMember(platform, workspace, 'member')
    await sql`UPDATE tokens SET user_id = ${other.id} WHERE id = ${workspace.keyId}`.execute(platform.db)
    const theirs = callAs(other, workspace.id)
    expect((await theirs('GET', '/tags')).status).toBe(200)
    expect((await call('DELETE', `/members/${other.id}`)).body).toEqual({ userId: other.id })
    await sleep(1_000)
    expect((await theirs('GET', '/tags')).status).toBe(404)
    expect((await callWithKey(workspace.key)('GET', '/tags')).status).toBe(401)
    expect((await call('DELETE', `/members/${other.id}`)).status).toBe(404)
  })
})
