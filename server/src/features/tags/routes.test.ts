import { createClient } from '@tributary/contract/client'
import { createTag, deleteTag, listTags, type Tag, tagColors, updateTag } from '@tributary/contract/tags'
import { sql } from 'kysely'
import { describe, expect, inject, it } from 'vitest'
import { type BuiltWorkspace, buildWorkspace } from '../../../test/build.ts'
import { openTestPlatform } from '../../../test/stack.ts'

const platform = await openTestPlatform()
const { api } = inject('server')

const as = (workspace: Pick<BuiltWorkspace, 'key'>) => createClient({ url: api, token: workspace.key })
const unknownTag = 'There is no tag tag_unknown in this workspace.'

/** Sends a raw body, also one that the typed client would reject. */
async function send(workspace: Pick<BuiltWorkspace, 'key'>, method: string, path: string, body?: string) {
  const response = await fetch(api + path, { method, headers: { authorization: `Bearer ${workspace.key}` }, body })
  const answer = (await response.json()) as { error?: { code: string; message: string } }
  return { status: response.status, code: answer.error?.code, message: answer.error?.message, answer }
}

async function withTags<N extends string[]>(...names: N) {
  const workspace = await buildWorkspace(platform)
  const tags = []
  for (const name of names) tags.push(await as(workspace)(createTag, { body: { name, color: 'blue' } }))
  return { workspace, tags: tags as { [Key in keyof N]: Tag } }
}

const listNames = (tags: { name: string }[]) => tags.map((tag) => tag.name)

describe('getTags', () => {
  it('200: sorts tags by name or creation time, in both orders', async () => {
    const { workspace } = await withTags('beta', 'Alpha', 'gamma')
    const names = async (query: object) => listNames(await as(workspace)(listTags, { query }))
    expect(await names({})).toEqual(['Alpha', 'beta', 'gamma'])
    expect(await names({ sortOrder: 'desc' })).toEqual(['gamma', 'beta', 'Alpha'])
    expect(await names({ sortBy: 'createdAt' })).toEqual(['beta', 'Alpha', 'gamma'])
    expect(await names({ sortBy: 'createdAt', sortOrder: 'desc' })).toEqual(['gamma', 'Alpha', 'beta'])
  })

  it('200: finds tags whose name contains the text, case-insensitive and without wildcards', async () => {
    const { workspace } = await withTags('50% off', 'Spring_Sale', 'Café', 'other')
    const names = async (search: string) => listNames(await as(workspace)(listTags, { query: { search } }))
    expect(await names('SALE')).toEqual(['Spring_Sale'])
    expect(await names('0%')).toEqual(['50% off'])
    expect(await names('_')).toEqual(['Spring_Sale'])
    expect(await names('CAFE\u0301')).toEqual(['Café'])
    expect(await names('nothing')).toEqual([])
    expect(await names('   ')).toHaveLength(4)
  })

  it('200: finds tags by ids, repeated or separated by commas', async () => {
    const { workspace, tags } = await withTags('a', 'b', 'c')
    const [a, b] = tags.map((tag) => tag.id)
    for (const query of [`ids=${a}&ids=${b}`, `ids=${a},${b}`, `ids=${b}&ids=${a},tag_unknown`]) {
      const { status, answer } = await send(workspace, 'GET', `/tags?${query}`)
      expect({ status, names: listNames(answer as never) }).toEqual({ status: 200, names: ['a', 'b'] })
    }
    expect(await as(workspace)(listTags, { query: { ids: 'tag_unknown' } })).toEqual([])
  })

  it('200: pages list each tag once, and are empty past the end', async () => {
    const { workspace } = await withTags('a', 'b', 'c', 'd', 'e')
    const page = async (page: number) => listNames(await as(workspace)(listTags, { query: { page, pageSize: 2 } }))
    expect([await page(1), await page(2), await page(3), await page(4)]).toEqual([['a', 'b'], ['c', 'd'], ['e'], []])
    expect(await page(Number.MAX_SAFE_INTEGER)).toEqual([])
    expect(await as(workspace)(listTags, { query: { pageSize: 100 } })).toHaveLength(5)
  })

  it('200: lists no tags of another workspace', async () => {
    const [ours, theirs] = [await withTags('ours'), await withTags('theirs')]
    expect(listNames(await as(ours.workspace)(listTags))).toEqual(['ours'])
    expect(await as(ours.workspace)(listTags, { query: { ids: theirs.tags[0].id } })).toEqual([])
  })

  it('400: a page that is not a number', async () => {
    const { workspace } = await withTags()
    expect(await send(workspace, 'GET', '/tags?page=two')).toMatchObject({ status: 400, code: 'bad_request' })
  })

  it('401: without a known key', async () => {
    await expect(as({ key: 'trib_unknown' })(listTags)).rejects.toMatchObject({ status: 401, code: 'unauthorized' })
  })

  it('403: with a key of another scope', async () => {
    const workspace = await buildWorkspace(platform, { scopes: ['links.read'] })
    await expect(as(workspace)(listTags)).rejects.toMatchObject({ status: 403, code: 'forbidden' })
  })

  it('422: the error names the invalid value', async () => {
    const { workspace } = await withTags()
    const cases: [string, string][] = [
      ['pageSize=101', '`pageSize` in the query must be at most 100, not 101.'],
      ['page=0', '`page` in the query must be at least 1, not 0.'],
      ['sortBy=color', '`sortBy` in the query must be one of `name`, `createdAt`, not "color".'],
      ['sortOrder=up', '`sortOrder` in the query must be one of `asc`, `desc`, not "up".'],
    ]
    for (const [query, message] of cases) {
      expect(await send(workspace, 'GET', `/tags?${query}`)).toMatchObject({ status: 422, message })
    }
  })

  it("429: after the free plan's 60 requests per minute", async () => {
    const workspace = await buildWorkspace(platform, { plan: 'free' })
    const answers = await Promise.all(Array.from({ length: 61 }, () => send(workspace, 'GET', '/tags')))
    expect(answers.map((answer) => answer.status).sort()).toEqual([...Array(60).fill(200), 429])
  })
})

