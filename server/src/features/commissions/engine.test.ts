import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { buildCustomer } from '../../../test/build.ts'
import {
  type BuiltProgram,
  buildPartner,
  buildProgram,
  buildReward,
  decideAll,
  readCommissions,
  recordLead,
  recordRefund,
  recordSale,
} from '../../../test/program.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { differentBalances, differentSums, partnerBalances } from '../ledger/service.ts'
import { totalsByPartner } from '../partners/service.ts'
import { decideSome } from './engine.ts'
import { runMaturing } from './mature.ts'

const platform = await openTestPlatform()
const { db } = platform

async function buildWorld(terms: Parameters<typeof buildReward>[1] = {}, given: { currency?: string } = {}) {
  const program = await buildProgram(platform, given)
  await buildReward(program, terms)
  const partner = await buildPartner(platform, program)
  return { program, partner }
}

async function owed({ ctx }: BuiltProgram, partnerNumber: bigint) {
  const balances = await partnerBalances(db, ctx.workspaceId, [partnerNumber])
  return Object.fromEntries(balances.map(({ kind, owed }) => [kind, owed]))
}

async function expectSound({ ctx: { workspaceId } }: BuiltProgram) {
  const { rows } = await differentBalances(platform, { after: 0n, count: 1_000, workspaceId })
  expect([...rows, ...(await differentSums(platform, workspaceId))]).toEqual([])
}

function mature({ ctx }: BuiltProgram) {
  return runMaturing(platform, new Date(Date.now() + 1_000), { workspaceIds: [ctx.workspaceId] })
}

async function readReasons({ ctx }: BuiltProgram) {
  const result = await sql<{ reason: string | null }>`SELECT reason FROM commission_decisions
    WHERE workspace_id = ${ctx.workspaceId} ORDER BY conversion_number`.execute(db)
  return result.rows.map(({ reason }) => reason)
}

test('a sale earns a commission with its posting, key, binding, details and totals', async () => {
  const { program, partner } = await buildWorld()
  const sale = await recordSale(platform, program, partner, { amount: 12_345 })
  await decideAll(platform, program)
  expect(await readCommissions(program)).toMatchObject([
    { type: 'sale', status: 'pending', amount: 12_345n, earnings: 1_235n, quantity: 1 },
  ])
  expect(await owed(program, partner.number)).toEqual({ accrued: 1_235n })
  expect(await readReasons(program)).toEqual(['no_reward', null])
  const totals = (await totalsByPartner(program.ctx, [partner.number])).get(partner.number)
  expect(totals).toMatchObject({ leads: 1n, conversions: 1n, sales: 1n, sale_amount: 12_345n, commissions: 1_235n })
  const keys = await sql`SELECT kind FROM commission_keys WHERE source = ${sale.number} AND kind = 0`.execute(db)
  expect(keys.rows).toHaveLength(1)
  const events = await sql<{
    body: { events: object[] }
  }>`SELECT body FROM (SELECT body, workspace_id, subject FROM outbox
    UNION ALL SELECT body, workspace_id, subject FROM outbox_published) AS o
    WHERE workspace_id = ${program.ctx.workspaceId} AND subject LIKE '%.commissions'`.execute(db)
  expect(events.rows.flatMap(({ body }) => body.events)).toMatchObject([{ event: 'commission.created' }])
  await expectSound(program)
})

test('many events of many partners are each decided once, by several engines at a time', async () => {
  const { program } = await buildWorld()
  const partners = await Promise.all(Array.from({ length: 5 }, () => buildPartner(platform, program)))
  const customers = await Promise.all(Array.from({ length: 10 }, () => buildCustomer(platform, program.workspace)))
  for (let index = 0; index < 60; index++) {
    const partner = partners[index % 5] as (typeof partners)[number]
    await recordSale(platform, program, partner, { amount: 100, customer: customers[index % 10] })
  }
  await Promise.all(Array.from({ length: 4 }, () => decideSome(platform)))
  await decideAll(platform, program)
  const commissions = await readCommissions(program)
  expect(commissions.filter(({ type }) => type === 'sale')).toHaveLength(60)
  await expectSound(program)
})

