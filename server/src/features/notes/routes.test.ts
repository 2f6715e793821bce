import { createClient } from '@tributary/contract/client'
import { createNote, deleteNote, listNotes, type Note, updateNote } from '@tributary/contract/notes'
import type { Role, Scope } from '@tributary/contract/permissions'
import { sql } from 'kysely'
import { expect, inject, it } from 'vitest'
import { type BuiltWorkspace, buildMember, buildWorkspace } from '../../../test/build.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { createToken } from '../tokens/service.ts'

const platform = await openTestPlatform()
const { api } = inject('server')

async function open(scopes?: Scope[]) {
  const workspace = await buildWorkspace(platform, { scopes })
  const call = createClient({ url: api, token: workspace.key })
  const create = (day: string, text: string) => call(createNote, { body: { day, text } })
  return { workspace, call, create }
}

/** A member with a client of their personal key. */
async function join(workspace: BuiltWorkspace, role: Role) {
  const user = await buildMember(platform, workspace, role)
  const { key } = await createToken(platform, { workspaceId: workspace.id, name: 'mine', userId: user.id })
  return { id: user.id, call: createClient({ url: api, token: key }) }
}

const texts = (notes: Note[]) => notes.map(({ text }) => text)

it('creates, lists, changes and deletes notes', async () => {
  const { call, create } = await open()
  const outage = await create('2026-02-28', '  Site was down  ')
  expect(outage).toEqual({
    ...{ id: expect.stringMatching(/^note_/), day: '2026-02-28', text: 'Site was down', userId: null },
    ...{ createdAt: expect.any(String), updatedAt: expect.any(String) },
  })
  const sale = await create('2025-11-28', 'Black Friday')
  expect(await call(listNotes)).toEqual([outage, sale])
  expect(await call(listNotes, { query: { sortBy: 'createdAt' } })).toEqual([sale, outage])
  expect(await call(listNotes, { query: { sortOrder: 'asc', page: 2, pageSize: 1 } })).toEqual([outage])
  const params = { id: outage.id }
  const changed = await call(updateNote, { params, body: { day: '2026-03-01' } })
  expect(changed).toEqual({ ...outage, day: '2026-03-01', updatedAt: expect.any(String) })
  expect(await call(updateNote, { params, body: {} })).toEqual(changed)
  expect(await call(updateNote, { params, body: { text: 'Repaired' } })).toMatchObject({ text: 'Repaired' })
  expect(await call(deleteNote, { params })).toEqual(params)
  expect(await call(listNotes)).toEqual([sale])
})

it('lists the notes of a period with its first and its last day', async () => {
  const { call, create } = await open()
  for (const day of ['2026-01-31', '2026-02-01', '2026-02-28', '2026-03-01']) await create(day, day)
  await create('2026-02-01', 'second note of the day')
  const february = await call(listNotes, { query: { from: '2026-02-01', to: '2026-02-28', sortOrder: 'asc' } })
  expect(texts(february)).toEqual(['2026-02-01', 'second note of the day', '2026-02-28'])
  expect(texts(await call(listNotes, { query: { from: '2026-03-01' } }))).toEqual(['2026-03-01'])
  expect(texts(await call(listNotes, { query: { to: '2026-01-31' } }))).toEqual(['2026-01-31'])
  expect(await call(listNotes, { query: { from: '2026-03-01', to: '2026-02-01' } })).toEqual([])
})

it('members change the notes of everyone, viewers read them', async () => {
  const { workspace } = await open()
  const [ada, bob] = [await join(workspace, 'member'), await join(workspace, 'member')]
  const eve = await join(workspace, 'viewer')
  const note = await ada.call(createNote, { body: { day: '2026-02-28', text: 'Campaign' } })
  expect(note.userId).toBe(ada.id)
  expect(await eve.call(listNotes)).toEqual([note])
  const params = { id: note.id }
  await expect(eve.call(createNote, { body: { day: '2026-02-28', text: 'x' } })).rejects.toMatchObject({ status: 403 })
  await expect(eve.call(updateNote, { params, body: { text: 'x' } })).rejects.toMatchObject({ status: 403 })
  await expect(eve.call(deleteNote, { params })).rejects.toMatchObject({ status: 403 })
  const changed = await bob.call(updateNote, { params, body: { text: 'Spring campaign' } })
  expect(changed).toMatchObject({ text: 'Spring campaign', userId: ada.id })
  await sql`DELETE FROM members WHERE workspace_id = ${workspace.id} AND user_id = ${ada.id}`.execute(platform.db)
  expect(await bob.call(listNotes)).toEqual([changed])
})

it('a key reads notes with analytics.read and writes them with views.write', async () => {
  const reader = await open(['analytics.read'])
  expect(await reader.call(listNotes)).toEqual([])
  await expect(reader.create('2026-02-28', 'x')).rejects.toMatchObject({ status: 403 })
  const writer = await open(['views.write'])
  expect(await writer.create('2026-02-28', 'x')).toMatchObject({ text: 'x' })
  await expect(writer.call(listNotes)).rejects.toMatchObject({ status: 403 })
})

it("refuses unknown notes and another workspace's with 404", async () => {
  const [mine, theirs] = [await open(), await open()]
  const foreign = await theirs.create('2026-02-28', 'theirs')
  for (const id of ['note_unknown', foreign.id]) {
    await expect(mine.call(updateNote, { params: { id }, body: { text: 'x' } })).rejects.toMatchObject({ status: 404 })
    await expect(mine.call(deleteNote, { params: { id } })).rejects.toMatchObject({ status: 404 })
  }
  expect(await theirs.call(listNotes)).toEqual([foreign])
})

it.each([
  ['2026-02-30', 'no such day'],
  ['0000-01-01', 'before 1970'],
  ['2026-02-28T00:00:00Z', 'a time'],
  ['', 'no day'],
  ['2026-02-28', ' '],
  ['2026-02-28', 'x'.repeat(201)],
  ['2026-02-28', 'two\nlines'],
])('422: a note on %j with the text %j is refused', async (day, text) => {
  const { create, call } = await open()
  await expect(create(day, text)).rejects.toMatchObject({ status: 422 })
  expect(await call(listNotes)).toEqual([])
})

it('the audit log has the changed values of a note', async () => {
  const { workspace, call, create } = await open()
  const { id } = await create('2026-02-28', 'Outage')
  await call(updateNote, { params: { id }, body: { text: 'Outage of the shop' } })
  const found = await sql<{ changes: object[] }>`SELECT changes FROM audit_entries
    WHERE workspace_id = ${workspace.id} AND operation = 'updateNote'`.execute(platform.db)
  expect(found.rows[0]?.changes).toEqual([
    { id, kind: 'notes', before: { text: 'Outage' }, after: { text: 'Outage of the shop' } },
  ])
})
