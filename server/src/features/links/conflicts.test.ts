import * as contract from '@tributary/contract/links'
import { sql } from 'kysely'
import { expect, inject, test } from 'vitest'
import { type BuiltWorkspace, buildLink, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { createTag } from '../tags/service.ts'
import { updateLink } from './service.ts'

/* Concurrent edits: `If-Match` has the `ETag` of the link that a client has read. */
const platform = await openTestPlatform()
const { api } = inject('server')

async function read({ key }: BuiltWorkspace, linkId: string): Promise<string> {
  const headers = { authorization: `Bearer ${key}` }
  const response = await fetch(`${api}${contract.getLink.path}?linkId=${linkId}`, { headers })
  await response.json()
  return response.headers.get('etag') ?? ''
}

async function patch({ key }: BuiltWorkspace, linkId: string, body: object, expected?: string) {
  const response = await fetch(`${api}/links/${linkId}`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${key}`, ...(expected !== undefined && { 'if-match': expected }) },
    body: JSON.stringify(body),
  })
  const answer = (await response.json()) as { title?: string; error?: { code: string; message: string } }
  return { status: response.status, tag: response.headers.get('etag') ?? '', answer }
}

test('200: a change with the current tag returns the next tag', async () => {
  const workspace = await buildWorkspace(platform)
  const { id } = await buildLink(platform, workspace)
  const tag = await read(workspace, id)
  expect(tag).toMatch(/^"[\w-]{22}"$/)
  const first = await patch(workspace, id, { title: 'one' }, tag)
  expect(first).toMatchObject({ status: 200, tag: await read(workspace, id) })
  expect(first.tag).not.toBe(tag)
  for (const expected of [`"other", ${first.tag}`, '*', `W/${first.tag}`, first.tag.replace(/"$/, '-gzip"')]) {
    // The same title again changes nothing, so the tag stays.
    expect(await patch(workspace, id, { title: 'one' }, expected)).toMatchObject({ status: 200, tag: first.tag })
  }
})

test('409: a change with an old tag changes nothing, whatever changed the link', async () => {
  const workspace = await buildWorkspace(platform)
  const ctx = contextIn(platform, workspace.id)
  const tag = await createTag(ctx, { name: 'new' })
  const { id } = await buildLink(platform, workspace)
  for (const change of [{ title: 'theirs' }, { tagIds: tag.id }, { url: 'https://example.com/b' }, { password: 'p' }]) {
    const stale = await read(workspace, id)
    await updateLink(ctx, id, change)
    const { status, answer } = await patch(workspace, id, { title: 'mine' }, stale)
    expect([status, answer.error]).toEqual([
      409,
      expect.objectContaining({
        code: 'conflict',
        message: expect.stringMatching(/^Somebody has changed this object since you read it.*Read it again/),
      }),
    ])
  }
  expect((await patch(workspace, id, {})).answer.title).toBe('theirs')
  for (const expected of ['nonsense', '""', ',', 'x'.repeat(4_000)])
    expect((await patch(workspace, id, { title: 'mine' }, expected)).status).toBe(409)
})

test('clicks do not change the tag', async () => {
  const workspace = await buildWorkspace(platform)
  const { id } = await buildLink(platform, workspace)
  const tag = await read(workspace, id)
  await sql`UPDATE link_counters SET clicks = 5, last_clicked = now() WHERE workspace_id = ${workspace.id}`.execute(
    platform.db,
  )
  expect(await read(workspace, id)).toBe(tag)
})

test('one of ten concurrent changes with the same tag succeeds', async () => {
  const workspace = await buildWorkspace(platform)
  const { id } = await buildLink(platform, workspace)
  const tag = await read(workspace, id)
  const attempts = Array.from({ length: 10 }, (_, index) => patch(workspace, id, { title: `t${index}` }, tag))
  const statuses = (await Promise.all(attempts)).map(({ status }) => status)
  expect(statuses.sort()).toEqual([200, ...Array.from({ length: 9 }, () => 409)])
})
