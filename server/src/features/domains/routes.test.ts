import { createClient } from '@tributary/contract/client'
import * as contract from '@tributary/contract/domains'
import { describe, expect, inject, it } from 'vitest'
import { type BuiltWorkspace, buildWorkspace } from '../../../test/build.ts'
import { setZone } from '../../../test/dns-server.ts'
import { eventually, openTestPlatform } from '../../../test/stack.ts'
import { newId } from '../../platform/ids.ts'
import { addDomain } from './service.ts'

const platform = await openTestPlatform()
const { api } = inject('server')
const dns = inject('dns')

const as = (workspace: Pick<BuiltWorkspace, 'key'>) => createClient({ url: api, token: workspace.key })
const newName = () => `${newId('dom').slice(-12)}.example.com`
const keys = Object.keys(contract.domain.shape).sort()

/** Sends invalid requests, which the typed client can't. */
async function send(key: string, method: string, path: string, body?: string) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const response = await fetch(`${api}${path}`, { method, headers, body })
  return { status: response.status, answer: (await response.json()) as Record<string, never> }
}

async function refusal(key: string, method: string, path: string, body?: unknown) {
  const { status, answer } = await send(key, method, path, body === undefined ? undefined : JSON.stringify(body))
  const { code, message } = (answer as unknown as { error: { code: string; message: string } }).error
  return { status, code, message }
}

describe('listDomains', () => {
  it('200: lists domains oldest first, page by page, without archived domains by default', async () => {
    const workspace = await buildWorkspace(platform)
    const call = as(workspace)
    const slugs = [workspace.domain]
    for (let count = 0; count < 4; count++)
      slugs.push((await call(contract.createDomain, { body: { slug: newName() } })).slug)
    const archived = slugs[2] as string
    await call(contract.updateDomain, { params: { slug: archived }, body: { archived: true } })
    const list = async (query: object) => (await call(contract.listDomains, { query })).map((domain) => domain.slug)
    expect(await list({})).toEqual(slugs.filter((slug) => slug !== archived))
    expect(await list({ archived: 'true' })).toEqual(slugs)
    expect(await list({ archived: 'true', pageSize: 2, page: 2 })).toEqual(slugs.slice(2, 4))
    expect(await list({ page: 2 })).toEqual([])
    expect(await list({ archived: 'true', sortOrder: 'desc' })).toEqual(slugs.toReversed())
    expect(await list({ archived: 'true', sortBy: 'slug' })).toEqual(slugs.toSorted())
    expect(await list({ archived: 'true', sortBy: 'slug', sortOrder: 'desc', pageSize: 2 })).toEqual(
      slugs.toSorted().toReversed().slice(0, 2),
    )
    expect(await list({ search: slugs[3]?.slice(2, 9).toUpperCase() })).toEqual([slugs[3]])
    expect(await list({ search: '%' })).toEqual([])
    expect(await list({ search: archived })).toEqual([])
    const { answer } = await send(workspace.key, 'GET', '/domains')
    for (const domain of answer as unknown as object[]) expect(Object.keys(domain).sort()).toEqual(keys)
  })

  it('200: lists no domain of another workspace', async () => {
    const [ours, theirs] = [await buildWorkspace(platform), await buildWorkspace(platform)]
    expect(await as(ours)(contract.listDomains, { query: { search: theirs.domain } })).toEqual([])
  })

  it('401, 403: fails without a key, and with a key that lacks the scope', async () => {
    expect(await refusal('trib_unknown', 'GET', '/domains')).toMatchObject({ status: 401 })
    const { key } = await buildWorkspace(platform, { scopes: ['links.write'] })
    expect(await refusal(key, 'GET', '/domains')).toMatchObject({ status: 403, code: 'forbidden' })
  })

  it('400, 422: refuses an invalid query', async () => {
    const { key } = await buildWorkspace(platform)
    expect(await refusal(key, 'GET', '/domains?archived=maybe')).toMatchObject({ status: 400 })
    expect(await refusal(key, 'GET', '/domains?pageSize=101')).toMatchObject({ status: 422 })
    expect(await refusal(key, 'GET', '/domains?page=0')).toMatchObject({ status: 422 })
    expect(await refusal(key, 'GET', '/domains?sortBy=verified')).toMatchObject({ status: 422 })
  })
})

