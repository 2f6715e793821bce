import { createClient } from '@tributary/contract/client'
import { createFolder, deleteFolder, type Folder, listFolders, updateFolder } from '@tributary/contract/folders'
import { describe, expect, inject, it } from 'vitest'
import { type BuiltWorkspace, buildMember, buildWorkspace } from '../../../test/build.ts'
import { openTestPlatform } from '../../../test/stack.ts'

const platform = await openTestPlatform()
const { api } = inject('server')

const as = (workspace: Pick<BuiltWorkspace, 'key'>) => createClient({ url: api, token: workspace.key })
const unknownFolder = 'There is no folder fold_unknown in this workspace.'
const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

/** Sends a raw body, also one that the typed client would reject. */
async function send(workspace: Pick<BuiltWorkspace, 'key'>, method: string, path: string, body?: string) {
  const response = await fetch(api + path, { method, headers: { authorization: `Bearer ${workspace.key}` }, body })
  const answer = (await response.json()) as { error?: { code: string; message: string } }
  return { status: response.status, code: answer.error?.code, message: answer.error?.message, answer }
}

async function withFolders<N extends string[]>(...names: N) {
  const workspace = await buildWorkspace(platform)
  const folders = []
  for (const name of names) folders.push(await as(workspace)(createFolder, { body: { name } }))
  return { workspace, folders: folders as { [Key in keyof N]: Folder } }
}

const listNames = (folders: { name: string }[]) => folders.map((folder) => folder.name)

describe('listFolders', () => {
  it('200: sorts folders by name, case-insensitive', async () => {
    const { workspace } = await withFolders('beta', 'Alpha', 'gamma')
    expect(listNames(await as(workspace)(listFolders))).toEqual(['Alpha', 'beta', 'gamma'])
  })

  it('200: sorts folders by name or creation time, in both orders', async () => {
    const { workspace } = await withFolders('beta', 'Alpha', 'gamma')
    const sorted = async (sortBy: 'name' | 'createdAt', sortOrder: 'asc' | 'desc') =>
      listNames(await as(workspace)(listFolders, { query: { sortBy, sortOrder } }))
    expect(await sorted('name', 'desc')).toEqual(['gamma', 'beta', 'Alpha'])
    const oldestFirst = await sorted('createdAt', 'asc')
    expect(oldestFirst.toSorted()).toEqual(['Alpha', 'beta', 'gamma'])
    expect(await sorted('createdAt', 'desc')).toEqual(oldestFirst.toReversed())
  })

  it('200: finds folders whose name contains the text, case-insensitive and without wildcards', async () => {
    const { workspace } = await withFolders('50% off', 'Spring_Sale', 'Café')
    const names = async (search: string) => listNames(await as(workspace)(listFolders, { query: { search } }))
    expect(await names('SALE')).toEqual(['Spring_Sale'])
    expect(await names('%')).toEqual(['50% off'])
    expect(await names('CAFE\u0301 ')).toEqual(['Café'])
    expect(await names('nothing')).toEqual([])
  })

  it('200: pages list each folder once, and are empty past the end', async () => {
    const { workspace } = await withFolders('a', 'b', 'c')
    const page = async (page: number) => listNames(await as(workspace)(listFolders, { query: { page, pageSize: 2 } }))
    expect([await page(1), await page(2), await page(3)]).toEqual([['a', 'b'], ['c'], []])
    expect(await page(Number.MAX_SAFE_INTEGER)).toEqual([])
  })

  it('200: a page has 50 folders by default and at most 100', async () => {
    const workspace = await buildWorkspace(platform)
    await Promise.all(
      Array.from({ length: 60 }, (_, index) => as(workspace)(createFolder, { body: { name: `folder ${index}` } })),
    )
    expect(await as(workspace)(listFolders)).toHaveLength(50)
    expect(await as(workspace)(listFolders, { query: { pageSize: 100 } })).toHaveLength(60)
  })

  it('200: lists no folders of another workspace, and ignores parameters of older clients', async () => {
    await withFolders('theirs')
    const { workspace } = await withFolders('ours')
    const { status, answer } = await send(workspace, 'GET', '/folders?includeLinkCount=true')
    expect({ status, names: listNames(answer as never) }).toEqual({ status: 200, names: ['ours'] })
  })

  it('400: a page that is not a number', async () => {
    const { workspace } = await withFolders()
    expect(await send(workspace, 'GET', '/folders?page=two')).toMatchObject({ status: 400, code: 'bad_request' })
  })

  it('401: without a known key', async () => {
    await expect(as({ key: 'trib_unknown' })(listFolders)).rejects.toMatchObject({ status: 401, code: 'unauthorized' })
  })

  it('403: with a key of another scope', async () => {
    const workspace = await buildWorkspace(platform, { scopes: ['tags.read'] })
    await expect(as(workspace)(listFolders)).rejects.toMatchObject({ status: 403, code: 'forbidden' })
  })

  it('422: for more than 100 folders per page', async () => {
    const { workspace } = await withFolders()
    expect(await send(workspace, 'GET', '/folders?pageSize=101')).toMatchObject({
      status: 422,
      message: '`pageSize` in the query must be at most 100, not 101.',
    })
  })

  it("429: after the free plan's 60 requests per minute", async () => {
    const workspace = await buildWorkspace(platform, { plan: 'free' })
    const answers = await Promise.all(Array.from({ length: 61 }, () => send(workspace, 'GET', '/folders')))
    expect(answers.map((answer) => answer.status).sort()).toEqual([...Array(60).fill(200), 429])
  })
})

