import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { buildCustomer } from '../../../test/build.ts'
import {
  buildEarner,
  buildPartner,
  decideAll,
  expectSound,
  matureAll,
  readCommissions,
  readOwed,
  readReasons,
  recordLead,
  recordRefund,
  recordSale,
} from '../../../test/program.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { totalsByPartner } from '../partners/service.ts'
import { createCommission } from './create.ts'
import { decideSome } from './engine.ts'
import { explainEvent } from './explain.ts'

const platform = await openTestPlatform()
const { db } = platform

test('a sale earns a commission with its posting, key, binding, details and totals', async () => {
  const { program, partner } = await buildEarner(platform)
  const sale = await recordSale(platform, program, partner, { amount: 12_345 })
  await decideAll(platform, program)
  expect(await readCommissions(program)).toMatchObject([
    { type: 'sale', status: 'pending', amount: 12_345n, earnings: 1_235n, quantity: 1 },
  ])
  expect(await readOwed(program, partner.number)).toEqual({ accrued: 1_235n })
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
  await expectSound(platform, program)
})

test('many events of many partners are each decided once, by several engines at a time', async () => {
  const { program } = await buildEarner(platform)
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
  await expectSound(platform, program)
})

test('a lead earns once per customer', async () => {
  const { program, partner } = await buildEarner(platform, { event: 'lead', type: 'flat', amount: 500 })
  const customer = await buildCustomer(platform, program.workspace)
  await recordLead(platform, program, partner, customer)
  await recordLead(platform, program, partner, customer)
  await decideAll(platform, program)
  expect(await readCommissions(program)).toMatchObject([{ type: 'lead', earnings: 500n }])
  expect(await readReasons(program)).toEqual([null, 'duplicate_lead'])
})

test('a reward for the first sale only ends there', async () => {
  const { program, partner } = await buildEarner(platform, { maxDuration: 0 })
  const { customer } = await recordSale(platform, program, partner)
  await recordSale(platform, program, partner, { customer })
  await decideAll(platform, program)
  expect(await readReasons(program)).toEqual(['no_reward', null, 'window_over'])
})

test('a cap limits what all sales of a batch earn together', async () => {
  const cap = { amount: 1_500, interval: 'month', scope: 'program' }
  const { program, partner } = await buildEarner(platform, { cap })
  for (let index = 0; index < 3; index++) await recordSale(platform, program, partner)
  await decideAll(platform, program)
  expect((await readCommissions(program)).map(({ earnings }) => earnings)).toEqual([1_000n, 500n])
  expect((await readReasons(program)).filter((reason) => reason === 'capped')).toHaveLength(1)
})

test('of a cap that partners share, earlier sales get their part first, by several engines at a time', async () => {
  const cap = { amount: 12_500, interval: 'month', scope: 'group' }
  const { program } = await buildEarner(platform, { cap })
  const partners = await Promise.all(Array.from({ length: 6 }, () => buildPartner(platform, program)))
  const sales: bigint[] = []
  for (let index = 0; index < 24; index++) {
    const partner = partners[index % 6] as (typeof partners)[number]
    sales.push((await recordSale(platform, program, partner)).number)
  }
  await Promise.all(Array.from({ length: 4 }, () => decideSome(platform)))
  await decideAll(platform, program)
  const earned = await sql<{ conversion_number: bigint; earnings: bigint }>`SELECT conversion_number, earnings
    FROM commissions WHERE workspace_id = ${program.ctx.workspaceId} ORDER BY conversion_number`.execute(db)
  expect(earned.rows).toEqual(
    sales.slice(0, 13).map((number, index) => ({ conversion_number: number, earnings: index < 12 ? 1_000n : 500n })),
  )
  await expectSound(platform, program)
})

test('events of an unknown partner earn nothing', async () => {
  const { program, partner } = await buildEarner(platform)
  await recordSale(platform, program, { ...partner, link: { ...partner.link, partnerId: 'someone' } })
  await decideAll(platform, program)
  expect(await readReasons(program)).toEqual(['not_enrolled', 'not_enrolled'])
})

test('events of a banned partner earn nothing', async () => {
  const { program, partner } = await buildEarner(platform)
  await sql`UPDATE partners SET status = 'banned' WHERE number = ${partner.number}`.execute(db)
  await recordSale(platform, program, partner)
  await decideAll(platform, program)
  expect(await readReasons(program)).toEqual(['not_enrolled', 'not_enrolled'])
  const totals = (await totalsByPartner(program.ctx, [partner.number])).get(partner.number)
  expect(totals).toMatchObject({ sales: 1n, commissions: 0n })
})

test("a lead or sale of a customer with the partner's e-mail address earns nothing, and says why", async () => {
  const { program, partner } = await buildEarner(platform, {}, { partner: { email: 'ann@example.com' } })
  const customer = await buildCustomer(platform, program.workspace)
  await sql`UPDATE customers SET email = 'Ann@Example.com' WHERE id = ${customer.id}`.execute(db)
  const { id } = await recordSale(platform, program, partner, { customer })
  await decideAll(platform, program)
  expect(await readCommissions(program)).toEqual([])
  expect(await readReasons(program)).toEqual(['self_referral', 'self_referral'])
  expect(await explainEvent(program.ctx, { eventId: id })).toMatchObject({
    reason: 'self_referral',
    text: expect.stringContaining("the partner's e-mail address"),
  })
})

