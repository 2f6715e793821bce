import type { Tag } from '@tributary/contract/tags'
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { buildLink, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import type { Ctx } from '../../platform/context.ts'
import { transaction } from '../../platform/postgres.ts'
import { linkNumbers } from '../links/service.ts'
import { createTag, deletedTags, deleteTag, missingTagIds, tagIdsByNames, tagsByIds } from './service.ts'

const platform = await openTestPlatform()

async function newContext() {
  return contextIn(platform, (await buildWorkspace(platform)).id)
}

async function twoWorkspaces() {
  const [ours, theirs] = [await newContext(), await newContext()]
  const sale = await createTag(ours, { name: 'Café Sale', color: 'red' })
  const created = await createTag(ours, { name: 'news', color: 'green' })
  const foreign = await createTag(theirs, { name: 'foreign', color: 'blue' })
  return { ours, theirs, sale, created, foreign }
}

test('tagsByIds returns the tags of this workspace', async () => {
  const { ours, sale, created, foreign } = await twoWorkspaces()
  const tags = await tagsByIds(ours, [created.id, sale.id, created.id, foreign.id, 'tag_unknown'])
  expect(Object.fromEntries(tags)).toEqual({ [sale.id]: sale, [created.id]: created })
  expect(await tagsByIds(ours, [])).toEqual(new Map())
})

test('tagIdsByNames finds names in any case and Unicode form, in their order, each tag once', async () => {
  const { ours, sale, created } = await twoWorkspaces()
  const names = ['NEWS', ' cafe\u0301 SALE ', 'unknown', 'foreign', 'News', ' unknown']
  expect(await tagIdsByNames(ours, names)).toEqual({ found: [created.id, sale.id], missing: ['unknown', 'foreign'] })
  expect(await tagIdsByNames(ours, [])).toEqual({ found: [], missing: [] })
})

test('missingTagIds returns the ids that this workspace does not have, each once', async () => {
  const { ours, sale, foreign } = await twoWorkspaces()
  const ids = ['tag_unknown', sale.id, foreign.id, 'tag_unknown']
  expect(await missingTagIds(ours, ids)).toEqual(['tag_unknown', foreign.id])
  expect(await missingTagIds(ours, [sale.id])).toEqual([])
})

test.each([
  ['missingTagIds', (ctx: Ctx, tag: Tag) => missingTagIds(ctx, [tag.id])],
  ['tagIdsByNames', (ctx: Ctx, tag: Tag) => tagIdsByNames(ctx, [tag.name])],
])('%s blocks a deletion of the tag until the transaction ends', async (_, find) => {
  const ctx = await newContext()
  const tag = await createTag(ctx, { name: 'busy' })
  const order: string[] = []
  let deletion: Promise<unknown> | undefined
  await transaction(ctx, async (inner) => {
    await find(inner, tag)
    deletion = deleteTag(ctx, tag.id).then(() => order.push('deleted'))
    await new Promise((resolve) => setTimeout(resolve, 150))
    order.push('done')
  })
  await deletion
  expect(order).toEqual(['done', 'deleted'])
})

test('deletedTags looks tags up by workspace and id', async () => {
  const { ours, theirs, sale, foreign } = await twoWorkspaces()
  const there = { workspaceId: ours.workspaceId, tagId: sale.id }
  const foreignTag = { workspaceId: theirs.workspaceId, tagId: foreign.id }
  const elsewhere = { workspaceId: ours.workspaceId, tagId: foreign.id }
  await deleteTag(theirs, foreign.id)
  const deleted = await deletedTags(platform, [there, foreignTag, elsewhere, foreignTag])
  expect(deleted).toHaveLength(2)
  expect(deleted).toEqual(expect.arrayContaining([foreignTag, elsewhere]))
})

describe('deleteTag', () => {
  test('deleteTag removes the tag from its links and keeps their other tags', async () => {
    const workspace = await buildWorkspace(platform)
    const ctx = contextIn(platform, workspace.id)
    const [foreignTag, stays] = [await createTag(ctx, { name: 'gone' }), await createTag(ctx, { name: 'stays' })]
    const link = await buildLink(platform, workspace)
    const [number] = await linkNumbers(ctx, { ids: [link.id] })
    for (const tag of [foreignTag, stays]) {
      await sql`INSERT INTO link_tags (link_number, tag_id, workspace_id)
        VALUES (${number}, ${tag.id}, ${workspace.id})`.execute(platform.db)
    }
    await deleteTag(ctx, foreignTag.id)
    const left = await sql`SELECT tag_id FROM link_tags WHERE link_number = ${number}`.execute(platform.db)
    expect(left.rows).toEqual([{ tag_id: stays.id }])
  })

  test('deleteTag publishes the deletion in its transaction', async () => {
    const ctx = await newContext()
    const tag = await createTag(ctx, { name: 'kept' })
    const attempt = transaction(ctx, async (ctx) => {
      await deleteTag(ctx, tag.id)
      const written = await sql`SELECT body FROM outbox WHERE workspace_id = ${ctx.workspaceId}
        AND subject LIKE 'changes.%.tags'`.execute(ctx.db)
      expect(written.rows).toEqual([{ body: { workspaceId: ctx.workspaceId, tagId: tag.id } }])
      throw new Error('taken back')
    })
    await expect(attempt).rejects.toThrow('taken back')
    expect(await missingTagIds(ctx, [tag.id])).toEqual([])
  })

  test('of several concurrent deletions of a tag, one succeeds', async () => {
    const ctx = await newContext()
    const { id } = await createTag(ctx, { name: 'once' })
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => deleteTag(ctx, id)))
    expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(1)
  })
})