describe('createFolder', () => {
  it('201: returns the folder with exactly its seven keys', async () => {
    const { workspace } = await withFolders()
    const { status, answer } = await send(workspace, 'POST', '/folders', '{"name":"Spring"}')
    expect({ status, answer }).toEqual({
      status: 201,
      answer: {
        id: expect.stringMatching(/^fold_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/),
        name: 'Spring',
        description: null,
        type: 'default',
        accessLevel: 'write',
        createdAt: instant,
        updatedAt: (answer as unknown as Folder).createdAt,
      },
    })
  })

  it('201: accepts a multi-line description and an optional access level, and normalizes the name to NFC', async () => {
    const { workspace } = await withFolders()
    const create = (body: { name: string; description?: string | null; accessLevel?: 'read' | 'write' | null }) =>
      as(workspace)(createFolder, { body })
    expect(await create({ name: 'a', description: 'one\r\n\ttwo' })).toMatchObject({ description: 'one\r\n\ttwo' })
    expect(await create({ name: 'b', description: null, accessLevel: 'read' })).toMatchObject({ accessLevel: 'read' })
    expect(await create({ name: 'c', accessLevel: null })).toMatchObject({ description: null, accessLevel: null })
    expect(await create({ name: ' Cafe\u0301 ' })).toMatchObject({ name: 'Café' })
  })

  it('201: accepts a name that another workspace has', async () => {
    await withFolders('same')
    await expect(withFolders('same')).resolves.toBeDefined()
  })

  it('400: the error names missing, mistyped and malformed values', async () => {
    const { workspace } = await withFolders()
    const cases: [string, string][] = [
      ['', '`name` in the body is required.'],
      ['{}', '`name` in the body is required.'],
      ['{"name":{}}', '`name` in the body must be a string, not an object.'],
      ['{"name":"a","description":5}', '`description` in the body must be a string, not 5.'],
      ['null', 'The body must be an object, not null.'],
    ]
    for (const [body, message] of cases) {
      expect(await send(workspace, 'POST', '/folders', body)).toMatchObject({ status: 400, message })
    }
    expect(await send(workspace, 'POST', '/folders', '{"name"')).toMatchObject({ status: 400, code: 'bad_request' })
  })

  it('403: with a read-only key', async () => {
    const workspace = await buildWorkspace(platform, { scopes: ['folders.read'] })
    expect(await send(workspace, 'POST', '/folders', '{"name":"a"}')).toMatchObject({
      status: 403,
      message: 'This key lacks the scope folders.write. Create a key that has it.',
    })
  })

  it('409: when the name is taken, in any case and Unicode form', async () => {
    const { workspace } = await withFolders('Café')
    for (const name of ['Café', 'CAFÉ', 'cafe\u0301', ' Café ']) {
      await expect(as(workspace)(createFolder, { body: { name } })).rejects.toMatchObject({
        status: 409,
        code: 'conflict',
        message: `Another folder already has the name ${name.trim().normalize('NFC')}. Choose another name.`,
      })
    }
  })

  it('409: of 20 concurrent requests for one name, one succeeds', async () => {
    const workspace = await buildWorkspace(platform)
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        send(workspace, 'POST', '/folders', JSON.stringify({ name: index % 2 ? 'wanted' : 'WANTED' })),
      ),
    )
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, ...Array(19).fill(409)])
    expect(await as(workspace)(listFolders)).toHaveLength(1)
  })

  it('422: the error names the invalid value and the reason', async () => {
    const { workspace } = await withFolders()
    const cases: [object, string][] = [
      [{ name: ' ' }, '`name` in the body is not allowed: it is blank.'],
      [{ name: 'a\nb' }, '`name` in the body is not allowed: it has a line break or another control character.'],
      [{ name: 'a'.repeat(191) }, '`name` in the body must be at most 190 characters long, not 191.'],
      [
        { name: 'a', description: 'a'.repeat(501) },
        '`description` in the body must be at most 500 characters long, not 501.',
      ],
      [{ name: 'a', description: 'a\u0007' }, '`description` in the body is not allowed: it has a control character.'],
      [{ name: 'a', accessLevel: 'all' }, '`accessLevel` in the body must be one of `write`, `read`, not "all".'],
    ]
    for (const [body, message] of cases) {
      const answer = await send(workspace, 'POST', '/folders', JSON.stringify(body))
      expect(answer).toMatchObject({ status: 422, code: 'unprocessable_entity', message })
    }
    expect(await as(workspace)(listFolders)).toEqual([])
  })
})

