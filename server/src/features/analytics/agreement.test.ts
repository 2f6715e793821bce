import { setTimeout as sleep } from 'node:timers/promises'
import {
  type AnalyticsQuery,
  type AnalyticsRow,
  analyticsQuery,
  analyticsRows,
  type Grouping,
  groupings,
} from '@tributary/contract/analytics'
import { eventsQuery, intervals } from '@tributary/contract/events'
import fc from 'fast-check'
import { beforeAll, expect, inject, test } from 'vitest'
import { contextIn } from '../../../test/context.ts'
import { type Counts, keyOfRow, modelAnalytics, periodNames, type Unit } from '../../../test/events/analytics-model.ts'
import type { Kind, ModelLink, ModelQuery, World } from '../../../test/events/model.ts'
import { arbitraryQueries } from '../../../test/events/queries.ts'
import { type BuiltWorld, buildWorld } from '../../../test/events/world.ts'
import { sized } from '../../../test/size.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import type { ClickHouse } from '../../platform/clickhouse.ts'
import type { Ctx } from '../../platform/context.ts'
import { listEvents } from '../events/service.ts'
import { countGroupings } from './count.ts'
import { countEvents } from './service.ts'

// Many small concurrent queries finish sooner with one thread each.
const platform = await openTestPlatform({ CLICKHOUSE_URL: `${inject('environment').CLICKHOUSE_URL}?ch_max_threads=1` })
const seed = Number(process.env.TEST_SEED ?? 20_250_407)
const combinations = sized({ short: 150, full: 5_000 })
const atOnce = 12
const quarterMs = 15 * 60_000
const dayMs = 96 * quarterMs
const zeros = { clicks: 0, leads: 0, sales: 0, saleAmount: 0 }
const kindsByEvent: Record<string, Kind[]> = { composite: ['clicks', 'leads', 'sales'] }
const measureByEvent: Record<string, keyof Counts> = { leads: 'leads', sales: 'saleAmount' }

let world: BuiltWorld
let ctx: Ctx

beforeAll(async () => {
  world = await buildWorld(platform, seed, { clicks: 110_000, leads: 55_000, sales: 35_000 })
  ctx = { ...contextIn(platform, world.workspace.id), now: () => new Date(world.now) }
}, 180_000)

type Call = { model: ModelQuery; query: Record<string, string>; groupBy: Grouping }

function callsAbout(world: BuiltWorld): fc.Arbitrary<Call> {
  const own = {
    groupBy: fc.constantFrom<Grouping>(...groupings, 'timeseries', 'timeseries', 'count'),
    event: fc.constantFrom('clicks', 'leads', 'sales', 'composite', 'composite'),
    bots: fc.constantFrom(undefined, 'exclude', 'include', 'only'),
  }
  return fc
    .record({ asked: arbitraryQueries(world), isBare: fc.boolean(), ...own })
    .map(({ asked, isBare, groupBy, event, bots }) => {
      const { interval, start, end, timezone } = asked.query
      const period = Object.entries({ interval, start, end, timezone }).filter(([, value]) => value !== undefined)
      const { kind, from, to } = asked.model
      const filters = isBare ? Object.fromEntries(period) : asked.query
      const model: ModelQuery = isBare ? { kind, from, to, choices: {} } : asked.model
      if (bots === 'include' || bots === 'only') model.bots = bots
      return { model, groupBy, query: { ...filters, groupBy, event, ...(bots && { bots }) } }
    })
}

test(`GET /analytics agrees with a plain model, from rollups and from rows, on ${combinations} combinations (seed ${seed})`, async () => {
  const calls = callsAbout(world)
  const sample = fc.sample(calls, { seed, numRuns: combinations })
  const outcomes = { filled: 0, wrong: [] as [turn: number, error: string][] }
  const turns = sample.keys()
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const turn of turns) {
        const filled = await checkAgain(sample[turn] as Call).catch((error: unknown) => {
          outcomes.wrong.push([turn, String(error).slice(0, 500)])
          return 0
        })
        outcomes.filled += Math.min(filled, 1)
      }
    }),
  )
  const [wrong] = outcomes.wrong[0] ?? []
  if (wrong !== undefined) {
    // The random values again from this index on, so that fast-check can shrink a failure.
    const agrees = fc.asyncProperty(calls, async (call) => void (await check(call)))
    await fc.assert(agrees, { seed, path: String(wrong), numRuns: 1 })
  }
  expect(outcomes.wrong).toEqual([])
  expect(outcomes.filled).toBeGreaterThan(combinations * 0.3)
}, 1_500_000)

test('the combinations have every parameter and grouping', () => {
  const sample = fc.sample(callsAbout(world), { seed, numRuns: 4_000 })
  const used = (name: string) => sample.filter(({ query }) => query[name] !== undefined).length
  const names = Object.keys(analyticsQuery.shape).filter((name) => name !== 'visitors')
  expect(names.filter((name) => used(name) < sample.length / 100)).toEqual([])
  expect(new Set(sample.map(({ groupBy }) => groupBy)).size).toBe(groupings.length)
})

const batches = sized({ short: 15, full: 600 })

