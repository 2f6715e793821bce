import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { buildCustomer } from '../../../test/build.ts'
import {
  type BuiltProgram,
  buildEarner,
  buildPartner,
  decideAll,
  readCommissions,
  recordRefund,
  recordSale,
} from '../../../test/program.ts'
import { eventually, openTestPlatform } from '../../../test/stack.ts'
import { transaction } from '../../platform/postgres.ts'
import { lockPartners } from '../partners/service.ts'
import { decideSome, openEngine } from './engine.ts'
import { explainEvent } from './explain.ts'

const platform = await openTestPlatform()
const { db } = platform

/** Copies a sale, which puts the copies into the queue. */
async function copySale(number: bigint, count: number) {
  await sql`INSERT INTO conversions (id, workspace_id, kind, customer_id, event_name, link_number, attribution, amount,
      currency, invoice_id, partner_id, stored_at, click_facts_at)
    SELECT gen_random_uuid(), workspace_id, kind, customer_id, event_name, link_number, attribution, amount, currency,
      gen_random_uuid(), partner_id, now(), now()
    FROM conversions, generate_series(1, ${count}::int) WHERE number = ${number}`.execute(db)
}

async function countQueued({ ctx }: BuiltProgram): Promise<number> {
  const result = await sql<{ count: number }>`SELECT count(*)::int AS count FROM commission_queue
    WHERE workspace_id = ${ctx.workspaceId}`.execute(db)
  return result.rows[0]?.count ?? 0
}

function retryNow({ ctx }: BuiltProgram) {
  return sql`UPDATE commission_queue SET retry_at = now() - interval '1 second'
    WHERE workspace_id = ${ctx.workspaceId} AND retry_at IS NOT NULL`.execute(db)
}

test("a workspace's backlog of 20,000 sales delays another workspace's sale by a few turns only", async () => {
  const busy = await buildEarner(platform)
  const quiet = await buildEarner(platform)
  const { number } = await recordSale(platform, busy.program, busy.partner)
  for (let part = 0; part < 4; part++) await copySale(number, 5_000)
  const stopping = new AbortController()
  const running = openEngine(platform)(stopping.signal)
  try {
    await eventually(async () => expect((await readCommissions(busy.program)).length).toBeGreaterThan(0))
    await recordSale(platform, quiet.program, quiet.partner)
    const before = await countQueued(busy.program)
    await eventually(async () => expect(await readCommissions(quiet.program)).toHaveLength(1), 30_000)
    // Two turns at once, of at most 1,000 events each: those under way, the next ones, and those during the counts.
    expect(before - (await countQueued(busy.program))).toBeLessThanOrEqual(6_000)
  } finally {
    stopping.abort()
    await running
    await sql`DELETE FROM commission_queue WHERE workspace_id = ${busy.program.ctx.workspaceId}`.execute(db)
  }
}, 120_000)

test('events behind those of a locked partner are decided', async () => {
  const { program, partner } = await buildEarner(platform)
  const other = await buildPartner(platform, program)
  const { number } = await recordSale(platform, program, partner)
  await decideAll(platform, program)
  await transaction(program.ctx, async ({ db }) => {
    await lockPartners(db, program.ctx.workspaceId, [partner.number])
    // Only now, because the worker of the test run decides events, too.
    await copySale(number, 1_500)
    await recordSale(platform, program, other)
    await eventually(async () => {
      await decideSome(platform)
      const earned = await sql`SELECT FROM commissions WHERE partner_number = ${other.number}`.execute(platform.db)
      expect(earned.rows).toHaveLength(1)
    })
    expect(await countQueued(program)).toBe(1_500)
  })
  await decideAll(platform, program)
  expect(await readCommissions(program)).toHaveLength(1_502)
})

test('a sale without an exchange rate waits with a reason, and other customers of the partner go on', async () => {
  const { program, partner } = await buildEarner(platform)
  const stuck = await recordSale(platform, program, partner)
  await sql`UPDATE conversions SET currency = 'xts' WHERE number = ${stuck.number}`.execute(db)
  await recordRefund(program, stuck.invoiceId, 2_000)
  const next = await recordSale(platform, program, partner, { customer: stuck.customer })
  await recordSale(platform, program, partner, { amount: 5_000 })
  await eventually(async () => {
    await decideSome(platform)
    expect(await countQueued(program)).toBe(3)
  })
  expect(await readCommissions(program)).toMatchObject([{ earnings: 500n }])
  const explain = ({ id }: { id: string }) => explainEvent(program.ctx, { eventId: id })
  expect(await explain(stuck)).toMatchObject({
    outcome: 'waiting',
    reason: 'no_exchange_rate',
    text: expect.stringContaining('no exchange rate'),
  })
  expect(await explain(next)).toMatchObject({ outcome: 'waiting', reason: 'earlier_event' })

  await sql`UPDATE conversions SET currency = 'usd' WHERE number = ${stuck.number}`.execute(db)
  // Another engine may postpone the events again, by the currency that it read before.
  await eventually(async () => {
    await retryNow(program)
    await decideSome(platform)
    expect(await countQueued(program)).toBe(0)
  })
  expect((await readCommissions(program)).map(({ earnings }) => earnings)).toEqual([500n, 800n, 1_000n])
  expect(await explain(next)).toMatchObject({ outcome: 'commission' })
})

test('an event that fails is postponed with its reason and stops no other', async () => {
  const { program, partner } = await buildEarner(platform)
  const customer = await buildCustomer(platform, program.workspace)
  const sales = [await recordSale(platform, program, partner, { customer })]
  for (let index = 0; index < 9; index++) sales.push(await recordSale(platform, program, partner))
  const broken = await recordSale(platform, program, partner)
  await sql`UPDATE conversions SET metadata = '{' WHERE number = ${broken.number}`.execute(db)
  await recordSale(platform, program, partner, { customer: broken.customer })
  await recordSale(platform, program, partner, { customer })
  await eventually(async () => {
    await decideSome(platform)
    expect(await readCommissions(program)).toHaveLength(11)
  })
  expect(await countQueued(program)).toBe(2)
  expect(await explainEvent(program.ctx, { eventId: broken.id })).toMatchObject({
    outcome: 'waiting',
    reason: 'failed',
  })
  await sql`UPDATE conversions SET metadata = NULL WHERE number = ${broken.number}`.execute(db)
  await eventually(async () => {
    await retryNow(program)
    await decideSome(platform)
    expect(await countQueued(program)).toBe(0)
  })
  expect(await readCommissions(program)).toHaveLength(13)
})
