import { randomInt, randomUUID } from 'node:crypto'
import { analyticsQuery } from '@tributary/contract/analytics'
import { eventsQuery } from '@tributary/contract/events'
import { newLead, newRefund, newSale } from '@tributary/contract/track'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { buildConversionLink } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { openOwnDatabase } from '../../../test/own-database.ts'
import type { Ctx, Platform } from '../../platform/context.ts'
import { countEvents } from '../analytics/service.ts'
import { listEvents } from '../events/service.ts'
import { claim, ingest } from '../ingest/service.ts'
import { getLink } from '../links/list.ts'
import type { RawClick } from '../redirect/messages.ts'
import { exportSome, measureOverdue } from './export.ts'
import { trackLead } from './leads.ts'
import { type ClickFactsResolved, clickFactsResolved } from './messages.ts'
import { trackMetrics } from './metrics.ts'
import { trackRefund } from './refunds.ts'
import { trackSale } from './sales.ts'

const platform = await openOwnDatabase()
let sequence = 0
// A partition that no earlier test used: ClickHouse would drop inserts with repeated batch numbers as duplicates.
const holder = { partition: randomInt(1_000, 2 ** 31), owner: randomUUID() }
await claim(platform, holder)

async function setUp() {
  const { workspace, link, click } = await buildConversionLink(platform)
  const ctx = contextIn(platform, workspace.id)
  const lead = (clickId: string, given: Record<string, unknown> = {}) =>
    trackLead(ctx, newLead.parse({ clickId, eventName: 'Sign up', customerExternalId: 'ada', ...given }))
  const sale = (given: Record<string, unknown> = {}) =>
    trackSale(ctx, newSale.parse({ customerExternalId: 'ada', amount: 1000, ...given }))
  const counters = async () => {
    const { clicks, leads, conversions, sales, saleAmount } = await getLink(ctx, { linkId: link.id })
    return { clicks, leads, conversions, sales, saleAmount }
  }
  return { ctx, link, click, lead, sale, counters }
}

async function arrive(...clicks: RawClick[]): Promise<void> {
  sequence = await ingest(platform, holder, sequence, [{ sequence: sequence + 1, body: clicks }])
}

async function exportAll(on: Platform = platform): Promise<void> {
  while ((await exportSome(on)) > 0);
}

/** Makes all leased and postponed rows due. */
function passTime(): Promise<unknown> {
  return sql`UPDATE conversions SET due_at = now() - interval '1 second' WHERE stored_at IS NULL`.execute(platform.db)
}

/** The published messages about click facts, which release webhook events. */
async function resolvedFacts({ workspaceId }: Ctx): Promise<ClickFactsResolved[]> {
  const result = await sql<{ body: unknown }>`SELECT body FROM outbox
    WHERE workspace_id = ${workspaceId} AND subject LIKE 'changes.%.click-facts' ORDER BY id`.execute(platform.db)
  return result.rows.map(({ body }) => clickFactsResolved.parse(body))
}

async function list(ctx: Ctx, event: string, given: Record<string, unknown> = {}) {
  return (await listEvents(ctx, eventsQuery.parse({ event, interval: 'all', ...given }))).events
}

test('the age of the oldest lead or sale that is not exported is a metric', async () => {
  const overdue = async () => {
    await measureOverdue(platform)
    return (await trackMetrics(platform).overdue.get()).values[0]?.value
  }
  const { click, lead } = await setUp()
  const visit = click()
  await arrive(visit)
  await exportAll()
  expect(await overdue()).toBe(0)
  await lead(visit.id)
  await passTime()
  expect(await overdue()).toBeGreaterThanOrEqual(1)
  await exportAll()
  expect(await overdue()).toBe(0)
})

