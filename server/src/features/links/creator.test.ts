import { createClient } from '@tributary/contract/client'
import { expect, inject, test } from 'vitest'
import { buildLink, buildMember, buildPartner, buildProgram, buildWorkspace } from '../../../test/build.ts'
import { openTestPlatform } from '../../../test/stack.ts'

const platform = await openTestPlatform()
const { api } = inject('server')

async function open() {
  const workspace = await buildWorkspace(platform)
  const send = async (cookie: string, method: string, path: string, body: object) => {
    const headers = { cookie, origin: api, 'content-type': 'application/json', 'tributary-workspace': workspace.slug }
    const response = await fetch(api + path, { method, headers, body: JSON.stringify(body) })
    return { status: response.status, body: (await response.json()) as { userId?: string; partnerId?: string } }
  }
  return { workspace, send, call: createClient({ url: api, token: workspace.key }) }
}

test('a link has the user who created it, also when several create at once; a machine key leaves none', async () => {
  const { workspace, send, call } = await open()
  const members = await Promise.all([1, 2, 3].map(() => buildMember(platform, workspace, 'member')))
  const url = 'https://example.com/'
  const made = await Promise.all(members.map(({ cookie }) => send(cookie, 'POST', '/links', { url })))
  expect(made.map(({ body }) => body.userId)).toEqual(members.map(({ id }) => id))
  const [bulk] = (await send(members[0]?.cookie ?? '', 'POST', '/links/bulk', [{ url }])).body as never as object[]
  expect(bulk).toMatchObject({ userId: members[0]?.id })
  expect(await call('createLink', { body: { url } })).toMatchObject({ userId: null })
  expect(await call('getLinksCount', { query: { userId: members[0]?.id } })).toBe(2)
})

test('who earns by a link is chosen only with the scope to write partners', async () => {
  const { workspace, send, call } = await open()
  await buildProgram(platform, workspace)
  const partner = await buildPartner(platform, workspace)
  const { cookie } = await buildMember(platform, workspace, 'member')
  const link = await buildLink(platform, workspace)
  const body = { url: 'https://example.com/', partnerId: partner.id }
  expect((await send(cookie, 'POST', '/links', body)).status).toBe(403)
  expect((await send(cookie, 'PATCH', `/links/${link.id}`, { partnerId: partner.id })).status).toBe(403)
  expect((await send(cookie, 'PUT', '/links/upsert', body)).status).toBe(403)
  const many = { linkIds: [link.id], data: { partnerId: partner.id } }
  expect((await send(cookie, 'PATCH', '/links/bulk', many)).status).toBe(403)
  const operation = { action: 'update', filter: {}, data: { partnerId: partner.id } }
  expect((await send(cookie, 'POST', '/bulk-operations', operation)).status).toBe(403)
  await call('updateLink', { params: { linkId: link.id }, body: { partnerId: partner.id } })
  const unchanged = await send(cookie, 'PATCH', `/links/${link.id}`, { partnerId: partner.id, title: 'theirs' })
  expect(unchanged).toMatchObject({ status: 200, body: { partnerId: partner.id } })
})
