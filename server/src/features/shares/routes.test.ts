import { createClient } from '@tributary/contract/client'
import type { Role } from '@tributary/contract/permissions'
import type { Share } from '@tributary/contract/shares'
import { sql } from 'kysely'
import { describe, expect, inject, it } from 'vitest'
import { type BuiltWorkspace, buildMember } from '../../../test/build.ts'
import { buildShared } from '../../../test/shares.ts'
import { eventually, openTestPlatform } from '../../../test/stack.ts'
import { createFolder } from '../folders/service.ts'
import { updateMember } from '../members/service.ts'
import { createToken } from '../tokens/service.ts'
import { createView } from '../views/service.ts'

const platform = await openTestPlatform()
const { api } = inject('server')
const setUp = () => buildShared(platform, api)

/** A member with a client of their personal key. */
async function join(workspace: BuiltWorkspace, role: Role = 'member') {
  const user = await buildMember(platform, workspace, role)
  const { key } = await createToken(platform, { workspaceId: workspace.id, name: 'mine', userId: user.id })
  return { id: user.id, call: createClient({ url: api, token: key }) }
}

const ids = (shares: Share[]) => shares.map(({ id }) => id)

describe('createShare', () => {
  it('201: shares a link, a folder or a view, each with an address that nobody can guess', async () => {
    const { share, link, folder, saveView } = await setUp()
    const view = await saveView({ interval: '7d' })
    const ofLink = await share({ linkId: link.id })
    expect(ofLink).toEqual({
      ...{ id: expect.stringMatching(/^share_[A-Za-z0-9]{24}$/), viewId: null, linkId: link.id, folderId: null },
      ...{ url: expect.stringMatching(new RegExp(`/share/${ofLink.id}$`)), name: link.shortLink, title: null },
      ...{ hasPassword: false, endsAt: null, showConversions: false, userId: null },
      ...{ createdAt: expect.any(String), updatedAt: expect.any(String) },
    })
    const endsAt = '2030-01-01T00:00:00.000Z'
    const given = { title: 'Spring', password: 'hush', endsAt, showConversions: true }
    const ofFolder = await share({ folderId: folder.id, ...given })
    expect(ofFolder).toMatchObject({
      ...{ folderId: folder.id, name: 'Secret folder', title: 'Spring', hasPassword: true, endsAt },
      showConversions: true,
    })
    expect(JSON.stringify(ofFolder)).not.toContain('hush')
    expect(await share({ viewId: view.id })).toMatchObject({ viewId: view.id, name: 'Secret view' })
  })

  it('201: keeps the address of the page out of the audit log', async () => {
    const { share, call, link } = await setUp()
    const { id } = await share({ linkId: link.id })
    await call('updateShare', { params: { id }, body: { title: 'Autumn' } })
    await call('deleteShare', { params: { id } })
    const log = await eventually(async () => {
      const text = JSON.stringify(await call('listAuditLog'))
      expect(text).toContain('deleteShare')
      return text
    })
    expect(log).toContain(id.slice(0, 'share_'.length + 6))
    expect(log).not.toContain(id)
  })

  it('422: for none or two of view, link and folder', async () => {
    const { share, link, folder } = await setUp()
    for (const body of [{}, { linkId: link.id, folderId: folder.id }])
      await expect(share(body)).rejects.toMatchObject({ status: 422, message: expect.stringContaining('exactly one') })
  })

  it.each<[string, Record<string, string>, string]>([
    ['one customer', { customerId: 'cus_1' }, '`customerId`'],
    ['a parameter that nobody knows', { tags: 'tag_1' }, '`tags`'],
    ['a value that is not allowed', { interval: 'fortnight' }, '`interval`'],
    ['a date that nobody can read', { start: 'soon' }, '`start`'],
    ['an unknown time zone', { timezone: 'Mars/Base' }, '`timezone`'],
  ])('422: for a view of %s', async (_, query, message) => {
    const { share, saveView } = await setUp()
    const { id: viewId } = await saveView(query)
    await expect(share({ viewId })).rejects.toMatchObject({ status: 422, message: expect.stringContaining(message) })
  })

  it('422: for a view of another screen', async () => {
    const { share, ctx } = await setUp()
    const { id } = await createView(ctx, { screen: 'links', name: 'Links', query: {}, visibility: 'shared' })
    await expect(share({ viewId: id })).rejects.toMatchObject({ status: 422 })
  })

  it("404: for objects of another workspace, and for another member's personal view", async () => {
    const [mine, theirs] = [await setUp(), await setUp()]
    const view = await theirs.saveView({})
    const bodies = [{ viewId: view.id }, { linkId: theirs.link.id }, { folderId: theirs.folder.id }]
    for (const body of bodies) await expect(mine.share(body)).rejects.toMatchObject({ status: 404 })
    const [ada, bob] = [await join(mine.workspace), await join(mine.workspace, 'admin')]
    const body = { screen: 'analytics', name: 'Mine', query: {} } as const
    const { id: viewId } = await ada.call('createView', { body })
    await expect(bob.call('createShare', { body: { viewId } })).rejects.toMatchObject({ status: 404 })
    expect(await ada.call('createShare', { body: { viewId } })).toMatchObject({ viewId, userId: ada.id })
  })

  it('403: for a key that may not read analytics, or not change the link', async () => {
    const { workspace, saveView, link } = await setUp()
    const { id: viewId } = await saveView({})
    const callAs = async (...scopes: ('views.write' | 'analytics.read' | 'links.write')[]) => {
      const { key } = await createToken(platform, { workspaceId: workspace.id, name: 'narrow', scopes })
      return createClient({ url: api, token: key })
    }
    const [write, read, all] = await Promise.all([
      callAs('views.write'),
      callAs('views.write', 'analytics.read'),
      callAs('views.write', 'analytics.read', 'links.write'),
    ])
    const lacks = (scope: string) => ({ status: 403, message: expect.stringContaining(scope) })
    await expect(write('createShare', { body: { viewId } })).rejects.toMatchObject(lacks('analytics.read'))
    await read('createShare', { body: { viewId } })
    await expect(read('createShare', { body: { linkId: link.id } })).rejects.toMatchObject(lacks('links.write'))
    await all('createShare', { body: { linkId: link.id } })
  })

  it('409: for the 201st share, even of concurrent requests', async () => {
    const { share, link, workspace } = await setUp()
    await sql`INSERT INTO shares (id, workspace_id, link_id)
      SELECT ${workspace.id} || number, ${workspace.id}, ${link.id} FROM generate_series(1, 198) AS number`.execute(
      platform.db,
    )
    const outcomes = await Promise.allSettled(Array.from({ length: 4 }, () => share({ linkId: link.id })))
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'fulfilled', 'rejected', 'rejected'])
    await expect(share({ linkId: link.id })).rejects.toMatchObject({ status: 409 })
  })
})

