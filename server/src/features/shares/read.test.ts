import { publicColumns, publicGroupings } from '@tributary/contract/public-stats'
import { publicFilters, type ShareAnalytics } from '@tributary/contract/shares'
import fc from 'fast-check'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { buildShared, visitShare } from '../../../test/shares.ts'
import { openTestPlatform } from '../../../test/stack.ts'

const platform = await openTestPlatform()
const { api } = inject('server')
const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)
const [start, end] = [day(10), day(0)]
let built: Awaited<ReturnType<typeof buildShared>>
const shares: { query: Record<string, string>; clicks: string; conversions: string }[] = []

beforeAll(async () => {
  built = await buildShared(platform, api)
  const { share, saveView, folder, link } = built
  const queries: Record<string, string>[] = [
    {},
    { folderId: folder.id },
    { linkId: link.id },
    { country: 'DE,FR' },
    { country: '-DE', os: 'iOS' },
  ]
  for (const [index, query] of queries.entries()) {
    const { id: viewId } = await saveView({ ...query, interval: '30d' }, `view ${index}`)
    const [clicks, conversions] = [await share({ viewId }), await share({ viewId, showConversions: true })]
    shares.push({ query, clicks: clicks.id, conversions: conversions.id })
  }
})

const count = async (id: string, body: object) => {
  const { status, text } = await visitShare(`${api}/shares/${id}/analytics`, { body })
  return { status, text, answer: JSON.parse(text) as ShareAnalytics }
}

const values: Record<(typeof publicFilters)[number], string[]> = {
  continent: ['EU', 'NA', 'AS', 'XX'],
  country: ['DE', 'FR', 'JP', 'US', 'XX'],
  device: ['Desktop', 'Mobile'],
  browser: ['Chrome', 'Safari', 'Firefox'],
  os: ['Linux', 'iOS'],
  trigger: ['link', 'qr'],
  referer: ['(direct)', 'news.example'],
}
/** Filters by up to two dimensions, each by some values or by all but some. */
const filters = fc
  .uniqueArray(fc.constantFrom(...publicFilters), { maxLength: 2 })
  .chain((names) =>
    fc.tuple(
      ...names.map((name) =>
        fc
          .tuple(fc.subarray(values[name], { minLength: 1 }), fc.constantFrom('', '-'))
          .map(([chosen, sign]) => [name, sign + chosen.join(',')] as const),
      ),
    ),
  )
  .map((pairs) => Object.fromEntries(pairs))

const counts = { clicks: ['clicks'], composite: ['clicks', 'leads', 'sales', 'saleAmount'] }

/** What a visitor should see of the owner's answer: one field of each row, and its counts. */
function shownRows(answer: unknown, groupBy: (typeof publicGroupings)[number], event: keyof typeof counts) {
  const names = [...(groupBy === 'count' ? [] : [publicColumns[groupBy]]), ...counts[event]]
  const rows = [answer].flat() as Record<string, unknown>[]
  return rows.map((row) => Object.fromEntries(names.map((name) => [name, row[name]]))).sort(byText)
}

