import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { buildCustomer } from '../../../test/build.ts'
import { buildEarner, decideAll, readCommissions, recordRefund, recordSale } from '../../../test/program.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { verifyMoney } from '../../maintenance/money.ts'
import { transaction } from '../../platform/postgres.ts'
import { lockPartners } from '../partners/service.ts'
import { explainCommission } from './explain.ts'
import { cancelUnpaid } from './service.ts'

const platform = await openTestPlatform()

/** As many products as fit into the metadata of a sale, and conditions that fill the body of a reward. */
const products = Array.from({ length: 350 }, (_, number) => ({ id: `p${number}`, amount: 100 }))
const value = Array.from({ length: 290 }, (_, number) => `${'x'.repeat(20)}${number}`)
const condition = { entity: 'sale', attribute: 'productId', operator: 'in', value }
const conditions = Array.from({ length: 5 }, () => condition)
const modifier = { operator: 'AND', conditions, type: 'percentage', amount: 2_000, maxDuration: null }
const count = 30

test('sales with the longest explanations are decided, refunded and canceled in parts that fit into memory', async () => {
  const { program, partner } = await buildEarner(platform, { modifiers: [modifier, modifier] })
  const { ctx } = program
  const customer = await buildCustomer(platform, program.workspace)
  const invoices: string[] = []
  // While the partner is locked nothing is decided, so that all are queued at once.
  await transaction(ctx, async ({ db }) => {
    await lockPartners(db, ctx.workspaceId, [partner.number])
    for (let number = 0; number < count; number++) {
      const sale = await recordSale(platform, program, partner, { amount: 35_000, customer, metadata: { products } })
      invoices.push(sale.invoiceId)
    }
  })
  await decideAll(platform, program)
  const commissions = await readCommissions(program)
  expect(commissions.map(({ earnings }) => earnings)).toEqual(Array(count).fill(3_500n))
  const explanation = JSON.stringify(await explainCommission(ctx, commissions[0]?.id ?? ''))
  expect(explanation.length).toBeGreaterThan(150_000)
  const together = await sql<{ sales: number }>`SELECT count(*)::int AS sales FROM commission_decisions
    WHERE workspace_id = ${ctx.workspaceId} GROUP BY decided_at`.execute(platform.db)
  expect(Math.max(...together.rows.map(({ sales }) => sales))).toBeLessThan(25)

  await transaction(ctx, async ({ db }) => {
    await lockPartners(db, ctx.workspaceId, [partner.number])
    for (const invoiceId of invoices) await recordRefund(program, invoiceId, 3_500)
  })
  await decideAll(platform, program)
  expect((await readCommissions(program)).map(({ earnings }) => earnings)).toEqual(Array(count).fill(3_150n))
  await transaction(ctx, async (ctx) => {
    await lockPartners(ctx.db, ctx.workspaceId, [partner.number])
    await cancelUnpaid(ctx, partner)
  })
  expect((await readCommissions(program)).map(({ status }) => status)).toEqual(Array(count).fill('canceled'))
  expect(await verifyMoney(platform, { workspaceId: ctx.workspaceId })).toEqual([])
})
