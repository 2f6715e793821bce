import { eventsQuery } from '@tributary/contract/events'
import fc from 'fast-check'
import { beforeAll, expect, inject, test } from 'vitest'
import { contextIn } from '../../../test/context.ts'
import { type ModelQuery, modelPage } from '../../../test/events/model.ts'
import { type Asked, arbitraryQueries } from '../../../test/events/queries.ts'
import { type BuiltWorld, buildWorld } from '../../../test/events/world.ts'
import { sized } from '../../../test/size.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import type { Ctx } from '../../platform/context.ts'
import { listEvents } from './service.ts'

// ClickHouse runs many small concurrent queries faster with one thread each.
const platform = await openTestPlatform({ CLICKHOUSE_URL: `${inject('environment').CLICKHOUSE_URL}?ch_max_threads=1` })
const seed = Number(process.env.TEST_SEED ?? 20_250_407)
const combinations = sized({ short: 150, full: 5_000 })
const together = 100
const atOnce = 8

let world: BuiltWorld
let ctx: Ctx

beforeAll(async () => {
  world = await buildWorld(platform, seed, { clicks: 90_000, leads: 60_000, sales: 50_000 })
  ctx = { ...contextIn(platform, world.workspace.id), now: () => new Date(world.now) }
}, 180_000)

const paging = fc.record(
  {
    page: fc.integer({ min: 1, max: 4 }),
    limit: fc.oneof({ weight: 60, arbitrary: fc.integer({ min: 1, max: 9 }) }, fc.constantFrom(100, 1_000)),
    sortOrder: fc.constantFrom('asc', 'desc'),
    sortBy: fc.constant('timestamp'),
    order: fc.constantFrom('asc', 'desc'),
    bots: fc.constantFrom<ModelQuery['bots'] | 'exclude'>('exclude', 'include', 'only'),
  },
  { requiredKeys: ['limit'] },
)
type Call = Asked & { paging: typeof paging extends fc.Arbitrary<infer Paging> ? Paging : never }

test(`GET /events agrees with a simple model on ${combinations} combinations of parameters (seed ${seed})`, async () => {
  const call = calls()
  const agreed = new Set<string>()
  let filled = 0
  const agrees = fc.asyncProperty(fc.array(call, { minLength: together, maxLength: together }), async (calls) => {
    // While fast-check shrinks a failing call, skip the calls of the array that have agreed before.
    const turns = calls.filter((call) => !agreed.has(JSON.stringify(call))).values()
    const ask = async () => {
      for (const call of turns) {
        const { expected, answered, asked } = await answersTo(call)
        expect(answered, JSON.stringify(asked)).toEqual(expected)
        agreed.add(JSON.stringify(call))
        if (expected.length > 0) filled += 1
      }
    }
    await Promise.all(Array.from({ length: atOnce }, ask))
  })
  // Some generated combinations repeat, so generate two percent more.
  await fc.assert(agrees, { seed, numRuns: Math.ceil((combinations * 1.02) / together) })
  expect(agreed.size).toBeGreaterThanOrEqual(combinations)
  expect(filled).toBeGreaterThan(combinations * 0.3)
}, 900_000)

test('the combinations have every parameter', () => {
  const sample = fc.sample(calls(), { seed, numRuns: 4_000 }).map(({ query, paging }) => ({ ...query, ...paging }))
  const used = (name: string) => sample.filter((asked) => name in asked).length
  const names = Object.keys(eventsQuery.shape).filter((name) => parameters.has(name))
  expect(names).toHaveLength(44)
  expect(names.filter((name) => used(name) < sample.length / 100)).toEqual([])
})

function calls(): fc.Arbitrary<Call> {
  return fc.record({ asked: arbitraryQueries(world), paging }).map(({ asked, paging }): Call => ({ ...asked, paging }))
}

/** The 43 query parameters of the specification, and our `bots`. */
const parameters = new Set(
  `event domain key linkId externalId tenantId tagId folderId partnerTagId groupId partnerId customerId interval start end
  timezone country city region continent device browser os trigger referer refererUrl url utm_source utm_medium utm_campaign
  utm_term utm_content root saleType query programId tagIds qr page limit sortOrder sortBy order
  bots`.split(/\s+/),
)

async function answersTo(call: Call) {
  const { model, query, paging } = call
  const asked = Object.fromEntries(
    Object.entries({ ...query, ...paging }).map(([name, value]) => [name, String(value)]),
  )
  const { events } = await listEvents(ctx, eventsQuery.parse(asked))
  const { page = 1, limit, sortOrder, order, bots } = paging
  const modelled = bots === undefined || bots === 'exclude' ? model : { ...model, bots }
  const expected = modelPage(world, modelled, { page, limit, ascending: (sortOrder ?? order) === 'asc' })
  return {
    asked,
    expected: expected.map(({ id, amount }) => `${id} ${amount}`),
    answered: events.map((event) => {
      return `${event.event === 'click' ? event.click.id : event.eventId} ${event.event === 'sale' ? event.sale.amount : 0}`
    }),
  }
}