describe('updateFolder', () => {
  it('403: a member renames a folder, but does not decide who sees it; an admin does', async () => {
    const { workspace, folders } = await withFolders('ours')
    const patchAs = async (role: 'member' | 'admin', body: object) => {
      const { cookie } = await buildMember(platform, workspace, role)
      const headers = { cookie, origin: api, 'content-type': 'application/json', 'tributary-workspace': workspace.slug }
      const init = { method: 'PATCH', headers, body: JSON.stringify(body) }
      return (await fetch(`${api}/folders/${folders[0].id}`, init)).status
    }
    expect(await patchAs('member', { name: 'renamed', accessLevel: folders[0].accessLevel })).toBe(200)
    expect(await patchAs('member', { accessLevel: null })).toBe(403)
    expect(await patchAs('admin', { accessLevel: null })).toBe(200)
  })

  it('200: changes the given fields, keeps the rest, and sets updatedAt', async () => {
    const { workspace, folders } = await withFolders('before')
    const [folder] = folders
    const patch = (body: object) => as(workspace)(updateFolder, { params: { id: folder.id }, body })
    const renamed = await patch({ name: ' after ' })
    expect(renamed).toEqual({ ...folder, name: 'after', updatedAt: instant })
    expect(renamed.updatedAt > folder.updatedAt).toBe(true)
    expect(await patch({ description: 'text', accessLevel: null })).toMatchObject({
      name: 'after',
      description: 'text',
      accessLevel: null,
    })
    expect(await patch({ description: null })).toMatchObject({ description: null, accessLevel: null })
    expect(await patch({ name: 'AFTER' })).toMatchObject({ name: 'AFTER' })
  })

  it('200: returns the folder unchanged when nothing differs, and without a body', async () => {
    const { workspace, folders } = await withFolders('same')
    const [folder] = folders
    for (const body of [undefined, '{}', '{"name":" same ","description":null,"accessLevel":"write"}']) {
      const { status, answer } = await send(workspace, 'PATCH', `/folders/${folder.id}`, body)
      expect({ status, answer }).toEqual({ status: 200, answer: folder })
    }
  })

  it('400: for a name that is not a string', async () => {
    const { workspace, folders } = await withFolders('a')
    const answer = await send(workspace, 'PATCH', `/folders/${folders[0].id}`, '{"name":null}')
    expect(answer).toMatchObject({ status: 400, message: '`name` in the body must be a string, not null.' })
  })

  it('403: with a read-only key', async () => {
    const workspace = await buildWorkspace(platform, { scopes: ['folders.read'] })
    expect(await send(workspace, 'PATCH', '/folders/fold_unknown', '{}')).toMatchObject({ status: 403 })
  })

  it('404: for an unknown folder, or a folder of another workspace', async () => {
    const [ours, theirs] = [await withFolders(), await withFolders('theirs')]
    const patch = (id: string) => as(ours.workspace)(updateFolder, { params: { id }, body: { name: 'a' } })
    await expect(patch('fold_unknown')).rejects.toMatchObject({ status: 404, message: unknownFolder })
    await expect(patch(theirs.folders[0].id)).rejects.toMatchObject({ status: 404, code: 'not_found' })
    expect(listNames(await as(theirs.workspace)(listFolders))).toEqual(['theirs'])
  })

  it('409: when another folder has the name', async () => {
    const { workspace, folders } = await withFolders('taken', 'other')
    const patch = as(workspace)(updateFolder, { params: { id: folders[1].id }, body: { name: 'TAKEN' } })
    await expect(patch).rejects.toMatchObject({
      status: 409,
      message: 'Another folder already has the name TAKEN. Choose another name.',
    })
  })

  it('422: for an unknown access level or a blank name', async () => {
    const { workspace, folders } = await withFolders('a')
    for (const body of ['{"accessLevel":"all"}', '{"name":" "}']) {
      expect(await send(workspace, 'PATCH', `/folders/${folders[0].id}`, body)).toMatchObject({ status: 422 })
    }
  })
})

