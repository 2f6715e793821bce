import type { LinkPatch } from '@tributary/contract/links'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { openRandom, type Random } from '../../../test/random.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import type { Ctx } from '../../platform/context.ts'
import { transaction } from '../../platform/postgres.ts'
import { addDomain } from '../domains/service.ts'
import { createFolder, deleteFolder } from '../folders/service.ts'
import { createTag, deleteTag } from '../tags/service.ts'
import { createLinks, deleteLinks, updateLinks } from './bulk.ts'
import { followDomains } from './follow-domains.ts'
import { countLinks, groupLinks } from './list.ts'
import { compareTotals, createLink, deleteLink, leaveFolders, updateLink } from './service.ts'
import { foldTotals } from './totals.ts'
import { upsertLink } from './upsert.ts'

const platform = await openTestPlatform()
const url = 'https://example.com/landing'

type Modelled = { domain: string; folderId: string | null; archived: boolean; tagIds: string[] }
type World = { ctx: Ctx; domains: string[]; folders: string[]; tags: string[]; links: Map<string, Modelled> }

async function openWorld(): Promise<World> {
  const workspace = await buildWorkspace(platform)
  const ctx = contextIn(platform, workspace.id)
  const other = await addDomain(platform, { workspaceId: workspace.id, slug: `two.${workspace.domain}` })
  const folders = [await createFolder(ctx, { name: 'one', accessLevel: null })]
  const tags = await Promise.all(['a', 'b', 'c', 'd'].map((name) => createTag(ctx, { name })))
  return {
    ctx,
    domains: [workspace.domain, other.slug],
    folders: folders.map(({ id }) => id),
    tags: tags.map(({ id }) => id),
    links: new Map(),
  }
}

function pickSettings({ domains, folders, tags }: World, random: Random): Modelled {
  return {
    domain: random.pick(domains),
    folderId: random.chance(0.5) ? null : (random.pick(folders) ?? null),
    archived: random.chance(0.3),
    tagIds: tags.filter(() => random.chance(0.3)),
  }
}

/** Makes one change through the API's functions and in the model. */
async function change(world: World, random: Random): Promise<void> {
  const { ctx, links } = world
  const id = links.size > 0 ? random.pick([...links.keys()]) : undefined
  const settings = pickSettings(world, random)
  const kind = id === undefined ? 0 : random.below(12)
  if (kind <= 2) links.set((await createLink(ctx, { url, ...settings })).id, settings)
  if (id === undefined || kind <= 2) return
  if (kind === 3) {
    for (const made of await createLinks(ctx, [{ url, ...settings }, { url, ...settings }, { url: 'no' }])) {
      if ('id' in made) links.set(made.id, settings)
    }
  }
  if (kind === 4) {
    await deleteLink(ctx, id)
    links.delete(id)
  }
  if (kind === 5 || kind === 6) {
    const fields = Object.entries(settings).filter(() => random.chance(0.5))
    const patch = Object.fromEntries(fields) as LinkPatch
    await updateLink(ctx, id, patch)
    links.set(id, { ...(links.get(id) as Modelled), ...(patch as Partial<Modelled>) })
  }
  if (kind === 7) {
    const ids = [...links.keys()].slice(0, 3)
    const { archived, tagIds } = settings
    await updateLinks(ctx, { linkIds: ids, data: { archived, tagIds } })
    for (const id of ids) links.set(id, { ...(links.get(id) as Modelled), archived, tagIds })
  }
  if (kind === 8) {
    await deleteLinks(ctx, [id])
    links.delete(id)
  }
  if (kind === 9) {
    const tagId = world.tags.shift()
    if (tagId) await deleteTag(ctx, tagId)
    for (const link of links.values()) link.tagIds = link.tagIds.filter((tag) => tag !== tagId)
    world.tags.push((await createTag(ctx, { name: `tag-${random.below(1e9)}` })).id)
  }
  if (kind === 10) {
    const folderId = world.folders.shift() as string
    world.folders.push((await createFolder(ctx, { name: `folder-${random.below(1e9)}`, accessLevel: null })).id)
    await deleteFolder(ctx, folderId)
    await leaveFolders(platform, [{ workspaceId: ctx.workspaceId, folderId }])
    for (const link of links.values()) if (link.folderId === folderId) link.folderId = null
  }
  if (kind === 11) await foldTotals(platform)
}

