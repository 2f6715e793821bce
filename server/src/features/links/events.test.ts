import { newLink } from '@tributary/contract/links'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { buildLink, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { openOwnDatabase } from '../../../test/own-database.ts'
import type { Ctx } from '../../platform/context.ts'
import { createFolder, deleteFolder } from '../folders/service.ts'
import { createTag, deleteTag, updateTag } from '../tags/service.ts'
import { createLinks, deleteLinks, updateLinks } from './bulk.ts'
import { followDomains } from './follow-domains.ts'
import { getLink } from './list.ts'
import { type LinkEvent, linkChanged } from './messages.ts'
import { createLink, deleteLink, dueTests, finishAbTest, leaveFolders, updateLink } from './service.ts'
import { upsertLink } from './upsert.ts'

const platform = await openOwnDatabase()
const url = 'https://example.com/landing'

async function setUp() {
  const workspace = await buildWorkspace(platform)
  return { ctx: contextIn(platform, workspace.id), workspace }
}

/** Removes and returns the published link events since the last call, in order. */
async function takeEvents({ workspaceId }: Ctx): Promise<LinkEvent[]> {
  const taken = await sql<{ id: bigint; subject: string; body: unknown }>`
    DELETE FROM outbox WHERE workspace_id = ${workspaceId} AND subject LIKE 'changes.%.links' RETURNING *`.execute(
    platform.db,
  )
  const rows = taken.rows.sort((one, other) => Number(one.id - other.id))
  for (const { body } of rows) expect(JSON.stringify(body).length).toBeLessThan(600_000)
  return rows.flatMap(({ body }) => linkChanged.parse(body).event ?? [])
}

const named = (events: LinkEvent[]) => events.map(({ type, link }) => [type, link?.key])

test('creating, changing and deleting a link publishes its current state, even without a webhook', async () => {
  const { ctx } = await setUp()
  const made = await createLink(ctx, { ...newLink.parse({ url, key: 'a', password: 'hush' }) })
  const changed = await updateLink(ctx, made.id, { title: 'New' })
  await updateLink(ctx, made.id, { title: 'New' })
  await deleteLink(ctx, made.id)
  const [first, second, third, ...others] = await takeEvents(ctx)
  expect(others).toEqual([])
  expect(first).toMatchObject({ type: 'link.created', link: { ...made, password: null } })
  expect(second).toMatchObject({ type: 'link.updated', link: { ...changed, password: null } })
  expect(third).toMatchObject({ type: 'link.deleted', link: { ...changed, password: null } })
  const ids = [first, second, third].map((event) => event?.id)
  expect(new Set(ids).size).toBe(3)
  for (const id of ids) expect(id).toMatch(/^evt_/)
  expect(JSON.stringify([first, second, third])).not.toContain('hush')
})

test('an upsert publishes an event only when it changes the link', async () => {
  const { ctx } = await setUp()
  const input = newLink.parse({ url, key: 'u' })
  await upsertLink(ctx, input)
  await upsertLink(ctx, { ...input, title: 'T' })
  await upsertLink(ctx, { ...input, title: 'T' })
  expect(named(await takeEvents(ctx))).toEqual([
    ['link.created', 'u'],
    ['link.updated', 'u'],
  ])
})

test('bulk calls publish events only for the links that they wrote', async () => {
  const { ctx } = await setUp()
  const made = await createLinks(ctx, [{ url, key: 'a' }, { url, key: 'a' }, { url: 'no' }, { url, key: 'b' }])
  expect(named(await takeEvents(ctx))).toEqual([
    ['link.created', 'a'],
    ['link.created', 'b'],
  ])
  const linkIds = made.flatMap((link) => ('id' in link ? link.id : []))
  await updateLinks(ctx, { linkIds: [...linkIds, 'link_none'], data: { comments: 'c' } })
  expect(named(await takeEvents(ctx))).toEqual([
    ['link.updated', 'a'],
    ['link.updated', 'b'],
  ])
  await deleteLinks(ctx, [...linkIds, 'link_none'])
  expect(named(await takeEvents(ctx)).toSorted()).toEqual([
    ['link.deleted', 'a'],
    ['link.deleted', 'b'],
  ])
})

test('events are published for links that are deleted or moved with their domain', async () => {
  const { ctx, workspace } = await setUp()
  for (const key of ['a', 'b']) await buildLink(platform, workspace, { key })
  await takeEvents(ctx)
  const at = new Date(Date.now() + 60_000).toISOString()
  const change = { workspaceId: workspace.id, slug: workspace.domain, deleted: false, at }
  const renamedTo = `moved-${workspace.domain}`
  await followDomains(platform, [{ ...change, renamedTo }])
  const moved = await takeEvents(ctx)
  expect(moved.map(({ type, link }) => [type, link?.domain])).toEqual([
    ['link.updated', renamedTo],
    ['link.updated', renamedTo],
  ])
  await followDomains(platform, [{ ...change, slug: renamedTo, deleted: true }])
  expect(named(await takeEvents(ctx)).toSorted()).toEqual([
    ['link.deleted', 'a'],
    ['link.deleted', 'b'],
  ])
})

test('ending an A/B test publishes an update of its link', async () => {
  const { ctx, workspace } = await setUp()
  const testVariants = [
    { url, percentage: 50 },
    { url: 'https://example.com/other', percentage: 50 },
  ]
  const link = await buildLink(platform, workspace, { testVariants, testCompletedAt: '2020-01-01T00:00:00Z' })
  await takeEvents(ctx)
  const due = (await dueTests(platform)).find(({ linkId }) => linkId === link.id)
  if (!due) throw new Error('The test should be due')
  await finishAbTest(platform, due, 'https://example.com/other')
  const [event] = await takeEvents(ctx)
  expect(event).toMatchObject({ type: 'link.updated', link: { id: link.id, url: 'https://example.com/other' } })
})

test('changing or deleting a tag or a folder publishes no link events', async () => {
  const { ctx, workspace } = await setUp()
  const tag = await createTag(ctx, { name: 'sale' })
  const folder = await createFolder(ctx, { name: 'shop', accessLevel: 'write' })
  const link = await buildLink(platform, workspace, { tagIds: [tag.id], folderId: folder.id })
  await takeEvents(ctx)
  await updateTag(ctx, tag.id, { name: 'offer' })
  await deleteTag(ctx, tag.id)
  await deleteFolder(ctx, folder.id)
  await leaveFolders(platform, [{ workspaceId: ctx.workspaceId, folderId: folder.id }])
  expect(await takeEvents(ctx)).toEqual([])
  const { tags, folderId, updatedAt } = await getLink(ctx, { linkId: link.id })
  expect({ tags, folderId, updatedAt }).toEqual({ tags: [], folderId: null, updatedAt: link.updatedAt })
})

test('a refused request publishes nothing', async () => {
  const { ctx } = await setUp()
  await createLink(ctx, newLink.parse({ url, key: 'a' }))
  await takeEvents(ctx)
  await expect(createLink(ctx, newLink.parse({ url, key: 'a' }))).rejects.toMatchObject({ code: 'conflict' })
  await expect(deleteLink(ctx, 'link_none')).rejects.toMatchObject({ code: 'not_found' })
  expect(await takeEvents(ctx)).toEqual([])
})

test('the event of a very large link has no link object, so that it fits into a NATS message', async () => {
  const { ctx: small } = await setUp()
  const ctx = { ...small, config: { ...small.config, LINK_MAX_BYTES: 1_000_000 } }
  const large = `https://example.com/${'x'.repeat(31_000)}`
  const countries = 'DE FR GB US CA JP KR IN BR MX ES IT PT NL BE'.split(' ')
  const geo = Object.fromEntries(countries.map((country) => [country, large]))
  const several = Array.from({ length: 30 }, (_, index) => ({ url: large, key: `large-${index}` }))
  const made = await createLinks(ctx, several)
  const [first] = made
  if (!first || !('id' in first)) throw new Error('The first link should be created')
  await updateLink(ctx, first.id, { geo, ios: large, android: large, expiredUrl: large })
  await deleteLinks(
    ctx,
    made.flatMap((link) => ('id' in link ? link.id : [])),
  )
  const events = await takeEvents(ctx)
  expect(events.filter(({ type }) => type === 'link.deleted')).toHaveLength(30)
  const withoutLink = events.filter(({ link }) => !link)
  expect(withoutLink.map(({ type }) => type).toSorted()).toEqual(['link.deleted', 'link.updated'])
})
