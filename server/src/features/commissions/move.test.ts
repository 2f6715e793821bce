import { randomUUID } from 'node:crypto'
import { createClient } from '@tributary/contract/client'
import { createCommission, updateCommission } from '@tributary/contract/commissions'
import type { MoveRule } from '@tributary/contract/groups'
import { updatePartner } from '@tributary/contract/partners'
import { sql } from 'kysely'
import { expect, inject, test } from 'vitest'
import {
  type BuiltPartner,
  type BuiltProgram,
  buildEarner,
  buildPartner,
  buildReward,
  decideAll,
  readCommissions,
  recordLead,
  recordRefund,
  recordSale,
} from '../../../test/program.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { createDiscountCode } from '../discount-codes/service.ts'
import { createDiscount } from '../discounts/service.ts'
import { removeGroup } from '../enrolments/groups.ts'
import { createGroup, requireGroup } from '../groups/service.ts'
import { linksByNumber } from '../links/service.ts'
import type { PartnersUpdated } from '../partners/messages.ts'
import { rewardClickDays } from './clicks.ts'
import { decideSome } from './engine.ts'

const platform = await openTestPlatform()
const { db } = platform
const { api } = inject('server')

const gte = (attribute: 'totalSaleAmount' | 'totalCommissions' | 'totalLeads', value: number): MoveRule => ({
  attribute,
  operator: 'gte',
  value,
})

async function buildGroup({ ctx }: BuiltProgram, moveRules: MoveRule[], given: { holdingPeriodDays?: 30 } = {}) {
  const slug = `g-${randomUUID().slice(0, 8)}`
  const { id } = await createGroup(ctx, { name: slug, slug, moveRules, ...given })
  return requireGroup(ctx, id)
}

async function findGroup({ number }: Pick<BuiltPartner, 'number'>): Promise<string | undefined> {
  const result = await sql<{
    id: string
  }>`SELECT g.id FROM partners p JOIN partner_groups g ON g.number = p.group_number
    WHERE p.number = ${number}`.execute(db)
  return result.rows[0]?.id
}

async function readMoves({ number }: Pick<BuiltPartner, 'number'>) {
  const result = await sql<{ actor: string; detail: Record<string, unknown> }>`SELECT actor, detail
    FROM partner_activities WHERE partner_number = ${number} AND kind = 'group' ORDER BY number`.execute(db)
  return result.rows
}

/** A default group that pays 10 %, and silver, which pays 20 % from sales of 15,000 on. */
async function buildWorld(silverTerms = {}) {
  const { program, partner } = await buildEarner(platform)
  const silver = await buildGroup(program, [gte('totalSaleAmount', 15_000)], { holdingPeriodDays: 30 })
  await buildReward({ ...program, group: silver }, { amount: 2_000, ...silverTerms })
  return { program, silver, partner }
}

test('a sale that lifts the total moves the partner; the next one earns by the terms of its new group', async () => {
  const { program, silver, partner } = await buildWorld()
  const { customer } = await recordSale(platform, program, partner)
  await recordSale(platform, program, partner)
  await recordSale(platform, program, partner)
  await recordSale(platform, program, partner, { customer })
  await decideAll(platform, program)
  expect((await readCommissions(program)).map(({ earnings }) => earnings)).toEqual([1_000n, 1_000n, 2_000n, 1_000n])
  expect(await findGroup(partner)).toBe(silver.id)
  expect(await readMoves(partner)).toEqual([
    {
      actor: 'system system',
      detail: { from: program.group.id, to: silver.id, totals: { totalSaleAmount: '20000' } },
    },
  ])
  const updates = await sql<{ body: PartnersUpdated }>`SELECT body FROM (SELECT body, workspace_id, subject FROM outbox
    UNION ALL SELECT body, workspace_id, subject FROM outbox_published) AS o
    WHERE workspace_id = ${program.ctx.workspaceId} AND subject LIKE '%.partner-updates'`.execute(db)
  expect(updates.rows.map(({ body }) => body.events)).toMatchObject([[{ partnerNumber: String(partner.number) }]])
  const periods = await sql<{
    days: number
  }>`SELECT round(extract(epoch FROM due_at - created_at) / 86400)::integer AS days
    FROM commissions WHERE workspace_id = ${program.ctx.workspaceId} ORDER BY number`.execute(db)
  expect(periods.rows.map(({ days }) => days)).toEqual([0, 0, 30, 30])
})

test('the cap of the new group counts from its first event on', async () => {
  const cap = { amount: 2_500, interval: 'allTime', scope: 'partner' }
  const { program, partner } = await buildWorld({ cap })
  for (let sale = 0; sale < 5; sale++) await recordSale(platform, program, partner)
  await decideAll(platform, program)
  const earned = (await readCommissions(program)).map(({ earnings }) => earnings)
  expect(earned).toEqual([1_000n, 1_000n, 2_000n, 500n])
})