const tally = (groups: (string | null)[]) =>
  [...Map.groupBy(groups, (group) => group)].map(([group, { length }]) => ({ group, count: length })).sort(byGroup)
const byGroup = (one: { group: string | null }, other: { group: string | null }) =>
  String(one.group) < String(other.group) ? -1 : 1

async function expectCounts({ ctx, domains, folders, tags, links }: World, random: Random): Promise<void> {
  const filters = { page: 1, pageSize: 100, sortOrder: 'desc', sortBy: 'count' } as const
  const given = {
    ...(random.chance(0.3) && { domain: random.pick(domains) }),
    ...(random.chance(0.3) && { folderId: random.pick([...folders, 'unsorted']) }),
    ...(random.chance(0.3) && { tagIds: [random.pick(tags)] }),
    showArchived: random.chance(0.5),
    withTags: random.chance(0.2),
  }
  const found = [...links.values()].filter(
    (link) =>
      (given.domain === undefined || link.domain === given.domain) &&
      (given.folderId === undefined || link.folderId === (given.folderId === 'unsorted' ? null : given.folderId)) &&
      (given.tagIds === undefined || link.tagIds.includes(given.tagIds[0] as string)) &&
      (given.showArchived || !link.archived) &&
      (!given.withTags || link.tagIds.length > 0),
  )
  expect(await countLinks(ctx, given), JSON.stringify(given)).toBe(found.length)
  const groupings = {
    domain: found.map(({ domain }) => domain),
    folderId: found.map(({ folderId }) => folderId),
    userId: found.map(() => null),
    tagId: found.flatMap(({ tagIds }) => (tagIds.length > 0 ? tagIds : [null])),
  }
  for (const [groupBy, expected] of Object.entries(groupings)) {
    const groups = await groupLinks(ctx, { ...filters, ...given, groupBy: groupBy as keyof typeof groupings })
    const named = groups.map(({ count, ...group }) => ({ group: Object.values(group)[0] ?? null, count })).sort(byGroup)
    expect(named, `${groupBy} ${JSON.stringify(given)}`).toEqual(tally(expected))
  }
}

test.each([1, 2, 3])(
  'counts equal a plain model after every change, seed %i',
  async (seed) => {
    const [world, random] = [await openWorld(), openRandom(seed)]
    for (let step = 0; step < 120; step++) {
      await change(world, random)
      await expectCounts(world, random)
    }
    expect(await compareTotals(platform, { workspaceId: world.ctx.workspaceId, repair: false })).toEqual([])
  },
  120_000,
)

test('counts stay exact while many requests create, change, retag and delete the same links and tags', async () => {
  const world = await openWorld()
  const { ctx } = world
  const links = await Promise.all(Array.from({ length: 6 }, () => createLink(ctx, { url, tagIds: world.tags })))
  async function writer(seed: number): Promise<void> {
    const random = openRandom(seed)
    for (let step = 0; step < 25; step++) {
      const settings = pickSettings(world, random)
      const { id } = random.pick(links)
      const actions = [
        () => createLink(ctx, { url, ...settings }),
        () => updateLink(ctx, id, settings),
        () => updateLink(ctx, id, { tagIds: settings.tagIds }),
        () => updateLink(ctx, id, { folderId: settings.folderId, archived: settings.archived }),
        () => upsertLink(ctx, { url, ...settings }),
        () => deleteLink(ctx, id),
        () => foldTotals(platform),
      ]
      // A tag or link that another writer has just deleted is refused, which is no failure here.
      await random
        .pick(actions)()
        .catch((error: { code?: string }) => {
          if (!['unprocessable_entity', 'not_found', 'conflict', '40P01'].includes(error.code ?? '')) throw error
        })
    }
  }
  async function retagger(): Promise<void> {
    for (const tagId of [...world.tags]) {
      await deleteTag(ctx, tagId).catch((error: { code?: string }) => {
        if (error.code !== '40P01') throw error
      })
    }
  }
  await Promise.all([...Array.from({ length: 8 }, (_, seed) => writer(seed + 10)), retagger()])
  expect(await compareTotals(platform, { workspaceId: ctx.workspaceId, repair: false })).toEqual([])
  const rows = await sql<{ count: bigint }>`SELECT count(*) FROM links
    WHERE workspace_id = ${ctx.workspaceId} AND deleted_at IS NULL`.execute(platform.db)
  const query = { showArchived: true, withTags: false }
  expect(await countLinks(ctx, query)).toBe(Number(rows.rows[0]?.count))
}, 120_000)

