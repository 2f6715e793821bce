import { createClient } from '@tributary/contract/client'
import * as deleted from '@tributary/contract/deleted-links'
import * as contract from '@tributary/contract/links'
import { sql } from 'kysely'
import { describe, expect, inject, test } from 'vitest'
import {
  type BuiltWorkspace,
  buildLink,
  buildMember,
  buildPartner,
  buildProgram,
  buildWorkspace,
} from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { eventually, openTestPlatform } from '../../../test/stack.ts'
import { visit } from '../../../test/visit.ts'
import { deleteDomain } from '../domains/change.ts'
import { deactivatePartner, reactivatePartner } from '../enrolments/transitions.ts'
import { createFolder, deleteFolder } from '../folders/service.ts'
import { createTag, deleteTag } from '../tags/service.ts'
import { eraseLinks, restoreLink } from './deleted.ts'
import { compareTotals, deleteLink, leaveFolders } from './service.ts'

const platform = await openTestPlatform()
const { api, redirect } = inject('server')
const url = 'https://example.com/landing'
const day = 86_400_000

async function setUp() {
  const workspace = await buildWorkspace(platform)
  return { workspace, ctx: contextIn(platform, workspace.id), call: createClient({ url: api, token: workspace.key }) }
}

async function age(id: string, days: number): Promise<void> {
  const at = new Date(Date.now() - days * day)
  await sql`UPDATE links SET deleted_at = ${at} WHERE id = ${id}`.execute(platform.db)
}

async function follow({ domain }: Pick<BuiltWorkspace, 'domain'>, key: string): Promise<number> {
  return (await visit(`${redirect}/${key}`, { host: domain })).status
}