test('a lead earns once per customer', async () => {
  const { program, partner } = await buildWorld({ event: 'lead', type: 'flat', amount: 500 })
  const customer = await buildCustomer(platform, program.workspace)
  await recordLead(platform, program, partner, customer)
  await recordLead(platform, program, partner, customer)
  await decideAll(platform, program)
  expect(await readCommissions(program)).toMatchObject([{ type: 'lead', earnings: 500n }])
  expect(await readReasons(program)).toEqual([null, 'duplicate_lead'])
})

test('a reward for the first sale only ends there', async () => {
  const { program, partner } = await buildWorld({ maxDuration: 0 })
  const { customer } = await recordSale(platform, program, partner)
  await recordSale(platform, program, partner, { customer })
  await decideAll(platform, program)
  expect(await readReasons(program)).toEqual(['no_reward', null, 'window_over'])
})

test('a cap limits what all sales of a batch earn together', async () => {
  const cap = { amount: 1_500, interval: 'month', scope: 'program' }
  const { program, partner } = await buildWorld({ cap })
  for (let index = 0; index < 3; index++) await recordSale(platform, program, partner)
  await decideAll(platform, program)
  expect((await readCommissions(program)).map(({ earnings }) => earnings)).toEqual([1_000n, 500n])
  expect((await readReasons(program)).filter((reason) => reason === 'capped')).toHaveLength(1)
})

test('events of an unknown partner earn nothing', async () => {
  const { program, partner } = await buildWorld()
  await recordSale(platform, program, { ...partner, link: { ...partner.link, partnerId: 'someone' } })
  await decideAll(platform, program)
  expect(await readReasons(program)).toEqual(['not_enrolled', 'not_enrolled'])
})

test('events of a banned partner earn nothing', async () => {
  const { program, partner } = await buildWorld()
  await sql`UPDATE partners SET status = 'banned' WHERE number = ${partner.number}`.execute(db)
  await recordSale(platform, program, partner)
  await decideAll(platform, program)
  expect(await readReasons(program)).toEqual(['not_enrolled', 'not_enrolled'])
  const totals = (await totalsByPartner(program.ctx, [partner.number])).get(partner.number)
  expect(totals).toMatchObject({ sales: 1n, commissions: 0n })
})

test('events of a merged partner belong to the partner it became', async () => {
  const { program, partner } = await buildWorld()
  const target = await buildPartner(platform, program)
  await sql`UPDATE partners SET merged_into = ${target.number} WHERE number = ${partner.number}`.execute(db)
  await recordSale(platform, program, partner)
  await decideAll(platform, program)
  expect(await owed(program, target.number)).toEqual({ accrued: 1_000n })
})

test("a sale is converted to the program's currency, with the date of the rate", async () => {
  const { program, partner } = await buildWorld({}, { currency: 'eur' })
  await recordSale(platform, program, partner)
  await decideAll(platform, program)
  const [commission] = await readCommissions(program)
  expect(commission?.amount).toBeLessThan(10_000n)
  const details = await sql<{
    why: object
  }>`SELECT why FROM commission_details JOIN commissions ON number = commission_number
    WHERE workspace_id = ${program.ctx.workspaceId}`.execute(db)
  expect(details.rows[0]?.why).toMatchObject({
    exchange: { amount: 10_000, currency: 'usd', date: expect.any(String) },
  })
})