test('counts follow links to a renamed domain, and links deleted with their domain', async () => {
  const { ctx, domains } = await openWorld()
  const [one = '', two = ''] = domains
  for (const domain of [one, one, two]) await createLink(ctx, { url, domain })
  const query = { showArchived: false, withTags: false }
  const at = new Date(Date.now() + 60_000).toISOString()
  await followDomains(platform, [{ workspaceId: ctx.workspaceId, slug: one, renamedTo: `new.${one}`, at }] as never)
  expect(await countLinks(ctx, { ...query, domain: one })).toBe(0)
  expect(await countLinks(ctx, { ...query, domain: `new.${one}` })).toBe(2)
  await followDomains(platform, [{ workspaceId: ctx.workspaceId, slug: two, deleted: true, at }] as never)
  expect(await countLinks(ctx, query)).toBe(2)
})

test('a statement that moves many links appends one change for each tag and folder', async () => {
  const { ctx, tags, folders } = await openWorld()
  for (let count = 0; count < 5; count++) await createLink(ctx, { url, tagIds: tags, folderId: folders[0] })
  await transaction(ctx, async ({ db }) => {
    await sql`UPDATE links SET folder_id = NULL WHERE workspace_id = ${ctx.workspaceId}`.execute(db)
    await sql`UPDATE links SET url = url WHERE workspace_id = ${ctx.workspaceId}`.execute(db)
    const appended = await sql<{ folder_id: string; change: bigint }>`SELECT folder_id, change FROM link_total_changes
      WHERE workspace_id = ${ctx.workspaceId} AND xmin = pg_current_xact_id()::xid`.execute(db)
    const counted = tags.length + 2
    expect(appended.rows.filter(({ change }) => change === -5n)).toHaveLength(counted)
    expect(appended.rows.filter(({ change, folder_id }) => change === 5n && folder_id === '')).toHaveLength(counted)
    expect(appended.rows).toHaveLength(2 * counted)
  })
  expect(await compareTotals(platform, { workspaceId: ctx.workspaceId, repair: false })).toEqual([])
})

test('wrong totals are found and repaired', async () => {
  const { ctx, domains } = await openWorld()
  await createLink(ctx, { url })
  const { workspaceId } = ctx
  await sql`INSERT INTO link_totals VALUES (${workspaceId}, '*', ${domains[0]}, '', '', false, 7)
    ON CONFLICT (workspace_id, tag_id, domain, folder_id, user_id, archived) DO UPDATE SET count = 8`.execute(
    platform.db,
  )
  const difference = { workspaceId, tagId: '*', domain: domains[0], counted: 1n }
  expect(await compareTotals(platform, { workspaceId, repair: false })).toMatchObject([difference])
  expect(await compareTotals(platform, { workspaceId, repair: true })).toMatchObject([difference])
  expect(await compareTotals(platform, { workspaceId, repair: false })).toEqual([])
  expect(await countLinks(ctx, { showArchived: false, withTags: false })).toBe(1)
})
