import { Dub } from 'dub'
import { HTTPClient } from 'dub/lib/http.js'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { buildWorld } from '../server/test/events/world.ts'
import { openTestPlatform } from '../server/test/stack.ts'

const platform = await openTestPlatform()
const { api } = inject('server')
const events = ['clicks', 'leads', 'sales', 'composite'] as const
const counts = ['clicks', 'leads', 'sales', 'saleAmount']

/** Field names of a row, by grouping, listed independently of the contract. The SDK decodes these groupings. */
const decodable = {
  count: '',
  timeseries: 'start',
  continents: 'continent',
  countries: 'country region city',
  regions: 'country region city',
  cities: 'country region city',
  devices: 'device',
  browsers: 'browser',
  os: 'os',
  trigger: 'trigger',
  triggers: 'trigger',
  referers: 'referer',
  referer_urls: 'refererUrl',
  top_links: 'link id domain key shortLink url title comments folderId partnerId createdAt',
  top_urls: 'url',
  top_base_urls: 'url',
}
const others = {
  top_folders: 'folderId folder',
  top_link_tags: 'tagId tag',
  top_domains: 'domain',
  top_partners: 'partnerId partner',
  top_groups: 'groupId group',
  top_partner_tags: 'partnerTagId partnerTag',
  utm_sources: 'utm_source',
  utm_mediums: 'utm_medium',
  utm_campaigns: 'utm_campaign',
  utm_terms: 'utm_term',
  utm_contents: 'utm_content',
}

let token: string
let lastBody: unknown
let client: Dub

beforeAll(async () => {
  token = (await buildWorld(platform, 6, { clicks: 400, leads: 200, sales: 200 })).workspace.key
  const fetcher = async (request: string | URL | Request) => {
    const response = await fetch(request)
    lastBody = await response.clone().json()
    return response
  }
  client = new Dub({ token, serverURL: api, httpClient: new HTTPClient({ fetcher }) })
}, 180_000)

describe.each(events)('%s', (event) => {
  test.each(Object.entries(decodable))('the SDK decodes %s', async (groupBy, keys) => {
    const request = { event, groupBy: groupBy as keyof typeof decodable, interval: 'all' as const }
    const read = await client.analytics.retrieve({ ...request, timezone: 'Europe/Berlin' })
    expect(read).toEqual(lastBody)
    if (groupBy === 'count') expect(Object.keys(lastBody as object)).toEqual(counts)
    else expectRows(lastBody, keys)
  })

  test.each(Object.entries(others))('rows of %s have exactly the expected fields', async (groupBy, keys) => {
    expectRows(await ask({ event, groupBy, interval: 'all' }), keys)
  })
})

test('without arguments analytics counts the clicks of a day', async () => {
  expect(await client.analytics.retrieve()).toEqual({ clicks: 0, leads: 0, sales: 0, saleAmount: 0 })
})

test('every total is the sum of its rows if no row is omitted', async () => {
  const total = (await ask({ event: 'composite', interval: 'all' })) as Record<string, number>
  for (const groupBy of ['timeseries', 'countries', 'cities', 'top_links', 'top_urls', 'top_folders', 'utm_terms']) {
    const rows = (await ask({ event: 'composite', groupBy, interval: 'all' })) as Record<string, number>[]
    for (const count of counts) {
      expect([groupBy, count, rows.reduce((sum, row) => sum + (row[count] ?? 0), 0)]).toEqual([
        groupBy,
        count,
        total[count],
      ])
    }
  }
})

function expectRows(body: unknown, keys: string): void {
  const rows = body as object[]
  expect(rows.length).toBeGreaterThan(0)
  const expected = [...keys.split(' '), ...counts].sort()
  for (const row of rows) expect(Object.keys(row).sort()).toEqual(expected)
}

async function ask(query: Record<string, string>): Promise<unknown> {
  const response = await fetch(`${api}/analytics?${new URLSearchParams(query)}`, {
    headers: { authorization: `Bearer ${token}` },
  })
  expect(response.status).toBe(200)
  return response.json()
}