describe('restoreLink', () => {
  test('200: the link redirects again, with its id, counters, tags and password', async () => {
    const { workspace, ctx, call } = await setUp()
    const tag = await createTag(ctx, { name: 'spring' })
    const made = await buildLink(platform, workspace, {
      key: 'back',
      externalId: 'mine',
      tagIds: tag.id,
      password: 'p',
    })
    await sql`UPDATE link_counters SET clicks = 7 WHERE workspace_id = ${workspace.id}`.execute(platform.db)
    await call(contract.deleteLink, { params: { linkId: made.id } })
    await eventually(async () => expect(await follow(workspace, 'back')).toBe(404))
    const restored = await call(deleted.restoreLink, { params: { linkId: made.id } })
    expect(restored).toEqual({ ...made, clicks: 7, updatedAt: expect.any(String), qrCode: expect.any(String) })
    await eventually(async () => expect(await follow(workspace, 'back')).not.toBe(404))
    expect(await call(contract.getLink, { query: { externalId: 'ext_mine' } })).toEqual(restored)
    expect(await call(deleted.listDeletedLinks, {})).toEqual([])
    expect(await compareTotals(platform, { workspaceId: workspace.id, repair: false })).toEqual([])
  })

  test('200: publishes one link.updated, and a second call changes nothing', async () => {
    const { workspace, ctx } = await setUp()
    const { id } = await buildLink(platform, workspace)
    await deleteLink(ctx, id)
    const [one, two] = await Promise.all([restoreLink(ctx, id), restoreLink(ctx, id)])
    expect(one).toEqual(two)
    expect(await restoreLink(ctx, id)).toEqual(one)
    const versions = await sql<{ version: bigint }>`SELECT version FROM links WHERE id = ${id}`.execute(platform.db)
    await restoreLink(ctx, id)
    const again = await sql<{ version: bigint }>`SELECT version FROM links WHERE id = ${id}`.execute(platform.db)
    expect(again.rows).toEqual(versions.rows)
  })

  test('200: without a tag and a folder that were deleted meanwhile', async () => {
    const { workspace, ctx } = await setUp()
    const tag = await createTag(ctx, { name: 'gone' })
    const folder = await createFolder(ctx, { name: 'gone', accessLevel: 'write' })
    const { id } = await buildLink(platform, workspace, { tagIds: tag.id, folderId: folder.id })
    await deleteLink(ctx, id)
    await deleteTag(ctx, tag.id)
    await deleteFolder(ctx, folder.id)
    await leaveFolders(platform, [{ workspaceId: workspace.id, folderId: folder.id }])
    expect(await restoreLink(ctx, id)).toMatchObject({ tags: [], folderId: null })
    expect(await compareTotals(platform, { workspaceId: workspace.id, repair: false })).toEqual([])
  })

  test('409: when another link has the address or the external id meanwhile', async () => {
    const { workspace, ctx, call } = await setUp()
    const [first, second] = [
      await buildLink(platform, workspace, { key: 'taken' }),
      await buildLink(platform, workspace, { key: 'two', externalId: 'taken' }),
    ]
    for (const { id } of [first, second]) await deleteLink(ctx, id)
    await buildLink(platform, workspace, { key: 'Taken' })
    await buildLink(platform, workspace, { externalId: 'taken' })
    for (const { id } of [first, second]) {
      await expect(call(deleted.restoreLink, { params: { linkId: id } })).rejects.toMatchObject({
        status: 409,
        message: expect.stringMatching(/^Another link has the (address|externalId) \S+ meanwhile\. Change or delete/),
      })
    }
  })

  test('409: only one of a restored and a new link gets the address', async () => {
    const { workspace, ctx, call } = await setUp()
    for (let round = 0; round < 10; round++) {
      const { id } = await buildLink(platform, workspace, { key: `race-${round}` })
      await deleteLink(ctx, id)
      const outcomes = await Promise.allSettled([
        call(deleted.restoreLink, { params: { linkId: id } }),
        call(contract.createLink, { body: { url, key: `race-${round}` } }),
      ])
      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    }
  })

  test('409: when the workspace no longer has the domain', async () => {
    const { workspace, ctx, call } = await setUp()
    const { id } = await buildLink(platform, workspace)
    await deleteLink(ctx, id)
    await deleteDomain(ctx, workspace.domain)
    await expect(call(deleted.restoreLink, { params: { linkId: id } })).rejects.toMatchObject({
      status: 409,
      message: `The workspace no longer has the domain ${workspace.domain}. Add the domain, then restore the link.`,
    })
  })

  test('404: after 30 days, for an unknown id, and for an external id', async () => {
    const { workspace, ctx, call } = await setUp()
    const { id } = await buildLink(platform, workspace, { externalId: 'mine' })
    await deleteLink(ctx, id)
    await age(id, 30)
    for (const linkId of [id, 'link_unknown', 'ext_mine'])
      await expect(call(deleted.restoreLink, { params: { linkId } })).rejects.toMatchObject({ status: 404 })
    expect(await call(deleted.listDeletedLinks, {})).toEqual([])
  })

  test('409: when the workspace has as many links as it may have', async () => {
    const { workspace, ctx } = await setUp()
    const { id } = await buildLink(platform, workspace)
    await deleteLink(ctx, id)
    await buildLink(platform, workspace)
    const full = { ...ctx, config: { ...ctx.config, LINKS_PER_WORKSPACE: 1 } }
    await expect(restoreLink(full, id)).rejects.toThrow('links')
    expect(await restoreLink(ctx, id)).toMatchObject({ id })
  })

  test('a link whose partner was deactivated meanwhile is disabled, until the partner is reactivated', async () => {
    const { workspace, ctx } = await setUp()
    await buildProgram(platform, workspace)
    const { id: partnerId } = await buildPartner(platform, workspace)
    const [before, during] = [
      await buildLink(platform, workspace, { partnerId }),
      await buildLink(platform, workspace, { partnerId }),
    ]
    await deleteLink(ctx, before.id)
    await deactivatePartner(ctx, { partnerId })
    expect(await restoreLink(ctx, before.id)).toMatchObject({ partnerId, disabledAt: expect.stringMatching(/^20/) })
    await deleteLink(ctx, during.id)
    await reactivatePartner(ctx, { partnerId })
    expect(await restoreLink(ctx, during.id)).toMatchObject({ partnerId, disabledAt: '' })
    const found = await sql`SELECT FROM links WHERE workspace_id = ${workspace.id} AND disabled_at IS NOT NULL`.execute(
      platform.db,
    )
    expect(found.rows).toEqual([])
  })
})

