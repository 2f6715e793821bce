import { randomUUID } from 'node:crypto'
import { Dub } from 'dub'
import { expect, inject, test } from 'vitest'
import { buildWorkspace } from '../server/test/build.ts'
import { setZone } from '../server/test/dns-server.ts'
import { eventually, openTestPlatform } from '../server/test/stack.ts'
import { visit } from '../server/test/visit.ts'

const platform = await openTestPlatform()
const { api, ops, redirect } = inject('server')
const dns = inject('dns')

/** Field names from the SDK, listed independently of the contract, so that the test can compare the two. */
const domainKeys =
  `appleAppSiteAssociation archived assetLinks createdAt expiredUrl id logo notFoundUrl placeholder primary
  registeredDomain slug updatedAt verified`.split(/\s+/)
const statusKeys = ['available', 'domain', 'premium', 'price', 'prices']
const registrationKeys = ['domain', 'expiration', 'status']
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

const newName = () => `go-${randomUUID().slice(0, 13)}.example.com`

/** Creates a client of the public SDK that keeps the last raw response. */
async function client() {
  const workspace = await buildWorkspace(platform)
  const dub = new Dub({ token: workspace.key, serverURL: api })
  async function raw(method: string, path: string, body?: object): Promise<{ status: number; json: unknown }> {
    const response = await fetch(api + path, {
      method,
      headers: { authorization: `Bearer ${workspace.key}`, 'content-type': 'application/json' },
      body: body && JSON.stringify(body),
    })
    expect(response.headers.get('content-type')).toMatch(/^application\/json/)
    return { status: response.status, json: await response.json() }
  }
  return { workspace, dub, raw }
}

/** Checks that a domain has exactly these fields, each of its type. */
function requireDomain(value: unknown): void {
  const domain = value as Record<string, unknown>
  expect(Object.keys(domain).sort()).toEqual(domainKeys)
  expect(domain.id).toMatch(/^dom_/)
  for (const name of ['slug', 'createdAt', 'updatedAt']) expect(domain[name], name).toBeTypeOf('string')
  for (const name of ['createdAt', 'updatedAt']) expect(domain[name]).toMatch(instant)
  for (const name of ['verified', 'primary', 'archived']) expect(domain[name], name).toBeTypeOf('boolean')
  for (const name of ['placeholder', 'expiredUrl', 'notFoundUrl', 'logo', 'assetLinks', 'appleAppSiteAssociation']) {
    if (domain[name] !== null) expect(domain[name], name).toBeTypeOf('string')
  }
  expect(domain.registeredDomain).toBeNull()
}

test('domains.create, with every setting', async () => {
  const { dub, raw } = await client()
  const settings = {
    expiredUrl: 'https://example.com/expired',
    notFoundUrl: 'https://example.com/not-found',
    placeholder: 'https://example.com/sample',
    logo: 'https://example.com/logo.png',
    assetLinks: '[{"relation":["delegate_permission/common.handle_all_urls"]}]',
    appleAppSiteAssociation: '{"applinks":{"details":[]}}',
  }
  const slug = newName()
  const created = await dub.domains.create({ slug, ...settings })
  expect(created).toMatchObject({ slug, ...settings, verified: false, primary: false, archived: false })
  const plain = await raw('POST', '/domains', { slug: newName() })
  expect(plain.status).toBe(201)
  requireDomain(plain.json)
})

test('domains.list, page by page until the end', async () => {
  const { dub, raw, workspace } = await client()
  const slugs = [workspace.domain]
  for (let count = 0; count < 5; count++) slugs.push((await dub.domains.create({ slug: newName() })).slug)
  const seen: string[] = []
  for await (const page of await dub.domains.list({ pageSize: 2 })) seen.push(...page.result.map(({ slug }) => slug))
  expect(seen).toEqual(slugs)
  await dub.domains.update(slugs[1] as string, { archived: true })
  const names = async (request: object) => (await dub.domains.list(request)).result.map(({ slug }) => slug)
  expect(await names({})).toEqual(slugs.filter((slug) => slug !== slugs[1]))
  expect(await names({ archived: true })).toEqual(slugs)
  expect(await names({ archived: true, search: slugs[1] })).toEqual([slugs[1]])
  const { status, json } = await raw('GET', '/domains?archived=true')
  expect(status).toBe(200)
  expect(json).toHaveLength(6)
  for (const domain of json as unknown[]) requireDomain(domain)
})

test('domains.update: settings, un-archiving by any patch, rename', async () => {
  const { dub, raw } = await client()
  const { slug, id } = await dub.domains.create({ slug: newName(), archived: true })
  const updated = await dub.domains.update(slug, {
    placeholder: 'https://example.com',
    expiredUrl: 'https://example.com/x',
  })
  expect(updated).toMatchObject({ id, slug, archived: false, expiredUrl: 'https://example.com/x' })
  const cleared = await dub.domains.update(slug, { expiredUrl: null })
  expect(cleared.expiredUrl).toBeNull()
  const unchanged = await dub.domains.update(slug)
  expect(unchanged.updatedAt).toBe(cleared.updatedAt)
  const name = newName()
  expect(await dub.domains.update(slug, { slug: name })).toMatchObject({ id, slug: name, verified: false })
  const primary = await raw('PATCH', `/domains/${name}`, { primary: true })
  expect(primary.status).toBe(200)
  requireDomain(primary.json)
  expect(primary.json).toMatchObject({ primary: true })
  await expect(dub.domains.update(slug, { archived: true })).rejects.toMatchObject({ name: 'NotFound' })
})