describe('shared analytics', () => {
  test('equal those of the owner for all groupings and filters, and have no conversions unless they are shown', async () => {
    const chosen = fc.record({ index: fc.nat({ max: 4 }), given: filters })
    await fc.assert(
      fc.asyncProperty(chosen, async ({ index, given }) => {
        const { query, clicks, conversions } = shares[index] as (typeof shares)[number]
        const body = { ...given, groupBy: [...publicGroupings], start, end, limit: 100 }
        const shown = { clicks: await count(clicks, body), composite: await count(conversions, body) }
        expect(shown.clicks.text).not.toMatch(/lead|sale/i)
        // The owner's operation takes only one filter of each name.
        if (Object.keys(given).some((name) => name in query)) return
        for (const event of ['clicks', 'composite'] as const) {
          const owner = await built.call('retrieveAnalyticsBatch', { body: { ...query, ...body, event } })
          for (const groupBy of publicGroupings) {
            const rows = [shown[event].answer[groupBy]].flat().sort(byText)
            expect(rows).toEqual(shownRows(owner[groupBy], groupBy, event))
          }
        }
      }),
      { numRuns: 15 },
    )
  })

  test.each(publicGroupings)('%s equals GET /analytics', async (groupBy) => {
    const { query, clicks, conversions } = shares[1] as (typeof shares)[number]
    for (const [event, id] of Object.entries({ clicks, composite: conversions }) as [keyof typeof counts, string][]) {
      const owner = await built.call('retrieveAnalytics', { query: { ...query, groupBy, event, start, end } })
      const { answer, text } = await count(id, { groupBy: [groupBy], start, end, limit: 100 })
      expect([answer[groupBy]].flat().sort(byText)).toEqual(shownRows(owner, groupBy, event))
      if (event === 'clicks') expect(text).not.toMatch(/lead|sale/i)
    }
  })

  test("a visitor's filter can only take away from what the owner shares", async () => {
    const germanyAndFrance = shares[3] as (typeof shares)[number]
    const notGermany = shares[4] as (typeof shares)[number]
    const clicks = async (id: string, country: string) =>
      (await count(id, { groupBy: ['count'], country })).answer.count?.clicks
    expect(await clicks(germanyAndFrance.clicks, 'FR,US')).toBe(2)
    expect(await clicks(germanyAndFrance.clicks, 'US')).toBe(0)
    expect(await clicks(germanyAndFrance.clicks, '-DE')).toBe(2)
    expect(await clicks(notGermany.clicks, 'DE')).toBe(0)
    expect(await clicks(notGermany.clicks, '-US')).toBe(2)
  })

  test.each<[string, object]>([
    ['cities', { groupBy: ['cities'] }],
    ['links', { groupBy: ['top_links'] }],
    ['destinations', { groupBy: ['top_urls'] }],
    ['partners', { groupBy: ['top_partners'] }],
    ['the event', { groupBy: ['count'], event: 'sales' }],
    ['another link', { groupBy: ['count'], linkId: 'link_1' }],
    ['another folder', { groupBy: ['count'], folderId: '' }],
    ['a customer', { groupBy: ['count'], customerId: 'cus_1' }],
    ['bots', { groupBy: ['count'], bots: 'include' }],
    ['the time zone', { groupBy: ['count'], timezone: 'UTC' }],
  ])('a visitor can not choose %s', async (_, body) => {
    expect([400, 422]).toContain((await count(shares[0]?.clicks ?? '', body)).status)
  })

  test("the series of all time does not begin before the share's own first event", async () => {
    const { answer } = await count(shares[2]?.clicks ?? '', { groupBy: ['timeseries', 'count'], interval: 'all' })
    expect(answer.timeseries?.[0]?.clicks).toBe(1)
    expect(answer.timeseries?.reduce((sum, { clicks }) => sum + clicks, 0)).toBe(answer.count?.clicks)
  })

  test('a fixed period of the owner is a bound', async () => {
    const { share, saveView } = built
    const { id: viewId } = await saveView({ start: '2 days ago' }, 'fixed')
    const { id } = await share({ viewId })
    expect((await count(id, { groupBy: ['count'] })).answer.count).toEqual({ clicks: 2 })
    expect((await count(id, { groupBy: ['count'], interval: 'all' })).status).toBe(422)
    expect((await count(id, { groupBy: ['count'], start: '5 days ago' })).status).toBe(422)
    expect((await count(id, { groupBy: ['count'], start: '90 minutes ago' })).status).toBe(422)
    const { text } = await visitShare(`${api}/shares/${id}/page`)
    expect(JSON.parse(text)).toMatchObject({ period: null, start: expect.any(String), end: null })
  })
})

function byText(one: unknown, other: unknown): number {
  return JSON.stringify(one) < JSON.stringify(other) ? -1 : 1
}
