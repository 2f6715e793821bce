import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { buildCustomer } from '../../../test/build.ts'
import {
  buildEarner,
  decideAll,
  expectSound,
  matureAll,
  readCommissions,
  readOwed,
  recordLead,
  recordSale,
  reportSale,
} from '../../../test/program.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { transaction } from '../../platform/postgres.ts'
import { lockPartners } from '../partners/service.ts'
import { createCommission } from './create.ts'
import { explainCommission, explainEvent } from './explain.ts'
import { findReviewReason, isSamePerson } from './review.ts'
import { cancelUnpaid, restoreCanceled } from './service.ts'
import { updateCommission } from './update.ts'

const platform = await openTestPlatform()
const pageSale = { isFromPage: true, amount: 10_000, invoiceId: 'in_1' }

async function buildWorld() {
  const { program, partner } = await buildEarner(platform, {}, { partner: { email: 'ann@example.com' } })
  const customer = await buildCustomer(platform, program.workspace)
  await recordLead(platform, program, partner, customer)
  const statuses = async () => (await readCommissions(program)).map(({ status }) => status)
  return { program, partner, customer, statuses }
}

test('the commission of a sale that a web page reported is owed, but held until it is confirmed', async () => {
  const { program, partner, customer, statuses } = await buildWorld()
  await reportSale(program, customer, pageSale)
  await decideAll(platform, program)
  await matureAll(platform, program)
  expect(await statuses()).toEqual(['hold'])
  expect(await readOwed(program, partner.number)).toEqual({ accrued: 1_000n })
  const id = (await readCommissions(program))[0]?.id ?? ''
  expect((await explainCommission(program.ctx, id)).text).toContain('a web page reported it with a publishable key')
  expect(await updateCommission(program.ctx, id, { status: 'pending', currency: 'usd' })).toMatchObject({
    status: 'pending',
  })
  await matureAll(platform, program)
  expect(await statuses()).toEqual(['processed'])
  expect(await readOwed(program, partner.number)).toEqual({ accrued: 0n, due: 1_000n })
  await expectSound(platform, program)
})

test("a server's sale with the invoice of a held one replaces it, and earns as usual", async () => {
  const { program, partner, customer, statuses } = await buildWorld()
  await reportSale(program, customer, pageSale)
  await decideAll(platform, program)
  await reportSale(program, customer, { ...pageSale, isFromPage: false, amount: 5_000 })
  await decideAll(platform, program)
  expect(await statuses()).toEqual(['refunded', 'pending'])
  expect(await readOwed(program, partner.number)).toEqual({ accrued: 500n })
})

test('a ban cancels a held commission, and lifting the ban holds it again', async () => {
  const { program, partner, customer, statuses } = await buildWorld()
  await reportSale(program, customer, pageSale)
  await decideAll(platform, program)
  const locked = (work: typeof cancelUnpaid) =>
    transaction(program.ctx, async (ctx) => {
      await lockPartners(ctx.db, ctx.workspaceId, [partner.number])
      await work(ctx, partner)
    })
  await locked(cancelUnpaid)
  expect([await statuses(), await readOwed(program, partner.number)]).toEqual([['canceled'], { accrued: 0n }])
  await locked(restoreCanceled)
  expect([await statuses(), await readOwed(program, partner.number)]).toEqual([['hold'], { accrued: 1_000n }])
  await expectSound(platform, program)
})

test("a sale to another spelling of the partner's address is held", async () => {
  const { program, partner, customer, statuses } = await buildWorld()
  await sql`UPDATE customers SET email = 'Ann+shop@example.com' WHERE id = ${customer.id}`.execute(platform.db)
  const { id } = await recordSale(platform, program, partner, { customer })
  await decideAll(platform, program)
  expect(await statuses()).toEqual(['hold'])
  expect((await explainEvent(program.ctx, { eventId: id })).text).toContain("reaches the partner's mailbox")
})

test("a sale by hand to the partner's own address earns nothing", async () => {
  const { program, partner, statuses } = await buildWorld()
  const customer = { externalId: 'own', country: 'DE', email: 'ann@example.com' }
  const sale = { amount: 4_000, invoiceId: 'own-1', currency: 'usd', eventName: 'Purchase' }
  const named = { type: 'sale' as const, partnerId: partner.id, customer }
  await createCommission(program.ctx, { ...named, sale: { ...sale, paymentProcessor: 'custom' } })
  await decideAll(platform, program)
  expect(await statuses()).toEqual([])
  expect(await explainEvent(program.ctx, { invoiceId: 'own-1' })).toMatchObject({ reason: 'self_referral' })
})

test.each(['2999-01-01', '1999-12-31T23:59:59Z'])('a commission by hand can not have the date %s', async (date) => {
  const { program, partner } = await buildWorld()
  for (const amount of [500, -500]) {
    const custom = { type: 'custom' as const, partnerId: partner.id, amount, description: 'why', date }
    await expect(createCommission(program.ctx, custom)).rejects.toMatchObject({
      status: 422,
      message: expect.stringContaining('`date` in the body'),
    })
  }
  expect(await readCommissions(program)).toEqual([])
})

test.each([
  ['ann@example.com', 'ANN@example.com ', true],
  ['ann+shop@example.com', 'ann@example.com', true],
  ['ann+one@example.com', 'ann+two@example.com', true],
  ['a.n.n@gmail.com', 'ann@googlemail.com', true],
  ['a.nn+x@gmail.com', 'an.n@gmail.com', true],
  ['a.nn@example.com', 'ann@example.com', false],
  ['ann@example.com', 'ann@example.org', false],
  ['ann@example.com', null, false],
  [null, null, false],
  ['', '', false],
])('%s and %s are addresses of the same person: %s', (one, other, expected) => {
  expect(isSamePerson(one, other)).toBe(expected)
  expect(isSamePerson(other, one)).toBe(expected)
})

test('events from pages and of the partner themselves are held, others are not', () => {
  const emails = { customer: 'bob@example.com', partner: 'ann@example.com' }
  expect(findReviewReason({ from_page: false }, emails)).toBeNull()
  expect(findReviewReason({ from_page: true }, emails)).toBe('page')
  expect(findReviewReason({ from_page: false }, { ...emails, customer: 'ann+1@example.com' })).toBe('same_person')
})