describe('listShares', () => {
  it('200: lists all shares or those of a subject, newest first', async () => {
    const { share, call, link, folder } = await setUp()
    const [one, two] = [await share({ linkId: link.id }), await share({ folderId: folder.id })]
    expect(ids(await call('listShares'))).toEqual([two.id, one.id])
    expect(ids(await call('listShares', { query: { linkId: link.id } }))).toEqual([one.id])
    expect(await call('listShares', { query: { viewId: 'view_none' } })).toEqual([])
    expect(ids(await call('listShares', { query: { sortOrder: 'asc', pageSize: 1, page: 2 } }))).toEqual([two.id])
  })

  it("200: leaves out hidden folders, their links and others' personal views; admins see those views", async () => {
    const { workspace, ctx, share, folder, link } = await setUp()
    const [ada, bob, eve] = [await join(workspace), await join(workspace), await join(workspace, 'admin')]
    const view = await ada.call('createView', { body: { screen: 'analytics', name: 'Mine', query: {} } })
    const personal = await ada.call('createShare', { body: { viewId: view.id } })
    const hidden = [await share({ linkId: link.id }), await share({ folderId: folder.id })]
    await updateMember(ctx, bob.id, { folders: [{ folderId: folder.id, access: 'none' }] })
    expect(await bob.call('listShares')).toEqual([])
    expect(ids(await eve.call('listShares')).sort()).toEqual(ids([personal, ...hidden]).sort())
    for (const { id } of [personal, ...hidden]) {
      const params = { id }
      await expect(bob.call('getShare', { params })).rejects.toMatchObject({ status: 404 })
      await expect(bob.call('updateShare', { params, body: { title: 'Mine' } })).rejects.toMatchObject({ status: 404 })
      await expect(bob.call('deleteShare', { params })).rejects.toMatchObject({ status: 404 })
    }
    expect(await eve.call('deleteShare', { params: { id: personal.id } })).toEqual({ id: personal.id })
  })
})

describe('updateShare', () => {
  it('200: changes what is given and leaves the rest', async () => {
    const { share, call, link } = await setUp()
    const { id, ...made } = await share({ linkId: link.id, title: 'One', password: 'hush' })
    const params = { id }
    expect(await call('updateShare', { params, body: {} })).toMatchObject({ ...made })
    const body = { title: null, endsAt: '2030-01-01T00:00:00+02:00', showConversions: true }
    expect(await call('updateShare', { params, body })).toMatchObject({
      ...{ title: null, endsAt: '2029-12-31T22:00:00.000Z', showConversions: true, hasPassword: true },
    })
    expect(await call('updateShare', { params, body: { password: null } })).toMatchObject({ hasPassword: false })
    expect(await call('getShare', { params })).toMatchObject({ showConversions: true, hasPassword: false })
  })

  it('403: for a member who may only read the folder, who can list the share', async () => {
    const { workspace, ctx, share, folder, link } = await setUp()
    const bob = await join(workspace)
    await updateMember(ctx, bob.id, { folders: [{ folderId: folder.id, access: 'read' }] })
    const shares = [await share({ folderId: folder.id }), await share({ linkId: link.id })]
    expect(await bob.call('listShares')).toHaveLength(2)
    for (const { id } of shares) {
      const body = { password: null }
      await expect(bob.call('updateShare', { params: { id }, body })).rejects.toMatchObject({ status: 403 })
      await expect(bob.call('deleteShare', { params: { id } })).rejects.toMatchObject({ status: 403 })
    }
  })

  it.each([
    [{ title: ' ' }],
    [{ title: 'x'.repeat(101) }],
    [{ title: 'two\nlines' }],
    [{ password: '' }],
    [{ password: 'x'.repeat(201) }],
    [{ endsAt: 'tomorrow' }],
  ])('422: %j is out of bounds', async (body) => {
    const { share, call, link } = await setUp()
    const { id } = await share({ linkId: link.id })
    await expect(call('updateShare', { params: { id }, body })).rejects.toMatchObject({ status: 422 })
  })
})

describe('a subject that is deleted', () => {
  it('ends its shares: those of a view and a folder are deleted with it', async () => {
    const { share, call, folder, saveView, ctx } = await setUp()
    const view = await saveView({})
    await createFolder(ctx, { name: 'another', accessLevel: 'write' })
    await share({ viewId: view.id })
    await share({ folderId: folder.id })
    await call('deleteView', { params: { id: view.id } })
    await call('deleteFolder', { params: { id: folder.id } })
    expect(await call('listShares')).toEqual([])
  })
})