describe('createDomain', () => {
  it('201: returns the domain with exactly its fields', async () => {
    const workspace = await buildWorkspace(platform)
    const slug = newName()
    const { status, answer } = await send(
      workspace.key,
      'POST',
      '/domains',
      JSON.stringify({ slug: slug.toUpperCase() }),
    )
    expect(status).toBe(201)
    const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(answer).toEqual({
      id: expect.stringMatching(/^dom_[0-9a-f-]{36}$/),
      slug,
      verified: false,
      primary: false,
      archived: false,
      placeholder: null,
      expiredUrl: null,
      notFoundUrl: null,
      logo: null,
      assetLinks: null,
      appleAppSiteAssociation: null,
      createdAt: instant,
      updatedAt: instant,
      registeredDomain: null,
    })
  })

  it('201: the worker verifies the domain as soon as DNS proves ownership', async () => {
    const workspace = await buildWorkspace(platform)
    const call = as(workspace)
    const before = newName()
    await setZone(dns, before, [{ type: 'CNAME', data: 'cname.tributary.example' }])
    await call(contract.createDomain, { body: { slug: before } })
    const verified = async (slug: string) => {
      const domains = await call(contract.listDomains, { query: { search: slug } })
      expect(domains).toMatchObject([{ slug, verified: true }])
    }
    await eventually(() => verified(before))
  })

  it('201: takes a domain over from another workspace when DNS proves ownership', async () => {
    const [theirs, ours] = [await buildWorkspace(platform), await buildWorkspace(platform)]
    const { slug } = await addDomain(platform, { workspaceId: theirs.id, slug: newName() })
    const { status, message } = await refusal(ours.key, 'POST', '/domains', { slug })
    expect(status).toBe(409)
    const [, name, value] = /the TXT record (\S+) to (\S+) and/.exec(message) ?? []
    await setZone(dns, name as string, [{ type: 'TXT', data: value as string }])
    expect(await as(ours)(contract.createDomain, { body: { slug } })).toMatchObject({ slug, verified: true })
    expect(await as(theirs)(contract.listDomains, { query: { search: slug } })).toEqual([])
  })

  it('400: refuses a missing field or a wrong type', async () => {
    const { key } = await buildWorkspace(platform)
    const cases: [unknown, string][] = [
      [{}, '`slug` in the body is required.'],
      [{ slug: 5 }, '`slug` in the body must be a string, not 5.'],
      [{ slug: newName(), archived: 'no' }, '`archived` in the body must be a boolean, not "no".'],
      [{ slug: newName(), assetLinks: [] }, '`assetLinks` in the body must be a string, not an array.'],
    ]
    for (const [body, message] of cases) {
      expect(await refusal(key, 'POST', '/domains', body)).toEqual({ status: 400, code: 'bad_request', message })
    }
  })

  it('403: fails with a read-only key', async () => {
    const { key } = await buildWorkspace(platform, { scopes: ['domains.read'] })
    expect(await refusal(key, 'POST', '/domains', { slug: newName() })).toMatchObject({ status: 403 })
  })

  it('409: refuses a domain name that this or another workspace has', async () => {
    const [ours, theirs] = [await buildWorkspace(platform), await buildWorkspace(platform)]
    expect(await refusal(ours.key, 'POST', '/domains', { slug: ours.domain })).toEqual({
      status: 409,
      code: 'conflict',
      message: `This workspace already has the domain ${ours.domain}.`,
    })
    const { status, message } = await refusal(ours.key, 'POST', '/domains', { slug: theirs.domain })
    expect(status).toBe(409)
    expect(message).toContain(`_tributary.${theirs.domain} to tributary-verify=`)
    expect(message).not.toContain(theirs.id)
  })

  it('422: refuses an invalid host name, a host name of the installation, and invalid settings', async () => {
    const { key } = await buildWorkspace(platform)
    const cases: [object, string][] = [
      [{ slug: '' }, '`slug` in the body must be at least 1 character long, not 0.'],
      [{ slug: 'a'.repeat(191) }, '`slug` in the body must be at most 190 characters long, not 191.'],
      [{ slug: 'https://go.example.com' }, '`slug` in the body must be a host name such as go.example.com.'],
      [{ slug: 'example' }, '`slug` in the body must be a whole host name with a dot, such as go.example.com.'],
      [{ slug: '127.0.0.1' }, '`slug` in the body must be a host name, not an IP address.'],
      [{ slug: 'LINKS.localhost' }, '`slug` in the body must not be a host name of this installation.'],
      [
        { expiredUrl: 'example.com' },
        '`expiredUrl` in the body must be an absolute URL such as https://example.com/page.',
      ],
      [{ notFoundUrl: 'javascript:1' }, '`notFoundUrl` in the body must start with http:// or https://.'],
      [{ logo: 'data:text/html,x' }, '`logo` in the body must be a base64 data URL of a PNG, JPEG, GIF or WebP image.'],
      [{ assetLinks: '{}' }, '`assetLinks` in the body must be the JSON text of an array, at most 32 levels deep.'],
      [
        { appleAppSiteAssociation: '[' },
        '`appleAppSiteAssociation` in the body must be the JSON text of an object, at most 32 levels deep.',
      ],
      [{ placeholder: 'x'.repeat(101) }, '`placeholder` in the body must be at most 100 characters long, not 101.'],
    ]
    for (const [body, message] of cases) {
      expect(await refusal(key, 'POST', '/domains', { slug: newName(), ...body })).toEqual({
        status: 422,
        code: 'unprocessable_entity',
        message,
      })
    }
  })
})