test(`POST /analytics/batch returns what GET /analytics does, on ${batches} combinations (seed ${seed})`, async () => {
  const anyGroupings = fc.uniqueArray(fc.constantFrom<Grouping>(...groupings), { minLength: 1, maxLength: 20 })
  const sample = fc.sample(fc.tuple(callsAbout(world), anyGroupings), { seed, numRuns: batches })
  const turns = sample.values()
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const [{ query }, groupBy] of turns) {
        const parsed = analyticsQuery.parse(query)
        const limits = { limits: {}, limit: 5_000 }
        const batch = await countGroupings(ctx, parsed, { groupings: groupBy, ...limits })
        expect(Object.keys(batch).toSorted()).toEqual(groupBy.toSorted())
        for (const name of groupBy) expect(batch[name]).toEqual(await countEvents(ctx, { ...parsed, groupBy: name }))
        const few = await countGroupings(ctx, parsed, { groupings: groupBy, limits: {}, limit: 3 })
        for (const name of groupBy.filter((name) => name !== 'count' && name !== 'timeseries')) {
          const [some, all] = [few[name], batch[name]] as AnalyticsRow[][]
          expect(some?.length).toBeLessThanOrEqual(3)
          expect(all?.slice(0, some?.length)).toEqual(some)
        }
      }
    }),
  )
}, 1_500_000)

const inZones = ['UTC', 'America/New_York', 'Pacific/Chatham'].flatMap((timezone) =>
  intervals.map((interval) => ({ timezone, interval })),
)

test.each(inZones)('$interval in $timezone: events, their count and their time series agree', async (period) => {
  const link = world.links[period.interval.length] as ModelLink
  for (const event of ['clicks', 'leads', 'sales'] as const) {
    const measure = event === 'sales' ? 'saleAmount' : event
    const asked = { event, linkId: link.id, ...period }
    const { [measure]: count } = (await ask(analyticsQuery.parse(asked))).answer as AnalyticsRow
    const series = (await ask(analyticsQuery.parse({ ...asked, groupBy: 'timeseries' }))).answer as AnalyticsRow[]
    let listed = 0
    for (let page = 1, length = 1_000; length === 1_000; page++) {
      const { events } = await listEvents(ctx, eventsQuery.parse({ ...asked, page, limit: 1_000 }))
      length = events.length
      for (const listedEvent of events) listed += listedEvent.event === 'sale' ? listedEvent.sale.amount : 1
    }
    const sum = series.reduce((total, row) => total + row[measure], 0)
    expect([event, listed, sum]).toEqual([event, count, count])
  }
})

/** Compares an analytics result with the model; returns the expected number of groups. */
/** Repeats a check that failed for lack of ClickHouse capacity; a wrong answer fails at once. */
async function checkAgain(call: Call): Promise<number> {
  try {
    return await check(call)
  } catch (error) {
    if (error instanceof Error && error.name === 'AssertionError') throw error
    await sleep(5_000)
    return check(call)
  }
}

async function check({ model, groupBy, query }: Call): Promise<number> {
  const { event = 'clicks', timezone = 'UTC' } = query
  const kinds = kindsByEvent[event] ?? [event as Kind]
  const begin = query.interval === 'all' && !query.start ? Math.min(firstEventAt(world), model.to - 1) : model.from
  const unit = chooseUnit(query, begin, model.to)
  const expected = modelAnalytics(world, { about: model, kinds, groupBy, timezone, unit })

  const parsed = analyticsQuery.parse(query)
  const { answer, isOfRows } = await ask(parsed)
  if (!isOfRows) expect(await countEvents(ctx, parsed, {}, 'rows')).toEqual(answer)
  if (!Array.isArray(answer)) {
    expect(answer).toEqual(expected.get('') ?? zeros)
    return expected.size
  }
  if (groupBy !== 'count') for (const row of answer) analyticsRows[groupBy].parse(row)
  const found = sumRows(answer, groupBy, unit)
  if (groupBy === 'timeseries') {
    const names = [...periodNames(begin, model.to, timezone, unit)].toSorted()
    expect([...found.keys()].toSorted()).toEqual(names)
    for (const name of names) expect([name, found.get(name)]).toEqual([name, expected.get(name) ?? zeros])
  } else {
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected))
    const most = answer.map((row) => row[measureByEvent[event] ?? 'clicks'])
    expect(most).toEqual(most.toSorted((a, b) => b - a))
  }
  return expected.size
}

/** Runs an analytics query; `isOfRows` says that it read no rollup, so that the caller need not run it again. */
async function ask(query: AnalyticsQuery) {
  const statements: string[] = []
  const clickhouse = {
    query(asked: { query: string }) {
      statements.push(asked.query)
      return platform.clickhouse.query(asked)
    },
  }
  const answer = await countEvents({ ...ctx, clickhouse: clickhouse as ClickHouse }, query)
  return { answer, isOfRows: !statements.some((statement) => statement.includes('_counts')) }
}

/** Sums analytics rows by name: when clocks are set back, an hour occurs twice, with two rows of one name. */
function sumRows(rows: AnalyticsRow[], groupBy: Grouping, unit: Unit): Map<string, Counts> {
  const found = new Map<string, Counts>()
  for (const row of rows) {
    const key = keyOfRow(row, groupBy, unit)
    expect(groupBy === 'timeseries' || !found.has(key)).toBe(true)
    const { clicks, leads, sales, saleAmount } = found.get(key) ?? zeros
    found.set(key, {
      clicks: clicks + row.clicks,
      leads: leads + row.leads,
      sales: sales + row.sales,
      saleAmount: saleAmount + row.saleAmount,
    })
  }
  return found
}

/** The start of the bucket of the first event, clicks by bots included. */
function firstEventAt(world: World): number {
  const first = Math.min(...[world.clicks, world.leads, world.sales].map((events) => events[0]?.at ?? world.now))
  return first - (first % quarterMs)
}

function chooseUnit({ interval = '24h', start }: Record<string, string>, begin: number, to: number): Unit {
  if (!start && interval === '24h') return 'hour'
  if (!start && (interval === '1y' || interval === 'ytd')) return 'month'
  if (!start && interval !== 'all') return 'day'
  const days = (to - begin) / dayMs
  return days <= 2 + 1 / 24 ? 'hour' : days > 180 + 1 / 24 ? 'month' : 'day'
}
