import { createClient } from '@tributary/contract/client'
import { listLinkHistory } from '@tributary/contract/link-history'
import * as contract from '@tributary/contract/links'
import { expect, inject, test } from 'vitest'
import { buildLink, buildMember, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { eventually, openTestPlatform } from '../../../test/stack.ts'
import { createFolder } from '../folders/service.ts'
import { listLinkHistory as readHistory } from './history.ts'

const platform = await openTestPlatform()
const { api } = inject('server')
const url = 'https://example.com/landing'
const page = { sortBy: 'at', sortOrder: 'desc', page: 1, pageSize: 50 } as const

async function setUp() {
  const workspace = await buildWorkspace(platform)
  const call = createClient({ url: api, token: workspace.key })
  const history = (linkId: string, query = {}) => call(listLinkHistory, { params: { linkId }, query })
  const patch = (linkId: string, body: object) => call(contract.updateLink, { params: { linkId }, body })
  return { workspace, ctx: contextIn(platform, workspace.id), call, history, patch }
}

test('200: lists who changed what, newest first, without secrets, also after the deletion', async () => {
  const { workspace, call, history, patch } = await setUp()
  const { id } = await call(contract.createLink, { body: { url, externalId: 'mine', key: 'made' } })
  await patch(id, { title: 'One', password: 'hush' })
  await patch(id, { title: 'Two' })
  await call(contract.bulkUpdateLinks, { body: { linkIds: [id], data: { comments: 'bulk' } } })
  const actor = { kind: 'key', id: workspace.keyId }
  const at = expect.stringMatching(/^20/)
  const expected = [
    { at, actor, operation: 'bulkUpdateLinks', before: { comments: null }, after: { comments: 'bulk' } },
    { at, actor, operation: 'updateLink', before: { title: 'One' }, after: { title: 'Two' } },
    {
      ...{ at, actor, operation: 'updateLink', before: { title: null, password: null } },
      after: { title: 'One', password: { redacted: 'secret' } },
    },
    { at, actor, operation: 'createLink', before: null, after: expect.objectContaining({ url, key: 'made' }) },
  ]
  await eventually(async () => expect(await history(id)).toEqual(expected))
  expect(await history('ext_mine', { pageSize: 1, page: 2 })).toEqual([expected[1]])
  expect(await history(id, { sortOrder: 'asc' })).toEqual(expected.toReversed())
  await call(contract.deleteLink, { params: { linkId: id } })
  await eventually(async () => expect((await history(id))[0]).toMatchObject({ operation: 'deleteLink', actor }))
})

test('200: names the user, and a viewer may read it', async () => {
  const { workspace } = await setUp()
  const { id } = await buildLink(platform, workspace)
  const [member, viewer] = [
    await buildMember(platform, workspace, 'member'),
    await buildMember(platform, workspace, 'viewer'),
  ]
  const as = ({ cookie }: { cookie: string }) => ({
    ...{ cookie, 'sec-fetch-site': 'same-origin', 'tributary-workspace': workspace.id },
    'content-type': 'application/json',
  })
  const body = JSON.stringify({ title: 'mine' })
  expect((await fetch(`${api}/links/${id}`, { method: 'PATCH', headers: as(member), body })).status).toBe(200)
  await eventually(async () => {
    const response = await fetch(`${api}/links/${id}/history`, { headers: as(viewer) })
    expect(await response.json()).toMatchObject([{ actor: { kind: 'user', id: member.id }, after: { title: 'mine' } }])
  })
})

test('404: for an unknown link and for one of another workspace', async () => {
  const [{ workspace }, { history }] = [await setUp(), await setUp()]
  const { id } = await buildLink(platform, workspace)
  for (const name of [id, 'link_unknown', 'ext_unknown'])
    await expect(history(name)).rejects.toMatchObject({
      status: 404,
      message: `There is no link ${name} in this workspace.`,
    })
})

test('a member sees a link since it left a hidden folder, and never the hidden folder', async () => {
  const { workspace, ctx, call, history, patch } = await setUp()
  const hidden = await createFolder(ctx, { name: 'hidden', accessLevel: null })
  const { id } = await call(contract.createLink, { body: { url: 'https://example.com/secret', folderId: hidden.id } })
  await patch(id, { title: 'secret' })
  await patch(id, { url, title: 'public', folderId: null })
  await patch(id, { title: 'later' })
  await eventually(async () => expect(await history(id)).toHaveLength(4))
  const restricted = { ...ctx, folderAccess: { hidden: [hidden.id], readOnly: [] } }
  const seen = await readHistory(restricted, id, page)
  expect(seen.map(({ after }) => after)).toMatchObject([{ title: 'later' }, { title: 'public', folderId: null }])
  expect(seen[1]?.before).toMatchObject({ folderId: { redacted: 'hidden' } })
  expect(JSON.stringify(seen)).not.toContain(hidden.id)
  await patch(id, { folderId: hidden.id })
  await expect(readHistory(restricted, id, page)).rejects.toMatchObject({ code: 'not_found' })
  expect(workspace.id).toBe(ctx.workspaceId)
})