test("a lead and a sale are exported with their click's location and device", async () => {
  const { ctx, link, click, lead, sale, counters } = await setUp()
  const visit = click({ country: 'DE', city: 'Berlin', region: 'BE', referer: 'https://example.org/' })
  await arrive(visit)
  await lead(visit.id, { metadata: { plan: 'pro' }, customerEmail: 'ada@example.com' })
  await sale({ invoiceId: 'in_1' })
  await exportAll()
  const [event, ...others] = await list(ctx, 'leads')
  expect(others).toEqual([])
  expect(event).toMatchObject({
    event: 'lead',
    eventName: 'Sign up',
    metadata: { plan: 'pro' },
    click: {
      id: visit.id,
      timestamp: new Date(visit.at).toISOString(),
      country: 'DE',
      city: 'Berlin',
      region: 'DE-BE',
    },
    link: { id: link.id, leads: 1, sales: 1 },
    customer: { email: 'ada@example.com', externalId: 'ada', sales: 1, saleAmount: 1000, country: 'DE' },
    country: 'DE',
  })
  expect(Object.keys(event ?? {})).toHaveLength(21)
  const [sold] = await list(ctx, 'sales')
  expect(sold).toMatchObject({
    event: 'sale',
    sale: { amount: 1000, currency: 'usd', invoiceId: 'in_1', paymentProcessor: 'custom' },
    saleAmount: 1000,
    invoice_id: 'in_1',
    payment_processor: 'custom',
    metadata: null,
    click_id: visit.id,
  })
  expect(Object.keys(sold ?? {})).toHaveLength(25)
  expect(await counters()).toEqual({ clicks: 1, leads: 1, conversions: 1, sales: 1, saleAmount: 1000 })
})

test('a lead whose click is stored late waits for the click and does not delay other leads', async () => {
  const { ctx, click, lead, counters } = await setUp()
  const [late, here] = [click({ country: 'FR' }), click()]
  await arrive(here)
  await lead(late.id, { customerExternalId: 'late' })
  await lead(here.id, { customerExternalId: 'here', eventQuantity: 3 })
  await exportAll()
  expect((await list(ctx, 'leads')).map(({ click_id }) => click_id)).toEqual([here.id, here.id, here.id])
  expect(new Set((await list(ctx, 'leads')).map((event) => 'eventId' in event && event.eventId)).size).toBe(3)
  await arrive(late)
  await passTime()
  await exportAll()
  expect(await list(ctx, 'leads', { country: 'FR' })).toMatchObject([{ click_id: late.id }])
  expect(await counters()).toMatchObject({ clicks: 2, leads: 4 })
})

test('a lead whose click is not stored within a day is exported without a location', async () => {
  const { ctx, click, lead } = await setUp()
  await lead(click().id)
  await sql`UPDATE conversions SET created_at = now() - interval '25 hours' WHERE workspace_id = ${ctx.workspaceId}`.execute(
    platform.db,
  )
  await exportAll()
  expect(await list(ctx, 'leads')).toMatchObject([{ country: 'Unknown', click: { referer: '(direct)' } }])
})

test('a batch whose worker dies at any point is exported again by another worker, and counts once', async () => {
  const { ctx, click, lead, sale, counters } = await setUp()
  const visit = click()
  await arrive(visit)
  const { clickhouse } = platform
  const dies = () => Promise.reject(new Error('crash'))
  const insertDies = withInsert(dies)
  const insertedThenDies = withInsert(async (...input: Parameters<typeof clickhouse.insert>) => {
    await clickhouse.insert(...input)
    return dies()
  })
  await lead(visit.id)
  await sale({ invoiceId: 'in_1' })
  for (const dying of [insertDies, insertedThenDies, insertedThenDies]) {
    await expect(exportAll(dying)).rejects.toThrow('crash')
    // Another worker does not export rows with a valid lease.
    await exportAll()
    expect(await counters()).toMatchObject({ leads: 0, sales: 0 })
    await passTime()
  }
  await Promise.all([exportAll(), exportAll()])
  expect(await list(ctx, 'leads')).toHaveLength(1)
  expect(await list(ctx, 'sales')).toHaveLength(1)
  expect((await resolvedFacts(ctx)).flatMap(({ conversionIds }) => conversionIds)).toHaveLength(2)
  expect(await counters()).toEqual({ clicks: 1, leads: 1, conversions: 1, sales: 1, saleAmount: 1000 })
})

