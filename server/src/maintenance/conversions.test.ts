import { randomInt, randomUUID } from 'node:crypto'
import { newLead, newRefund, newSale } from '@tributary/contract/track'
import { sql } from 'kysely'
import { expect, inject, test, vi } from 'vitest'
import { buildConversionLink } from '../../test/build.ts'
import { contextIn } from '../../test/context.ts'
import { openOwnDatabase } from '../../test/own-database.ts'
import { openTestPlatform } from '../../test/stack.ts'
import { claim, ingest } from '../features/ingest/service.ts'
import { exportSome } from '../features/track/export.ts'
import { trackLead } from '../features/track/leads.ts'
import { trackRefund } from '../features/track/refunds.ts'
import { trackSale } from '../features/track/sales.ts'
import { query } from '../platform/clickhouse.ts'
import { reconcileConversions } from './conversions.ts'
import { reconcileCustomers } from './customers.ts'
import { rebuildConversions } from './rebuild.ts'
import { reconcileRollups } from './rollups.ts'

// Tests are slow, because a difference is read again after two seconds.
vi.setConfig({ testTimeout: 60_000 })
// Separate databases, because a rebuild covers all workspaces.
const name = `conversions_${randomUUID().replaceAll('-', '')}`
const shared = await openTestPlatform()
await shared.clickhouse.command({ query: `CREATE DATABASE ${name}` })
const url = new URL(`/${name}`, inject('environment').CLICKHOUSE_URL)
const platform = await openOwnDatabase({ CLICKHOUSE_URL: url.href, HISTORY_DAYS_BY_PLAN: 'free:30' })
const holder = { partition: randomInt(1_000, 2 ** 31), owner: randomUUID() }
let sequence = 0
await claim(platform, holder)
const { clickhouse, db } = platform

/** Creates four leads (one of quantity two), three sales of 1000 and a refund of 300, exported and counted. */
async function setUp(given: Parameters<typeof buildConversionLink>[1] = {}) {
  const { workspace, link, click } = await buildConversionLink(platform, given)
  const ctx = contextIn(platform, workspace.id)
  const visits = [click({ country: 'DE' }), click(), click()]
  sequence = await ingest(platform, holder, sequence, [{ sequence: sequence + 1, body: visits }])
  for (const [index, { id: clickId }] of visits.entries()) {
    const customerExternalId = `customer-${index}`
    const eventQuantity = index === 0 ? 2 : 1
    await trackLead(ctx, newLead.parse({ clickId, eventName: 'Sign up', customerExternalId, eventQuantity }))
    await trackSale(ctx, newSale.parse({ customerExternalId, amount: 1000, invoiceId: `in_${index}` }))
  }
  await trackRefund(ctx, newRefund.parse({ invoiceId: 'in_0', amount: 300 }))
  while ((await exportSome(platform)) > 0);
  const workspaceId = workspace.id
  const check = async (repair = false) => {
    const found = { conversions: [] as unknown[], customers: [] as unknown[], rollups: [] as unknown[] }
    for await (const step of reconcileConversions(platform, { workspaceId, repair }))
      found.conversions.push(...step.findings)
    for await (const step of reconcileCustomers(platform, { workspaceId, repair }))
      found.customers.push(...step.findings)
    for await (const step of reconcileRollups(platform, { workspaceId, repair })) found.rollups.push(...step.findings)
    return found
  }
  const lose = async (table: string, condition = 'true') =>
    clickhouse.command({
      query: `ALTER TABLE ${table} DELETE WHERE workspace_id = {workspaceId:String} AND ${condition} SETTINGS mutations_sync = 2`,
      query_params: { workspaceId },
    })
  const stored = async (table: string) => {
    const rows = await query<Record<string, unknown>>(
      clickhouse,
      `SELECT * EXCEPT (click_id, stored_at) FROM ${table} WHERE workspace_id = {workspaceId:String} ORDER BY timestamp, id`,
      { workspaceId },
    )
    return rows
  }
  return { workspaceId, link, check, lose, stored }
}

const truth = { leads: 4, conversions: 3, sales: 3, saleAmount: 2700 }
const rows = { leads: 4, sales: 3, saleAmount: 2700 }
const nothing = { conversions: [], customers: [], rollups: [] }

test('correctly counted leads and sales have no differences', async () => {
  const { check } = await setUp()
  expect(await check()).toEqual(nothing)
})

