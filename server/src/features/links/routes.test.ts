import { createClient } from '@tributary/contract/client'
import type { LinkSelector, NewLink } from '@tributary/contract/links'
import * as contract from '@tributary/contract/links'
import { sql } from 'kysely'
import { describe, expect, inject, it } from 'vitest'
import { type BuiltWorkspace, buildWorkspace } from '../../../test/build.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { addDomain } from '../domains/service.ts'
import { createToken } from '../tokens/service.ts'
import { createWorkspace } from '../workspaces/service.ts'

const platform = await openTestPlatform()
const { api } = inject('server')
const url = 'https://example.com/landing'

const as = (key: string) => createClient({ url: api, token: key })

async function create(workspace: Pick<BuiltWorkspace, 'key'>, body: Partial<NewLink>) {
  return as(workspace.key)(contract.createLink, { body: { url, ...body } })
}

/** Sends a raw body, also one that the typed client would reject. */
async function post(workspace: Pick<BuiltWorkspace, 'key'>, body: string) {
  const response = await fetch(`${api}/links`, {
    method: 'POST',
    headers: { authorization: `Bearer ${workspace.key}`, 'content-type': 'application/json' },
    body,
  })
  const { error } = (await response.json()) as { error: { code: string; message: string } }
  return { status: response.status, code: error.code, message: error.message }
}

