import { createClient } from '@tributary/contract/client'
import { listLinks } from '@tributary/contract/links'
import { sql } from 'kysely'
import { describe, expect, inject, test } from 'vitest'
import { buildLink, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { eventually, openTestPlatform } from '../../../test/stack.ts'
import { transaction } from '../../platform/postgres.ts'
import { createFolder, deletedFolders, deleteFolder, requireFolder } from './service.ts'

const platform = await openTestPlatform()
const named = (name: string) => ({ name, accessLevel: 'write' as const })

async function newContext() {
  return contextIn(platform, (await buildWorkspace(platform)).id)
}

test('requireFolder refuses a folder that this workspace does not have', async () => {
  const [ours, theirs] = [await newContext(), await newContext()]
  const own = await createFolder(ours, named('own'))
  const foreign = await createFolder(theirs, named('foreign'))
  await expect(requireFolder(ours, own.id)).resolves.toBeUndefined()
  for (const id of [foreign.id, 'fold_unknown', '']) {
    await expect(requireFolder(ours, id)).rejects.toMatchObject({
      code: 'not_found',
      message: `There is no folder ${id} in this workspace.`,
    })
  }
})

test('requireFolder blocks a deletion of the folder until the transaction ends', async () => {
  const ctx = await newContext()
  const { id } = await createFolder(ctx, named('busy'))
  const order: string[] = []
  let deletion: Promise<unknown> | undefined
  await transaction(ctx, async (inner) => {
    await requireFolder(inner, id)
    deletion = deleteFolder(ctx, id).then(() => order.push('deleted'))
    await new Promise((resolve) => setTimeout(resolve, 150))
    order.push('done')
  })
  await deletion
  expect(order).toEqual(['done', 'deleted'])
})

test('deletedFolders looks folders up by workspace and id', async () => {
  const [ours, theirs] = [await newContext(), await newContext()]
  const own = await createFolder(ours, named('own'))
  const foreign = await createFolder(theirs, named('foreign'))
  const there = { workspaceId: ours.workspaceId, folderId: own.id }
  const elsewhere = { workspaceId: ours.workspaceId, folderId: foreign.id }
  expect(await deletedFolders(platform, [there, elsewhere, elsewhere])).toEqual([elsewhere])
  expect(await deletedFolders(platform, [])).toEqual([])
})

describe('deleteFolder', () => {
  test('deleteFolder removes its links from the folder, and not the links of other folders', async () => {
    const workspace = await buildWorkspace(platform)
    const ctx = contextIn(platform, workspace.id)
    const [missing, stays] = [await createFolder(ctx, named('gone')), await createFolder(ctx, named('stays'))]
    for (const [key, folder] of [
      ['a', missing],
      ['b', stays],
    ] as const) {
      const link = await buildLink(platform, workspace, { key })
      await sql`UPDATE links SET folder_id = ${folder.id} WHERE id = ${link.id}`.execute(platform.db)
    }
    await deleteFolder(ctx, missing.id)
    const listed = await createClient({ url: inject('server').api, token: workspace.key })(listLinks)
    expect(listed.map(({ key, folderId }) => [key, folderId])).toEqual([
      ['b', stays.id],
      ['a', null],
    ])
    await eventually(async () => {
      const links = await sql`SELECT key, folder_id FROM links WHERE workspace_id = ${workspace.id}
        ORDER BY key`.execute(platform.db)
      expect(links.rows).toEqual([
        { key: 'a', folder_id: null },
        { key: 'b', folder_id: stays.id },
      ])
    })
  })

  test('deleteFolder publishes the deletion in its transaction', async () => {
    const ctx = await newContext()
    const folder = await createFolder(ctx, named('kept'))
    const attempt = transaction(ctx, async (ctx) => {
      await deleteFolder(ctx, folder.id)
      const written = await sql`SELECT body FROM outbox WHERE workspace_id = ${ctx.workspaceId}
        AND subject LIKE 'changes.%.folders'`.execute(ctx.db)
      expect(written.rows).toEqual([{ body: { workspaceId: ctx.workspaceId, folderId: folder.id } }])
      throw new Error('taken back')
    })
    await expect(attempt).rejects.toThrow('taken back')
    await expect(requireFolder(ctx, folder.id)).resolves.toBeUndefined()
  })
})
