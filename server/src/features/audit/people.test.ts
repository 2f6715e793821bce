import { randomUUID } from 'node:crypto'
import type { AuditEntry } from '@tributary/contract/audit'
import { expect, test } from 'vitest'
import { buildMember, buildUser, buildWorkspace } from '../../../test/build.ts'
import { callAs, callWithKey } from '../../../test/session.ts'
import { eventually, openTestPlatform } from '../../../test/stack.ts'
import { peopleHooks } from '../../roles/people.ts'
import { issueInviteLink } from '../invites/service.ts'
import { verifyAudit } from './service.ts'

const platform = await openTestPlatform()

async function open() {
  const workspace = await buildWorkspace(platform)
  const owner = await buildMember(platform, workspace, 'owner')
  const call = callAs(owner, workspace.id)
  /** Waits until the worker has sealed an entry of this operation. */
  const find = (operation: string): Promise<AuditEntry> =>
    eventually(async () => {
      const { body } = await call('GET', `/audit-log?operation=${operation}`)
      if (!body[0]) throw new Error(`no entry of ${operation}`)
      return body[0]
    })
  return { workspace, owner, call, find }
}

test('entries of members have role and folders before and after', async () => {
  const { workspace, owner, call, find } = await open()
  const { id } = await buildMember(platform, workspace, 'member')
  const folderId = (await call('POST', '/folders', { name: 'one' })).body.id
  const folders = [{ folderId, access: 'read' }]
  await call('PATCH', `/members/${id}`, { role: 'viewer', folders })
  const before = { role: 'member', folders: [] }
  expect(await find('updateMember')).toMatchObject({
    actor: { kind: 'user', id: owner.id, name: owner.name },
    target: { kind: 'members', ids: [id] },
    changes: [{ kind: 'members', id, before, after: { role: 'viewer', folders } }],
  })
  await call('DELETE', `/members/${id}`)
  expect((await find('removeMember')).changes).toEqual([
    { kind: 'members', id, before: { role: 'viewer', folders }, after: null },
  ])
})

test('entries of invites have address, role and validity, and the address is erased with the account', async () => {
  const { workspace, call, find } = await open()
  const invitee = await buildUser(platform)
  const { body } = await call('POST', '/invites', { email: invitee.email, role: 'viewer' })
  const { id, expiresAt } = body.invites[0].invite
  const created = (email: unknown) => [
    { kind: 'invites', id, before: null, after: { email, role: 'viewer', expiresAt: expect.any(String) } },
  ]
  expect(await find('createInvites')).toMatchObject({ target: { ids: [id] }, changes: created(invitee.email) })
  await call('POST', `/invites/${id}/renew`)
  expect((await find('renewInvite')).changes).toMatchObject([
    { before: { expiresAt }, after: { expiresAt: expect.any(String) } },
  ])
  const { link } = await issueInviteLink(platform, id)
  const token = new URL(link).searchParams.get('token')
  expect((await callAs(invitee)('POST', '/invites/accept', { token })).status).toBe(200)
  expect(await find('acceptInvite')).toMatchObject({
    actor: { id: invitee.id, name: invitee.name },
    changes: [{ id, before: { status: 'pending' }, after: { status: 'accepted', userId: invitee.id, role: 'viewer' } }],
  })
  await peopleHooks.beforeDelete(platform, invitee.id)
  expect((await find('createInvites')).changes).toEqual(created({ redacted: 'erased' }))
  expect((await call('GET', '/invites')).body).toEqual([])
  expect(await verifyAudit(platform, { workspaceId: workspace.id })).toEqual([])
})

test('an entry of a revoked invite says whom it was for', async () => {
  const { call, find } = await open()
  const email = `${randomUUID()}@example.com`
  const { body } = await call('POST', '/invites', { email, role: 'viewer' })
  await call('DELETE', `/invites/${body.invites[0].invite.id}`)
  expect((await find('revokeInvite')).changes).toMatchObject([{ before: { email, role: 'viewer' }, after: null }])
})

test('entries of a workspace have its settings before and after', async () => {
  const { workspace, owner, call, find } = await open()
  const { id } = workspace
  await call('PATCH', `/workspaces/${id}`, { name: 'Renamed', weekStart: 3, contactEmail: 'ada@example.com' })
  const redacted = { redacted: 'personal' }
  expect((await find('updateWorkspace')).changes).toEqual([
    {
      ...{ kind: 'workspaces', id },
      before: { name: workspace.name, weekStart: expect.any(Number), contactEmail: null },
      after: { name: 'Renamed', weekStart: 3, contactEmail: redacted },
    },
  ])
  const other = await buildMember(platform, workspace, 'admin')
  await call('POST', `/workspaces/${id}/transfer`, { userId: other.id })
  expect((await find('transferWorkspace')).changes).toEqual([
    { kind: 'workspaces', id, before: { ownerId: owner.id }, after: { ownerId: other.id } },
  ])
  await call('POST', `/workspaces/${id}/leave`)
  const { body } = await eventually(async () => {
    const found = await callAs(other, id)('GET', '/audit-log?operation=leaveWorkspace')
    expect(found.body).toHaveLength(1)
    return found
  })
  expect(body[0]).toMatchObject({
    target: { kind: 'workspaces', ids: [id] },
    changes: [{ before: { userId: owner.id, role: 'admin' }, after: null }],
  })
})

test('names of actors need the right to read personal values', async () => {
  const { workspace, call, find } = await open()
  const { key } = (await call('POST', '/tokens', { name: 'reader', scopes: ['audit.read', 'tags.write'] })).body
  await callWithKey(workspace.key)('POST', '/tags', { name: 'one' })
  expect((await find('createTag')).actor).toMatchObject({ kind: 'key', id: workspace.keyId, name: 'test' })
  const { body } = await callWithKey(key)('GET', '/audit-log?operation=createTag')
  expect(body[0].actor).toMatchObject({ id: workspace.keyId, name: null, network: null })
})
