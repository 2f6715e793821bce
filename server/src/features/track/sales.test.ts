import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mostAmount, newLead, newRefund, newSale } from '@tributary/contract/track'
import { sql } from 'kysely'
import { afterAll, describe, expect, test } from 'vitest'
import { buildConversionLink } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import type { Ctx } from '../../platform/context.ts'
import { deleteCustomer, getCustomer } from '../customers/service.ts'
import { changeWorkspace } from '../workspaces/service.ts'
import { trackSaleFromPage } from './from-page.ts'
import { trackLead } from './leads.ts'
import { trackRefund } from './refunds.ts'
import { trackSale } from './sales.ts'

const folder = await mkdtemp(join(tmpdir(), 'tributary-sales-'))
afterAll(() => rm(folder, { recursive: true }))
const RATES_FILE = join(folder, 'exchange-rates.json')
const rates = { eur: '1', usd: '1.25', jpy: '160', idr: '2000' }
await writeFile(RATES_FILE, JSON.stringify({ base: 'eur', date: '2026-01-01', rates }))
const platform = await openTestPlatform({ RATES_FILE })

async function setUp() {
  const { workspace, link, click } = await buildConversionLink(platform)
  const ctx = contextIn(platform, workspace.id)
  const customerExternalId = `user-${randomUUID()}`
  const lead = (given: Record<string, unknown> = {}) =>
    trackLead(ctx, newLead.parse({ clickId: click().id, eventName: 'Sign up', customerExternalId, ...given }))
  const sale = (given: Record<string, unknown> = {}) =>
    trackSale(ctx, newSale.parse({ customerExternalId, amount: 1000, ...given }))
  const refund = (given: Record<string, unknown>) => trackRefund(ctx, newRefund.parse(given))
  const customer = () => getCustomer(ctx, `ext_${customerExternalId}`, {})
  return { workspace, link, click, ctx, customerExternalId, lead, sale, refund, customer }
}

async function conversions(ctx: Ctx) {
  const result = await sql<Record<string, unknown>>`
    SELECT kind, event_name, attribution, amount, currency, original_amount, original_currency, is_first, click_id
    FROM conversions WHERE workspace_id = ${ctx.workspaceId} ORDER BY number`.execute(ctx.db)
  return result.rows
}

describe('a sale', () => {
  test('a sale belongs to the click of the latest lead, or of the named lead', async () => {
    const { lead, sale, click, ctx, customerExternalId } = await setUp()
    const [first, second] = [click(), click()]
    await lead({ clickId: first.id, eventName: 'Sign up', customerName: 'Ada' })
    await lead({ clickId: second.id, eventName: 'Trial' })
    const metadata = { plan: 'pro', seats: 3 }
    expect(await sale({ invoiceId: 'in_1', metadata })).toEqual({
      eventName: 'Purchase',
      customer: {
        id: expect.stringMatching(/^cus_/),
        name: 'Ada',
        email: null,
        avatar: null,
        externalId: customerExternalId,
      },
      sale: { amount: 1000, currency: 'usd', paymentProcessor: 'custom', invoiceId: 'in_1', metadata },
    })
    await sale({ leadEventName: 'Sign up' })
    const sales = (await conversions(ctx)).filter(({ kind }) => kind === 'sale')
    expect(sales).toMatchObject([
      { click_id: second.id, attribution: 'lead', is_first: true },
      { click_id: first.id, attribution: 'lead', is_first: false },
    ])
    await expect(sale({ leadEventName: 'sign up' })).rejects.toMatchObject({ code: 'not_found' })
  })

  test('a repeated invoice counts once, and 50 concurrent repeats return the first sale', async () => {
    const { lead, sale, ctx, customer } = await setUp()
    await lead()
    const answers = await Promise.all(Array.from({ length: 50 }, () => sale({ invoiceId: 'in_1' })))
    answers.push(await sale({ invoiceId: 'in_1', amount: 5 }))
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
    expect((await conversions(ctx)).filter(({ kind }) => kind === 'sale')).toHaveLength(1)
    expect(await customer()).toMatchObject({ sales: 1, saleAmount: 1000 })
  })

  test('a sale of an unknown customer is neither recorded nor an error', async () => {
    const { sale, ctx } = await setUp()
    expect(await sale()).toEqual({ eventName: 'Purchase', customer: null, sale: null })
    expect(await conversions(ctx)).toEqual([])
  })

  test('a sale with amount zero is not recorded', async () => {
    const { lead, sale, customer } = await setUp()
    await lead()
    expect(await sale({ amount: 0, invoiceId: 'in_0' })).toMatchObject({ customer: { email: null }, sale: null })
    expect(await sale({ amount: 7, invoiceId: 'in_0' })).toMatchObject({ sale: { amount: 7 } })
    expect(await customer()).toMatchObject({ sales: 1, saleAmount: 7 })
  })

  test('a sale with a click id creates the customer and the lead', async () => {
    const { sale, click, ctx } = await setUp()
    const { id } = click()
    expect(await sale({ clickId: id, customerEmail: 'a@example.com' })).toMatchObject({
      customer: { email: 'a@example.com' },
    })
    expect(await conversions(ctx)).toMatchObject([
      { kind: 'lead', event_name: 'Direct sale', click_id: id },
      { kind: 'sale', click_id: id, attribution: 'last_click' },
    ])
  })

  test("a sale after a deferred lead belongs to the customer's stored click", async () => {
    const { lead, sale, click, ctx } = await setUp()
    const { id } = click()
    await lead({ clickId: id, mode: 'deferred' })
    await sale()
    expect(await conversions(ctx)).toMatchObject([{ kind: 'lead' }, { kind: 'sale', click_id: id }])
  })

  test("a sale's amount has a maximum, before and after currency conversion", async () => {
    const { lead, sale, workspace } = await setUp()
    await lead()
    expect(newSale.safeParse({ customerExternalId: 'ada', amount: mostAmount + 1 }).success).toBe(false)
    expect(await sale({ amount: mostAmount })).toMatchObject({ sale: { amount: mostAmount } })
    await changeWorkspace(platform, workspace.id, { currency: 'idr' })
    const sold = (amount: number) => sale({ amount })
    expect(await sold(500_000_000_000)).toMatchObject({ sale: { amount: 800_000_000_000_000, currency: 'idr' } })
    await expect(sold(mostAmount)).rejects.toMatchObject({
      code: 'unprocessable_entity',
      message:
        /^`amount` in the body is 1000000000000 usd, which is more than 1000000000000000 in the smallest unit of idr/,
    })
  })

  test("a sale keeps its original amount and is converted to the workspace's currency", async () => {
    const { lead, sale, ctx, workspace } = await setUp()
    await lead()
    expect(await sale({ amount: 16_000, currency: 'JPY' })).toMatchObject({ sale: { amount: 12_500, currency: 'usd' } })
    await changeWorkspace(platform, workspace.id, { currency: 'eur' })
    expect(await sale({ amount: 125, currency: 'usd' })).toMatchObject({ sale: { amount: 100, currency: 'eur' } })
    expect((await conversions(ctx)).slice(1)).toMatchObject([
      { amount: 12_500n, currency: 'usd', original_amount: 16_000n, original_currency: 'jpy' },
      { amount: 100n, currency: 'eur', original_amount: 125n, original_currency: 'usd' },
    ])
    await expect(sale({ currency: 'xyz' })).rejects.toMatchObject({ code: 'unprocessable_entity', message: /xyz/ })
    expect(await conversions(ctx)).toHaveLength(3)
  })
})

