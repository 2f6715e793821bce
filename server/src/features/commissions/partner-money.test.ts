import { sql } from 'kysely'
import { expect, test } from 'vitest'
import {
  buildEarner,
  buildPartner,
  decideAll,
  expectSound,
  matureAll,
  readCommissions,
  readOwed,
  recordRefund,
  recordSale,
} from '../../../test/program.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { transaction } from '../../platform/postgres.ts'
import { lockPartners, totalsByPartner } from '../partners/service.ts'
import { cancelUnpaid, mergePartnerMoney, restoreCanceled } from './service.ts'

const platform = await openTestPlatform()
const { db } = platform

async function buildWorld() {
  const { program, partner } = await buildEarner(platform)
  const locked = (work: (ctx: typeof program.ctx) => Promise<void>, ...numbers: bigint[]) =>
    transaction(program.ctx, async (ctx) => {
      await lockPartners(ctx.db, ctx.workspaceId, numbers)
      await work(ctx)
    })
  const owed = (number: bigint) => readOwed(program, number)
  const payouts = async () =>
    (
      await sql<object>`SELECT partner_number, status, amount::bigint FROM payouts
        WHERE workspace_id = ${program.ctx.workspaceId} ORDER BY number`.execute(db)
    ).rows
  const mature = () => matureAll(platform, program)
  return { program, partner, locked, owed, payouts, mature }
}

test('a ban cancels what is pending or in the open payout, and an unban can restore it', async () => {
  const { program, partner, locked, owed, payouts, mature } = await buildWorld()
  await recordSale(platform, program, partner)
  await decideAll(platform, program)
  await mature()
  await recordSale(platform, program, partner, { amount: 3_000 })
  await recordSale(platform, program, partner, { amount: 9_000 })
  await decideAll(platform, program)
  const paid = sql`UPDATE commissions SET status = 'paid' WHERE workspace_id = ${program.ctx.workspaceId} AND amount = 9000`
  await paid.execute(db)
  await locked((ctx) => cancelUnpaid(ctx, partner), partner.number)
  expect((await readCommissions(program)).map(({ status }) => status)).toEqual(['canceled', 'canceled', 'paid'])
  expect(await payouts()).toMatchObject([{ status: 'canceled', amount: 0n }])
  // The paid commission was set by hand, so its posting is still accrued.
  expect(await owed(partner.number)).toEqual({ accrued: 900n, due: 0n })
  await locked((ctx) => restoreCanceled(ctx, partner), partner.number)
  expect((await readCommissions(program)).map(({ status }) => status)).toEqual(['pending', 'pending', 'paid'])
  expect(await owed(partner.number)).toEqual({ accrued: 2_200n, due: 0n })
  const totals = (await totalsByPartner(program.ctx, [partner.number])).get(partner.number)
  expect(totals).toMatchObject({ commissions: 2_200n })
  await expectSound(platform, program)
})

test('an unban does not restore a commission whose sale was fully refunded meanwhile', async () => {
  const { program, partner, locked, owed } = await buildWorld()
  const { invoiceId } = await recordSale(platform, program, partner)
  await recordSale(platform, program, partner, { amount: 3_000 })
  await decideAll(platform, program)
  await locked((ctx) => cancelUnpaid(ctx, partner), partner.number)
  await recordRefund(program, invoiceId)
  await decideAll(platform, program)
  await locked((ctx) => restoreCanceled(ctx, partner), partner.number)
  expect((await readCommissions(program)).map(({ status }) => status)).toEqual(['refunded', 'pending'])
  expect(await owed(partner.number)).toEqual({ accrued: 300n })
  await expectSound(platform, program)
})

