import { createClient } from '@tributary/contract/client'
import { createTag } from '@tributary/contract/tags'
import { sql } from 'kysely'
import { expect, inject, test } from 'vitest'
import { buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import type { Ctx } from '../../platform/context.ts'
import { recordWrite } from '../../platform/recording.ts'
import * as tags from '../tags/service.ts'
import { auditLog } from './service.ts'

const platform = await openTestPlatform()
const { api } = inject('server')

async function open() {
  const workspace = await buildWorkspace(platform)
  const record = { operation: 'createTag', noun: 'tags', network: '192.0.2.1', changes: [], isWritten: false }
  const ctx = { ...contextIn(platform, workspace.id), record }
  const countRows = async (table: string, condition = sql`true`) => {
    const result = await sql<{ count: bigint }>`SELECT count(*) FROM ${sql.table(table)}
      WHERE workspace_id = ${workspace.id} AND ${condition}`.execute(platform.db)
    return Number(result.rows[0]?.count)
  }
  const count = async () => [await countRows('tags'), await countRows('audit_entries', sql`operation = 'createTag'`)]
  return { workspace, ctx, count }
}

const addTag = (ctx: Ctx) => tags.createTag(ctx, { name: 'one', color: 'red' })

test('a write and its entry are stored together', async () => {
  const { ctx, count } = await open()
  await recordWrite(auditLog, ctx, {}, addTag)
  expect(await count()).toEqual([1, 1])
})

test('a write that fails inside its transaction leaves no entry', async () => {
  const { ctx, count } = await open()
  const failing = recordWrite(auditLog, ctx, {}, async (ctx) => {
    await addTag(ctx)
    throw new Error('too late')
  })
  await expect(failing).rejects.toThrow('too late')
  expect(await count()).toEqual([0, 0])
})

test('a write whose transaction fails after its entry leaves neither', async () => {
  const { ctx, count } = await open()
  const late = {
    ...auditLog,
    record: async (...given: Parameters<typeof auditLog.record>) => {
      await auditLog.record(...given)
      throw new Error('connection lost')
    },
  }
  await expect(recordWrite(late, ctx, {}, addTag)).rejects.toThrow('connection lost')
  expect(await count()).toEqual([0, 0])
})

test('a request that the database refuses leaves no entry', async () => {
  const { workspace, count } = await open()
  const call = createClient({ url: api, token: workspace.key })
  await call(createTag, { body: { name: 'one' } })
  await expect(call(createTag, { body: { name: 'one' } })).rejects.toMatchObject({ status: 409 })
  expect(await count()).toEqual([1, 1])
})
