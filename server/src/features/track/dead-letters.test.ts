import { randomInt, randomUUID } from 'node:crypto'
import { newLead, newSale } from '@tributary/contract/track'
import fc from 'fast-check'
import { sql } from 'kysely'
import { expect, test, vi } from 'vitest'
import { buildConversionLink, buildLink } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { openOwnDatabase } from '../../../test/own-database.ts'
import { type ConversionFinding, reconcileConversions } from '../../maintenance/conversions.ts'
import { query } from '../../platform/clickhouse.ts'
import type { Platform } from '../../platform/context.ts'
import { countLetters, selectLetters } from '../../platform/dead-letters.ts'
import { claim, ingest } from '../ingest/service.ts'
import { getLink } from '../links/list.ts'
import type { RawClick } from '../redirect/messages.ts'
import { retryConversion } from './dead-letters.ts'
import { eraseConversions } from './erase.ts'
import { exportSome, measureOverdue } from './export.ts'
import { trackLead } from './leads.ts'
import { trackMetrics } from './metrics.ts'
import { trackSale } from './sales.ts'

vi.setConfig({ testTimeout: 240_000 })
const platform = await openOwnDatabase()
const holder = { partition: randomInt(1_000, 2 ** 31), owner: randomUUID() }
let sequence = 0
await claim(platform, holder)
const most = 9_223_372_036_854_775_807n

async function setUp() {
  const { workspace, link, click } = await buildConversionLink(platform)
  const ctx = contextIn(platform, workspace.id)
  const lead = (clickId: string, customerExternalId: string) =>
    trackLead(ctx, newLead.parse({ clickId, eventName: 'Sign up', customerExternalId, metadata: { of: 'a person' } }))
  return { workspace, link, click, ctx, lead }
}

async function arrive(...clicks: RawClick[]): Promise<void> {
  sequence = await ingest(platform, holder, sequence, [{ sequence: sequence + 1, body: clicks }])
}

async function exportAll(on: Platform = platform): Promise<void> {
  while ((await exportSome(on)) > 0);
}

/** Sets a link's counter to its maximum, so that PostgreSQL rejects further leads, or back to its value. */
async function setLeads(linkId: string, leads: bigint): Promise<void> {
  await sql`UPDATE link_counters SET leads = ${leads}
    WHERE link_number = (SELECT number FROM links WHERE id = ${linkId})`.execute(platform.db)
}

async function storedLeads(workspaceId: string): Promise<string[]> {
  const rows = await query<{ id: string }>(
    platform.clickhouse,
    'SELECT id FROM lead_events WHERE workspace_id = {workspaceId:String} ORDER BY id',
    { workspaceId },
  )
  return rows.map(({ id }) => id)
}

async function findings(workspaceId: string): Promise<ConversionFinding[]> {
  const found: ConversionFinding[] = []
  for await (const step of reconcileConversions(platform, { workspaceId })) found.push(...step.findings)
  return found
}

function passTime(): Promise<unknown> {
  return sql`UPDATE conversions SET due_at = now() - interval '1 second'
    WHERE stored_at IS NULL AND due_at < 'infinity'`.execute(platform.db)
}

test('leads that PostgreSQL or ClickHouse rejects become dead letters, and a retry stores each once', async () => {
  const [hostile, honest] = [await setUp(), await setUp()]
  const [theirs, ours] = [hostile.click(), honest.click()]
  await arrive(theirs, ours)
  for (const name of ['a', 'b', 'c']) await hostile.lead(theirs.id, name)
  for (const name of ['d', 'e']) await honest.lead(ours.id, name)
  await hostile.lead(theirs.id, 'unreadable')
  await sql`UPDATE conversions SET click_id = 'no base64!' WHERE number = (
    SELECT max(number) FROM conversions WHERE workspace_id = ${hostile.workspace.id})`.execute(platform.db)
  await setLeads(hostile.link.id, most)
  await exportAll()

  expect(await storedLeads(honest.workspace.id)).toHaveLength(2)
  expect(await getLink(honest.ctx, { linkId: honest.link.id })).toMatchObject({ leads: 2 })
  expect(await findings(honest.workspace.id)).toEqual([])
  expect(await storedLeads(hostile.workspace.id)).toEqual([])
  const letters = await selectLetters(platform.db, { limit: 10 })
  expect(letters.map(({ kind, workspace_id }) => [kind, workspace_id])).toEqual(
    Array.from({ length: 4 }, () => ['conversion', hostile.workspace.id]),
  )
  expect(new Set(letters.map(({ reason }) => reason))).toEqual(
    new Set([
      'PostgreSQL rejected the data: SQLSTATE 22003',
      expect.stringMatching(/^ClickHouse rejected the data: \w+ \(\d+\)$/),
    ]),
  )
  expect(await countLetters(platform.db)).toEqual({ conversion: 4, outbox: 0 })
  await measureOverdue(platform)
  expect((await trackMetrics(platform).overdue.get()).values[0]?.value).toBe(0)

  // The lead is rejected again, so the dead letter returns with its number of attempts.
  const ids = letters.filter(({ reason }) => reason.includes('22003')).map(({ reference }) => reference)
  const retry = (id: string) => retryConversion(platform, hostile.workspace.id, id)
  expect(await retry(ids[0] as string)).toBe(true)
  expect(await countLetters(platform.db)).toEqual({ conversion: 3, outbox: 0 })
  await exportAll()
  expect(await selectLetters(platform.db, { limit: 9, reference: ids[0] })).toMatchObject([{ attempts: 2 }])

  await setLeads(hostile.link.id, 0n)
  for (const id of ids) await retry(id)
  for (const id of ids) await retry(id)
  await exportAll()
  expect(await storedLeads(hostile.workspace.id)).toEqual([...ids].sort())
  expect(await getLink(hostile.ctx, { linkId: hostile.link.id })).toMatchObject({ leads: 3 })
  expect(await findings(hostile.workspace.id)).toEqual([])
  expect(await countLetters(platform.db)).toEqual({ conversion: 1, outbox: 0 })
})

