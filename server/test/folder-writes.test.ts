import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { createFolder } from '../src/features/folders/service.ts'
import { deleteLinks } from '../src/features/links/bulk.ts'
import { buildLink, buildWorkspace } from './build.ts'
import { contextIn } from './context.ts'
import { readAnswer, serveMembers } from './restricted-caller.ts'
import { openTestPlatform } from './stack.ts'

/* Writes of a member to folders that are hidden from the member or read-only. */
const platform = await openTestPlatform()
const workspace = await buildWorkspace(platform)
const ctx = contextIn(platform, workspace.id)
const hidden = await createFolder(ctx, { name: 'hidden', accessLevel: null })
const readOnly = await createFolder(ctx, { name: 'read-only', accessLevel: 'read' })
const open = await createFolder(ctx, { name: 'open', accessLevel: 'write' })
const call = await serveMembers(platform, workspace.id, { hidden: [hidden.id], readOnly: [readOnly.id] })
const links = { hidden: '', readOnly: '', open: '' }
const deleted = { hidden: '', readOnly: '' }
const secretUrl = `https://example.com/${randomUUID()}`

beforeAll(async () => {
  links.hidden = (await buildLink(platform, workspace, { folderId: hidden.id, url: secretUrl })).id
  links.readOnly = (await buildLink(platform, workspace, { folderId: readOnly.id })).id
  links.open = (await buildLink(platform, workspace, { folderId: open.id })).id
  deleted.hidden = (await buildLink(platform, workspace, { folderId: hidden.id })).id
  deleted.readOnly = (await buildLink(platform, workspace, { folderId: readOnly.id })).id
  await deleteLinks(ctx, Object.values(deleted))
})

async function write(method: string, path: string, body?: unknown, query?: Record<string, string>) {
  const { status, text } = await readAnswer(await call('restricted', method, path, { body, query }))
  return { status, answer: JSON.parse(text) }
}

const refused = 'You may read the folder'

describe.each([
  ['hidden', 404, 'There is no'],
  ['readOnly', 403, refused],
] as const)('a %s folder gives %d', (name, status, message) => {
  const folderId = name === 'hidden' ? hidden.id : readOnly.id
  const url = 'https://example.com/new'
  test.each<[string, () => ReturnType<typeof write>]>([
    ['for a new link', () => write('post', '/links', { url, folderId })],
    ['for an upsert', () => write('put', '/links/upsert', { url: `${url}/${randomUUID()}`, folderId })],
    ['for a changed link', () => write('patch', `/links/${links[name]}`, { title: 'x' })],
    ['for a link that moves in', () => write('patch', `/links/${links.open}`, { folderId })],
    ['for a link that moves out', () => write('patch', `/links/${links[name]}`, { folderId: null })],
    ['for a deleted link', () => write('delete', `/links/${links[name]}`)],
    ['for a restored link', () => write('post', `/links/${deleted[name]}/restore`)],
    ['for links that move in', () => write('patch', '/links/bulk', { linkIds: [links.open], data: { folderId } })],
    ['for the folder itself', () => write('patch', `/folders/${folderId}`, { name: 'renamed' })],
    ['for a deleted folder', () => write('delete', `/folders/${folderId}`)],
    ['for public statistics of the folder', () => write('put', '/public-stats', { folderId, enabled: true })],
    ['for a share of the folder', () => write('post', '/shares', { folderId })],
    ['for a share of a link', () => write('post', '/shares', { linkId: links[name] })],
    ['for public statistics of a link', () => write('put', '/public-stats', { linkId: links[name], enabled: true })],
  ])('%s', async (_name, attempt) => {
    const { status: given, answer } = await attempt()
    expect([given, answer.error?.message]).toEqual([status, expect.stringContaining(message)])
  })

  test('for an item of a bulk creation, and creates the others', async () => {
    const { status: given, answer } = await write('post', '/links/bulk', [{ url, folderId }, { url }])
    expect(given).toBe(200)
    expect(answer).toMatchObject([{ code: status === 404 ? 'not_found' : 'forbidden' }, { url, folderId: null }])
  })
})

test('bulk calls skip hidden links, and fail for read-only ones', async () => {
  const data = { title: 'bulk' }
  expect((await write('patch', '/links/bulk', { linkIds: [links.hidden, links.open], data })).answer).toMatchObject([
    { id: links.open, title: 'bulk' },
  ])
  expect((await write('patch', '/links/bulk', { linkIds: [links.readOnly], data })).status).toBe(403)
  expect((await write('delete', '/links/bulk', undefined, { linkIds: links.readOnly })).status).toBe(403)
  const removed = await write('delete', '/links/bulk', undefined, { linkIds: links.hidden })
  expect(removed.answer).toEqual({ deletedCount: 0 })
})

test('an upsert creates a link if only a hidden one has its destination', async () => {
  const { status, answer } = await write('put', '/links/upsert', { url: secretUrl })
  expect([status, answer.folderId]).toEqual([200, null])
  expect(answer.id).not.toBe(links.hidden)
})

test('a link that is created together with those of another member follows its own restrictions', async () => {
  const create = async (caller: 'free' | 'restricted') => {
    const body = { url: 'https://example.com/together', folderId: hidden.id }
    return (await call(caller, 'post', '/links', { body })).status
  }
  const callers = Array.from({ length: 20 }, (_, index) => (index % 2 ? 'free' : 'restricted') as 'free' | 'restricted')
  expect(await Promise.all(callers.map(create))).toEqual(callers.map((caller) => (caller === 'free' ? 200 : 404)))
})

test('nothing in the folders has changed', async () => {
  const list = async (folderId: string) => {
    const { text } = await readAnswer(await call('free', 'get', '/links', { query: { folderId, sortOrder: 'asc' } }))
    return JSON.parse(text) as { id: string; title: string | null; publicStats: boolean }[]
  }
  expect((await list(hidden.id))[0]).toMatchObject({ id: links.hidden, title: null, publicStats: false })
  expect(await list(readOnly.id)).toMatchObject([{ id: links.readOnly, title: null, publicStats: false }])
  expect((await list(open.id)).map(({ id }) => id)).toEqual([links.open])
})
