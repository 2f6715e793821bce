import { randomInt, randomUUID } from 'node:crypto'
import { type AnalyticsCount, analyticsQuery } from '@tributary/contract/analytics'
import { eventsQuery, exportColumns } from '@tributary/contract/events'
import { newLead, newSale } from '@tributary/contract/track'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { buildConversionLink } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { openOwnDatabase } from '../../../test/own-database.ts'
import { countEvents } from '../analytics/service.ts'
import { exportEvents, listEvents } from '../events/service.ts'
import { claim, ingest } from '../ingest/service.ts'
import { eraseConversions } from './erase.ts'
import { exportSome, exportUnattributed } from './export.ts'
import { trackLead } from './leads.ts'
import { trackRefund } from './refunds.ts'
import { trackSale } from './sales.ts'

const platform = await openOwnDatabase()
const holder = { partition: randomInt(1_000, 2 ** 31), owner: randomUUID() }
await claim(platform, holder)
const dayMs = 86_400_000
let sequence = 0

/** Creates a lead, a sale and a refund for a click inside the attribution window, and for one outside. */
async function setUp() {
  const { workspace, click } = await buildConversionLink(platform)
  const ctx = contextIn(platform, workspace.id)
  const visits = [click(), click({ at: Date.now() - 91 * dayMs })]
  sequence = await ingest(platform, holder, sequence, [{ sequence: sequence + 1, body: visits }])
  for (const [index, { id: clickId }] of visits.entries()) {
    const customerExternalId = ['inside', 'outside'][index] as string
    const metadata = { plan: 'pro' }
    await trackLead(
      ctx,
      newLead.parse({ clickId, eventName: 'Sign up', customerExternalId, eventQuantity: 2, metadata }),
    )
    const invoiceId = `in_${customerExternalId}`
    await trackSale(ctx, newSale.parse({ customerExternalId, amount: 1_000, invoiceId }))
    await trackRefund(ctx, { invoiceId, amount: 300 })
  }
  await exportAll()
  const list = async (given: Record<string, string>) =>
    (await listEvents(ctx, eventsQuery.parse({ interval: 'all', ...given }))).events
  return { ctx, list }
}

async function exportAll(): Promise<void> {
  while ((await exportSome(platform)) > 0);
  while ((await exportUnattributed(platform)) > 0);
}

test('leads and sales outside the attribution window are listed on request, with the reason', async () => {
  const { ctx, list } = await setUp()
  for (const [event, each] of [
    ['leads', 2],
    ['sales', 2],
  ] as const) {
    expect(await list({ event })).toHaveLength(each)
    expect(await list({ event, attributed: 'true' })).toHaveLength(each)
    expect(await list({ event, attributed: 'all' })).toHaveLength(2 * each)
    const unattributed = await list({ event, attributed: 'false' })
    expect(unattributed).toHaveLength(each)
    for (const one of unattributed) {
      expect(one).toMatchObject({
        link: { id: 'link_none', comments: 'Not attributed: the click is older than the attribution window.' },
        customer: { externalId: 'outside' },
        click_id: '',
        click: { id: '', trigger: null },
      })
    }
  }
  const [refund, sale] = await list({ event: 'sales', attributed: 'false' })
  expect([refund, sale]).toMatchObject([{ sale: { amount: -300 } }, { sale: { amount: 1_000 } }])
  expect(await countEvents(ctx, analyticsQuery.parse({ event: 'composite', interval: 'all' }))).toEqual({
    ...{ clicks: 2, leads: 2, sales: 1, saleAmount: 700 },
  } satisfies AnalyticsCount)
})

test('pages, cursors and filters apply to attributed and unattributed events together', async () => {
  const { ctx, list } = await setUp()
  const all = await list({ event: 'leads', attributed: 'all' })
  const paged: typeof all = []
  for (let page = 1; page <= 4; page++) {
    paged.push(...(await list({ event: 'leads', attributed: 'all', page: String(page), limit: '1' })))
  }
  expect(paged).toEqual(all)
  let cursor: string | undefined
  for (const expected of all) {
    const query = eventsQuery.parse({ event: 'leads', attributed: 'all', interval: 'all', limit: 1, cursor })
    const { events, next } = await listEvents(ctx, query)
    expect(events).toEqual([expected])
    cursor = next
  }
  expect(await list({ event: 'leads', attributed: 'all', query: "metadata['plan']:'pro'" })).toHaveLength(4)
  expect(await list({ event: 'leads', attributed: 'all', query: "metadata['plan']:'free'" })).toEqual([])
  expect(await list({ event: 'leads', attributed: 'all', qr: 'false' })).toHaveLength(2)
})

test('an export has the reason why a lead or sale is not attributed', async () => {
  const { ctx } = await setUp()
  expect(exportColumns.sales).toContain('notAttributed')
  const query = {
    ...eventsQuery.parse({ event: 'sales', interval: 'all', attributed: 'all' }),
    sortOrder: 'asc' as const,
  }
  let text = ''
  for await (const part of await exportEvents(ctx, { ...query, format: 'ndjson' })) text += part
  const rows = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(rows.map(({ notAttributed, amount }) => [notAttributed, amount])).toEqual([
    ['', 1_000],
    ['', -300],
    ['outside_window', 1_000],
    ['outside_window', -300],
  ])
})

test('a crash before unattributed rows are marked as exported adds no duplicates', async () => {
  const { ctx, list } = await setUp()
  await sql`UPDATE conversions SET batch = NULL, due_at = now() WHERE workspace_id = ${ctx.workspaceId}
    AND link_number IS NULL`.execute(platform.db)
  await exportAll()
  expect(await list({ event: 'leads', attributed: 'false' })).toHaveLength(2)
})

test('erasing a customer erases the metadata of unattributed leads and sales', async () => {
  const { ctx, list } = await setUp()
  const [lead] = await list({ event: 'leads', attributed: 'false' })
  if (lead?.event !== 'lead') throw new Error('no lead')
  expect(lead.metadata).toEqual({ plan: 'pro' })
  await eraseConversions(platform, [{ workspaceId: ctx.workspaceId, customerId: lead.customer.id }])
  expect(await list({ event: 'leads', attributed: 'false' })).toMatchObject([{ metadata: null }, { metadata: null }])
})