describe('updateDomain', () => {
  it('200: returns the changed domain', async () => {
    const workspace = await buildWorkspace(platform)
    const call = as(workspace)
    const { slug } = await call(contract.createDomain, { body: { slug: newName() } })
    const name = newName()
    const body = { slug: name, primary: true, expiredUrl: 'https://example.com/expired' }
    const changed = await call(contract.updateDomain, { params: { slug }, body })
    expect(changed).toMatchObject({ ...body, verified: false })
    expect(await call(contract.updateDomain, { params: { slug: workspace.domain }, body: {} })).toMatchObject({
      primary: false,
      verified: true,
    })
    const { status, answer } = await send(workspace.key, 'PATCH', `/domains/${name}`, '')
    expect([status, answer]).toEqual([200, changed])
  })

  it('403: fails with a read-only key', async () => {
    const workspace = await buildWorkspace(platform, { scopes: ['domains.read'] })
    expect(await refusal(workspace.key, 'PATCH', `/domains/${workspace.domain}`, {})).toMatchObject({ status: 403 })
  })

  it('404: fails for an unknown domain or one of another workspace', async () => {
    const [ours, theirs] = [await buildWorkspace(platform), await buildWorkspace(platform)]
    for (const slug of [theirs.domain, newName(), '%20', 'a%2Fb', '%F0%9F%98%80']) {
      expect(await refusal(ours.key, 'PATCH', `/domains/${slug}`, { archived: true })).toMatchObject({ status: 404 })
    }
  })

  it('409: refuses a domain name that is taken', async () => {
    const [ours, theirs] = [await buildWorkspace(platform), await buildWorkspace(platform)]
    expect(await refusal(ours.key, 'PATCH', `/domains/${ours.domain}`, { slug: theirs.domain })).toEqual({
      status: 409,
      code: 'conflict',
      message: `The domain ${theirs.domain} is already in use.`,
    })
  })

  it('400, 422: refuses wrong types and values', async () => {
    const { key, domain } = await buildWorkspace(platform)
    const at = `/domains/${domain}`
    expect(await refusal(key, 'PATCH', at, { primary: 1 })).toMatchObject({ status: 400 })
    expect(await refusal(key, 'PATCH', at, { slug: null })).toMatchObject({ status: 400 })
    expect(await refusal(key, 'PATCH', at, { primary: false })).toMatchObject({ status: 422 })
    expect(await refusal(key, 'PATCH', at, { slug: '10.0.0.1' })).toMatchObject({ status: 422 })
    expect(await refusal(key, 'PATCH', at, { notFoundUrl: '' })).toMatchObject({ status: 422 })
  })
})

describe('deleteDomain', () => {
  it('200: deletes the domain, and returns its name', async () => {
    const workspace = await buildWorkspace(platform)
    const { status, answer } = await send(workspace.key, 'DELETE', `/domains/${workspace.domain.toUpperCase()}`)
    expect([status, answer]).toEqual([200, { slug: workspace.domain }])
    expect(await as(workspace)(contract.listDomains)).toEqual([])
  })

  it('403: fails with a read-only key', async () => {
    const workspace = await buildWorkspace(platform, { scopes: ['domains.read'] })
    expect(await refusal(workspace.key, 'DELETE', `/domains/${workspace.domain}`)).toMatchObject({ status: 403 })
  })

  it('404: fails for an unknown domain or one of another workspace', async () => {
    const [ours, theirs] = [await buildWorkspace(platform), await buildWorkspace(platform)]
    for (const slug of [theirs.domain, newName()]) {
      expect(await refusal(ours.key, 'DELETE', `/domains/${slug}`)).toEqual({
        status: 404,
        code: 'not_found',
        message: `There is no domain ${slug} in this workspace.`,
      })
    }
    expect(await as(theirs)(contract.listDomains)).toHaveLength(1)
  })
})

