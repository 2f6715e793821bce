import { Dub } from 'dub'
import { HTTPClient } from 'dub/lib/http.js'
import { expect, inject, test } from 'vitest'
import { type BuiltWorkspace, buildWorkspace } from '../server/test/build.ts'
import { openTestPlatform } from '../server/test/stack.ts'
import { linkKeys } from './specification.ts'

const platform = await openTestPlatform()
const { api } = inject('server')

/** Creates a client that checks every raw response: each link has exactly the fields of the specification. */
function openClient(workspace: BuiltWorkspace) {
  const fetcher = async (input: Parameters<typeof fetch>[0], init?: RequestInit) => {
    const response = await fetch(input, init)
    for (const link of linksIn(await response.clone().json())) expectExactKeys(link)
    return response
  }
  const raw = async (path: string) => {
    const response = await fetch(api + path, { headers: { authorization: `Bearer ${workspace.key}` } })
    return response.json()
  }
  return { client: new Dub({ token: workspace.key, serverURL: api, httpClient: new HTTPClient({ fetcher }) }), raw }
}

function linksIn(body: unknown): object[] {
  return [body]
    .flat()
    .filter((item): item is object => typeof item === 'object' && item !== null && 'shortLink' in item)
}

function expectExactKeys(link: object): void {
  const keys = linkKeys.filter((key) => key !== 'testVariants' || 'testVariants' in link)
  expect(Object.keys(link).sort()).toEqual(keys)
}

test('every operation on links, through the public SDK and raw', async () => {
  const workspace = await buildWorkspace(platform)
  const { client, raw } = openClient(workspace)

  const created = await client.links.create({
    url: 'https://shop.example/a',
    externalId: 'a1',
    tenantId: 'tenant-1',
    utmSource: 'mail',
    expiresAt: '2035-01-01T00:00:00Z',
    password: 'open sesame',
    geo: { DE: 'https://shop.example/de' },
    comments: 'first',
    testVariants: [
      { url: 'https://shop.example/a', percentage: 50 },
      { url: 'https://shop.example/b', percentage: 50 },
    ],
    testCompletedAt: '2034-01-01',
  })
  expect(created).toMatchObject({
    url: 'https://shop.example/a?utm_source=mail',
    utmSource: 'mail',
    expiresAt: '2035-01-01T00:00:00.000Z',
    password: 'open sesame',
    geo: { DE: 'https://shop.example/de' },
    tenantId: 'tenant-1',
  })
  expect(await raw(`/links/info?linkId=${created.id}`)).toHaveProperty('testVariants')

  expect(await client.links.get({ linkId: created.id })).toMatchObject({ id: created.id })
  expect(await client.links.get({ externalId: 'ext_a1' })).toMatchObject({ id: created.id })
  expect(await client.links.get({ domain: created.domain, key: created.key })).toMatchObject({ id: created.id })

  const updated = await client.links.update(created.id, { comments: 'second', password: null, testVariants: null })
  expect(updated).toMatchObject({ comments: 'second', password: null, tenantId: 'tenant-1' })
  expect(await client.links.update('ext_a1', { archived: true })).toMatchObject({ archived: true })
  expect(await client.links.update(created.id)).toMatchObject({ archived: true, comments: 'second' })
  expect(await client.links.update(created.id, { archived: false })).toMatchObject({ archived: false })

  const image = 'data:image/gif;base64,R0lGODlhAQABAAAAACw='
  expect(await client.links.update(created.id, { image })).toMatchObject({ image })
  const large = client.links.update(created.id, { image: `data:image/gif;base64,R0lGODlh${'A'.repeat(32_000)}` })
  await expect(large).rejects.toMatchObject({ name: 'UnprocessableEntity' })

  const upserted = await client.links.upsert({ url: 'https://shop.example/u', utmSource: 'x', key: 'up' })
  const again = await client.links.upsert({ url: 'https://shop.example/u', utmSource: 'x', title: 'Twice' })
  expect(again).toMatchObject({ id: upserted.id, title: 'Twice', key: 'up' })

  const many = await client.links.createMany([
    { url: 'https://shop.example/1', externalId: 'm1' },
    { url: 'https://shop.example/2', key: 'up' },
    { url: 'https://shop.example/3', externalId: 'm3' },
  ])
  expect(many).toMatchObject([{ externalId: 'm1' }, { code: 'conflict' }, { externalId: 'm3' }])
  const ids = many.flatMap((item) => ('id' in item ? [item.id] : []))

  const changed = await client.links.updateMany({ linkIds: ids, data: { comments: 'bulk' } })
  expect(changed).toMatchObject([{ comments: 'bulk' }, { comments: 'bulk' }])
  expect(await client.links.updateMany({ externalIds: ['m1'], data: { title: 'One' } })).toMatchObject([
    { title: 'One' },
  ])

  const partly = await client.links.updateMany({ linkIds: ['link_unknown', ...ids], data: { comments: 'again' } })
  expect(partly.map(({ id }) => id)).toEqual(ids)

  expect(await client.links.count({})).toBe(4)
  expect(await client.links.count({ groupBy: 'domain' })).toBe(4)
  expect(await raw('/links/groups?groupBy=domain')).toEqual([{ domain: workspace.domain, count: 4 }])
  const listed = []
  for await (const page of await client.links.list({ pageSize: 3 })) listed.push(...page.result)
  expect(listed.map((link) => link.id)).toEqual([ids[1], ids[0], upserted.id, created.id])
  expect((await client.links.list({ startingAfter: ids[0], pageSize: 1 })).result).toMatchObject([{ id: upserted.id }])
  expect((await client.links.list({ endingBefore: upserted.id, pageSize: 1 })).result).toMatchObject([{ id: ids[0] }])
  expect((await client.links.list({ search: 'SHOP.example/3' })).result).toMatchObject([{ externalId: 'm3' }])
  expect((await client.links.list({ tenantId: 'tenant-1' })).result).toMatchObject([{ id: created.id }])

  expect(await client.links.deleteMany({ linkIds: [...ids, 'link_unknown'] })).toEqual({ deletedCount: 2 })
  expect(await client.links.delete('ext_a1')).toEqual({ id: created.id })
  await expect(client.links.get({ linkId: created.id })).rejects.toMatchObject({ name: 'NotFound' })
  await expect(client.links.delete(created.id)).rejects.toMatchObject({ name: 'NotFound' })
})
