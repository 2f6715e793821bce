import { expect, test } from 'vitest'
import { buildCustomer } from '../../../test/build.ts'
import {
  type BuiltPartner,
  buildPartner,
  buildProgram,
  buildReward,
  decideAll,
  matureAll,
  readCommissions,
  recordRefund,
  recordSale,
} from '../../../test/program.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { verifyMoney } from '../../maintenance/money.ts'
import { AppError } from '../../platform/errors.ts'
import { asTenant, transaction } from '../../platform/postgres.ts'
import { lockPartners } from '../partners/service.ts'
import { createCommission } from './create.ts'
import { decideSome } from './engine.ts'
import { cancelUnpaid, restoreCanceled } from './service.ts'
import { bulkUpdateCommissions, updateCommission } from './update.ts'

const platform = await openTestPlatform()

test('sales, refunds, edits, bans and payouts of the same partners at the same time leave every figure right', async () => {
  const program = await buildProgram(platform)
  const cap = { amount: 5_000, interval: 'day', scope: 'program' }
  await buildReward(program, { cap })
  const { ctx } = program
  const partners = [await buildPartner(platform, program), await buildPartner(platform, program)]
  const customers = await Promise.all(Array.from({ length: 4 }, () => buildCustomer(platform, program.workspace)))
  const invoices: string[] = []
  const pick = <T>(list: T[]): T => list[Math.floor(Math.random() * list.length)] as T
  const anyId = async () => pick(await readCommissions(program))?.id ?? 'cm_unknown'
  const withPartner = (work: (context: typeof ctx, partner: BuiltPartner) => Promise<void>) => {
    const partner = pick(partners)
    return transaction(ctx, async (ctx) => {
      await lockPartners(ctx.db, ctx.workspaceId, [partner.number])
      await work(ctx, partner)
    })
  }
  const actions: (() => Promise<unknown>)[] = [
    async () => {
      const amount = 100 + Math.floor(Math.random() * 900)
      invoices.push(
        (await recordSale(platform, program, pick(partners), { amount, customer: pick(customers) })).invoiceId,
      )
    },
    () => recordRefund(program, pick(invoices), 1 + Math.floor(Math.random() * 300)),
    () => decideSome(platform),
    () => matureAll(platform, program),
    async () =>
      updateCommission(ctx, await anyId(), { status: pick(['pending', 'fraud', 'canceled']), currency: 'usd' }),
    async () => updateCommission(ctx, await anyId(), { saleAmount: Math.floor(Math.random() * 900), currency: 'usd' }),
    async () => bulkUpdateCommissions(ctx, { commissionIds: [await anyId(), await anyId()], status: 'duplicate' }),
    () => createCommission(ctx, { type: 'custom', partnerId: pick(partners).id, amount: -5, description: 'test' }),
    () => withPartner(cancelUnpaid),
    () => withPartner(restoreCanceled),
  ]
  for (let sale = 0; sale < 5; sale++) await actions[0]?.()
  const failures: unknown[] = []
  const client = async () => {
    for (let round = 0; round < 12; round++) {
      await asTenant(ctx.workspaceId, () => pick(actions)()).catch((error) => {
        if (!(error instanceof AppError)) failures.push(error)
      })
    }
  }
  await Promise.all(Array.from({ length: 12 }, client))
  expect(failures).toEqual([])
  await decideAll(platform, program)
  expect(await verifyMoney(platform, { workspaceId: ctx.workspaceId })).toEqual([])
}, 120_000)
