import { Dub } from 'dub'
import { HTTPClient } from 'dub/lib/http.js'
import { expect, inject, test } from 'vitest'
import { buildWorkspace } from '../server/test/build.ts'
import { openTestPlatform } from '../server/test/stack.ts'
import { folderKeys, tagKeys } from './specification.ts'

const platform = await openTestPlatform()
const { api } = inject('server')

/** Creates a client of the public SDK that records raw responses. */
async function newClient() {
  const { key } = await buildWorkspace(platform)
  const answers: { status: number; body: unknown }[] = []
  const fetcher = async (request: string | URL | Request) => {
    const response = await fetch(request)
    answers.push({ status: response.status, body: await response.clone().json() })
    return response
  }
  const client = new Dub({ token: key, serverURL: api, httpClient: new HTTPClient({ fetcher }) })
  return { client, lastAnswer: () => answers.at(-1) as { status: number; body: Record<string, unknown> } }
}

test('a client of the public SDK creates, lists, changes and deletes tags', async () => {
  const { client, lastAnswer } = await newClient()

  const sale = await client.tags.create({ name: 'Sale', color: 'pink' })
  expect(lastAnswer()).toEqual({ status: 201, body: { id: sale.id, name: 'Sale', color: 'pink' } })
  expect(Object.keys(lastAnswer().body).sort()).toEqual(tagKeys)
  const created = await client.tags.create({ tag: 'News' })
  expect(created).toMatchObject({ name: 'News', color: expect.not.stringMatching('pink') })
  await expect(client.tags.create({ name: 'SALE' })).rejects.toMatchObject({ name: 'Conflict', statusCode: 409 })
  await expect(client.tags.create()).rejects.toMatchObject({ name: 'BadRequest', statusCode: 400 })
  await expect(client.tags.create({ name: '' })).rejects.toMatchObject({ name: 'UnprocessableEntity' })

  expect(await client.tags.list()).toEqual([created, sale])
  expect(lastAnswer()).toEqual({ status: 200, body: [created, sale] })
  expect(await client.tags.list({ sortBy: 'createdAt', sortOrder: 'desc' })).toEqual([created, sale])
  expect(await client.tags.list({ search: 'sal' })).toEqual([sale])
  expect(await client.tags.list({ ids: [sale.id, created.id] })).toEqual([created, sale])
  expect(await client.tags.list({ ids: sale.id })).toEqual([sale])
  expect(await client.tags.list({ page: 2, pageSize: 1 })).toEqual([sale])
  expect(await client.tags.list({ page: 3, pageSize: 1 })).toEqual([])

  expect(await client.tags.update(sale.id, { name: 'Summer', color: 'green' })).toEqual({
    id: sale.id,
    name: 'Summer',
    color: 'green',
  })
  expect(Object.keys(lastAnswer().body).sort()).toEqual(tagKeys)
  expect(await client.tags.update(sale.id)).toMatchObject({ name: 'Summer' })
  expect(lastAnswer().status).toBe(200)

  expect(await client.tags.delete(sale.id)).toEqual({ id: sale.id })
  expect(lastAnswer()).toEqual({ status: 200, body: { id: sale.id } })
  await expect(client.tags.delete(sale.id)).rejects.toMatchObject({ name: 'NotFound', statusCode: 404 })
  expect(await client.tags.list()).toEqual([created])
})

test('a client of the public SDK creates, lists, changes and deletes folders', async () => {
  const { client, lastAnswer } = await newClient()

  const spring = await client.folders.create({ name: 'Spring' })
  const created = lastAnswer()
  expect(created.status).toBe(201)
  expect(Object.keys(created.body).sort()).toEqual(folderKeys)
  expect(created.body).toMatchObject({ description: null, type: 'default', accessLevel: 'write' })
  expect(spring).toEqual(created.body)
  const autumn = await client.folders.create({ name: 'Autumn', description: 'Leaves', accessLevel: 'read' })
  expect(autumn).toMatchObject({ description: 'Leaves', accessLevel: 'read' })
  await expect(client.folders.create({ name: 'SPRING' })).rejects.toMatchObject({ name: 'Conflict', statusCode: 409 })
  await expect(client.folders.create()).rejects.toMatchObject({ name: 'BadRequest', statusCode: 400 })

  expect(await client.folders.list()).toEqual([autumn, spring])
  expect(lastAnswer()).toEqual({ status: 200, body: [autumn, spring] })
  expect(await client.folders.list({ search: 'spr' })).toEqual([spring])
  expect(await client.folders.list({ page: 2, pageSize: 1 })).toEqual([spring])
  expect(await client.folders.list({ page: 3, pageSize: 1 })).toEqual([])

  const changed = await client.folders.update(spring.id, { name: 'Summer', description: 'Sun', accessLevel: null })
  expect(changed).toEqual({
    ...spring,
    name: 'Summer',
    description: 'Sun',
    accessLevel: null,
    updatedAt: changed.updatedAt,
  })
  expect(Object.keys(lastAnswer().body).sort()).toEqual(folderKeys)
  expect(await client.folders.update(spring.id)).toEqual(changed)

  expect(await client.folders.delete(spring.id)).toEqual({ id: spring.id })
  expect(lastAnswer()).toEqual({ status: 200, body: { id: spring.id } })
  await expect(client.folders.delete(spring.id)).rejects.toMatchObject({ name: 'NotFound', statusCode: 404 })
  expect(await client.folders.list()).toEqual([autumn])
})