describe('createLink', () => {
  it('200: returns the link with exactly the keys of the specification', async () => {
    const workspace = await buildWorkspace(platform)
    const response = await fetch(`${api}/links`, {
      method: 'POST',
      headers: { authorization: `Bearer ${workspace.key}` },
      body: JSON.stringify({ url, key: 'Sale/2026', externalId: 'ext_42', trackConversion: true }),
    })
    expect(response.status).toBe(200)
    const link = (await response.json()) as Record<string, unknown>
    const specified = Object.keys(contract.link.shape).filter((name) => name !== 'testVariants')
    expect(specified).toHaveLength(50)
    expect(Object.keys(link).sort()).toEqual(specified.sort())
    const shortLink = `https://${workspace.domain}/Sale/2026`
    expect(link).toEqual({
      id: expect.stringMatching(/^link_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/),
      domain: workspace.domain,
      key: 'Sale/2026',
      url,
      trackConversion: true,
      externalId: 'ext_42',
      shortLink,
      qrCode: `${api}/qr?url=${encodeURIComponent(shortLink)}`,
      workspaceId: workspace.id,
      projectId: workspace.id,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updatedAt: link.createdAt,
      webhookIds: [],
      tags: [],
      ...Object.fromEntries(unsetDates.map((name) => [name, ''])),
      ...Object.fromEntries(unsetTexts.map((name) => [name, null])),
      ...Object.fromEntries(switches.map((name) => [name, false])),
      ...Object.fromEntries(counters.map((name) => [name, 0])),
    })
  })

  it('200: generates a random slug of seven characters on the primary domain', async () => {
    const workspace = await buildWorkspace(platform)
    await addDomain(platform, { workspaceId: workspace.id, slug: `second.${workspace.domain}` })
    const links = await Promise.all(Array.from({ length: 20 }, () => create(workspace, {})))
    for (const link of links) {
      expect(link.key).toMatch(/^[A-Za-z0-9]{7}$/)
      expect(link.domain).toBe(workspace.domain)
      expect(link.shortLink).toBe(`https://${workspace.domain}/${link.key}`)
    }
    expect(new Set(links.map((link) => link.key)).size).toBe(20)
  })

  it('200: uses the shared domain when the workspace has none', async () => {
    const { id } = await createWorkspace(platform, { name: `bare ${Date.now()}` })
    const token = await createToken(platform, { workspaceId: id, name: 'test' })
    expect(await create(token, {})).toMatchObject({ domain: platform.config.SHORT_DOMAIN, workspaceId: id })
  })

  it("200: accepts the workspace's domain in any case, and the shared one", async () => {
    const workspace = await buildWorkspace(platform)
    const { slug } = await addDomain(platform, { workspaceId: workspace.id, slug: `other.${workspace.domain}` })
    expect((await create(workspace, { domain: slug.toUpperCase() })).domain).toBe(slug)
    expect((await create(workspace, { domain: platform.config.SHORT_DOMAIN })).domain).toBe('links.localhost')
  })

  it('200: keeps the destination as written, and normalizes the key to NFC without outer slashes', async () => {
    const workspace = await buildWorkspace(platform)
    const written = 'https://EXAMPLE.com/Straße?q=a b&sig=~%2f#Teil'
    const link = await create(workspace, { url: written, key: '/Cafe\u0301/' })
    expect(link).toMatchObject({ url: written, key: 'Café', shortLink: `https://${workspace.domain}/Caf%C3%A9` })
  })

  it('200: ignores unknown fields', async () => {
    const workspace = await buildWorkspace(platform)
    const link = await create(workspace, { workspaceId: 'ws_other', clicks: 5 } as Partial<NewLink>)
    expect(link).toMatchObject({ workspaceId: workspace.id, clicks: 0 })
  })

  it('200: accepts a key that another domain has, and an externalId that another workspace has', async () => {
    const [ours, theirs] = [await buildWorkspace(platform), await buildWorkspace(platform)]
    await create(ours, { key: 'same', externalId: 'same' })
    await expect(create(theirs, { key: 'same', externalId: 'same' })).resolves.toMatchObject({ key: 'same' })
  })

  it('400: the error names missing, mistyped and malformed values', async () => {
    const workspace = await buildWorkspace(platform)
    const cases: [string, string][] = [
      ['', '`url` in the body is required.'],
      ['{}', '`url` in the body is required.'],
      ['{"url":5}', '`url` in the body must be a string, not 5.'],
      ['{"url":null}', '`url` in the body must be a string, not null.'],
      [`{"url":"${url}","key":["a"]}`, '`key` in the body must be a string, not an array.'],
      [`{"url":"${url}","trackConversion":"yes"}`, '`trackConversion` in the body must be a boolean, not "yes".'],
      ['[]', 'The body must be an object, not an array.'],
    ]
    for (const [body, message] of cases) {
      expect(await post(workspace, body)).toEqual({ status: 400, code: 'bad_request', message })
    }
    expect(await post(workspace, '{"url":')).toEqual({
      status: 400,
      code: 'bad_request',
      message: expect.stringMatching(/^The body is not valid JSON: /),
    })
  })

  it('401: without an API key and with an unknown one', async () => {
    await expect(create({ key: 'trib_unknown' }, {})).rejects.toMatchObject({ status: 401, code: 'unauthorized' })
    const response = await fetch(`${api}/links`, { method: 'POST', body: JSON.stringify({ url }) })
    expect(response.status).toBe(401)
  })

  it('403: with a read-only key', async () => {
    const readers = ['links.read', 'apis.read'] as const
    for (const scope of readers) {
      const workspace = await buildWorkspace(platform, { scopes: [scope] })
      await expect(create(workspace, {})).rejects.toMatchObject({
        status: 403,
        code: 'forbidden',
        message: 'This key lacks the scope links.write. Create a key that has it.',
      })
    }
    await expect(create(await buildWorkspace(platform, { scopes: ['links.write'] }), {})).resolves.toBeDefined()
  })

  it('404: for an unknown domain or one of another workspace', async () => {
    const [ours, theirs] = [await buildWorkspace(platform), await buildWorkspace(platform)]
    for (const domain of [theirs.domain, 'nobody.example']) {
      await expect(create(ours, { domain })).rejects.toMatchObject({
        status: 404,
        code: 'not_found',
        message: `There is no domain ${domain} in this workspace.`,
      })
    }
  })

  it('409: when the key is taken, even in another case or Unicode form', async () => {
    const workspace = await buildWorkspace(platform)
    await create(workspace, { key: 'Café' })
    for (const key of ['Café', 'café', 'CAFÉ', 'Cafe\u0301', '/café/']) {
      await expect(create(workspace, { key })).rejects.toMatchObject({
        status: 409,
        code: 'conflict',
        message: expect.stringMatching(/^t-.*\/Café is already taken\. Choose another key\.$/i),
      })
    }
  })

  it('409: when another workspace has the key on the shared domain', async () => {
    const [ours, theirs] = [await buildWorkspace(platform), await buildWorkspace(platform)]
    const input = { domain: platform.config.SHORT_DOMAIN, key: `key-${ours.slug}` }
    await create(theirs, input)
    await expect(create(ours, input)).rejects.toMatchObject({ status: 409 })
  })

  it('409: of 20 concurrent requests for one key, one succeeds', async () => {
    const workspace = await buildWorkspace(platform)
    const attempts = Array.from({ length: 20 }, (_, index) =>
      create(workspace, { key: index % 2 ? 'wanted' : 'WANTED', externalId: `${index}` }),
    )
    const outcomes = await Promise.allSettled(attempts)
    expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(1)
    const refusals = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason.status] : []))
    expect(refusals).toEqual(Array(19).fill(409))
    const rows = await sql`SELECT FROM links WHERE workspace_id = ${workspace.id}`.execute(platform.db)
    expect(rows.rows).toHaveLength(1)
  })

  it('409: when the externalId is taken', async () => {
    const workspace = await buildWorkspace(platform)
    await create(workspace, { externalId: 'order-1' })
    await expect(create(workspace, { externalId: 'order-1' })).rejects.toMatchObject({
      status: 409,
      code: 'conflict',
      message: 'Another link already has the externalId order-1.',
    })
  })

  it('200: stores the externalId as given; `ext_` is a prefix in paths and queries only', async () => {
    const workspace = await buildWorkspace(platform)
    const call = as(workspace.key)
    const plain = await create(workspace, { externalId: '1' })
    const prefixed = await create(workspace, { externalId: 'ext_1' })
    expect([plain.externalId, prefixed.externalId]).toEqual(['1', 'ext_1'])

    const info = async (query: LinkSelector) => (await call(contract.getLink, { query })).id
    expect(await info({ externalId: 'ext_1' })).toBe(plain.id)
    expect(await info({ externalId: 'ext_ext_1' })).toBe(prefixed.id)
    expect(await info({ linkId: 'ext_1' })).toBe(plain.id)
    expect(await info({ externalId: '1' })).toBe(plain.id)

    const patch = (linkId: string) => call(contract.updateLink, { params: { linkId }, body: { comments: linkId } })
    expect([(await patch('ext_1')).id, (await patch('ext_ext_1')).id]).toEqual([plain.id, prefixed.id])
    const bulk = (externalIds: string[]) =>
      call(contract.bulkUpdateLinks, { body: { externalIds, data: { title: 'x' } } })
    expect((await bulk(['ext_1'])).map(({ id }) => id)).toEqual([prefixed.id])
    expect((await bulk(['1'])).map(({ id }) => id)).toEqual([plain.id])
    const removed = await call(contract.bulkDeleteLinks, { query: { linkIds: 'ext_1' } })
    expect(removed).toEqual({ deletedCount: 1 })
    await expect(info({ externalId: 'ext_1' })).rejects.toMatchObject({ status: 404 })
    expect(await info({ externalId: 'ext_ext_1' })).toBe(prefixed.id)
  })

  it('422: the error names the invalid value and the reason', async () => {
    const workspace = await buildWorkspace(platform)
    const cases: [Partial<NewLink>, RegExp][] = [
      [{ url: 'example.com' }, /^`url` in the body must be an absolute URL such as https:\/\/example\.com\/page\.$/],
      [{ url: '' }, /^`url` in the body must be an absolute URL/],
      [{ url: 'javascript:alert(1)' }, /^`url` in the body must start with http/],
      [{ url: 'https://a:b@example.com' }, /^`url` in the body must not contain a user name or password\.$/],
      [{ url: 'https://example.com/\n' }, /^`url` in the body must not contain control characters\.$/],
      [{ url: `${url}?${'a'.repeat(32_000)}` }, /^`url` in the body must be at most 32000 characters long, not 32028/],
      [{ key: '' }, /^`key` in the body must not be empty\.$/],
      [{ key: '///' }, /^`key` in the body must not be empty\.$/],
      [{ key: '_mine' }, /^`key` in the body must not start with `_`, except/],
      [{ key: 'a b' }, /^`key` in the body must not contain spaces/],
      [{ key: 'a/../b' }, /^`key` in the body must not contain empty, `\.` or `\.\.` path segments\.$/],
      [{ key: 'a'.repeat(191) }, /^`key` in the body must be at most 190 characters long, not 191\.$/],
      [{ key: 'a\0' }, /^`key` in the body must not contain the character U\+0000/],
      [{ externalId: '' }, /^`externalId` in the body must be at least 1 character/],
      [{ externalId: 'a'.repeat(256) }, /^`externalId` in the body must be at most 255 characters long, not 256\.$/],
      [{ externalId: 'a\0' }, /^`externalId` in the body must not contain the character U\+0000/],
      [{ domain: 'a'.repeat(191) }, /^`domain` in the body must be at most 190 characters long, not 191\.$/],
    ]
    for (const [body, message] of cases) {
      const refused = { status: 422, code: 'unprocessable_entity', message: expect.stringMatching(message) }
      await expect(create(workspace, body), JSON.stringify(body).slice(0, 60)).rejects.toMatchObject(refused)
    }
    const rows = await sql`SELECT FROM links WHERE workspace_id = ${workspace.id}`.execute(platform.db)
    expect(rows.rows).toHaveLength(0)
  })

  it("429: after the free plan's 60 requests per minute", async () => {
    const workspace = await buildWorkspace(platform, { plan: 'free' })
    const outcomes = await Promise.allSettled(Array.from({ length: 61 }, () => create(workspace, {})))
    const refusals = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
    expect(refusals).toHaveLength(1)
    expect(refusals[0]).toMatchObject({ status: 429, code: 'rate_limit_exceeded' })
  })
})

const unsetDates = ['expiresAt', 'disabledAt', 'testStartedAt', 'testCompletedAt', 'lastClicked']
const switches = ['archived', 'proxy', 'rewrite', 'doIndex', 'publicStats']
const counters = ['clicks', 'leads', 'conversions', 'sales', 'saleAmount']
const unsetTexts = [
  ...['tenantId', 'programId', 'partnerId', 'expiredUrl', 'password', 'title', 'description', 'image', 'video', 'ios'],
  ...['android', 'geo', 'folderId', 'comments', 'userId', 'tagId'],
  ...['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content'],
]