test('sums of money have no largest value: a sale, its refund and its payout follow 64 bits of others', async () => {
  const { program, partner } = await buildEarner(platform)
  await recordSale(platform, program, partner)
  await decideAll(platform, program)
  const most = 2n ** 63n - 1n
  await sql`UPDATE partner_totals SET sale_amount = ${most}, commissions = ${most}
    WHERE partner_number = ${partner.number}`.execute(db)
  await sql`UPDATE ledger_balances SET debit = debit + ${most - 1_000n}, credit = credit + ${most - 1_000n}
    WHERE account IN (SELECT number FROM ledger_accounts WHERE partner_number = ${partner.number})`.execute(db)
  await recordSale(platform, program, partner)
  await decideAll(platform, program)
  const totals = async () => (await totalsByPartner(program.ctx, [partner.number])).get(partner.number)
  expect(await totals()).toMatchObject({ sale_amount: most + 10_000n, commissions: most + 1_000n })
  expect(await readOwed(program, partner.number)).toEqual({ accrued: 2_000n })
  await createCommission(program.ctx, { type: 'custom', partnerId: partner.id, amount: 500 })
  expect(await totals()).toMatchObject({ commissions: most + 1_500n })
  await matureAll(platform, program)
  await sql`UPDATE payouts SET amount = ${most} WHERE partner_number = ${partner.number}`.execute(db)
  await createCommission(program.ctx, { type: 'custom', partnerId: partner.id, amount: 700 })
  await matureAll(platform, program)
  const payouts = await sql`SELECT amount::text FROM payouts WHERE partner_number = ${partner.number}`.execute(db)
  expect(payouts.rows).toEqual([{ amount: String(most + 700n) }])
})

test('events of a merged partner belong to the partner it became', async () => {
  const { program, partner } = await buildEarner(platform)
  const target = await buildPartner(platform, program)
  await sql`UPDATE partners SET merged_into = ${target.number} WHERE number = ${partner.number}`.execute(db)
  await recordSale(platform, program, partner)
  await decideAll(platform, program)
  expect(await readOwed(program, target.number)).toEqual({ accrued: 1_000n })
})

test("a sale is converted to the program's currency, with the date of the rate", async () => {
  const { program, partner } = await buildEarner(platform, {}, { currency: 'eur' })
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
  const { program, partner } = await buildEarner(platform)
  const { invoiceId } = await recordSale(platform, program, partner, { amount: 999 })
  await recordRefund(program, invoiceId, 333)
  await decideAll(platform, program)
  expect(await readCommissions(program)).toMatchObject([{ status: 'pending', amount: 666n, earnings: 67n }])
  expect(await readOwed(program, partner.number)).toEqual({ accrued: 67n })
  await recordRefund(program, invoiceId, 333)
  await recordRefund(program, invoiceId)
  await decideAll(platform, program)
  expect(await readCommissions(program)).toMatchObject([{ status: 'refunded', amount: 0n, earnings: 0n }])
  expect(await readOwed(program, partner.number)).toEqual({ accrued: 0n })
  const totals = (await totalsByPartner(program.ctx, [partner.number])).get(partner.number)
  expect(totals).toMatchObject({ sales: 0n, sale_amount: 0n, commissions: 0n })
  await expectSound(platform, program)
})

test('a flat reward stays until the sale is fully refunded', async () => {
  const { program, partner } = await buildEarner(platform, { type: 'flat', amount: 700 })
  const { invoiceId } = await recordSale(platform, program, partner, { amount: 999 })
  await recordRefund(program, invoiceId, 998)
  await decideAll(platform, program)
  expect(await readCommissions(program)).toMatchObject([{ status: 'pending', earnings: 700n }])
  await recordRefund(program, invoiceId)
  await decideAll(platform, program)
  expect(await readCommissions(program)).toMatchObject([{ status: 'refunded', earnings: 0n }])
})

test('commissions mature into one open payout per partner, which a refund lowers', async () => {
  const { program, partner } = await buildEarner(platform)
  const { invoiceId } = await recordSale(platform, program, partner)
  await recordSale(platform, program, partner, { amount: 5_000 })
  await decideAll(platform, program)
  await matureAll(platform, program)
  await matureAll(platform, program)
  const read = async () =>
    (
      await sql<object>`SELECT status, amount::bigint FROM payouts WHERE workspace_id = ${program.ctx.workspaceId}`.execute(
        db,
      )
    ).rows
  expect(await read()).toEqual([{ status: 'pending', amount: 1_500n }])
  expect(await readOwed(program, partner.number)).toEqual({ accrued: 0n, due: 1_500n })
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
  expect(await readOwed(program, partner.number)).toEqual({ accrued: 0n, due: 500n })
  await expectSound(platform, program)
})

test('a refund of a paid commission is clawed back once, in proportion, and carried over', async () => {
  const { program, partner } = await buildEarner(platform)
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
  await matureAll(platform, program)
  const payouts =
    await sql`SELECT status, amount::bigint FROM payouts WHERE workspace_id = ${program.ctx.workspaceId}`.execute(db)
  expect(payouts.rows).toEqual([{ status: 'pending', amount: -1_000n }])
})

test('a customer whose first commission is fraud earns nothing further', async () => {
  const { program, partner } = await buildEarner(platform)
  const { customer } = await recordSale(platform, program, partner)
  await decideAll(platform, program)
  await sql`UPDATE commissions SET status = 'fraud' WHERE workspace_id = ${program.ctx.workspaceId}`.execute(db)
  await recordSale(platform, program, partner, { customer })
  await decideAll(platform, program)
  expect((await readReasons(program)).at(-1)).toBe('voided')
})