describe('concurrent sales', () => {
  test('each is recorded once and has its own response, whatever the others are', async () => {
    const { lead, sale, ctx, customer, click } = await setUp()
    await lead()
    const other = `user-${randomUUID()}`
    await lead({ customerExternalId: other, clickId: click().id })
    const kinds = [
      (n: number) => sale({ amount: 100 + n, invoiceId: `in_${n}` }),
      () => sale({ amount: 5, customerExternalId: other }),
      () => sale({ amount: 7, invoiceId: 'in_same' }),
      () => sale({ currency: 'xyz' }).catch(({ code }) => code),
      () => sale({ customerExternalId: 'unknown' }),
      () => sale({ amount: 0 }),
    ]
    const requests = Array.from({ length: 120 }, (_, n) => kinds[n % 6]?.(n))
    const answers = (await Promise.all(requests)) as { sale?: { amount: number; invoiceId: string | null } | null }[]
    const own = (kind: number) => answers.filter((_, n) => n % 6 === kind)
    expect(own(0).map(({ sale }) => sale?.amount)).toEqual(Array.from({ length: 20 }, (_, n) => 100 + 6 * n))
    expect(own(0).map(({ sale }) => sale?.invoiceId)).toEqual(Array.from({ length: 20 }, (_, n) => `in_${6 * n}`))
    expect(new Set(own(2).map((answer) => JSON.stringify(answer))).size).toBe(1)
    expect(new Set(own(3))).toEqual(new Set(['unprocessable_entity']))
    expect(own(4).every(({ sale }) => sale === null)).toBe(true)
    expect(own(5).every(({ sale }) => sale === null)).toBe(true)
    const sales = (await conversions(ctx)).filter(({ kind }) => kind === 'sale')
    expect(sales).toHaveLength(41)
    expect(sales.filter(({ is_first }) => is_first)).toHaveLength(2)
    expect(await customer()).toMatchObject({ sales: 21, saleAmount: 20 * 157 + 7 })
    expect(await getCustomer(ctx, `ext_${other}`, {})).toMatchObject({ sales: 20, saleAmount: 100 })
    const published = await sql<{ count: bigint }>`SELECT count(*) FROM (
      SELECT workspace_id, subject FROM outbox UNION ALL SELECT workspace_id, subject FROM outbox_published) AS messages
      WHERE workspace_id = ${ctx.workspaceId} AND subject LIKE 'changes.%.sales'`.execute(ctx.db)
    expect(published.rows).toEqual([{ count: 41n }])
  })

  test('an erased customer gets no sales: each sale is either counted before the erasure or ignored', async () => {
    const { lead, sale, ctx, customerExternalId } = await setUp()
    await lead()
    const { id } = await getCustomer(ctx, `ext_${customerExternalId}`, {})
    const [sold] = await Promise.all([
      Promise.all(Array.from({ length: 60 }, () => sale({ amount: 10 }))),
      deleteCustomer(ctx, `ext_${customerExternalId}`),
    ])
    const recorded = sold.filter(({ sale }) => sale !== null)
    const totals = await sql<{ sales: bigint; sale_amount: bigint }>`
      SELECT sales, sale_amount FROM customers WHERE id = ${id}`.execute(ctx.db)
    expect(totals.rows).toEqual([{ sales: BigInt(recorded.length), sale_amount: BigInt(10 * recorded.length) }])
    expect((await conversions(ctx)).filter(({ kind }) => kind === 'sale')).toHaveLength(recorded.length)
  })

  test("a page's sale and a server's sale of the same invoice count once", async () => {
    const { lead, sale, ctx, customer, customerExternalId } = await setUp()
    await lead()
    const page: Ctx = {
      ...ctx,
      actor: { kind: 'key', id: 'key_page', scopes: ['conversions.write'], isPublishable: true },
    }
    const invoices = Array.from({ length: 20 }, (_, n) => `in_${n}`)
    await Promise.all(
      invoices.flatMap((invoiceId) => [
        trackSaleFromPage(page, newSale.parse({ customerExternalId, amount: 3, invoiceId })),
        sale({ amount: 1000, invoiceId }),
      ]),
    )
    expect(await customer()).toMatchObject({ sales: 20, saleAmount: 20_000 })
  })
})

