import { createClient } from '@tributary/contract/client'
import { listEvents } from '@tributary/contract/events'
import { deleteFolder } from '@tributary/contract/folders'
import { deleteTag } from '@tributary/contract/tags'
import { describe, expect, inject, test } from 'vitest'
import { type BuiltWorkspace, buildClick, buildLink, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { eventually, openTestPlatform } from '../../../test/stack.ts'
import { query } from '../../platform/clickhouse.ts'
import { hashPartition } from '../../platform/ids.ts'
import { jetStream } from '../../platform/nats.ts'
import { createFolder } from '../folders/service.ts'
import type { LinkChanged } from '../links/messages.ts'
import { linkNumbers } from '../links/service.ts'
import { clicksSubject } from '../redirect/messages.ts'
import { createTag } from '../tags/service.ts'
import { forgetFolders, forgetTags } from './forget.ts'
import { keepLinkAttributes } from './service.ts'

const platform = await openTestPlatform()
const { api } = inject('server')

function attributes(workspaceId: string, given: Partial<LinkChanged> = {}): LinkChanged {
  return {
    workspaceId,
    linkNumber: '7',
    domain: 'go.example',
    lookupKey: 'key',
    isRoot: false,
    folderId: '',
    tenantId: 'tenant',
    partnerId: '',
    tagIds: [],
    deleted: false,
    version: 1,
    ...given,
  }
}

/** The link attributes that ClickHouse has for a workspace. */
function known(workspaceId: string) {
  return query(
    platform.clickhouse,
    `SELECT toString(link_number) AS link_number, tenant_id, tag_ids, folder_id, deleted FROM link_attributes FINAL
WHERE workspace_id = {workspaceId:String} ORDER BY link_number`,
    { workspaceId },
  )
}

async function newTags(workspace: BuiltWorkspace, ...names: string[]): Promise<string[]> {
  const ctx = contextIn(platform, workspace.id)
  const tags = await Promise.all(names.map((name) => createTag(ctx, { name })))
  return tags.map((tag) => tag.id)
}

test('events of links with a deleted tag or folder are no longer found by it, and still exist', async () => {
  const workspace = await buildWorkspace(platform)
  const ctx = contextIn(platform, workspace.id)
  const call = createClient({ url: api, token: workspace.key })
  const [removed, stays] = (await newTags(workspace, 'gone', 'stays')) as [string, string]
  const folder = await createFolder(ctx, { name: 'gone', accessLevel: 'write' })
  const link = await buildLink(platform, workspace)
  const [number] = (await linkNumbers(ctx, { ids: [link.id] })) as [bigint]
  // The change needs a newer version than the link's creation, whose message may still be in flight.
  const version = Date.now() + 60_000
  const given = { linkNumber: String(number), tagIds: [removed, stays], folderId: folder.id, version }
  await keepLinkAttributes(platform, [attributes(workspace.id, given)])
  const click = buildClick(platform, { number, workspaceId: workspace.id, url: link.url })
  const subject = clicksSubject(hashPartition(workspace.id, platform.config.EVENT_PARTITIONS))
  await jetStream(platform.nats).publish(subject, JSON.stringify([click]))

  const found = async (query: { tagId?: string; folderId?: string }) => (await call(listEvents, { query })).length
  await eventually(async () => expect(await found({})).toBe(1))
  expect(await Promise.all([found({ tagId: removed }), found({ tagId: stays })])).toEqual([1, 1])
  expect(await Promise.all([found({ tagId: `-${removed}` }), found({ folderId: folder.id })])).toEqual([0, 1])

  await call(deleteTag, { params: { id: removed } })
  await eventually(async () => expect(await found({ tagId: removed })).toBe(0))
  expect(await Promise.all([found({ tagId: `-${removed}` }), found({ tagId: stays })])).toEqual([1, 1])
  expect(await found({ folderId: folder.id })).toBe(1)

  await call(deleteFolder, { params: { id: folder.id } })
  await eventually(async () => expect(await found({ folderId: folder.id })).toBe(0))
  expect(await Promise.all([found({}), found({ tagId: stays })])).toEqual([1, 1])
})

describe('forgetTags', () => {
  test('removes these tags from the links of their workspace and changes nothing else', async () => {
    const [ours, theirs] = [await buildWorkspace(platform), await buildWorkspace(platform)]
    const [a, b, c] = (await newTags(ours, 'a', 'b', 'c')) as [string, string, string]
    const [foreign] = (await newTags(theirs, 'foreign')) as [string]
    await keepLinkAttributes(platform, [
      attributes(ours.id, { linkNumber: '1', tagIds: [a, b, c] }),
      attributes(ours.id, { linkNumber: '2', tagIds: [c] }),
      attributes(ours.id, { linkNumber: '3', tagIds: [a], deleted: true }),
      attributes(theirs.id, { linkNumber: '4', tagIds: [foreign] }),
    ])
    const deleted = [a, b, foreign].map((tagId) => ({ workspaceId: ours.id, tagId }))
    await forgetTags(platform, deleted)
    await forgetTags(platform, deleted)
    const same = { tenant_id: 'tenant', folder_id: '', deleted: false }
    expect(await known(ours.id)).toEqual([
      { ...same, link_number: '1', tag_ids: [c] },
      { ...same, link_number: '2', tag_ids: [c] },
      { ...same, link_number: '3', tag_ids: [], deleted: true },
    ])
    expect(await known(theirs.id)).toEqual([{ ...same, link_number: '4', tag_ids: [foreign] }])
  })

  test('removes all tags when calls run concurrently', async () => {
    const workspace = await buildWorkspace(platform)
    const tagIds = await newTags(workspace, ...'abcdefgh')
    await keepLinkAttributes(platform, [attributes(workspace.id, { tagIds })])
    await Promise.all(tagIds.slice(1).map((tagId) => forgetTags(platform, [{ workspaceId: workspace.id, tagId }])))
    expect(await known(workspace.id)).toMatchObject([{ tag_ids: tagIds.slice(0, 1) }])
  })

  test('accepts more tags than fit in one statement', async () => {
    const workspace = await buildWorkspace(platform)
    const [last] = (await newTags(workspace, 'last')) as [string]
    await keepLinkAttributes(platform, [attributes(workspace.id, { tagIds: [last] })])
    const unknown = Array.from({ length: 450 }, (_, index) => `tag_0198f0d2-0000-7000-8000-${index}`.padEnd(40, '0'))
    await forgetTags(
      platform,
      [...unknown, last].map((tagId) => ({ workspaceId: workspace.id, tagId })),
    )
    expect(await known(workspace.id)).toMatchObject([{ tag_ids: [] }])
  })
})

test('forgetFolders removes the links from these folders', async () => {
  const workspace = await buildWorkspace(platform)
  const ctx = contextIn(platform, workspace.id)
  const [removed, stays] = await Promise.all(
    ['gone', 'stays'].map((name) => createFolder(ctx, { name, accessLevel: 'write' })),
  )
  await keepLinkAttributes(platform, [
    attributes(workspace.id, { linkNumber: '1', folderId: removed?.id }),
    attributes(workspace.id, { linkNumber: '2', folderId: stays?.id }),
  ])
  await forgetFolders(platform, [{ workspaceId: workspace.id, folderId: removed?.id as string }])
  expect(await known(workspace.id)).toMatchObject([{ folder_id: '' }, { folder_id: stays?.id }])
})

describe('keepLinkAttributes', () => {
  test('a change that arrives after its tag was deleted does not restore the tag', async () => {
    const workspace = await buildWorkspace(platform)
    const [stays] = (await newTags(workspace, 'stays')) as [string]
    const given = { tagIds: [stays, 'tag_deleted'], folderId: 'fold_deleted' }
    await keepLinkAttributes(platform, [attributes(workspace.id, given)])
    expect(await known(workspace.id)).toMatchObject([{ tag_ids: [stays], folder_id: '' }])
  })

  test('the next change of a link replaces corrections of its attributes, however many there were', async () => {
    const workspace = await buildWorkspace(platform)
    const tagIds = await newTags(workspace, 'a', 'b', 'c')
    await keepLinkAttributes(platform, [attributes(workspace.id, { tagIds, version: 5 })])
    for (const tagId of tagIds) await forgetTags(platform, [{ workspaceId: workspace.id, tagId }])
    await keepLinkAttributes(platform, [attributes(workspace.id, { tagIds: tagIds.slice(2), version: 6 })])
    expect(await known(workspace.id)).toMatchObject([{ tag_ids: tagIds.slice(2) }])
  })

  test('an older change of a link that arrives late changes nothing', async () => {
    const workspace = await buildWorkspace(platform)
    const [tag] = (await newTags(workspace, 'a')) as [string]
    await keepLinkAttributes(platform, [attributes(workspace.id, { tenantId: 'new', version: 6 })])
    await keepLinkAttributes(platform, [attributes(workspace.id, { tagIds: [tag], version: 5 })])
    expect(await known(workspace.id)).toMatchObject([{ tenant_id: 'new', tag_ids: [] }])
  })
})