describe('listDeletedLinks', () => {
  test('200: lists links of single and bulk deletions by time, with search, host and pages', async () => {
    const { workspace, ctx, call } = await setUp()
    const keys = ['one', 'two', 'three']
    const links = []
    for (const key of keys)
      links.push(await buildLink(platform, workspace, { key, url: `https://example.com/to-${key}` }))
    const [one, two, three] = links.map(({ id }) => id) as [string, string, string]
    await call(contract.bulkDeleteLinks, { query: { linkIds: [one, two] } })
    await deleteLink(ctx, three)
    await age(one, 2)
    await age(two, 1)
    const list = async (query: object) => {
      const found = await call(deleted.listDeletedLinks, { query })
      return found.map(({ link }) => link.key)
    }
    expect(await list({})).toEqual(['three', 'two', 'one'])
    expect(await list({ sortOrder: 'asc' })).toEqual(['one', 'two', 'three'])
    expect(await list({ search: 'TO-T' })).toEqual(['three', 'two'])
    expect(await list({ pageSize: 2, page: 2 })).toEqual(['one'])
    expect(await list({ domain: workspace.domain.toUpperCase() })).toHaveLength(3)
    expect(await list({ domain: 'other.example.com' })).toEqual([])
    const [first] = await call(deleted.listDeletedLinks, { query: { search: 'one' } })
    const link = { ...links[0], qrCode: expect.any(String) }
    expect(first).toEqual({ link, deletedAt: expect.any(String), restorableUntil: expect.any(String) })
    expect(Date.parse(first?.restorableUntil ?? '') - Date.parse(first?.deletedAt ?? '')).toBe(30 * day)
  })

  test('403: a viewer lists deleted links, but restores none', async () => {
    const { workspace, ctx } = await setUp()
    const { id } = await buildLink(platform, workspace)
    await deleteLink(ctx, id)
    const { cookie } = await buildMember(platform, workspace, 'viewer')
    const headers = { cookie, 'sec-fetch-site': 'same-origin', 'tributary-workspace': workspace.id }
    expect((await fetch(`${api}/links/deleted`, { headers })).status).toBe(200)
    expect((await fetch(`${api}/links/${id}/restore`, { method: 'POST', headers })).status).toBe(403)
  })
})

test('the job erases secrets and settings after 30 days, and what events show stays', async () => {
  const { workspace, ctx } = await setUp()
  const settings = { password: 'hush', comments: 'about Ada', title: 'Sale', ios: url, geo: { DE: url }, image: url }
  const [old, recent] = [
    await buildLink(platform, workspace, { key: 'old', ...settings }),
    await buildLink(platform, workspace, { key: 'recent', ...settings }),
  ]
  for (const { id } of [old, recent]) await deleteLink(ctx, id)
  await age(old.id, 31)
  await age(recent.id, 29)
  while (await eraseLinks(platform));
  const found = await sql<Record<string, unknown>>`SELECT key, url, title, comments, sealed_password, ios, geo, image,
    erased_at FROM links WHERE workspace_id = ${workspace.id} ORDER BY number`.execute(platform.db)
  const erased = { comments: null, sealed_password: null, ios: null, geo: null, image: null }
  expect(found.rows).toMatchObject([
    { key: 'old', url: old.url, title: 'Sale', ...erased, erased_at: expect.any(Date) },
    { key: 'recent', comments: 'about Ada', erased_at: null },
  ])
  expect(await restoreLink(ctx, recent.id)).toMatchObject(settings)
})