describe('deleteFolder', () => {
  it('200: returns the id of the folder, whose name is free again', async () => {
    const { workspace, folders } = await withFolders('gone', 'stays')
    const { status, answer } = await send(workspace, 'DELETE', `/folders/${folders[0].id}`)
    expect({ status, answer }).toEqual({ status: 200, answer: { id: folders[0].id } })
    expect(listNames(await as(workspace)(listFolders))).toEqual(['stays'])
    await expect(as(workspace)(createFolder, { body: { name: 'gone' } })).resolves.toMatchObject({ name: 'gone' })
  })

  it('403: with a read-only key', async () => {
    const workspace = await buildWorkspace(platform, { scopes: ['folders.read'] })
    expect(await send(workspace, 'DELETE', '/folders/fold_unknown')).toMatchObject({ status: 403 })
  })

  it('404: for an unknown or deleted folder, or a folder of another workspace', async () => {
    const [ours, theirs] = [await withFolders('ours'), await withFolders('theirs')]
    const remove = (id: string) => as(ours.workspace)(deleteFolder, { params: { id } })
    await expect(remove('fold_unknown')).rejects.toMatchObject({ status: 404, message: unknownFolder })
    await expect(remove(theirs.folders[0].id)).rejects.toMatchObject({ status: 404 })
    expect(await as(theirs.workspace)(listFolders)).toHaveLength(1)
    await remove(ours.folders[0].id)
    await expect(remove(ours.folders[0].id)).rejects.toMatchObject({ status: 404 })
  })
})