test('domains.delete', async () => {
  const { dub, raw } = await client()
  const [first, second] = [await dub.domains.create({ slug: newName() }), await dub.domains.create({ slug: newName() })]
  expect(await dub.domains.delete(first.slug)).toEqual({ slug: first.slug })
  expect(await raw('DELETE', `/domains/${second.slug}`)).toEqual({ status: 200, json: { slug: second.slug } })
  await expect(dub.domains.delete(first.slug)).rejects.toMatchObject({ name: 'NotFound', statusCode: 404 })
})

test('domains.checkStatus, one name or several', async () => {
  const { dub, raw, workspace } = await client()
  const free = newName()
  const several = await dub.domains.checkStatus({ domains: [free, workspace.domain] })
  expect(several).toMatchObject([
    { domain: free, available: true },
    { domain: workspace.domain, available: false },
  ])
  expect(await dub.domains.checkStatus({ domains: free })).toMatchObject([{ domain: free, available: true }])
  const { status, json } = await raw('GET', `/domains/status?domains=${free}`)
  expect(status).toBe(200)
  expect(Object.keys((json as object[])[0] ?? {}).sort()).toEqual(statusKeys)
})

test('domains.register claims the name', async () => {
  const { dub, raw } = await client()
  const domain = newName().replace('.example.com', '.link')
  expect(await dub.domains.register({ domain })).toMatchObject({ domain, status: 'pending', expiration: null })
  expect((await dub.domains.list({ search: domain })).result).toHaveLength(1)
  const { status, json } = await raw('POST', '/domains/register', { domain: newName() })
  expect(status).toBe(201)
  expect(Object.keys(json as object).sort()).toEqual(registrationKeys)
  await expect(dub.domains.register({ domain })).rejects.toMatchObject({ name: 'Conflict' })
})

test('the SDK throws the right error class for each error response', async () => {
  const { dub, workspace } = await client()
  const { workspace: other } = await client()
  await expect(dub.domains.create({ slug: workspace.domain })).rejects.toMatchObject({ name: 'Conflict' })
  await expect(dub.domains.create({ slug: other.domain })).rejects.toMatchObject({ name: 'Conflict' })
  await expect(dub.domains.create({ slug: 'no host' })).rejects.toMatchObject({ name: 'UnprocessableEntity' })
  await expect(dub.domains.update(other.domain, { archived: true })).rejects.toMatchObject({ name: 'NotFound' })
  await expect(dub.domains.delete(other.domain)).rejects.toMatchObject({ name: 'NotFound' })
  const reader = new Dub({ token: (await buildWorkspace(platform, { scopes: ['domains.read'] })).key, serverURL: api })
  await expect(reader.domains.create({ slug: newName() })).rejects.toMatchObject({ name: 'Forbidden' })
})

test('the life of a domain: added, verified, given a certificate, visited, taken over', async () => {
  const [theirs, ours] = [await client(), await client()]
  const { slug } = await theirs.dub.domains.create({ slug: newName() })
  const certificate = async () => (await fetch(`${ops}/internal/tls-allowed?domain=${slug}`)).status
  expect(await certificate()).toBe(404)
  await setZone(dns, slug, [{ type: 'CNAME', data: 'cname.tributary.example' }])
  await eventually(async () => {
    const records = await theirs.raw('GET', `/domains/${slug}/records`)
    expect(records.json).toMatchObject({ verified: true, result: 'verified by CNAME' })
  }, 15_000)
  await eventually(async () => expect(await certificate()).toBe(200), 1_000)

  const link = await theirs.dub.links.create({ url: 'https://example.com/theirs', domain: slug, key: 'offer' })
  expect(link.shortLink).toBe(`https://${slug}/offer`)
  const open = () => visit(`${redirect}/offer`, { host: slug })
  expect(await open()).toMatchObject({ status: 302, headers: { location: 'https://example.com/theirs' } })

  const refused = await ours.raw('POST', '/domains', { slug })
  expect(refused.status).toBe(409)
  const { message } = (refused.json as { error: { message: string } }).error
  const [, name, value] = /the TXT record (\S+) to (\S+) and/.exec(message) ?? []
  await setZone(dns, name as string, [{ type: 'TXT', data: value as string }])
  expect(await ours.dub.domains.create({ slug })).toMatchObject({ slug, verified: true })
  expect((await theirs.dub.domains.list({ search: slug })).result).toEqual([])
  await eventually(async () => expect((await open()).status).toBe(404), 3_000)
  await eventually(async () => {
    const created = await ours.dub.links.create({ url: 'https://example.com/ours', domain: slug, key: 'offer' })
    expect(created.domain).toBe(slug)
  })
  await eventually(
    async () => expect(await open()).toMatchObject({ headers: { location: 'https://example.com/ours' } }),
    1_000,
  )
})
