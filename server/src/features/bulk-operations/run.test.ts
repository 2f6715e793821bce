import { setTimeout as sleep } from 'node:timers/promises'
import type { NewBulkOperation } from '@tributary/contract/bulk-operations'
import { listLinkHistory as contract } from '@tributary/contract/link-history'
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { buildLink, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { openOwnDatabase } from '../../../test/own-database.ts'
import { openRandom, type Random } from '../../../test/random.ts'
import { sized } from '../../../test/size.ts'
import type { Ctx } from '../../platform/context.ts'
import { createFolder, deleteFolder } from '../folders/service.ts'
import { listLinkHistory } from '../links/history.ts'
import { compareTotals, createLink, deleteLink, updateLink } from '../links/service.ts'
import { createTag, deleteTag } from '../tags/service.ts'
import { expireOperations, runBatch } from './run.ts'
import { cancelBulkOperation, createBulkOperation, getBulkOperation, undoBulkOperation } from './service.ts'

/* No worker uses this database, so that each test runs the batches itself. */
const platform = await openOwnDatabase()
const url = 'https://example.com/landing'

async function setUp() {
  const workspace = await buildWorkspace(platform)
  return { workspace, ctx: contextIn(platform, workspace.id) }
}

/** Inserts links with a tag-free row each; every twentieth has a destination with `/campaign/`. */
async function insertLinks({ workspaceId }: Ctx, domain: string, count: number): Promise<void> {
  // A statement for all links would exceed the statement timeout on a busy machine.
  for (let from = 1; from <= count; from += 10_000) {
    const to = Math.min(count, from + 9_999)
    await sql`WITH made AS (INSERT INTO links (id, workspace_id, domain, key, lookup_key, url)
      SELECT 'link_' || gen_random_uuid(), ${workspaceId}, ${domain}, 'k' || n, 'k' || n,
        CASE n % 20 WHEN 0 THEN 'https://example.com/campaign/' ELSE 'https://example.com/other/' END || n
      FROM generate_series(${from}::integer, ${to}::integer) AS n RETURNING number)
    INSERT INTO link_counters (link_number, workspace_id) SELECT number, ${workspaceId} FROM made`.execute(platform.db)
  }
  await sql`ANALYZE links`.execute(platform.db)
}

const start = (ctx: Ctx, input: Pick<NewBulkOperation, 'action'> & Partial<NewBulkOperation>) =>
  createBulkOperation(ctx, { filter: {}, dryRun: false, ...input })

async function finish(ctx: Ctx, id: string | null) {
  while (await runBatch(platform));
  return getBulkOperation(ctx, id ?? '')
}

async function run(ctx: Ctx, input: Parameters<typeof start>[1]) {
  return finish(ctx, (await start(ctx, input)).id)
}

async function undo(ctx: Ctx, id: string | null) {
  await undoBulkOperation(ctx, id ?? '')
  return finish(ctx, id)
}

async function readLinks({ workspaceId }: Ctx) {
  const result = await sql<{ id: string; title: string | null; folder_id: string | null; url: string; tags: string[] }>`
    SELECT id, title, folder_id, url, ARRAY(SELECT tag_id FROM link_tags WHERE link_number = number ORDER BY position) AS tags
    FROM links WHERE workspace_id = ${workspaceId} AND deleted_at IS NULL ORDER BY number`.execute(platform.db)
  return result.rows
}

const readEvents = async ({ workspaceId }: Ctx) => {
  const result = await sql<{ id: string; type: string }>`
    SELECT body ->> 'id' AS id, body -> 'event' ->> 'type' AS type FROM outbox
    WHERE workspace_id = ${workspaceId} AND subject LIKE 'changes.%.links' ORDER BY id`.execute(platform.db)
  return result.rows
}

const takeEvents = async (ctx: Ctx) => {
  const events = await readEvents(ctx)
  await sql`DELETE FROM outbox WHERE workspace_id = ${ctx.workspaceId}`.execute(platform.db)
  return events
}

const [all, few] = sized({ short: [10_000, 500], full: [100_000, 5_000] })

test(`moves ${few} of ${all} links by a search, and back, within seconds`, async () => {
  const { workspace, ctx } = await setUp()
  await insertLinks(ctx, workspace.domain, all)
  const folder = await createFolder(ctx, { name: 'target', accessLevel: 'write' })
  const before = await readLinks(ctx)
  const started = performance.now()
  const moved = await run(ctx, { action: 'move', folderId: folder.id, filter: { search: '/campaign/' } })
  const movedMs = performance.now() - started
  expect(moved).toMatchObject({ status: 'done', total: few, processed: few, changed: few, unchanged: 0, failed: 0 })
  const model = before.map((link) => ({ ...link, folder_id: link.url.includes('/campaign/') ? folder.id : null }))
  expect(await readLinks(ctx)).toEqual(model)
  expect(await takeEvents(ctx)).toHaveLength(few)
  const undone = await undo(ctx, moved.id)
  const undoneMs = performance.now() - started - movedMs
  expect(undone).toMatchObject({ status: 'undone', undone: few, conflicts: 0, undoableUntil: null })
  expect(await readLinks(ctx)).toEqual(before)
  expect(await compareTotals(platform, { workspaceId: workspace.id, repair: false })).toEqual([])
  expect(movedMs).toBeLessThan(15_000)
  expect(undoneMs).toBeLessThan(15_000)
}, 120_000)

test('every change of random operations and undos is that of a model, once per link', async () => {
  const random = openRandom(7)
  const { workspace, ctx } = await setUp()
  const world = await openWorld(ctx, workspace.domain)
  for (let round = 0; round < sized({ short: 8, full: 60 }); round++) {
    const { input, apply, matches } = pickOperation(random, world)
    const before = await readLinks(ctx)
    const model = before.map((link) => (matches(link) ? apply(link) : link))
    const changes = model.filter((link, index) => JSON.stringify(link) !== JSON.stringify(before[index]))
    await takeEvents(ctx)
    const done = await run(ctx, input)
    const selected = before.filter(matches).length
    const label = JSON.stringify(input)
    expect([done.total, done.changed, done.unchanged, done.failed], label).toEqual([
      ...[selected, changes.length, selected - changes.length, 0],
    ])
    expect(await readLinks(ctx), label).toEqual(model)
    expect((await takeEvents(ctx)).map(({ id }) => id).sort(), label).toEqual(changes.map(({ id }) => id).sort())
    if (random.below(2) === 0) continue
    expect(await undo(ctx, done.id), label).toMatchObject({ undone: changes.length, conflicts: 0 })
    expect(await readLinks(ctx), label).toEqual(before)
  }
  expect(await compareTotals(platform, { workspaceId: workspace.id, repair: false })).toEqual([])
}, 120_000)

type LinkState = Awaited<ReturnType<typeof readLinks>>[number]
type World = { folders: string[]; tags: string[] }

async function openWorld(ctx: Ctx, domain: string): Promise<World> {
  await insertLinks(ctx, domain, 60)
  const folders = [
    await createFolder(ctx, { name: 'a', accessLevel: 'write' }),
    await createFolder(ctx, { name: 'b', accessLevel: 'read' }),
  ]
  const tags = [
    await createTag(ctx, { name: 'x' }),
    await createTag(ctx, { name: 'y' }),
    await createTag(ctx, { name: 'z' }),
  ]
  return { folders: folders.map(({ id }) => id), tags: tags.map(({ id }) => id) }
}

function pickOperation(random: Random, { folders, tags }: World) {
  const folderId = random.pick([...folders, null])
  const tagIds = [random.pick(tags), random.pick(tags)]
  const title = random.pick(['one', 'two', null])
  const unique = (ids: string[]) => [...new Set(ids)]
  const operations: { input: Parameters<typeof start>[1]; apply(link: LinkState): LinkState }[] = [
    { input: { action: 'move', folderId }, apply: (link) => ({ ...link, folder_id: folderId }) },
    { input: { action: 'update', data: { title } }, apply: (link) => ({ ...link, title }) },
    { input: { action: 'update', data: { tagIds } }, apply: (link) => ({ ...link, tags: unique(tagIds) }) },
    { input: { action: 'addTags', tagIds }, apply: (link) => ({ ...link, tags: unique([...link.tags, ...tagIds]) }) },
    {
      input: { action: 'removeTags', tagIds },
      apply: (link) => ({ ...link, tags: link.tags.filter((id) => !tagIds.includes(id)) }),
    },
    {
      input: { action: 'update', data: { utm_source: title } },
      apply: (link) => ({ ...link, url: link.url.split('?')[0] + (title === null ? '' : `?utm_source=${title}`) }),
    },
  ]
  const [tag, folder] = [random.pick(tags), random.pick(folders)]
  const filters: { filter: NewBulkOperation['filter']; matches(link: LinkState): boolean }[] = [
    { filter: {}, matches: () => true },
    { filter: { search: '/other/1' }, matches: (link) => link.url.includes('/other/1') },
    { filter: { tagIds: [tag] }, matches: (link) => link.tags.includes(tag) },
    { filter: { folderId: folder }, matches: (link) => link.folder_id === folder },
    { filter: { folderId: 'unsorted' }, matches: (link) => link.folder_id === null },
  ]
  const [{ input, apply }, { filter, matches }] = [random.pick(operations), random.pick(filters)]
  return { input: { ...input, filter }, apply, matches }
}

test('four workers whose connections are killed change and undo each link exactly once', async () => {
  const count = sized({ short: 3_000, full: 20_000 })
  const { workspace, ctx } = await setUp()
  await insertLinks(ctx, workspace.domain, count)
  await takeEvents(ctx)
  const { id } = await start(ctx, { action: 'update', data: { title: 'once' } })
  await runWhileKilled(ctx, id)
  expect(await getBulkOperation(ctx, id ?? '')).toMatchObject({ status: 'done', changed: count, processed: count })
  const events = await takeEvents(ctx)
  expect([events.length, new Set(events.map((event) => event.id)).size]).toEqual([count, count])
  await undoBulkOperation(ctx, id ?? '')
  await runWhileKilled(ctx, id)
  expect(await getBulkOperation(ctx, id ?? '')).toMatchObject({ status: 'undone', undone: count, conflicts: 0 })
  expect(await takeEvents(ctx)).toHaveLength(count)
  expect((await readLinks(ctx)).every(({ title }) => title === null)).toBe(true)
}, 180_000)

/** Runs batches in four loops, as four workers do, and ends connections while they change links, eight times. */
async function runWhileKilled(ctx: Ctx, id: string | null): Promise<void> {
  const isOpen = async () => /running|undoing/.test((await getBulkOperation(ctx, id ?? '')).status)
  const worker = async () => {
    while (await isOpen().catch(() => true)) await runBatch(platform).catch(() => sleep(20))
  }
  const killer = async () => {
    for (let kills = 0; kills < 8; kills++) {
      await sleep(100 + Math.random() * 200)
      await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle' AND query ILIKE '%links%'`
        .execute(platform.db)
        .catch(() => {})
    }
  }
  await Promise.all([killer(), worker(), worker(), worker(), worker()])
}

describe('undo', () => {
  test('leaves links whose changed field somebody has changed, and names them', async () => {
    const { workspace, ctx } = await setUp()
    const links = await Promise.all(['a', 'b', 'c'].map((key) => buildLink(platform, workspace, { key, title: key })))
    const [a, b, c] = links.map(({ id }) => id) as [string, string, string]
    const done = await run(ctx, { action: 'update', data: { title: 'bulk', comments: 'bulk' } })
    await updateLink(ctx, a, { title: 'mine' })
    // Another field does not matter.
    await updateLink(ctx, b, { archived: true })
    await deleteLink(ctx, c)
    const undone = await undo(ctx, done.id)
    expect(undone).toMatchObject({ status: 'undone', changed: 3, undone: 1, conflicts: 2 })
    expect(undone.problems).toEqual([
      { linkId: a, message: 'Somebody has changed the link since: title.' },
      { linkId: c, message: 'The link was deleted meanwhile.' },
    ])
    const titles = (await readLinks(ctx)).map(({ id, title }) => [id, title])
    expect(titles).toEqual(
      expect.arrayContaining([
        [a, 'mine'],
        [b, 'b'],
      ]),
    )
    await expect(undoBulkOperation(ctx, done.id ?? '')).rejects.toMatchObject({ code: 'conflict' })
  })

  test('of one operation does not need the undo of a later one on other fields', async () => {
    const { workspace, ctx } = await setUp()
    await buildLink(platform, workspace)
    const folder = await createFolder(ctx, { name: 'f', accessLevel: 'write' })
    const first = await run(ctx, { action: 'move', folderId: folder.id })
    await run(ctx, { action: 'update', data: { title: 'later' } })
    expect(await undo(ctx, first.id)).toMatchObject({ undone: 1, conflicts: 0 })
    expect(await readLinks(ctx)).toMatchObject([{ folder_id: null, title: 'later' }])
  })

  test('omits a folder and a tag that were deleted meanwhile', async () => {
    const { workspace, ctx } = await setUp()
    const folder = await createFolder(ctx, { name: 'gone', accessLevel: 'write' })
    const tag = await createTag(ctx, { name: 'gone' })
    await buildLink(platform, workspace, { folderId: folder.id, tagIds: tag.id })
    const done = await run(ctx, { action: 'update', data: { folderId: null, tagIds: [] } })
    await deleteFolder(ctx, folder.id)
    await deleteTag(ctx, tag.id)
    expect(await undo(ctx, done.id)).toMatchObject({ undone: 1, conflicts: 0 })
    expect(await readLinks(ctx)).toMatchObject([{ folder_id: null, tags: [] }])
  })

  test('restores deleted links, except where another link has the address', async () => {
    const { workspace, ctx } = await setUp()
    const links = await Promise.all(['a', 'b', 'c'].map((key) => buildLink(platform, workspace, { key })))
    const done = await run(ctx, { action: 'delete' })
    expect(done).toMatchObject({ status: 'done', changed: 3 })
    expect(await readLinks(ctx)).toEqual([])
    await createLink(ctx, { url, key: 'b' })
    await takeEvents(ctx)
    const undone = await undo(ctx, done.id)
    expect(undone).toMatchObject({ undone: 2, conflicts: 1 })
    expect(undone.problems).toMatchObject([
      { linkId: links[1]?.id, message: expect.stringMatching(/^Another link has/) },
    ])
    expect((await takeEvents(ctx)).map(({ type }) => type)).toEqual(['link.updated', 'link.updated'])
    expect(await compareTotals(platform, { workspaceId: workspace.id, repair: false })).toEqual([])
  })

  test('restores passwords, and stores them encrypted only', async () => {
    const { workspace, ctx } = await setUp()
    const { id } = await buildLink(platform, workspace, { password: 'former-secret' })
    const done = await run(ctx, { action: 'update', data: { password: 'later-secret' } })
    expect(done).toMatchObject({ data: { password: null } })
    const stored = await sql<{ text: string }>`SELECT row_to_json(o)::text || row_to_json(l)::text AS text
      FROM bulk_operations o JOIN bulk_operation_links l ON l.operation_number = o.number WHERE o.id = ${done.id}`.execute(
      platform.db,
    )
    expect(stored.rows[0]?.text).not.toMatch(/(former|later)-secret/)
    expect(await updateLink(ctx, id, {})).toMatchObject({ password: 'later-secret' })
    await undo(ctx, done.id)
    expect(await updateLink(ctx, id, {})).toMatchObject({ password: 'former-secret' })
  })
})

test('a canceled operation stops, and its changes can be undone', async () => {
  const { workspace, ctx } = await setUp()
  await insertLinks(ctx, workspace.domain, 1_200)
  const { id } = await start(ctx, { action: 'update', data: { title: 'half' } })
  await runBatch(platform)
  expect(await cancelBulkOperation(ctx, id ?? '')).toMatchObject({ status: 'canceled', processed: 500, changed: 500 })
  expect(await finish(ctx, id)).toMatchObject({ status: 'canceled', processed: 500 })
  expect(await undo(ctx, id)).toMatchObject({ status: 'undone', undone: 500 })
  expect((await readLinks(ctx)).every(({ title }) => title === null)).toBe(true)
})

test('a fourth operation is refused while three are in progress', async () => {
  const { workspace, ctx } = await setUp()
  await buildLink(platform, workspace)
  const starts = [1, 2, 3, 4, 5].map((number) => start(ctx, { action: 'update', data: { title: `t${number}` } }))
  const outcomes = await Promise.allSettled(starts)
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
  await expect(start(ctx, { action: 'delete' })).rejects.toMatchObject({
    code: 'conflict',
    message: 'The workspace has 3 bulk operations in progress. Wait for the end of one, or cancel one.',
  })
  while (await runBatch(platform));
  expect(await run(ctx, { action: 'delete' })).toMatchObject({ status: 'done', changed: 1 })
})

test('a link that can not be changed is a problem of its own', async () => {
  const { workspace, ctx } = await setUp()
  const readOnly = await createFolder(ctx, { name: 'read', accessLevel: 'read' })
  const member = { ...ctx, folderAccess: { hidden: [], readOnly: [readOnly.id] } }
  const [free, locked] = [
    await buildLink(platform, workspace, {}),
    await buildLink(platform, workspace, { folderId: readOnly.id }),
  ]
  const done = await run(member, { action: 'update', data: { title: 'x' } })
  expect(done).toMatchObject({ status: 'done', changed: 1, failed: 1 })
  expect(done.problems).toEqual([{ linkId: locked.id, message: expect.stringContaining('You may read the folder') }])
  expect((await readLinks(ctx)).map(({ id, title }) => [id, title])).toEqual([
    [free.id, 'x'],
    [locked.id, null],
  ])
})

test('an operation fails with a message when its folder is deleted before it runs', async () => {
  const { workspace, ctx } = await setUp()
  await buildLink(platform, workspace)
  const folder = await createFolder(ctx, { name: 'short', accessLevel: 'write' })
  const { id } = await start(ctx, { action: 'move', folderId: folder.id })
  await deleteFolder(ctx, folder.id)
  expect(await finish(ctx, id)).toMatchObject({
    status: 'failed',
    error: `There is no folder ${folder.id} in this workspace.`,
  })
})

test('former values are deleted after a day, and operations after 30 days', async () => {
  const { workspace, ctx } = await setUp()
  await buildLink(platform, workspace)
  const done = await run(ctx, { action: 'update', data: { title: 'x' } })
  const later = (days: number) => ({ ...platform, now: () => new Date(Date.now() + days * 86_400_000 + 1_000) })
  while (await expireOperations(later(0.9)));
  expect((await getBulkOperation(ctx, done.id ?? '')).undoableUntil).not.toBeNull()
  while (await expireOperations(later(1)));
  expect(await getBulkOperation(ctx, done.id ?? '')).toMatchObject({ status: 'done', changed: 1, undoableUntil: null })
  await expect(undoBulkOperation(ctx, done.id ?? '')).rejects.toMatchObject({ code: 'conflict' })
  const rows = await sql`SELECT FROM bulk_operation_links WHERE workspace_id = ${workspace.id}`.execute(platform.db)
  expect(rows.rows).toEqual([])
  while (await expireOperations(later(30)));
  await expect(getBulkOperation(ctx, done.id ?? '')).rejects.toMatchObject({ code: 'not_found' })
})

test('large links are changed in small batches', async () => {
  const { workspace, ctx } = await setUp()
  await insertLinks(ctx, workspace.domain, 150)
  await sql`UPDATE links SET comments = repeat('x', 10000), image = 'https://example.com/' || repeat('y', 30000)
    WHERE workspace_id = ${workspace.id}`.execute(platform.db)
  const { id } = await start(ctx, { action: 'update', data: { title: 'x' } })
  await runBatch(platform)
  expect((await getBulkOperation(ctx, id ?? '')).processed).toBeLessThan(110)
  expect(await finish(ctx, id)).toMatchObject({ status: 'done', changed: 150 })
})

test('the history of a link has the operation and its undo', async () => {
  const { workspace, ctx } = await setUp()
  const links = [await buildLink(platform, workspace), await buildLink(platform, workspace)]
  const done = await run(ctx, { action: 'update', data: { title: 'x', password: 'hush' } })
  await undo(ctx, done.id)
  await sql`UPDATE audit_entries SET sequence = number, hash = '\\x00', hash_key = 1 WHERE hash IS NULL`.execute(
    platform.db,
  )
  const history = await listLinkHistory(ctx, links[1]?.id ?? '', contract.query.parse({}))
  expect(history).toMatchObject([
    { operation: 'undoBulkOperation', actor: { kind: 'key', id: 'key_test' }, after: { bulkOperationId: done.id } },
    { operation: 'createBulkOperation', after: { title: 'x', password: { redacted: 'secret' } } },
  ])
})