test('wrong totals of links and customers are reported, and set to the recorded values', async () => {
  const { workspaceId, link, check } = await setUp()
  const counted = { leads: 9, conversions: 0, sales: 3, saleAmount: -1 }
  await sql`UPDATE link_counters SET leads = 9, conversions = 0, sale_amount = -1
    WHERE workspace_id = ${workspaceId}`.execute(db)
  await sql`UPDATE customers SET sales = 5, sale_amount = 1
    WHERE workspace_id = ${workspaceId} AND external_id = 'customer-0'`.execute(db)
  const conversions = [{ linkId: link.id, workspaceId, counted, recorded: truth, stored: rows, doubled: 0 }]
  const customers = [{ counted: { sales: 5, saleAmount: 1 }, recorded: { sales: 1, saleAmount: 700 } }]
  expect(await check()).toMatchObject({ conversions, customers, rollups: [] })
  const repaired = await check(true)
  expect(repaired).toMatchObject({ conversions: [{ repaired: true }], customers: [{ repaired: true }] })
  expect(await check()).toEqual(nothing)
})

test('lead and sale rows that ClickHouse has lost are restored unchanged, and rollups count them once', async () => {
  const { check, lose, stored } = await setUp()
  const before = [await stored('lead_events'), await stored('sale_events')]
  await lose('lead_events', "country = 'DE'")
  await lose('sale_events', "kind = 'refund'")
  await lose('link_counts')
  const found = await check()
  expect(found).toMatchObject({ conversions: [{ counted: truth, stored: { leads: 2, sales: 3, saleAmount: 3000 } }] })
  expect(found.rollups).toContainEqual(expect.objectContaining({ rollup: 'link_counts', count: 'sale_amount' }))
  expect(found.rollups).toContainEqual(
    expect.objectContaining({ rollup: 'workspace_counts', count: 'leads', surplus: 2 }),
  )
  expect(await check(true)).toMatchObject({ conversions: [{ repaired: true }] })
  expect([await stored('lead_events'), await stored('sale_events')]).toEqual(before)
  expect(await check()).toEqual(nothing)
})

test('an interrupted export batch is not a difference', async () => {
  const { workspaceId, check } = await setUp()
  await sql`UPDATE conversions SET stored_at = NULL, due_at = now() + interval '1 hour'
    WHERE workspace_id = ${workspaceId} AND kind = 'lead'`.execute(db)
  await sql`UPDATE link_counters SET leads = 0 WHERE workspace_id = ${workspaceId}`.execute(db)
  expect(await check()).toEqual(nothing)
  await sql`UPDATE conversions SET due_at = now() WHERE stored_at IS NULL`.execute(db)
  while ((await exportSome(platform)) > 0);
  expect(await check()).toEqual(nothing)
})

test('a rebuild restores the leads and sales recorded in PostgreSQL, and a second rebuild adds nothing', async () => {
  const { workspaceId, check, lose, stored } = await setUp()
  const before = [await stored('lead_events'), await stored('sale_events')]
  for (const table of [
    'lead_events',
    'sale_events',
    'workspace_counts',
    'link_counts',
    'link_days',
    'link_months',
    'dimension_counts',
    'dimension_months',
  ])
    await lose(table)
  const shares: number[] = []
  const rebuilt = await rebuildConversions(platform, (share) => shares.push(share))
  expect(rebuilt.conversionsAdded).toBe(8)
  expect(rebuilt.unrepaired).toBe(0)
  expect(shares).toEqual(shares.toSorted((one, other) => one - other))
  expect(shares.at(-1)).toBe(1)
  expect([await stored('lead_events'), await stored('sale_events')]).toEqual(before)
  for await (const _ of reconcileRollups(platform, { workspaceId, repair: true }));
  expect(await check()).toEqual(nothing)
  expect(await rebuildConversions(platform, () => {})).toMatchObject({ conversionsAdded: 0, recovered: 0 })
})

test('expired lead and sale rows are not restored, and stay counted', async () => {
  const { workspaceId, check, lose, stored } = await setUp({ plan: 'free' })
  await sql`UPDATE conversions SET created_at = created_at - interval '40 days'
    WHERE workspace_id = ${workspaceId}`.execute(db)
  for (const table of [
    'lead_events',
    'sale_events',
    'workspace_counts',
    'link_counts',
    'link_days',
    'link_months',
    'dimension_counts',
    'dimension_months',
  ])
    await lose(table)
  expect(await rebuildConversions(platform, () => {})).toMatchObject({ conversionsAdded: 0, unrepaired: 0 })
  expect(await stored('lead_events')).toEqual([])
  for await (const _ of reconcileRollups(platform, { workspaceId, repair: true }));
  expect(await check()).toEqual(nothing)
})

test('doubled lead and sale rows are reported and not deleted', async () => {
  const { workspaceId, check } = await setUp()
  await clickhouse.command({
    query: 'INSERT INTO lead_events SELECT * FROM lead_events WHERE workspace_id = {workspaceId:String} LIMIT 1',
    query_params: { workspaceId },
  })
  expect((await check(true)).conversions).toMatchObject([{ doubled: 1, stored: { leads: 5 }, repaired: false }])
})
