import type { NewBulkOperation } from '@tributary/contract/bulk-operations'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { buildLink, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { openOwnDatabase } from '../../../test/own-database.ts'
import type { Ctx } from '../../platform/context.ts'
import { runBatch } from './run.ts'
import { createBulkOperation, getBulkOperation, undoBulkOperation } from './service.ts'

/* No worker uses this database, so that each test runs the batches itself. */
const platform = await openOwnDatabase()

async function setUp() {
  const workspace = await buildWorkspace(platform)
  return { workspace, ctx: contextIn(platform, workspace.id) }
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

async function readUrls({ workspaceId }: Ctx) {
  const result = await sql<{ url: string }>`
    SELECT url FROM links WHERE workspace_id = ${workspaceId} ORDER BY number`.execute(platform.db)
  return result.rows
}

test('the oldest operations of a workspace lose their undo when the former values exceed the limit', async () => {
  const { workspace, ctx } = await setUp()
  for (const key of ['a', 'b']) await buildLink(platform, workspace, { key })
  const other = await setUp()
  await buildLink(platform, other.workspace, { key: 'a' })
  const elsewhere = await run(other.ctx, { action: 'update', data: { comments: 'x' } })
  const ids: string[] = []
  for (const text of ['1', '2', '3', '4']) {
    const { id } = await start(ctx, { action: 'update', data: { comments: text.repeat(1_000) } })
    ids.push(id ?? '')
    // Each operation but the first has two links with 1,000 bytes before and after: with the rest, 4,000 to 5,000 bytes.
    while (await runBatch(platform, 10_000));
  }
  const until = await Promise.all(ids.map(async (id) => (await getBulkOperation(ctx, id)).undoableUntil !== null))
  expect(until).toEqual([false, false, true, true])
  await expect(undoBulkOperation(ctx, ids[0] ?? '')).rejects.toThrow('its former values are deleted')
  expect(await undo(ctx, ids[3] ?? null)).toMatchObject({ status: 'undone', undone: 2 })
  expect(await undo(other.ctx, elsewhere.id)).toMatchObject({ status: 'undone', undone: 1 })
})

test('replaces a text in destinations, and back', async () => {
  const { workspace, ctx } = await setUp()
  await buildLink(platform, workspace, { key: 'a', url: 'http://old.example/a?b=http://old.example/' })
  await buildLink(platform, workspace, { key: 'b', url: 'https://other.example/' })
  const replace = { find: 'http://old.example/', replaceWith: 'https://new.example/$&' }
  const before = await readUrls(ctx)
  const preview = await start(ctx, { action: 'replaceInUrl', replace, dryRun: true })
  expect(preview.sample.map(({ after }) => after?.url).sort()).toEqual([
    'https://new.example/$&a?b=https://new.example/$&',
    'https://other.example/',
  ])
  const done = await run(ctx, { action: 'replaceInUrl', replace })
  expect(done).toMatchObject({ status: 'done', changed: 1, unchanged: 1, data: null, replace })
  const broken = { find: 'https://other.example/', replaceWith: 'no address' }
  expect(await run(ctx, { action: 'replaceInUrl', replace: broken })).toMatchObject({ changed: 0, failed: 1 })
  expect(await undo(ctx, done.id)).toMatchObject({ status: 'undone', undone: 1 })
  expect(await readUrls(ctx)).toEqual(before)
})