test('a refund moves the partner down, into a group whose rules it meets', async () => {
  const { program, silver, partner } = await buildWorld()
  const bronze = await buildGroup(program, [gte('totalSaleAmount', 1)])
  const { invoiceId } = await recordSale(platform, program, partner, { amount: 20_000 })
  await decideAll(platform, program)
  expect(await findGroup(partner)).toBe(silver.id)
  await recordRefund(program, invoiceId, 6_000)
  await decideAll(platform, program)
  expect(await findGroup(partner)).toBe(bronze.id)
})

test('a lead that earns nothing counts, too', async () => {
  const { program, partner } = await buildWorld()
  const leaders = await buildGroup(program, [gte('totalLeads', 2)])
  await recordLead(platform, program, partner)
  await decideAll(platform, program)
  expect(await findGroup(partner)).toBe(program.group.id)
  await recordLead(platform, program, partner)
  await decideAll(platform, program)
  expect(await findGroup(partner)).toBe(leaders.id)
})

test('a pinned partner stays', async () => {
  const { program, partner } = await buildWorld()
  const call = createClient({ url: api, token: program.workspace.key })
  await call(updatePartner, { params: { id: partner.id }, body: { isPinned: true } })
  await recordSale(platform, program, partner, { amount: 20_000 })
  await decideAll(platform, program)
  expect([await findGroup(partner), await readMoves(partner)]).toEqual([program.group.id, []])
})

test('custom commissions and corrections through the API move partners', async () => {
  const { program, partner } = await buildWorld()
  const rich = await buildGroup(program, [gte('totalCommissions', 5_000)])
  const poor = await buildGroup(program, [gte('totalCommissions', 1)])
  const call = createClient({ url: api, token: program.workspace.key })
  await call(createCommission, { body: { type: 'custom', partnerId: partner.id, amount: 5_000 } })
  expect(await findGroup(partner)).toBe(rich.id)
  const [commission] = await readCommissions(program)
  await call(updateCommission, { params: { id: commission?.id ?? '' }, body: { earnings: 4_999 } })
  expect(await findGroup(partner)).toBe(poor.id)
  expect((await readMoves(partner)).map(({ actor }) => actor)).toEqual(['system system', 'system system'])
})

test('the discount of codes follows the group', async () => {
  const { program, silver, partner } = await buildWorld()
  const give = (groupId: string) => createDiscount(program.ctx, { groupId, type: 'percentage', amount: 10 })
  const [before, after] = [await give(program.group.id), await give(silver.id)]
  const linkId = (await linksByNumber(program.ctx, [partner.link.number])).get(partner.link.number)?.id ?? ''
  const code = await createDiscountCode(program.ctx, { partnerId: partner.id, linkId })
  await recordSale(platform, program, partner, { amount: 20_000 })
  await decideAll(platform, program)
  const result = await sql<{ id: string }>`SELECT d.id FROM discount_codes c JOIN discounts d
    ON d.number = c.discount_number WHERE c.id = ${code.id}`.execute(db)
  expect([code.discountId, result.rows]).toEqual([before.id, [{ id: after.id }]])
})

test('click days after a move earn by the terms of the new group', async () => {
  const { program, partner } = await buildWorld()
  const silver = await buildGroup(program, [gte('totalCommissions', 30)])
  await buildReward(program, { event: 'click', type: 'flat', amount: 3 })
  await buildReward({ ...program, group: silver }, { event: 'click', type: 'flat', amount: 5 })
  const days = ['2026-05-04', '2026-05-05', '2026-05-06'].map((day) => {
    return { day, linkNumber: String(partner.link.number), isLate: false, id: randomUUID(), clicks: 10 }
  })
  await rewardClickDays(platform, [{ workspaceId: program.ctx.workspaceId, days }])
  expect((await readCommissions(program)).map(({ earnings }) => earnings)).toEqual([30n, 50n, 50n])
  expect(await findGroup(partner)).toBe(silver.id)
})

test('no partner ends up in a group that is deleted at the same time', async () => {
  for (let round = 0; round < 5; round++) {
    const { program, silver, partner } = await buildWorld()
    const others = await Promise.all(Array.from({ length: 3 }, () => buildPartner(platform, program)))
    for (const one of [partner, ...others]) await recordSale(platform, program, one, { amount: 20_000 })
    await Promise.all([decideSome(platform), removeGroup(program.ctx, silver.id), decideSome(platform)])
    await decideAll(platform, program)
    for (const one of [partner, ...others]) expect(await findGroup(one)).toBe(program.group.id)
  }
})
