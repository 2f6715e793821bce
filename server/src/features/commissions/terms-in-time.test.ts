import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { buildCustomer } from '../../../test/build.ts'
import {
  type BuiltProgram,
  buildEarner,
  buildReward,
  decideAll,
  readCommissions,
  recordLead,
  recordSale,
} from '../../../test/program.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { rewardClickDays } from './clicks.ts'

const platform = await openTestPlatform()
const at = (day: string) => new Date(`${day}T12:00:00Z`)

async function addVersion(
  { ctx }: BuiltProgram,
  reward: bigint,
  version: number,
  given: { amount: number; at: Date; toAll?: boolean },
) {
  await sql`INSERT INTO reward_versions (reward_number, workspace_id, version, terms, applies_to_all, actor, created_at)
    SELECT reward_number, workspace_id, ${version}, jsonb_set(terms, '{amount}', ${String(given.amount)}::jsonb),
      ${given.toAll ?? false}, actor, ${given.at}
    FROM reward_versions WHERE workspace_id = ${ctx.workspaceId} AND reward_number = ${reward} AND version = 1`.execute(
    ctx.db,
  )
}

async function earnings(program: BuiltProgram) {
  return (await readCommissions(program)).map(({ earnings }) => Number(earnings))
}

test('sales of a backlog earn by the version of their own time', async () => {
  const { program, reward, partner } = await buildEarner(platform)
  await addVersion(program, reward, 2, { amount: 2_000, at: at('2026-03-01') })
  await addVersion(program, reward, 3, { amount: 3_000, at: at('2026-05-01') })
  for (const day of ['2026-02-01', '2026-04-01', '2026-06-01', '2019-12-31'])
    await recordSale(platform, program, partner, { at: at(day) })
  await decideAll(platform, program)
  expect(await earnings(program)).toEqual([1_000, 2_000, 3_000])
  const reasons =
    await sql`SELECT d.reason FROM commission_decisions d JOIN conversions c ON c.number = conversion_number
    WHERE c.workspace_id = ${program.ctx.workspaceId} AND c.kind = 'sale' AND c.created_at < '2020-01-01'`.execute(
      platform.db,
    )
  expect(reasons.rows).toEqual([{ reason: 'no_reward' }])
})

test('a version for all governs the sales after it, also of customers bound in the same backlog', async () => {
  const { program, reward, partner } = await buildEarner(platform)
  await addVersion(program, reward, 2, { amount: 2_000, at: at('2026-03-01'), toAll: true })
  const { customer } = await recordSale(platform, program, partner, { at: at('2026-01-01') })
  for (const day of ['2026-02-01', '2026-04-01'])
    await recordSale(platform, program, partner, { at: at(day), customer })
  await decideAll(platform, program)
  expect(await earnings(program)).toEqual([1_000, 1_000, 2_000])
  for (const day of ['2026-02-15', '2026-05-01'])
    await recordSale(platform, program, partner, { at: at(day), customer })
  await decideAll(platform, program)
  expect((await earnings(program)).slice(3)).toEqual([1_000, 2_000])
})

test('a deleted reward governs the sales before its deletion, and the partner reward of the time comes first', async () => {
  const { program, reward, partner } = await buildEarner(platform)
  await sql`UPDATE rewards SET archived_at = ${at('2026-03-01')} WHERE number = ${reward}`.execute(platform.db)
  const own = await buildReward(program, { amount: 5_000 }, partner)
  await sql`UPDATE rewards SET archived_at = ${at('2026-02-01')} WHERE number = ${own}`.execute(platform.db)
  for (const day of ['2026-01-01', '2026-02-02', '2026-04-01'])
    await recordSale(platform, program, partner, { at: at(day) })
  await decideAll(platform, program)
  expect(await earnings(program)).toEqual([5_000, 1_000])
})

test("clicks of a day earn by the version of the day's end", async () => {
  const { program, reward, partner } = await buildEarner(platform, { event: 'click', type: 'flat', amount: 10 })
  await addVersion(program, reward, 2, { amount: 20, at: at('2026-03-02') })
  const days = ['2026-03-01', '2026-03-02'].map((day) => {
    return {
      id: `${program.ctx.workspaceId} ${day}`,
      linkNumber: String(partner.link.number),
      day,
      clicks: 3,
      isLate: false,
    }
  })
  await rewardClickDays(platform, [{ workspaceId: program.ctx.workspaceId, days }])
  expect((await earnings(program)).toSorted((one, other) => one - other)).toEqual([30, 60])
})

test('a lead of a backlog does not know the sale after it', async () => {
  const condition = { entity: 'customer', attribute: 'subscriptionDurationMonths', operator: 'less_than', value: 5 }
  const modifiers = [{ operator: 'AND', conditions: [condition], type: 'flat', amount: 500 }]
  const { program, partner } = await buildEarner(platform, { event: 'lead', type: 'flat', amount: 100, modifiers })
  const customer = await buildCustomer(platform, program.workspace)
  await recordLead(platform, program, partner, customer)
  await recordSale(platform, program, partner, { customer, at: new Date(Date.now() + 60_000) })
  await decideAll(platform, program)
  expect(await earnings(program)).toEqual([100])
})

test('the cap of an ended reward holds for customers bound in the same backlog', async () => {
  const cap = { amount: 1_500, interval: 'week', scope: 'group' }
  const { program, reward, partner } = await buildEarner(platform, { cap })
  await sql`UPDATE rewards SET archived_at = ${at('2026-03-01')} WHERE number = ${reward}`.execute(platform.db)
  const { customer } = await recordSale(platform, program, partner, { amount: 10_000, at: at('2026-02-02') })
  await recordSale(platform, program, partner, { amount: 10_000, at: at('2026-04-07'), customer })
  await decideAll(platform, program)
  await recordSale(platform, program, partner, { amount: 10_000, at: at('2026-04-08'), customer })
  await decideAll(platform, program)
  expect(await earnings(program)).toEqual([1_000, 1_000, 500])
  const spent = await sql<{ amount: bigint }>`SELECT amount FROM commission_spending WHERE reward_number = ${reward}
    ORDER BY period_start`.execute(platform.db)
  expect(spent.rows.map(({ amount }) => Number(amount))).toEqual([1_000, 1_500])
})
