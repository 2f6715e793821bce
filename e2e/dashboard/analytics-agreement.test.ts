import { createClient } from '@tributary/contract/client'
import fc from 'fast-check'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { type Counts, modelAnalytics } from '../../server/test/events/analytics-model.ts'
import { clockIn, midnightIn } from '../../server/test/events/local-time.ts'
import type { ModelQuery } from '../../server/test/events/model.ts'
import { arbitraryQueries } from '../../server/test/events/queries.ts'
import { type BuiltWorld, buildWorld } from '../../server/test/events/world.ts'
import { sized } from '../../server/test/size.ts'
import { lacksBrowser, openBrowser, type Visiting, type Visitor } from './browser.ts'

const seed = Number(process.env.TEST_SEED ?? 20_261_118)
const states = sized({ short: 20, full: 200 })
const timeZone = 'America/New_York'
const measures = ['clicks', 'leads', 'sales', 'saleAmount'] as const
type Measure = (typeof measures)[number]
/** What the page can filter by. */
const filterNames = [
  ...['linkId', 'folderId', 'tagId', 'domain', 'url', 'referer', 'refererUrl', 'customerId', 'saleType'],
  ...['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content'],
  ...['continent', 'country', 'region', 'city', 'device', 'browser', 'os', 'trigger'],
  ...['partnerId', 'groupId', 'partnerTagId'],
]
/** Cards and their dimensions whose rows can't tie in another order: they are compared as sorted figures. */
const dimensions = ['top_links', 'referers', 'utm_campaigns', 'countries', 'devices', 'top_urls', 'top_partners']
const captions = ['Links', 'Sources', 'Campaigns', 'Countries', 'Devices', 'Destinations', 'Partners']

type State = { search: Record<string, string>; about: Omit<ModelQuery, 'kind'>; measure: Measure; query: object }

describe.skipIf(lacksBrowser)('analytics agree', () => {
  let visiting: Visiting
  let world: BuiltWorld
  let visitor: Visitor
  beforeAll(async () => {
    visiting = await openBrowser()
    world = await buildWorld(visiting.platform, seed, { clicks: 12_000, leads: 4_000, sales: 3_000 })
    visitor = await visiting.visit({ workspace: world.workspace })
    await call('updateWorkspace', { params: { idOrSlug: world.workspace.slug }, body: { timeZone } })
    // The page's days are those of the world, whose events lie in the past.
    await visitor.page.clock.setFixedTime(world.now)
  }, 240_000)
  afterAll(() => visiting?.[Symbol.asyncDispose]())

  const call: ReturnType<typeof createClient> = (operation, input) =>
    createClient({ url: inject('server').api, token: world.workspace.key })(operation, input)

  test(`figures on the screen are those of GET /analytics, GET /events and a plain model in ${states} states (seed ${seed})`, async () => {
    const { page, open, problems } = visitor
    await open('/analytics')
    let filled = 0
    for (const state of fc.sample(arbitraryStates(world), { seed, numRuns: states })) {
      await go(page, world.workspace.slug, state.search)
      const expected = model(world, state)
      try {
        await expect.poll(() => readPage(page), { timeout: 15_000, interval: 100 }).toEqual(expected)
      } catch (error) {
        const shown = JSON.stringify(await readPage(page))
        const [search, modelled] = [state.search, expected].map((value) => JSON.stringify(value))
        throw new Error(`${search}: the page shows ${shown}, the model ${modelled}`, { cause: error })
      }
      expect(await ask(state)).toEqual(expected.totals)
      await expectEvents(state, expected.totals[0] ?? 0)
      if (expected.totals.some((total) => total !== 0)) filled += 1
    }
    expect(filled).toBeGreaterThan(states * 0.3)
    expect(problems).toEqual([])
  }, 1_500_000)

  async function ask({ query }: State): Promise<number[]> {
    const answer = await call('retrieveAnalytics', { query: { ...query, event: 'composite', groupBy: 'count' } })
    return measures.map((measure) => (answer as Counts)[measure])
  }

  /** A page of events has as many clicks as the total says. */
  async function expectEvents({ query }: State, clicks: number): Promise<void> {
    const events = await call('listEvents', { query: { ...query, event: 'clicks', limit: 1_000 } })
    expect(events).toHaveLength(Math.min(clicks, 1_000))
  }
})

