import {
  type Grouping,
  groupings,
  retrieveAnalytics,
  retrieveAnalyticsBatch,
  retrieveLinkStats,
} from '@tributary/contract/analytics'
import { createClient } from '@tributary/contract/client'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { type BuiltWorkspace, buildLink, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { eventually, openTestPlatform } from '../../../test/stack.ts'
import { appendClicks, appendConversions, type NewClick, type NewSale } from '../event-storage/service.ts'
import { createFolder } from '../folders/service.ts'
import { linkNumbers } from '../links/service.ts'
import { createTag } from '../tags/service.ts'

const platform = await openTestPlatform()
const { api } = inject('server')
const zeros = { clicks: 0, leads: 0, sales: 0, saleAmount: 0 }
const hourMs = 3_600_000
const now = Date.now()

let workspace: BuiltWorkspace
let call: ReturnType<typeof createClient>
let folderId: string
let tag: { id: string; name: string }
let links: { popular: string; quiet: string }

beforeAll(async () => {
  workspace = await buildWorkspace(platform)
  call = createClient({ url: api, token: workspace.key })
  const ctx = contextIn(platform, workspace.id)
  folderId = (await createFolder(ctx, { name: 'Spring', accessLevel: 'write' })).id
  tag = await createTag(ctx, { name: 'paid' })
  const popular = await buildLink(platform, workspace, { key: 'popular', folderId, tagIds: [tag.id] })
  const quiet = await buildLink(platform, workspace, { key: 'quiet', externalId: 'q-1' })
  links = { popular: popular.id, quiet: quiet.id }
  const findNumber = async (id: string) => String((await linkNumbers(ctx, { ids: [id] }))[0])
  const [popularNumber, quietNumber] = [await findNumber(popular.id), await findNumber(quiet.id)]
  const click = (given: Partial<NewClick>) => ({
    ...row,
    workspace_id: workspace.id,
    timestamp: now - hourMs,
    ...given,
  })
  await appendClicks(
    platform,
    [
      click({ link_number: popularNumber, ...berlin, ip: '192.0.2.1' }),
      click({ link_number: popularNumber, ip: '192.0.2.1', timestamp: now - 2 * hourMs }),
      click({ link_number: popularNumber, url: 'https://example.com/a?x=1#y', trigger: 'odd' }),
      click({ link_number: quietNumber, ...berlin }),
      click({ link_number: quietNumber, bot: 'user-agent' }),
      click({ link_number: quietNumber, timestamp: now - 400 * 24 * hourMs }),
    ].map((click, index) => ({ ...click, id_text: Buffer.alloc(30, index).toString('base64url') })),
    `analytics-test:${workspace.id}`,
  )
  const { id_text: _, ...ofClick } = click({ link_number: quietNumber, country: 'FR' })
  const conversion = { ...ofClick, ...conversionFields }
  const sale = (given: Partial<NewSale> & { amount: string }): NewSale => ({
    ...conversion,
    ...saleFields,
    ...given,
  })
  await platform.db.transaction().execute((db) =>
    appendConversions(
      { ...platform, db: db as never },
      {
        leads: [{ ...conversion, id: 'lead' }],
        sales: [
          sale({ id: 'sale-1', amount: '5000' }),
          sale({ id: 'sale-2', amount: '700' }),
          sale({ id: 'refund-1', amount: '-2000', kind: 'refund', sales: 0 }),
          sale({ id: 'refund-2', amount: '-700', kind: 'refund', sales: -1 }),
          sale({ id: 'sale-3', amount: '900', link_number: '0', country: 'JP' }),
          sale({ id: 'refund-3', amount: '-900', link_number: '0', country: 'JP', kind: 'refund', sales: -1 }),
        ],
      },
      `analytics-test:${workspace.id}`,
    ),
  )
  await eventually(async () =>
    expect(await call(retrieveAnalytics, { query: { groupBy: 'top_domains' } })).toEqual([
      { domain: workspace.domain, ...zeros, clicks: 4 },
    ]),
  )
})

const ask = async (query: Record<string, string | boolean>) =>
  (await call(retrieveAnalytics, { query: query as never })) as unknown

describe('retrieveAnalytics', () => {
  it('200: counts one kind of event, less refunds, and all kinds with composite', async () => {
    expect(await ask({})).toEqual({ ...zeros, clicks: 4 })
    expect(await ask({ event: 'leads' })).toEqual({ ...zeros, leads: 1 })
    expect(await ask({ event: 'sales' })).toEqual({ ...zeros, sales: 1, saleAmount: 3000 })
    expect(await ask({ event: 'composite' })).toEqual({ clicks: 4, leads: 1, sales: 1, saleAmount: 3000 })
    expect(await ask({ event: 'composite', country: 'JP' })).toEqual(zeros)
    expect(await ask({ interval: 'all' })).toEqual({ ...zeros, clicks: 5 })
  })

  it('200: counts clicks by bots only on request', async () => {
    expect(await ask({ bots: 'include' })).toEqual({ ...zeros, clicks: 5 })
    expect(await ask({ bots: 'only', event: 'composite', interval: '7d' })).toEqual({ ...zeros, clicks: 1 })
  })

  it('200: counts visitors on request', async () => {
    expect(await ask({ visitors: true })).toEqual({ ...zeros, clicks: 4, visitors: 2 })
    const series = (await ask({ visitors: true, groupBy: 'timeseries' })) as { visitors: number }[]
    expect(series.map(({ visitors }) => visitors).filter(Boolean)).toEqual([1, 2])
  })

  it('200: sorts groups by count, with unknown values and groups that have only sales', async () => {
    const location = { region: '*', city: '*' }
    expect(await ask({ groupBy: 'countries', event: 'composite' })).toEqual([
      { country: 'DE', ...location, ...zeros, clicks: 2 },
      { country: 'Unknown', ...location, ...zeros, clicks: 2 },
      { country: 'FR', ...location, clicks: 0, leads: 1, sales: 1, saleAmount: 3000 },
    ])
    expect(await ask({ groupBy: 'cities' })).toContainEqual({
      country: 'DE',
      region: 'DE-BE',
      city: 'Berlin',
      ...zeros,
      clicks: 2,
    })
    expect(await ask({ groupBy: 'utm_sources' })).toEqual([{ utm_source: '', ...zeros, clicks: 4 }])
    expect(await ask({ groupBy: 'top_base_urls' })).toContainEqual({
      url: 'https://example.com/a',
      ...zeros,
      clicks: 1,
    })
  })

  it('200: returns no row for a value that the contract does not allow', async () => {
    expect(await ask({ groupBy: 'continents' })).toEqual([{ continent: 'EU', ...zeros, clicks: 2 }])
    expect(await ask({ groupBy: 'trigger' })).toEqual([{ trigger: 'link', ...zeros, clicks: 3 }])
    expect(await ask({ groupBy: 'triggers', trigger: 'odd' })).toEqual([])
  })

  it('200: returns top links, folders and tags with their names', async () => {
    expect(await ask({ groupBy: 'top_links' })).toMatchObject([
      { key: 'popular', clicks: 3, folderId },
      { key: 'quiet', clicks: 1, domain: workspace.domain },
    ])
    expect(await ask({ groupBy: 'top_folders' })).toEqual([
      { folderId, folder: { id: folderId, name: 'Spring', accessLevel: 'write' }, ...zeros, clicks: 3 },
      { folderId: null, folder: null, ...zeros, clicks: 1 },
    ])
    expect(await ask({ groupBy: 'top_link_tags' })).toEqual([
      { tagId: tag.id, tag, ...zeros, clicks: 3 },
      { tagId: null, tag: null, ...zeros, clicks: 1 },
    ])
    expect(await ask({ groupBy: 'top_partners' })).toEqual([])
  })

  it('200: returns a time series without gaps in the time zone', async () => {
    const hours = (await ask({ groupBy: 'timeseries', timezone: 'Asia/Kolkata' })) as {
      start: string
      clicks: number
    }[]
    expect(hours).toHaveLength(25)
    expect(hours.every(({ start }) => /T\d\d:00:00\+05:30$/.test(start))).toBe(true)
    expect(hours.map(({ clicks }) => clicks).filter(Boolean)).toEqual([1, 3])
    const months = (await ask({ groupBy: 'timeseries', interval: 'all' })) as { clicks: number }[]
    expect(months.length).toBeGreaterThan(12)
    expect(months[0]).toMatchObject({ clicks: 1 })
    const fresh = await buildWorkspace(platform)
    const empty = createClient({ url: api, token: fresh.key })
    expect(await empty(retrieveAnalytics, { query: { groupBy: 'timeseries', interval: 'all' } })).toHaveLength(1)
  })

  it.each<Grouping>(groupings)('200: %s', async (groupBy) => {
    const query = new URLSearchParams({ groupBy, event: 'composite', bots: 'include', interval: '7d' })
    const response = await fetch(`${api}/analytics?${query}`, { headers: { authorization: `Bearer ${workspace.key}` } })
    expect(response.status).toBe(200)
    const body: object = JSON.parse(await response.text())
    if (groupBy === 'count') expect(Object.keys(body)).toEqual(['clicks', 'leads', 'sales', 'saleAmount'])
    else expect(Array.isArray(body)).toBe(true)
  })

  it('403: fails on the free plan', async () => {
    const { key } = await buildWorkspace(platform, { plan: 'free' })
    const refused = createClient({ url: api, token: key })(retrieveAnalytics)
    await expect(refused).rejects.toMatchObject({ status: 403, code: 'forbidden' })
    const pro = await buildWorkspace(platform, { plan: 'pro' })
    expect(await createClient({ url: api, token: pro.key })(retrieveAnalytics)).toEqual(zeros)
  })

  it.each([
    ['groupBy', { groupBy: 'mood' }],
    ['event', { event: 'opens' }],
    ['bots', { bots: 'maybe' }],
    ['visitors', { visitors: 'true', groupBy: 'countries' }],
    ['timezone', { timezone: 'Mars/Base' }],
    ['interval', { interval: '2d' }],
    ['query', { groupBy: 'top_groups', query: 'plan:pro' }],
  ])('422: %s', async (parameter, query) => {
    await expect(ask(query as never)).rejects.toMatchObject({
      status: 422,
      message: expect.stringContaining(parameter),
    })
  })
})

describe('retrieveAnalyticsBatch', () => {
  const askBatch = (body: object) => call(retrieveAnalyticsBatch, { body: body as never })

  it('200: returns what GET /analytics does for each dimension', async () => {
    const period = { event: 'composite', interval: '7d', timezone: 'Europe/Berlin' }
    const filters: Record<string, string>[] = [{}, { country: 'DE' }, { linkId: links.popular }, { root: 'false' }]
    for (const filter of filters) {
      const some = groupings.slice(0, 20)
      const batch = (await askBatch({ ...period, ...filter, groupBy: some, limit: 1_000 })) as Record<string, unknown>
      expect(Object.keys(batch).toSorted()).toEqual(some.toSorted())
      for (const groupBy of some)
        expect([groupBy, batch[groupBy]]).toEqual([groupBy, await ask({ ...period, ...filter, groupBy })])
    }
  })

  it('200: limits the rows of each dimension, but not of a time series', async () => {
    const body = { groupBy: ['timeseries', 'countries', 'top_links', 'count'], limit: 1, root: false }
    const batch = await askBatch(body)
    expect(batch.timeseries).toHaveLength(25)
    expect(batch.countries).toMatchObject([{ country: 'DE' }])
    expect(batch.top_links).toMatchObject([{ key: 'popular' }])
    expect(batch.count).toEqual({ ...zeros, clicks: 4 })
  })

  it('200: counts visitors on request', async () => {
    const batch = await askBatch({ groupBy: ['count', 'timeseries'], visitors: true })
    expect(batch.count).toEqual({ ...zeros, clicks: 4, visitors: 2 })
    expect(batch.timeseries?.map(({ visitors }) => visitors).filter(Boolean)).toEqual([1, 2])
  })

  it.each([
    ['groupBy', { groupBy: [] }],
    ['groupBy', { groupBy: ['mood'] }],
    ['groupBy', { groupBy: Array(21).fill('count') }],
    ['limit', { groupBy: ['count'], limit: 0 }],
    ['limit', { groupBy: ['count'], limit: 1_001 }],
    ['visitors', { groupBy: ['count', 'countries'], visitors: true }],
    ['timezone', { groupBy: ['count'], timezone: 'Mars/Base' }],
  ])('422: %s', async (field, body) => {
    await expect(askBatch(body)).rejects.toMatchObject({ status: 422, message: expect.stringContaining(field) })
  })
})

describe('retrieveLinkStats', () => {
  const askStats = (query: object) => call(retrieveLinkStats, { query: query as never })

  it('200: returns the counts of links in the order of the query', async () => {
    const quiet = { linkId: links.quiet, clicks: 1, leads: 1, sales: 1, saleAmount: 3000 }
    const popular = { linkId: links.popular, ...zeros, clicks: 3 }
    expect(await askStats({ linkIds: [links.quiet, links.popular, links.quiet] })).toEqual([quiet, popular])
    expect(await askStats({ linkIds: `ext_q-1,${links.popular},link_unknown` })).toEqual([quiet, popular])
    expect(await askStats({ linkIds: links.quiet, interval: 'all' })).toEqual([{ ...quiet, clicks: 2 }])
    expect(await askStats({ linkIds: 'link_unknown' })).toEqual([])
  })

  it('200: adds a series without gaps on request', async () => {
    const both = { linkIds: [links.popular, links.quiet], series: true, timezone: 'Asia/Kolkata' }
    const [popular, quiet] = await askStats(both)
    expect(popular?.series).toHaveLength(25)
    expect(popular?.series?.map(({ clicks }) => clicks).filter(Boolean)).toEqual([1, 2])
    expect(quiet).toMatchObject({ clicks: 1, leads: 1, sales: 1, saleAmount: 3000 })
    expect(await askStats({ linkIds: links.quiet, series: true, interval: '30d' })).toMatchObject([{ clicks: 1 }])
  })

  it('200: returns nothing of links of another workspace', async () => {
    const other = await buildWorkspace(platform)
    const theirs = createClient({ url: api, token: other.key })
    expect(await theirs(retrieveLinkStats, { query: { linkIds: [links.popular] } })).toEqual([])
  })

  it('422: refuses more than 100 links', async () => {
    const linkIds = Array.from({ length: 101 }, (_, index) => `link_${index}`)
    await expect(askStats({ linkIds })).rejects.toMatchObject({ status: 422 })
  })
})

const berlin = { country: 'DE', region: 'DE-BE', city: 'Berlin', continent: 'EU' }
const row = {
  id_text: '',
  link_number: '0',
  url: 'https://example.com/landing',
  trigger: 'link',
  ip: '192.0.2.9',
  country: 'Unknown',
  region: 'Unknown',
  city: 'Unknown',
  continent: 'Unknown',
  device: 'Desktop',
  browser: 'Chrome',
  os: 'Linux',
  referer: '(direct)',
  referer_url: '(direct)',
  utm_source: '',
  utm_medium: '',
  utm_campaign: '',
  utm_term: '',
  utm_content: '',
  bot: '',
}
const conversionFields = {
  id: '',
  event_name: 'Sign up',
  customer_id: 'cus_1',
  metadata: '',
  click_id_text: Buffer.alloc(30).toString('base64url'),
  click_timestamp: now - hourMs,
}
const saleFields = {
  kind: 'sale',
  sales: 1,
  currency: 'usd',
  invoice_id: '',
  payment_processor: 'custom',
  sale_type: 'new',
}