test('CONVERSION_BATCH_BYTES limits inserts of new and interrupted batches, but not a single large lead', async () => {
  const { ctx, click, lead, counters } = await setUp()
  const visit = click()
  await arrive(visit)
  const metadata = { text: 'é'.repeat(1_000) }
  for (let index = 0; index < 16; index++)
    await lead(visit.id, { customerExternalId: `c${index}`, eventQuantity: index === 7 ? 100 : 10, metadata })
  await sql`UPDATE conversions SET batch = ${randomUUID()}, due_at = now() - interval '1 second'
    WHERE workspace_id = ${ctx.workspaceId} AND number % 4 = 0`.execute(platform.db)
  const inserts: { rows: number; bytes: number }[] = []
  const observed = withInsert((...[input]: Parameters<typeof platform.clickhouse.insert>) => {
    const values = input.values as unknown[]
    inserts.push({ rows: values.length, bytes: Buffer.byteLength(JSON.stringify(values)) })
    return platform.clickhouse.insert(input)
  })
  const mostBytes = 100_000
  await exportAll({ ...observed, config: { ...platform.config, CONVERSION_BATCH_BYTES: mostBytes } })
  expect(inserts.filter(({ rows, bytes }) => bytes > mostBytes && rows !== 100)).toEqual([])
  expect(inserts.length).toBeGreaterThanOrEqual(5)
  expect(await counters()).toMatchObject({ leads: 250 })
  expect(await list(ctx, 'leads', { limit: 1_000 })).toHaveLength(250)
})

function withInsert(insert: unknown): Platform {
  const { clickhouse } = platform
  return {
    ...platform,
    clickhouse: new Proxy(clickhouse, { get: (target, name) => (name === 'insert' ? insert : bound(target, name)) }),
  }
}

function bound(target: object, name: string | symbol): unknown {
  const value = Reflect.get(target, name, target)
  return typeof value === 'function' ? value.bind(target) : value
}

test('a refund is listed as a negative sale, so that listed sales add up to counters and analytics', async () => {
  const { ctx, click, lead, sale, counters } = await setUp()
  const visit = click()
  await arrive(visit)
  await lead(visit.id)
  await sale({ invoiceId: 'in_1' })
  await sale({ invoiceId: 'in_2', amount: 500 })
  await trackRefund(ctx, newRefund.parse({ invoiceId: 'in_1', amount: 300 }))
  await exportAll()
  expect(await counters()).toMatchObject({ conversions: 1, sales: 2, saleAmount: 1200 })
  await trackRefund(ctx, newRefund.parse({ invoiceId: 'in_1' }))
  await exportAll()
  expect(await counters()).toMatchObject({ conversions: 1, sales: 1, saleAmount: 500 })
  const sales = await list(ctx, 'sales', { sortOrder: 'asc' })
  expect(sales.map((event) => event.event === 'sale' && [event.sale.invoiceId, event.sale.amount])).toEqual([
    ['in_1', 1000],
    ['in_2', 500],
    ['in_1', -300],
    ['in_1', -700],
  ])
  // A filter that matches a sale also matches its refund.
  expect(await list(ctx, 'sales', { saleType: 'new' })).toHaveLength(3)
  expect(await list(ctx, 'sales', { saleType: 'recurring' })).toMatchObject([{ invoice_id: 'in_2' }])
  const counted = await countEvents(ctx, analyticsQuery.parse({ event: 'sales', interval: 'all' }))
  expect(counted).toMatchObject({ sales: 1, saleAmount: 500 })
  expect(await countEvents(ctx, analyticsQuery.parse({ event: 'sales', saleType: 'new' }))).toMatchObject({
    saleAmount: 0,
  })
})

test('leads and sales whose `stored_at` PostgreSQL has lost are counted again but not inserted again', async () => {
  const { ctx, link, click, lead, sale, counters } = await setUp()
  const visit = click()
  await arrive(visit)
  const before = await counters()
  await lead(visit.id)
  await sale({ invoiceId: 'in_lost_note' })
  await exportAll()
  const after = await counters()
  // The state after a failover to an older replica: another incarnation, no `stored_at`, and old counters.
  await sql`UPDATE database_incarnation SET started_at = now()`.execute(platform.db)
  await sql`UPDATE conversions SET stored_at = NULL, batch = NULL WHERE workspace_id = ${ctx.workspaceId}`.execute(
    platform.db,
  )
  await sql`UPDATE link_counters SET leads = ${before.leads}, conversions = ${before.conversions},
      sales = ${before.sales}, sale_amount = ${before.saleAmount}
    WHERE link_number = (SELECT number FROM links WHERE id = ${link.id})`.execute(platform.db)
  await passTime()
  await exportAll()
  expect(await counters()).toEqual(after)
  expect(await list(ctx, 'leads')).toHaveLength(1)
  expect(await list(ctx, 'sales')).toHaveLength(1)
})