describe('a refund', () => {
  test('partial refunds lower the totals until nothing of the sale is left', async () => {
    const { lead, sale, refund, customer } = await setUp()
    await lead()
    await sale({ amount: 1000, currency: 'eur', invoiceId: 'in_1' })
    await sale({ amount: 500, invoiceId: 'in_2' })
    expect(await refund({ invoiceId: 'in_1', amount: 333, refundId: 're_1' })).toEqual({
      refund: {
        id: expect.any(String),
        amount: 416,
        currency: 'usd',
        invoiceId: 'in_1',
        refundId: 're_1',
        isFull: false,
      },
      sale: { amount: 834, currency: 'usd' },
    })
    expect(await customer()).toMatchObject({ sales: 2, saleAmount: 1334 })
    await expect(refund({ invoiceId: 'in_1', amount: 668 })).rejects.toMatchObject({ message: /667 eur are left/ })
    expect(await refund({ invoiceId: 'in_1' })).toMatchObject({
      refund: { amount: 834, isFull: true },
      sale: { amount: 0 },
    })
    expect(await customer()).toMatchObject({ sales: 1, saleAmount: 500 })
    await expect(refund({ invoiceId: 'in_1' })).rejects.toMatchObject({ code: 'conflict' })
    await expect(refund({ invoiceId: 'in_3' })).rejects.toMatchObject({ code: 'not_found' })
  })

  test('a sale with 10,000 refunds takes no further one, except of all that is left', async () => {
    const { ctx, lead, sale, refund } = await setUp()
    await lead()
    await sale({ invoiceId: 'in_1', amount: 20_000 })
    await refund({ invoiceId: 'in_1', amount: 1 })
    await sql`INSERT INTO conversions (id, workspace_id, kind, customer_id, event_name, link_number, attribution, amount, currency,
        original_amount, original_currency, invoice_id, is_full, sale_number, created_at)
      SELECT id || n, workspace_id, kind, customer_id, event_name, link_number, attribution, amount, currency,
        original_amount, original_currency, invoice_id, is_full, sale_number, created_at
      FROM conversions, generate_series(1, 9999) AS n
      WHERE workspace_id = ${ctx.workspaceId} AND kind = 'refund'`.execute(ctx.db)
    await expect(refund({ invoiceId: 'in_1', amount: 1 })).rejects.toMatchObject({ code: 'conflict' })
    expect(await refund({ invoiceId: 'in_1' })).toMatchObject({ refund: { isFull: true } })
  })

  test('a repeated refund id counts once, and 20 concurrent refunds never exceed the sale', async () => {
    const { lead, sale, refund, customer } = await setUp()
    await lead()
    await sale({ amount: 1000, invoiceId: 'in_1' })
    const same = await Promise.all(
      Array.from({ length: 20 }, () => refund({ invoiceId: 'in_1', amount: 100, refundId: 're_1' })),
    )
    expect(new Set(same.map((answer) => JSON.stringify(answer))).size).toBe(1)
    const others = await Promise.allSettled(
      Array.from({ length: 20 }, () => refund({ invoiceId: 'in_1', amount: 200 })),
    )
    expect(others.filter(({ status }) => status === 'fulfilled')).toHaveLength(4)
    expect(await customer()).toMatchObject({ sales: 1, saleAmount: 100 })
    expect(await refund({ invoiceId: 'in_1', amount: 100, refundId: 're_1' })).toEqual(same[0])
  })
})
