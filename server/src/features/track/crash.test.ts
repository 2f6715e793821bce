import { randomInt, randomUUID } from 'node:crypto'
import { newLead, newRefund, newSale } from '@tributary/contract/track'
import { sql } from 'kysely'
import { afterAll, expect, test, vi } from 'vitest'
import { startEngines } from '../../../../engines/start.ts'
import { buildConversionLink } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { openOwnDatabase } from '../../../test/own-database.ts'
import { eventually } from '../../../test/stack.ts'
import { type ConversionFinding, reconcileConversions } from '../../maintenance/conversions.ts'
import { query } from '../../platform/clickhouse.ts'
import type { Platform } from '../../platform/context.ts'
import { claim, ingest } from '../ingest/service.ts'
import { monthsOfEvents, rollupDifferences } from '../rollups/service.ts'
import { exportSome } from './export.ts'
import { trackLead } from './leads.ts'
import { trackRefund } from './refunds.ts'
import { trackSale } from './sales.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 60_000 })
// A ClickHouse server for this test alone, which it can kill.
const engines = await startEngines({ only: ['clickhouse'] })
const platform = await openOwnDatabase(engines.urls)
afterAll(() => engines.stop())

const holder = { partition: randomInt(1_000, 2 ** 31), owner: randomUUID() }
let sequence = 0
await claim(platform, holder)

/** Creates a link with leads of quantity two, sales and refunds that are not exported yet. */
async function setUp(customers: number) {
  const { workspace, link, click } = await buildConversionLink(platform)
  const ctx = contextIn(platform, workspace.id)
  const visits = Array.from({ length: customers }, () => click())
  sequence = await ingest(platform, holder, sequence, [{ sequence: sequence + 1, body: visits }])
  await Promise.all(
    visits.map(async ({ id: clickId }, index) => {
      const customerExternalId = `customer-${index}`
      const invoiceId = `in_${index}`
      await trackLead(ctx, newLead.parse({ clickId, eventName: 'Sign up', customerExternalId, eventQuantity: 2 }))
      await trackSale(ctx, newSale.parse({ customerExternalId, amount: 1000 + index, invoiceId }))
      if (index % 4 === 0) await trackRefund(ctx, newRefund.parse({ invoiceId, amount: 300 }))
      if (index % 8 === 0) await trackRefund(ctx, newRefund.parse({ invoiceId }))
    }),
  )
  return { workspaceId: workspace.id, link, sold: customers - Math.ceil(customers / 8) }
}

async function exportAll(on: Platform = platform): Promise<void> {
  while ((await exportSome(on)) > 0);
}

/** Expires the leases of all export batches. */
function passTime(): Promise<unknown> {
  return sql`UPDATE conversions SET due_at = now() - interval '1 second' WHERE stored_at IS NULL`.execute(platform.db)
}

async function expectAgreement(workspaceId: string, customers: number, sold: number): Promise<void> {
  const findings: ConversionFinding[] = []
  for await (const step of reconcileConversions(platform, { workspaceId })) findings.push(...step.findings)
  expect(findings).toEqual([])
  for (const month of await monthsOfEvents(platform, workspaceId))
    expect(await rollupDifferences(platform, { workspaceId, month })).toEqual([])
  const counted = await sql<{ leads: bigint; sales: bigint; conversions: bigint }>`
    SELECT leads, sales, conversions FROM link_counters WHERE workspace_id = ${workspaceId}`.execute(platform.db)
  expect(counted.rows).toEqual([{ leads: BigInt(customers * 2), sales: BigInt(sold), conversions: BigInt(customers) }])
  const [rolled] = await query<{ leads: string; sales: string }>(
    platform.clickhouse,
    `SELECT toString(sum(c.leads)) AS leads, toString(sum(c.sales)) AS sales FROM workspace_counts AS c
     WHERE workspace_id = {workspaceId:String}`,
    { workspaceId },
  )
  expect(rolled).toEqual({ leads: String(customers * 2), sales: String(sold) })
}

test.each([
  ['lead_events'],
  ['sale_events'],
  ['workspace_counts'],
  ['link_counts'],
  ['link_days'],
  ['link_months'],
  ['dimension_counts'],
  ['dimension_months'],
])(
  'rows of %s that ClickHouse lost although it remembers the token return when the batch is taken over',
  async (table) => {
    const { workspaceId, sold } = await setUp(16)
    const dying = { ...platform, db: diesBeforeCount() }
    await expect(exportAll(dying)).rejects.toThrow('crash')
    const { clickhouse } = platform
    const where = 'WHERE workspace_id = {workspaceId:String} SETTINGS mutations_sync = 2'
    const lost = table.endsWith('_events')
      ? [`ALTER TABLE ${table} DELETE ${where}`]
      : // The rollups keep their click counts.
        ['leads', 'sales', 'sale_amount'].map((count) => `ALTER TABLE ${table} UPDATE ${count} = 0 ${where}`)
    for (const statement of lost) await clickhouse.command({ query: statement, query_params: { workspaceId } })
    await passTime()
    await exportAll()
    await expectAgreement(workspaceId, 16, sold)
  },
)

test('event rows, rollups and link counters agree after each kill -9 of ClickHouse during an export', async () => {
  for (let kill = 0; kill < 4; kill++) {
    const { workspaceId, sold } = await setUp(120)
    const dying = new Promise((resolve) => setTimeout(resolve, randomInt(120))).then(() =>
      engines.processes.clickhouse?.kill('SIGKILL'),
    )
    await exportAll().catch(() => {})
    await dying
    await engines.processes.clickhouse?.restart()
    await eventually(async () => {
      await passTime()
      await exportAll()
    }, 60_000)
    await expectAgreement(workspaceId, 120, sold)
  }
})

/** A database handle whose transactions fail after the ClickHouse inserts and before PostgreSQL counts the rows. */
function diesBeforeCount(): Platform['db'] {
  return new Proxy(platform.db, {
    get(target, property) {
      if (property !== 'transaction') return bound(target, property)
      const execute = (work: (db: Platform['db']) => Promise<unknown>) =>
        target.transaction().execute(async (inside) => {
          await work(inside)
          throw new Error('crash')
        })
      return () => ({ execute })
    },
  })
}

function bound(target: object, property: string | symbol): unknown {
  const value = Reflect.get(target, property, target)
  return typeof value === 'function' ? value.bind(target) : value
}