describe('createTag', () => {
  it('201: returns the tag with exactly its three keys', async () => {
    const { workspace } = await withTags()
    const { status, answer } = await send(workspace, 'POST', '/tags', '{"name":"Sale","color":"pink"}')
    const id = expect.stringMatching(/^tag_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/)
    expect({ status, answer }).toEqual({ status: 201, answer: { id, name: 'Sale', color: 'pink' } })
  })

  it('201: chooses any colour but pink by default', async () => {
    const workspace = await buildWorkspace(platform)
    const tags = await Promise.all(
      Array.from({ length: 120 }, (_, index) => as(workspace)(createTag, { body: { name: `tag ${index}` } })),
    )
    const chosen = new Set(tags.map((tag) => tag.color))
    expect([...chosen].sort()).toEqual(tagColors.filter((color) => color !== 'pink').sort())
  })

  it('201: trims the name and normalizes it to NFC', async () => {
    const { workspace } = await withTags()
    const tag = await as(workspace)(createTag, { body: { name: '\t Cafe\u0301 au lait ' } })
    expect(tag.name).toBe('Café au lait')
    expect((await as(workspace)(createTag, { body: { name: ` ${'ü'.repeat(50)} ` } })).name).toHaveLength(50)
  })

  it('201: accepts the name in the deprecated field; the current field takes precedence', async () => {
    const { workspace } = await withTags()
    expect((await as(workspace)(createTag, { body: { tag: 'old' } })).name).toBe('old')
    expect((await as(workspace)(createTag, { body: { tag: 'older', name: 'new' } })).name).toBe('new')
  })

  it('201: accepts a name that another workspace has', async () => {
    const { workspace } = await withTags()
    await withTags('same')
    await expect(as(workspace)(createTag, { body: { name: 'same' } })).resolves.toMatchObject({ name: 'same' })
  })

  it('400: the error names missing, mistyped and malformed values', async () => {
    const { workspace } = await withTags()
    const cases: [string, string][] = [
      ['', '`name` in the body is required.'],
      ['{}', '`name` in the body is required.'],
      ['{"color":"red"}', '`name` in the body is required.'],
      ['{"name":null}', '`name` in the body must be a string, not null.'],
      ['{"name":5}', '`name` in the body must be a string, not 5.'],
      ['{"tag":["a"]}', '`tag` in the body must be a string, not an array.'],
      ['[]', 'The body must be an object, not an array.'],
    ]
    for (const [body, message] of cases) {
      expect(await send(workspace, 'POST', '/tags', body)).toMatchObject({ status: 400, code: 'bad_request', message })
    }
    expect(await send(workspace, 'POST', '/tags', '{"name"')).toMatchObject({ status: 400 })
  })

  it('401: without a known key', async () => {
    expect(await send({ key: 'trib_unknown' }, 'POST', '/tags', '{"name":"a"}')).toMatchObject({ status: 401 })
  })

  it('403: with a read-only key', async () => {
    const workspace = await buildWorkspace(platform, { scopes: ['tags.read'] })
    await expect(as(workspace)(createTag, { body: { name: 'a' } })).rejects.toMatchObject({
      status: 403,
      message: 'This key lacks the scope tags.write. Create a key that has it.',
    })
  })

  it('409: when the name is taken, in any case and Unicode form', async () => {
    const { workspace } = await withTags('Café')
    for (const name of ['Café', 'café', 'CAFÉ', 'Cafe\u0301', ' Café ']) {
      await expect(as(workspace)(createTag, { body: { name } })).rejects.toMatchObject({
        status: 409,
        code: 'conflict',
        message: `Another tag already has the name ${name.trim().normalize('NFC')}. Choose another name.`,
      })
    }
  })

  it('409: of 20 concurrent requests for one name, one succeeds', async () => {
    const workspace = await buildWorkspace(platform)
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        send(workspace, 'POST', '/tags', JSON.stringify({ name: index % 2 ? 'wanted' : 'WANTED' })),
      ),
    )
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, ...Array(19).fill(409)])
    expect(await as(workspace)(listTags)).toHaveLength(1)
  })

  it('422: the error names the invalid value and the reason', async () => {
    const { workspace } = await withTags()
    const line = '`name` in the body is not allowed: it has a line break or another control character.'
    const cases: [object, string][] = [
      [{ name: '' }, '`name` in the body is not allowed: it is blank.'],
      [{ name: ' \n ' }, '`name` in the body is not allowed: it is blank.'],
      [{ tag: '' }, '`tag` in the body is not allowed: it is blank.'],
      [{ name: 'a'.repeat(51) }, '`name` in the body must be at most 50 characters long, not 51.'],
      [{ name: 'a\nb' }, line],
      [{ name: 'a\0b' }, line],
      [{ name: 'a\u0085b' }, line],
      [{ name: 'a\ud800b' }, line],
      [
        { name: 'a', color: 'orange' },
        `\`color\` in the body must be one of ${tagColors.map((color) => `\`${color}\``).join(', ')}, not "orange".`,
      ],
    ]
    for (const [body, message] of cases) {
      const answer = await send(workspace, 'POST', '/tags', JSON.stringify(body))
      expect(answer).toMatchObject({ status: 422, code: 'unprocessable_entity', message })
    }
    expect(await as(workspace)(listTags)).toEqual([])
  })
})

describe('updateTag', () => {
  it('200: changes the given fields and keeps the rest', async () => {
    const { workspace, tags } = await withTags('before')
    const [tag] = tags
    const patch = (body: object) => as(workspace)(updateTag, { params: { id: tag.id }, body })
    expect(await patch({ name: ' after ' })).toEqual({ ...tag, name: 'after' })
    expect(await patch({ color: 'pink' })).toEqual({ id: tag.id, name: 'after', color: 'pink' })
    expect(await patch({ tag: 'old field' })).toEqual({ id: tag.id, name: 'old field', color: 'pink' })
    expect(await patch({ name: 'OLD FIELD' })).toMatchObject({ name: 'OLD FIELD' })
    expect(await as(workspace)(listTags)).toEqual([{ id: tag.id, name: 'OLD FIELD', color: 'pink' }])
  })

  it('200: returns the tag unchanged when nothing differs, and without a body', async () => {
    const { workspace, tags } = await withTags('same')
    const [tag] = tags
    const touched = async () =>
      (await sql<{ at: Date }>`SELECT updated_at AS at FROM tags WHERE id = ${tag.id}`.execute(platform.db)).rows[0]
    const before = await touched()
    for (const body of [undefined, '{}', '{"name":"same","color":"blue"}', '{"name":" same"}']) {
      const { status, answer } = await send(workspace, 'PATCH', `/tags/${tag.id}`, body)
      expect({ status, answer }).toEqual({ status: 200, answer: tag })
    }
    expect(await touched()).toEqual(before)
  })

  it('400: for a name that is not a string', async () => {
    const { workspace, tags } = await withTags('a')
    const answer = await send(workspace, 'PATCH', `/tags/${tags[0].id}`, '{"name":null}')
    expect(answer).toMatchObject({ status: 400, message: '`name` in the body must be a string, not null.' })
  })

  it('403: with a read-only key', async () => {
    const workspace = await buildWorkspace(platform, { scopes: ['tags.read'] })
    expect(await send(workspace, 'PATCH', '/tags/tag_unknown', '{}')).toMatchObject({ status: 403 })
  })

  it('404: for an unknown tag, or a tag of another workspace', async () => {
    const [ours, theirs] = [await withTags(), await withTags('theirs')]
    expect(await send(ours.workspace, 'PATCH', '/tags/tag_unknown', '{"name":"a"}')).toMatchObject({
      status: 404,
      code: 'not_found',
      message: unknownTag,
    })
    expect(await send(ours.workspace, 'PATCH', `/tags/${theirs.tags[0].id}`, '{"name":"a"}')).toMatchObject({
      status: 404,
    })
    expect(listNames(await as(theirs.workspace)(listTags))).toEqual(['theirs'])
  })

  it('409: when another tag has the name, also for concurrent requests', async () => {
    const { workspace, tags } = await withTags('taken', 'a', 'b', 'c', 'd')
    const rename = (id: string, name: string) => as(workspace)(updateTag, { params: { id }, body: { name } })
    await expect(rename(tags[1].id, 'TAKEN')).rejects.toMatchObject({
      status: 409,
      message: 'Another tag already has the name TAKEN. Choose another name.',
    })
    const outcomes = await Promise.allSettled(tags.slice(1).map((tag) => rename(tag.id, 'wanted')))
    const refusals = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason.status] : []))
    expect(refusals).toEqual([409, 409, 409])
  })

  it('422: for an unknown colour or a blank name', async () => {
    const { workspace, tags } = await withTags('a')
    for (const body of ['{"color":"orange"}', '{"name":" "}']) {
      expect(await send(workspace, 'PATCH', `/tags/${tags[0].id}`, body)).toMatchObject({ status: 422 })
    }
  })
})

describe('deleteTag', () => {
  it('200: returns the id of the tag, whose name is free again', async () => {
    const { workspace, tags } = await withTags('gone', 'stays')
    const { status, answer } = await send(workspace, 'DELETE', `/tags/${tags[0].id}`)
    expect({ status, answer }).toEqual({ status: 200, answer: { id: tags[0].id } })
    expect(listNames(await as(workspace)(listTags))).toEqual(['stays'])
    await expect(as(workspace)(createTag, { body: { name: 'gone' } })).resolves.toMatchObject({ name: 'gone' })
  })

  it('403: with a read-only key', async () => {
    const workspace = await buildWorkspace(platform, { scopes: ['tags.read'] })
    expect(await send(workspace, 'DELETE', '/tags/tag_unknown')).toMatchObject({ status: 403 })
  })

  it('404: for an unknown or deleted tag, or a tag of another workspace', async () => {
    const [ours, theirs] = [await withTags('ours'), await withTags('theirs')]
    const remove = (id: string) => as(ours.workspace)(deleteTag, { params: { id } })
    await expect(remove('tag_unknown')).rejects.toMatchObject({ status: 404, message: unknownTag })
    await expect(remove(theirs.tags[0].id)).rejects.toMatchObject({ status: 404 })
    expect(await as(theirs.workspace)(listTags)).toHaveLength(1)
    await remove(ours.tags[0].id)
    await expect(remove(ours.tags[0].id)).rejects.toMatchObject({ status: 404 })
  })
})