test('refunds post the difference, and a full one ends the commission', async () => {
  const { program, partner } = await buildWorld()
  const { invoiceId } = await recordSale(platform, program, partner, { amount: 999 })
  await recordRefund(program, invoiceId, 333)
  await decideAll(platform, program)
  expect(await readCommissions(program)).toMatchObject([{ status: 'pending', amount: 666n, earnings: 67n }])
  expect(await owed(program, partner.number)).toEqual({ accrued: 67n })
  await recordRefund(program, invoiceId, 333)
  await recordRefund(program, invoiceId)
  await decideAll(platform, program)
  expect(await readCommissions(program)).toMatchObject([{ status: 'refunded', amount: 0n, earnings: 0n }])
  expect(await owed(program, partner.number)).toEqual({ accrued: 0n })
  const totals = (await totalsByPartner(program.ctx, [partner.number])).get(partner.number)
  expect(totals).toMatchObject({ sales: 0n, sale_amount: 0n, commissions: 0n })
  await expectSound(program)
})

test('a flat reward stays until the sale is fully refunded', async () => {
  const { program, partner } = await buildWorld({ type: 'flat', amount: 700 })
  const { invoiceId } = await recordSale(platform, program, partner, { amount: 999 })
  await recordRefund(program, invoiceId, 998)
  await decideAll(platform, program)
  expect(await readCommissions(program)).toMatchObject([{ status: 'pending', earnings: 700n }])
  await recordRefund(program, invoiceId)
  await decideAll(platform, program)
  expect(await readCommissions(program)).toMatchObject([{ status: 'refunded', earnings: 0n }])
})

test('commissions mature into one open payout per partner, which a refund lowers', async () => {
  const { program, partner } = await buildWorld()
  const { invoiceId } = await recordSale(platform, program, partner)
  await recordSale(platform, program, partner, { amount: 5_000 })
  await decideAll(platform, program)
  await mature(program)
  await mature(program)
  const read = async () =>
    (await sql<object>`SELECT status, amount FROM payouts WHERE workspace_id = ${program.ctx.workspaceId}`.execute(db))
      .rows
  expect(await read()).toEqual([{ status: 'pending', amount: 1_500n }])
  expect(await owed(program, partner.number)).toEqual({ accrued: 0n, due: 1_500n })
  await recordRefund(program, invoiceId, 5_000)
  await decideAll(platform, program)
  expect(await read()).toEqual([{ status: 'pending', amount: 1_000n }])
  await recordRefund(program, invoiceId)
  await decideAll(platform, program)
  expect(await read()).toEqual([{ status: 'pending', amount: 500n }])
  expect(await readCommissions(program)).toMatchObject([
    { status: 'refunded', payout_number: null },
    { status: 'processed' },
  ])
  expect(await owed(program, partner.number)).toEqual({ accrued: 0n, due: 500n })
  await expectSound(program)
})

test('a refund of a paid commission is clawed back once, in proportion, and carried over', async () => {
  const { program, partner } = await buildWorld()
  const { invoiceId } = await recordSale(platform, program, partner)
  await decideAll(platform, program)
  await sql`UPDATE commissions SET status = 'paid' WHERE workspace_id = ${program.ctx.workspaceId}`.execute(db)
  await recordRefund(program, invoiceId, 2_500)
  await recordRefund(program, invoiceId)
  await decideAll(platform, program)
  expect(await readCommissions(program)).toMatchObject([
    { type: 'sale', status: 'paid', earnings: 1_000n },
    { type: 'custom', status: 'pending', earnings: -250n, description: 'order_canceled' },
    { type: 'custom', status: 'pending', earnings: -750n },
  ])
  await mature(program)
  const payouts = await sql`SELECT status, amount FROM payouts WHERE workspace_id = ${program.ctx.workspaceId}`.execute(
    db,
  )
  expect(payouts.rows).toEqual([{ status: 'pending', amount: -1_000n }])
})

test('a customer whose first commission is fraud earns nothing further', async () => {
  const { program, partner } = await buildWorld()
  const { customer } = await recordSale(platform, program, partner)
  await decideAll(platform, program)
  await sql`UPDATE commissions SET status = 'fraud' WHERE workspace_id = ${program.ctx.workspaceId}`.execute(db)
  await recordSale(platform, program, partner, { customer })
  await decideAll(platform, program)
  expect((await readReasons(program)).at(-1)).toBe('voided')
})