test('an unban restores nothing that was canceled before the ban', async () => {
  const { program, partner, locked } = await buildWorld()
  await recordSale(platform, program, partner)
  await decideAll(platform, program)
  await sql`UPDATE commissions SET status = 'canceled' WHERE workspace_id = ${program.ctx.workspaceId}`.execute(db)
  await locked((ctx) => cancelUnpaid(ctx, partner), partner.number)
  await locked((ctx) => restoreCanceled(ctx, partner), partner.number)
  expect(await readCommissions(program)).toMatchObject([{ status: 'canceled' }])
})

test('an unban restores what the last ban canceled, and nothing of a ban before', async () => {
  const { program, partner, locked, owed } = await buildWorld()
  await recordSale(platform, program, partner)
  await decideAll(platform, program)
  await locked((ctx) => cancelUnpaid(ctx, partner), partner.number)
  await recordSale(platform, program, partner, { amount: 3_000 })
  await decideAll(platform, program)
  await locked((ctx) => cancelUnpaid(ctx, partner), partner.number)
  expect((await readCommissions(program)).map(({ status }) => status)).toEqual(['canceled', 'canceled'])
  await locked((ctx) => restoreCanceled(ctx, partner), partner.number)
  expect((await readCommissions(program)).map(({ status }) => status)).toEqual(['canceled', 'pending'])
  expect(await owed(partner.number)).toEqual({ accrued: 300n })
  await expectSound(platform, program)
})

test('a merge moves commissions, open payout, balances and bound customers', async () => {
  const { program, partner: source, locked, owed, payouts, mature } = await buildWorld()
  const target = await buildPartner(platform, program)
  const { customer } = await recordSale(platform, program, source)
  await recordSale(platform, program, target, { amount: 2_000 })
  await decideAll(platform, program)
  await mature()
  await recordSale(platform, program, source, { amount: 3_000 })
  await decideAll(platform, program)
  await locked((ctx) => mergePartnerMoney(ctx, source, target), source.number, target.number)
  expect(await owed(source.number)).toEqual({ accrued: 0n, due: 0n })
  expect(await owed(target.number)).toEqual({ accrued: 300n, due: 1_200n })
  expect(await payouts()).toEqual(
    expect.arrayContaining([
      { partner_number: target.number, status: 'canceled', amount: 0n },
      { partner_number: target.number, status: 'pending', amount: 1_200n },
    ]),
  )
  const bound = await sql`SELECT partner_number FROM commission_bindings WHERE customer_id = ${customer.id}`.execute(db)
  expect(bound.rows).toEqual([{ partner_number: target.number }])
  await expectSound(platform, program)
})

test('a merge is refused while a payout is on its way', async () => {
  const { program, partner, locked, mature } = await buildWorld()
  const target = await buildPartner(platform, program)
  await recordSale(platform, program, partner)
  await decideAll(platform, program)
  await mature()
  await sql`UPDATE payouts SET status = 'sent' WHERE workspace_id = ${program.ctx.workspaceId}`.execute(db)
  const merging = locked((ctx) => mergePartnerMoney(ctx, partner, target), partner.number, target.number)
  await expect(merging).rejects.toMatchObject({ code: 'conflict' })
})

test('a merge counts what both partners spent of caps, per partner and per customer', async () => {
  for (const scope of ['partner', 'customer'] as const) {
    const cap = { amount: 2_500, interval: 'allTime', scope }
    const { program, partner: source } = await buildEarner(platform, { cap })
    const target = await buildPartner(platform, program)
    const { customer } = await recordSale(platform, program, source)
    await recordSale(platform, program, target, { customer })
    await decideAll(platform, program)
    await transaction(program.ctx, async (ctx) => {
      await lockPartners(ctx.db, ctx.workspaceId, [source.number, target.number])
      await mergePartnerMoney(ctx, source, target)
    })
    await recordSale(platform, program, target, { customer })
    await recordSale(platform, program, target)
    await decideAll(platform, program)
    const earned = (await readCommissions(program)).map(({ earnings }) => earnings)
    expect(earned).toEqual([1_000n, 1_000n, 500n, ...(scope === 'customer' ? [1_000n] : [])])
  }
})
