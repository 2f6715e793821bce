import { createClient, type OperationInput } from '@tributary/contract/client'
import { countLinks, groupLinks, listLinks } from '@tributary/contract/links'
import { sql } from 'kysely'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { type BuiltWorkspace, buildLink, buildPartner, buildProgram, buildWorkspace } from '../../../test/build.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { addDomain } from '../domains/service.ts'

type LinkQuery = NonNullable<OperationInput<'getLinksCount'>['query']>

const platform = await openTestPlatform()
const { api } = inject('server')
const as = ({ key }: Pick<BuiltWorkspace, 'key'>) => createClient({ url: api, token: key })

async function get(workspace: Pick<BuiltWorkspace, 'key'>, query: string) {
  const response = await fetch(`${api}/links?${query}`, { headers: { authorization: `Bearer ${workspace.key}` } })
  return { status: response.status, body: (await response.json()) as unknown }
}

const refusal = (code: string, message: string) => ({
  error: { code, message, doc_url: `${api}/docs/errors/${code}` },
})

describe('getLinks', () => {
  let workspace: BuiltWorkspace
  let keys: (query: string) => Promise<string[]>

  beforeAll(async () => {
    workspace = await buildWorkspace(platform)
    const other = await addDomain(platform, { workspaceId: workspace.id, slug: `other.${workspace.domain}` })
    await buildLink(platform, workspace, { key: 'first', url: 'https://example.com/Spring_Sale' })
    await buildLink(platform, workspace, { key: 'Second', url: 'https://example.com/100%25' })
    await buildLink(platform, workspace, { key: 'third', url: 'https://example.com/springXsale', domain: other.slug })
    await buildLink(platform, workspace, { key: 'fourth', url: 'https://example.com/back\\slash' })
    await sql`UPDATE links SET archived = true WHERE workspace_id = ${workspace.id} AND key = 'fourth'`.execute(
      platform.db,
    )
    await buildLink(platform, await buildWorkspace(platform), { key: 'foreign' })
    keys = async (query) => {
      const { status, body } = await get(workspace, query)
      expect(status).toBe(200)
      return (body as { key: string }[]).map(({ key }) => key)
    }
  })

  it('200: lists the links of the workspace, newest first, without archived ones', async () => {
    expect(await keys('')).toEqual(['third', 'Second', 'first'])
  })

  it('200: returns the same link as its creation', async () => {
    const own = await buildWorkspace(platform)
    const created = await buildLink(platform, own, { externalId: 'x' })
    const [listed] = await as(own)(listLinks)
    expect(listed).toEqual({ ...created, qrCode: listed?.qrCode })
    expect(listed?.qrCode).toBe(`${api}/qr?url=${encodeURIComponent(created.shortLink)}`)
  })

  it('200: the list is empty for a workspace without links, and past the last page', async () => {
    expect(await as(await buildWorkspace(platform))(listLinks)).toEqual([])
    expect(await keys('page=2')).toEqual([])
    expect(await keys(`page=${Number.MAX_SAFE_INTEGER}`)).toEqual([])
  })

  it.each([
    ['sortOrder=asc', ['first', 'Second', 'third']],
    ['sortOrder=desc', ['third', 'Second', 'first']],
    ['sortBy=createdAt&sortOrder=asc&pageSize=2', ['first', 'Second']],
    ['sortOrder=asc&pageSize=2&page=2', ['third']],
    ['showArchived=true', ['fourth', 'third', 'Second', 'first']],
    ['showArchived=1&sortOrder=asc', ['first', 'Second', 'third', 'fourth']],
    ['showArchived=false', ['third', 'Second', 'first']],
    ['search=spring', ['third', 'first']],
    ['search=spring_sale', ['first']],
    ['search=100%25', ['Second']],
    ['search=%25', ['Second']],
    ['search=_', ['first']],
    ['search=SECOND', ['Second']],
    ['search=%5C&showArchived=true', ['fourth']],
    ['search=other.t-', ['third']],
    ['search=nothing', []],
    ["search='%20OR%201=1--", []],
    ['domain=nobody.example', []],
    ['domain=&search=', ['third', 'Second', 'first']],
  ])('200: %s', async (query, expected) => {
    expect(await keys(query)).toEqual(expected)
  })

  it('200: lists the links of one domain, case-insensitive', async () => {
    expect(await keys(`domain=${workspace.domain}`)).toEqual(['Second', 'first'])
    expect(await keys(`domain=OTHER.${workspace.domain.toUpperCase()}`)).toEqual(['third'])
  })

  it('200: lists links by state, partner and day of creation; counts and groups agree', async () => {
    const own = await buildWorkspace(platform)
    await buildProgram(platform, own)
    const partner = await buildPartner(platform, own)
    await buildLink(platform, own, { key: 'plain' })
    await buildLink(platform, own, { key: 'secret', password: 'x', partnerId: partner.id })
    await buildLink(platform, own, { key: 'over', expiresAt: '2020-01-01T00:00:00Z' })
    await buildLink(platform, own, { key: 'later', expiresAt: '2099-01-01T00:00:00Z' })
    await buildLink(platform, own, { key: 'off', disabledAt: '2020-01-01T00:00:00Z' })
    await buildLink(platform, own, { key: 'hidden', archived: true })
    const testVariants = ['a', 'b'].map((name) => ({ url: `https://example.com/${name}`, percentage: 50 }))
    await buildLink(platform, own, { key: 'test', testVariants })
    await sql`UPDATE links SET created_at = '2026-01-31T10:00:00Z' WHERE workspace_id = ${own.id} AND key = 'plain'`.execute(
      platform.db,
    )
    const find = async (query: LinkQuery) => {
      const found = (await as(own)(listLinks, { query: { sortOrder: 'asc', ...query } })).map(({ key }) => key)
      expect(await as(own)(countLinks, { query })).toBe(found.length)
      const groups = await as(own)(groupLinks, { query: { ...query, groupBy: 'domain' } })
      expect(groups.reduce((sum, { count }) => sum + count, 0)).toBe(found.length)
      return found
    }
    expect(await find({ state: 'active' })).toEqual(['plain', 'secret', 'later', 'test'])
    expect(await find({ state: 'archived' })).toEqual(['hidden'])
    expect(await find({ state: 'expired' })).toEqual(['over'])
    expect(await find({ state: 'disabled' })).toEqual(['off'])
    expect(await find({ state: 'password' })).toEqual(['secret'])
    expect(await find({ state: 'test' })).toEqual(['test'])
    expect(await find({ partnerId: partner.id })).toEqual(['secret'])
    expect(await find({ partnerId: 'pn_nobody' })).toEqual([])
    expect(await find({ start: '2026-01-31T10:00:00Z', end: '2026-01-31T12:00:00+01:00' })).toEqual(['plain'])
    expect(await find({ end: '2026-01-31T10:00:00Z' })).toEqual([])
  })

  it('200: pages over 250 links of one timestamp list each once, in both orders', async () => {
    const own = await buildWorkspace(platform)
    await sql`
      INSERT INTO links (id, workspace_id, domain, key, lookup_key, url, created_at)
      SELECT 'link_' || gen_random_uuid(), ${own.id}, ${own.domain}, 'k' || n, 'k' || n, 'https://example.com/', '2026-01-01'
      FROM generate_series(1, 250) AS n`.execute(platform.db)
    const walk = async (sortOrder: 'asc' | 'desc', pageSize: number) => {
      const seen: string[] = []
      for (let page = 1; ; page++) {
        const links = await as(own)(listLinks, { query: { sortOrder, page, pageSize } })
        seen.push(...links.map((link) => link.key))
        if (links.length < pageSize) return seen
      }
    }
    const ascending = await walk('asc', 100)
    expect(new Set(ascending).size).toBe(250)
    expect(ascending).toHaveLength(250)
    expect(await walk('desc', 60)).toEqual(ascending.toReversed())
  })

  it('200: a page has 100 links by default', async () => {
    const own = await buildWorkspace(platform)
    for (let index = 0; index < 101; index++) await buildLink(platform, own)
    expect(await as(own)(listLinks)).toHaveLength(100)
  })

  it.each([
    ['page=abc', '`page` in the query must be a number, not "abc".'],
    ['pageSize=ten', '`pageSize` in the query must be a number, not "ten".'],
    ['showArchived=yes', '`showArchived` in the query must be true or false, not "yes".'],
    ['domain=a&domain=b', '`domain` in the query is given more than once. Send it once.'],
  ])('400: %s', async (query, message) => {
    expect(await get(workspace, query)).toEqual({ status: 400, body: refusal('bad_request', message) })
  })

  it('401: with an unknown key', async () => {
    expect((await get({ key: 'trib_unknown' }, '')).status).toBe(401)
  })

  it('403: with a key of another scope', async () => {
    const own = await buildWorkspace(platform, { scopes: ['domains.write', 'analytics.read'] })
    const message = 'This key lacks the scope links.read. Create a key that has it.'
    expect(await get(own, '')).toEqual({ status: 403, body: refusal('forbidden', message) })
  })

  it.each([
    ['page=0', '`page` in the query must be at least 1, not 0.'],
    ['page=-1', '`page` in the query must be at least 1, not -1.'],
    ['page=1.5', '`page` in the query must be a whole number.'],
    ['pageSize=0', '`pageSize` in the query must be at least 1, not 0.'],
    ['pageSize=101', '`pageSize` in the query must be at most 100, not 101.'],
    ['sortOrder=up', '`sortOrder` in the query must be one of `asc`, `desc`, not "up".'],
    [
      'sortBy=key',
      '`sortBy` in the query must be one of `createdAt`, `clicks`, `saleAmount`, `lastClicked`, not "key".',
    ],
    ['search=%00', '`search` in the query must not contain the character U+0000 or half of a surrogate pair.'],
  ])('422: %s', async (query, message) => {
    expect(await get(workspace, query)).toEqual({ status: 422, body: refusal('unprocessable_entity', message) })
  })

  it("429: after the free plan's 60 requests per minute", async () => {
    const own = await buildWorkspace(platform, { plan: 'free' })
    const answers = await Promise.all(Array.from({ length: 61 }, () => get(own, '')))
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(1)
  })
})

it.each(['0000-01-01T00:00:00Z', '9999-12-31T23:59:59-23:59'])(
  'a time far away (%s) selects links as any other',
  async (time) => {
    const workspace = await buildWorkspace(platform)
    await buildLink(platform, workspace)
    const call = createClient({ url: api, token: workspace.key })
    const [after, before] = await Promise.all([
      call(listLinks, { query: { start: time } }),
      call(listLinks, { query: { end: time } }),
    ])
    expect(after.length + before.length).toBe(1)
  },
)