describe('getDomainRecords', () => {
  it('200: returns the DNS records to set, and later that they were found', async () => {
    const workspace = await buildWorkspace(platform)
    const call = as(workspace)
    const { slug } = await call(contract.createDomain, { body: { slug: newName() } })
    const { records, verified } = await call(contract.getDomainRecords, { params: { slug } })
    expect(verified).toBe(false)
    expect(records.map(({ type, name, value }) => ({ type, name, value }))).toEqual([
      { type: 'TXT', name: `_tributary.${slug}`, value: expect.stringMatching(/^tributary-verify=[0-9a-f]{32}$/) },
      { type: 'CNAME', name: slug, value: 'cname.tributary.example' },
      { type: 'A', name: slug, value: '192.0.2.10' },
      { type: 'AAAA', name: slug, value: '2001:db8::10' },
    ])
    await eventually(async () => {
      const { checkedAt, result } = await call(contract.getDomainRecords, { params: { slug } })
      expect(checkedAt).toMatch(/^\d{4}-/)
      expect(result).toMatch(/^no TXT record _tributary\.\S+ yet; /)
    })
    await setZone(dns, `_tributary.${slug}`, [{ type: 'TXT', data: records[0]?.value as string }])
    await eventually(async () => {
      const answer = await call(contract.getDomainRecords, { params: { slug } })
      expect(answer).toMatchObject({ verified: true, result: 'verified by TXT' })
    }, 15_000)
  })

  it('200: returns the DNS records of a domain that the operator added', async () => {
    const workspace = await buildWorkspace(platform)
    const slug = workspace.domain
    expect(await as(workspace)(contract.getDomainRecords, { params: { slug } })).toMatchObject({
      slug,
      verified: true,
      checkedAt: '',
      result: 'verified by the operator',
    })
  })

  it('404: fails for an unknown domain or one of another workspace', async () => {
    const [ours, theirs] = [await buildWorkspace(platform), await buildWorkspace(platform)]
    for (const slug of [theirs.domain, newName()]) {
      expect(await refusal(ours.key, 'GET', `/domains/${slug}/records`)).toMatchObject({ status: 404 })
    }
  })
})

describe('checkDomainStatus', () => {
  it('200: a domain name is available unless a workspace has verified it', async () => {
    const [ours, theirs] = [await buildWorkspace(platform), await buildWorkspace(platform)]
    const [claimed, free] = [newName(), newName()]
    await as(theirs)(contract.createDomain, { body: { slug: claimed } })
    const names = [theirs.domain, ours.domain, claimed, free.toUpperCase(), 'links.localhost']
    const unpriced = { premium: null, prices: null, price: null }
    const expected = [
      { domain: theirs.domain, available: false, ...unpriced },
      { domain: ours.domain, available: false, ...unpriced },
      { domain: claimed, available: true, ...unpriced },
      { domain: free, available: true, ...unpriced },
      { domain: 'links.localhost', available: false, ...unpriced },
    ]
    expect((await send(ours.key, 'GET', `/domains/status?domains=${names.join(',')}`)).answer).toEqual(expected)
    const repeated = names.map((name) => `domains=${name}`).join('&')
    expect((await send(ours.key, 'GET', `/domains/status?${repeated}`)).answer).toEqual(expected)
  })

  it('400, 422: refuses no domain, too many domains, or an invalid host name', async () => {
    const { key } = await buildWorkspace(platform)
    expect(await refusal(key, 'GET', '/domains/status')).toMatchObject({ status: 400 })
    expect(await refusal(key, 'GET', '/domains/status?domains=,')).toEqual({
      status: 422,
      code: 'unprocessable_entity',
      message: '`domains` in the query must contain at least one domain.',
    })
    expect(await refusal(key, 'GET', '/domains/status?domains=go.example.com,a%20b')).toMatchObject({
      status: 422,
      message: '`domains` in the query: "a b" is not a host name.',
    })
    const many = Array.from({ length: 101 }, newName).join(',')
    expect(await refusal(key, 'GET', `/domains/status?domains=${many}`)).toMatchObject({ status: 422 })
  })
})

describe('registerDomain', () => {
  it('201: adds the domain', async () => {
    const workspace = await buildWorkspace(platform)
    const domain = newName()
    const { status, answer } = await send(workspace.key, 'POST', '/domains/register', JSON.stringify({ domain }))
    expect([status, answer]).toEqual([201, { domain, status: 'pending', expiration: null }])
    expect(await as(workspace)(contract.listDomains, { query: { search: domain } })).toHaveLength(1)
  })

  it('400, 403, 409, 422: fails like createDomain', async () => {
    const [ours, theirs] = [await buildWorkspace(platform), await buildWorkspace(platform)]
    const path = '/domains/register'
    expect(await refusal(ours.key, 'POST', path, {})).toMatchObject({ status: 400 })
    expect(await refusal(ours.key, 'POST', path, { domain: theirs.domain })).toMatchObject({ status: 409 })
    expect(await refusal(ours.key, 'POST', path, { domain: 'a b' })).toEqual({
      status: 422,
      code: 'unprocessable_entity',
      message: '`domain` in the body must be a host name such as go.example.com.',
    })
    const { key } = await buildWorkspace(platform, { scopes: ['domains.read'] })
    expect(await refusal(key, 'POST', path, { domain: newName() })).toMatchObject({ status: 403 })
  })
})