function arbitraryStates(world: BuiltWorld): fc.Arbitrary<State> {
  const today = clockIn(timeZone, world.now).slice(0, 10)
  const shift = (day: string, days: number) => new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10)
  const own = fc
    .tuple(fc.nat(120), fc.nat(60))
    .map(([ago, length]) => ({ from: shift(today, -ago - length), to: shift(today, -ago) }))
  const named = fc.constantFrom<[string, string]>(
    ['today', today],
    ['7d', shift(today, -6)],
    ['90d', shift(today, -89)],
    ['mtd', `${today.slice(0, 8)}01`],
    ['all', '1970-01-02'],
  )
  return fc
    .record({
      asked: arbitraryQueries(world),
      own,
      named,
      isNamed: fc.boolean(),
      measure: fc.constantFrom(...measures),
    })
    .map(({ asked, own, named: [name, first], isNamed, measure }) => {
      // A link's own domain and key are no filter of the page.
      const isGiven = (name: string) => name in asked.model.choices || name === 'customerId' || name === 'saleType'
      const given = Object.entries(asked.query).filter(([name]) => filterNames.includes(name) && isGiven(name))
      const filters = Object.fromEntries(given)
      const period = isNamed ? name : `${own.from}..${own.to}`
      const { from, to } = isNamed ? { from: first, to: today } : own
      const { customerId, saleType } = asked.model
      const choices = Object.fromEntries(Object.entries(asked.model.choices).filter(([name]) => name in filters))
      return {
        measure,
        search: { ...filters, period, ...(measure !== 'clicks' && { measure }) },
        query: { ...filters, start: from, end: to, timezone: timeZone },
        about: {
          choices,
          ...(filters.customerId && { customerId }),
          ...(filters.saleType && { saleType }),
          from: midnightIn(timeZone, from),
          to: midnightIn(timeZone, shift(to, 1)),
        },
      }
    })
}

/** The totals in the order of the page, and the seven highest rows of each card. */
function model(world: BuiltWorld, { about, measure }: State) {
  const count = (groupBy: string, kinds: ('clicks' | 'leads' | 'sales')[]) =>
    modelAnalytics(world, { about, kinds, groupBy, timezone: timeZone, unit: 'day' })
  const total = count('count', ['clicks', 'leads', 'sales']).get('')
  const kinds =
    measure === 'clicks' ? (['clicks'] as const) : measure === 'leads' ? (['leads'] as const) : (['sales'] as const)
  const cards = dimensions.map((dimension) => {
    const rows = [...count(dimension, [...kinds]).values()]
    // The API returns the ten rows with the highest amounts; the page orders them by number.
    const top = rows.toSorted((a, b) => order(b, measure) - order(a, measure)).slice(0, 10)
    const values = top.map((row) => row[measure]).filter((value) => value !== 0)
    return values.toSorted((a, b) => b - a).slice(0, 7)
  })
  return { totals: measures.map((name) => total?.[name] ?? 0), cards }
}

function order(row: Counts, measure: Measure): number {
  return measure === 'sales' ? row.saleAmount : row[measure]
}

/** Changes the address as a link of the page would. */
async function go(page: Page, slug: string, search: Record<string, string>): Promise<void> {
  const address = JSON.stringify(`/app/${slug}/analytics?${new URLSearchParams(search)}`)
  await page.evaluate(`history.pushState({}, '', ${address}); dispatchEvent(new PopStateEvent('popstate'))`)
}

/** Numbers as the page writes them; money in cents. */
function readPage(page: Page): Promise<{ totals: number[]; cards: number[][] }> {
  return page.evaluate(`(() => {
    const number = (text = '') =>
      Math.round(Number(text.replaceAll(/[^\\d.-]/g, '')) * (text.includes('$') ? 100 : 1))
    const totals = [...document.querySelectorAll('section[aria-label="Totals"] button')]
    const tables = new Map([...document.querySelectorAll('table')].map((table) => [table.caption?.textContent, table]))
    return {
      totals: totals.map((total) => number(total.children[1]?.textContent)),
      cards: ${JSON.stringify(captions)}.map((caption) => {
        const rows = [...(tables.get(caption)?.querySelectorAll('tbody tr') ?? [])]
        return rows.map((row) => number(row.querySelector('td')?.textContent))
      }),
    }
  })()`)
}
