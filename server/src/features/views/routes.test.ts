import { createClient } from '@tributary/contract/client'
import type { Role } from '@tributary/contract/permissions'
import { createView, deleteView, listViews, updateView, type View } from '@tributary/contract/views'
import { sql } from 'kysely'
import { describe, expect, inject, it } from 'vitest'
import { type BuiltWorkspace, buildMember, buildWorkspace } from '../../../test/build.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { createToken } from '../tokens/service.ts'

const platform = await openTestPlatform()
const { api } = inject('server')
const query = { interval: '30d', country: 'DE,FR' }
const mine = { screen: 'links', name: 'Mine', query } as const
const shared = { screen: 'links', name: 'Team', query, visibility: 'shared' } as const

/** A member with a client of their personal key. */
async function join(workspace: BuiltWorkspace, role: Role = 'member') {
  const user = await buildMember(platform, workspace, role)
  const { key } = await createToken(platform, { workspaceId: workspace.id, name: 'mine', userId: user.id })
  return { id: user.id, call: createClient({ url: api, token: key }) }
}

const nameList = (views: View[]) => views.map(({ name }) => name)

describe('views', () => {
  it('a personal view is shown to its owner only, a shared one to everyone', async () => {
    const workspace = await buildWorkspace(platform)
    const [ada, bob] = [await join(workspace), await join(workspace, 'viewer')]
    const view = await ada.call(createView, { body: mine })
    expect(view).toEqual({
      ...{ id: expect.stringMatching(/^view_/), ...mine, visibility: 'personal', userId: ada.id },
      ...{ createdAt: expect.any(String), updatedAt: expect.any(String) },
    })
    await ada.call(createView, { body: shared })
    expect(nameList(await ada.call(listViews))).toEqual(['Mine', 'Team'])
    expect(nameList(await bob.call(listViews))).toEqual(['Team'])
    expect(nameList(await ada.call(listViews, { query: { visibility: 'personal' } }))).toEqual(['Mine'])
    expect(await bob.call(listViews, { query: { visibility: 'personal' } })).toEqual([])
    expect(await ada.call(listViews, { query: { screen: 'events' } })).toEqual([])
    const owner = await join(workspace, 'owner')
    const params = { id: view.id }
    await expect(owner.call(updateView, { params, body: { name: 'Theirs' } })).rejects.toMatchObject({ status: 404 })
    await expect(owner.call(deleteView, { params })).rejects.toMatchObject({ status: 404 })
  })

  it('members change shared views, viewers do not', async () => {
    const workspace = await buildWorkspace(platform)
    const [ada, bob, eve] = [await join(workspace), await join(workspace), await join(workspace, 'viewer')]
    const { id } = await ada.call(createView, { body: shared })
    const body = { name: 'Everyone', query: { tagId: 'tag_1' } }
    expect(await bob.call(updateView, { params: { id }, body })).toMatchObject({ ...body, userId: ada.id })
    await expect(eve.call(updateView, { params: { id }, body })).rejects.toMatchObject({ status: 403 })
    await expect(eve.call(createView, { body: mine })).rejects.toMatchObject({ status: 403 })
    expect(await bob.call(deleteView, { params: { id } })).toEqual({ id })
  })

  it('only its creator makes a shared view personal', async () => {
    const workspace = await buildWorkspace(platform)
    const [ada, bob] = [await join(workspace), await join(workspace)]
    const { id } = await ada.call(createView, { body: shared })
    const personal = { params: { id }, body: { visibility: 'personal' } } as const
    await expect(bob.call(updateView, personal)).rejects.toMatchObject({ status: 403 })
    expect(await ada.call(updateView, personal)).toMatchObject({ visibility: 'personal' })
    expect(await bob.call(listViews)).toEqual([])
    await ada.call(updateView, { params: { id }, body: { visibility: 'shared' } })
    expect(nameList(await bob.call(listViews))).toEqual(['Team'])
  })

  it('a machine key has shared views only, and is refused a personal one with what to do', async () => {
    const workspace = await buildWorkspace(platform)
    const call = createClient({ url: api, token: workspace.key })
    await expect(call(createView, { body: mine })).rejects.toMatchObject({
      status: 403,
      message: expect.stringContaining('Set `visibility` to `shared`, or use a session or a personal key.'),
    })
    expect(await call(createView, { body: shared })).toMatchObject({ visibility: 'shared', userId: null })
    expect(nameList(await call(listViews))).toEqual(['Team'])
  })

  it('a name is unique among the shared views of a screen and among those of a user', async () => {
    const workspace = await buildWorkspace(platform)
    const [ada, bob] = [await join(workspace), await join(workspace)]
    for (const { call } of [ada, bob]) await call(createView, { body: mine })
    await ada.call(createView, { body: { ...mine, visibility: 'shared' } })
    await ada.call(createView, { body: { ...mine, screen: 'events' } })
    await expect(ada.call(createView, { body: { ...mine, name: 'MINE' } })).rejects.toMatchObject({ status: 409 })
    const other = await ada.call(createView, { body: { ...mine, name: 'Other' } })
    const rename = ada.call(updateView, { params: { id: other.id }, body: { name: 'mine' } })
    await expect(rename).rejects.toMatchObject({ status: 409 })
  })

  it('the personal views of a removed member are deleted, shared ones remain', async () => {
    const workspace = await buildWorkspace(platform)
    const [ada, bob] = [await join(workspace), await join(workspace)]
    await ada.call(createView, { body: mine })
    await ada.call(createView, { body: shared })
    await sql`DELETE FROM members WHERE workspace_id = ${workspace.id} AND user_id = ${ada.id}`.execute(platform.db)
    expect(nameList(await bob.call(listViews))).toEqual(['Team'])
    const left = await sql`SELECT FROM views WHERE workspace_id = ${workspace.id}`.execute(platform.db)
    expect(left.rows).toHaveLength(1)
  })

  it.each([
    [{ ...mine, query: { 'a b': 'c' } }],
    [{ ...mine, query: { a: 'x'.repeat(2_001) } }],
    [{ ...mine, query: Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`a${index}`, ''])) }],
    [{ ...mine, query: Object.fromEntries(Array.from({ length: 5 }, (_, index) => [`a${index}`, 'x'.repeat(1_900)])) }],
    [{ ...mine, screen: 'domains' }],
    [{ ...mine, name: ' ' }],
  ])('422: a view out of bounds is refused', async (body) => {
    const { call } = await join(await buildWorkspace(platform))
    await expect(call(createView, { body: body as never })).rejects.toMatchObject({ status: 422 })
  })
})
