import { setTimeout as sleep } from 'node:timers/promises'
import type { Role } from '@tributary/contract/operation'
import { sql } from 'kysely'
import { describe, expect, inject, test } from 'vitest'
import { buildMember, buildUser, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { callAs, callWithKey } from '../../../test/session.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { createFolder } from '../folders/service.ts'
import { requireNoLastOwner } from './service.ts'

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
    const workspace = await buildWorkspace(platform, { scopes: ['workspaces.write', 'apis.read'] })
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