test('erasing a customer leaves no personal data in a dead letter', async () => {
  const { workspace, link, click, lead } = await setUp()
  const visit = click()
  await arrive(visit)
  await lead(visit.id, 'ada')
  await setLeads(link.id, most)
  await exportAll()
  const row = await sql<{ customer_id: string; metadata: string | null }>`
    SELECT customer_id, metadata FROM conversions WHERE workspace_id = ${workspace.id}`.execute(platform.db)
  const customerId = row.rows[0]?.customer_id as string
  await eraseConversions(platform, [{ workspaceId: workspace.id, customerId } as never])
  const after = await sql`SELECT metadata FROM conversions WHERE workspace_id = ${workspace.id}`.execute(platform.db)
  expect(after.rows).toEqual([{ metadata: null }])
})

test('1,030 sales of the former maximum amount block no export, and their sum is exact where possible', async () => {
  const [hostile, honest] = [await setUp(), await setUp()]
  const [theirs, ours] = [hostile.click(), honest.click()]
  await arrive(theirs, ours)
  for (const [{ ctx, lead }, visit] of [
    [hostile, theirs],
    [honest, ours],
  ] as const) {
    await lead(visit.id, 'ada')
    await trackSale(ctx, newSale.parse({ customerExternalId: 'ada', amount: 1_000, invoiceId: 'in_1' }))
  }
  const amount = BigInt(Number.MAX_SAFE_INTEGER)
  await sql`INSERT INTO conversions (id, workspace_id, kind, customer_id, event_name, link_number, click_id, attribution,
      amount, currency)
    SELECT id || n, workspace_id, kind, customer_id, event_name, link_number, click_id, attribution, ${amount}, currency
    FROM conversions, generate_series(1, 1030) AS n
    WHERE workspace_id = ${hostile.workspace.id} AND kind = 'sale'`.execute(platform.db)
  await exportAll()
  expect(await getLink(honest.ctx, { linkId: honest.link.id })).toMatchObject({ sales: 1, saleAmount: 1_000 })
  const counted = await getLink(hostile.ctx, { linkId: hostile.link.id })
  expect(counted).toMatchObject({ sales: 1_031, saleAmount: Number.MAX_SAFE_INTEGER })
  const total = await sql<{ total: string }>`
    SELECT sale_amount::text AS total FROM link_counters WHERE workspace_id = ${hostile.workspace.id}`.execute(
    platform.db,
  )
  expect(total.rows).toEqual([{ total: String(amount * 1_030n + 1_000n) }])
  expect([...(await findings(hostile.workspace.id)), ...(await findings(honest.workspace.id))]).toEqual([])
})

test('wherever rejected rows are in a batch, and wherever a worker dies, all other rows are stored once', async () => {
  const positions = Array.from({ length: 10 }, (_, index) => index)
  await fc.assert(
    fc.asyncProperty(
      fc.subarray(positions, { minLength: 1 }),
      fc.array(fc.nat(3), { maxLength: 3 }),
      async (bad, deaths) => {
        const { workspace, link, click, ctx, lead } = await setUp()
        const poisoned = await buildLink(platform, workspace, { trackConversion: true })
        const numbers = await sql<{ number: bigint }>`
        SELECT number FROM links WHERE id = ${poisoned.id}`.execute(platform.db)
        const [good, refused] = [click(), click({ linkNumber: String(numbers.rows[0]?.number) })]
        await arrive(good, refused)
        await setLeads(poisoned.id, most)
        for (const position of positions) await lead(good.id, `c${position}`)
        await sql`UPDATE conversions SET link_number = ${numbers.rows[0]?.number}
        WHERE workspace_id = ${workspace.id} AND number IN (SELECT number FROM (
          SELECT number, row_number() OVER (ORDER BY number) - 1 AS position FROM conversions
          WHERE workspace_id = ${workspace.id}) AS placed WHERE position = ANY(${bad}::int[]))`.execute(platform.db)
        for (const steps of deaths) {
          for (let step = 0; step < steps; step++) await exportSome(platform)
          await exportSome({ ...platform, db: diesBeforeCommit() }).catch(() => {})
          await passTime()
        }
        await exportAll()
        expect(await storedLeads(workspace.id)).toHaveLength(positions.length - bad.length)
        expect(await getLink(ctx, { linkId: link.id })).toMatchObject({ leads: positions.length - bad.length })
        const letters = await selectLetters(platform.db, { limit: 100 })
        expect(letters.filter(({ workspace_id }) => workspace_id === workspace.id)).toHaveLength(bad.length)
        await setLeads(poisoned.id, 0n)
        expect(await findings(workspace.id)).toEqual([])
      },
    ),
    { numRuns: 2, endOnFailure: true },
  )
})

/** A database handle whose transactions fail before the commit: ClickHouse has the rows, PostgreSQL does not. */
function diesBeforeCommit(): Platform['db'] {
  return new Proxy(platform.db, {
    get(target, property) {
      const value = Reflect.get(target, property, target)
      if (property !== 'transaction') return typeof value === 'function' ? value.bind(target) : value
      const execute = (work: (db: Platform['db']) => Promise<unknown>) =>
        target.transaction().execute(async (inside) => {
          await work(inside)
          throw new Error('crash')
        })
      return () => ({ execute })
    },
  })
}
