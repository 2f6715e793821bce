import { createClient } from '@tributary/contract/client'
import { createGroup } from '@tributary/contract/groups'
import { createReward, deleteReward, type NewReward, updateReward } from '@tributary/contract/rewards'
import { sql } from 'kysely'
import { describe, expect, inject, it } from 'vitest'
import { buildPartner, buildProgram, buildWorkspace } from '../../../test/build.ts'
import { buildHistory, buildSale, buildVersion } from '../../../test/rewards.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { boundVersions, currentRewards, decideReward, findVersion, rewardAfterRefund } from './service.ts'
import { loadChoices } from './versions.ts'

const platform = await openTestPlatform()
const { api } = inject('server')
const none = { partner: null, group: null }

it('finds the version and its cap, decides, and recomputes after a refund', () => {
  const choice = { partner: null, group: buildVersion({ spendLimitAmount: 700, spendLimitScope: 'group' }) }
  const who = { partnerNumber: 1n, customerId: 'cus_1', groupNumber: 2n }
  expect(findVersion(buildSale(), null, choice, who)).toEqual({
    version: choice.group,
    cap: { scope: 'allTime:group:2', periodStart: new Date(0) },
  })
  const { why, ...decision } = decideReward(buildSale(), buildHistory(), choice)
  expect(decision).toMatchObject({ earnings: 700n })
  expect(rewardAfterRefund(why, 5_000n)).toBe(500n)
  expect(findVersion(buildSale(), null, none, who)).toBeNull()
})

async function withGroup() {
  const workspace = await buildWorkspace(platform)
  await buildProgram(platform, workspace)
  const call = createClient({ url: api, token: workspace.key })
  const { id: groupId } = await call(createGroup, { body: { name: 'Gold', slug: 'gold' } })
  const create = (given: Partial<NewReward> = {}) => {
    const terms = { groupId, event: 'sale', type: 'percentage', amountInPercentage: 10, ...given }
    return call(createReward, { body: terms as NewReward })
  }
  const update = (id: string, body: object) => call(updateReward, { params: { id }, body })
  const { number, group_number, id } = await buildPartner(platform, workspace, { groupId })
  const partner = { number, groupNumber: group_number }
  const current = async () => (await loadChoices(platform.db, workspace.id, [partner]))?.get(number)
  const rewardIds = async () => (await currentRewards(platform.db, workspace.id, [partner])).get(number)
  return { workspace, call, create, update, partner, partnerId: id, current, rewardIds }
}

describe('the rewards for new customers of a partner', () => {
  it("are the partner's own before the group's, each with its newest version", async () => {
    const { call, create, update, partnerId, current, rewardIds } = await withGroup()
    expect([await current(), await rewardIds()]).toEqual([none, {}])
    const reward = await create()
    await update(reward.id, { amountInPercentage: 15 })
    const lead = await create({ event: 'lead', type: 'flat', amountInCents: 5, amountInPercentage: null })
    const own = await create({ groupId: null, partnerId, amountInPercentage: 40 })
    expect(await current()).toMatchObject({
      partner: { rewardId: own.id, terms: { amount: 4_000n } },
      group: { rewardId: reward.id, version: 2, terms: { amount: 1_500n }, createdAt: expect.any(Date) },
    })
    expect(await rewardIds()).toEqual({ lead: lead.id, sale: own.id })
    await call(deleteReward, { params: { id: own.id } })
    expect(await current()).toMatchObject({ partner: null, group: { rewardId: reward.id } })
    expect(await rewardIds()).toEqual({ lead: lead.id, sale: reward.id })
  })

  it('are not those of another workspace', async () => {
    const { create, partner } = await withGroup()
    await create()
    const { workspace } = await withGroup()
    const found = await loadChoices(platform.db, workspace.id, [partner])
    expect(found?.get(partner.number)).toEqual(none)
    expect((await currentRewards(platform.db, workspace.id, [partner])).get(partner.number)).toEqual({})
  })

  it('are not loaded at once when their terms exceed the memory of a worker', async () => {
    const { create, current, workspace } = await withGroup()
    const { id } = await create()
    await sql`INSERT INTO reward_versions (reward_number, workspace_id, version, terms, actor)
      SELECT number, workspace_id, 2, jsonb_build_object('description', repeat('x', 9000000)), 'test' FROM rewards
      WHERE workspace_id = ${workspace.id} AND id = ${id}`.execute(platform.db)
    expect(await current()).toBeUndefined()
  })
})

describe('boundVersions', () => {
  it('has the bound version and the later ones that apply to all', async () => {
    const { workspace, create, update, current, call } = await withGroup()
    const { id } = await create()
    const first = (await current())?.group?.number as bigint
    await update(id, { amountInPercentage: 11 })
    await update(id, { amountInPercentage: 12, applyTo: 'allFutureSales' })
    const third = (await current())?.group?.number as bigint
    await update(id, { amountInPercentage: 13, applyTo: 'allFutureSales' })
    await update(id, { amountInPercentage: 14 })
    await call(deleteReward, { params: { id } })
    const found = await boundVersions(platform.db, workspace.id, [first, third, first])
    const numbers = (bound: bigint) => found.get(bound)?.later.map(({ version }) => version)
    expect(found.get(first)?.version).toMatchObject({ version: 1, terms: { amount: 1_000n } })
    expect(found.get(third)?.version.version).toBe(3)
    expect(found.size).toBe(2)
    expect([numbers(first), numbers(third)]).toEqual([[3, 4], [4]])
  })

  it('has no versions of another workspace', async () => {
    const { create, current } = await withGroup()
    await create()
    const number = (await current())?.group?.number as bigint
    const { workspace } = await withGroup()
    expect(await boundVersions(platform.db, workspace.id, [number])).toEqual(new Map())
    expect(await boundVersions(platform.db, workspace.id, [])).toEqual(new Map())
  })

  it('refuses to load terms that are too large for memory together', async () => {
    const { workspace, create, current } = await withGroup()
    const value = Array.from({ length: 250 }, (_, number) => `${'x'.repeat(200)}${number}`)
    const conditions = [{ entity: 'sale', attribute: 'productId', operator: 'in', value }]
    const modifiers = [{ conditions, type: 'percentage', amountInPercentage: 20 }] as NewReward['modifiers']
    await create({ modifiers })
    const version = (await current())?.group
    const load = () => boundVersions(platform.db, workspace.id, [version?.number ?? 0n])
    const addVersions = (from: number, to: number) =>
      sql`INSERT INTO reward_versions (reward_number, workspace_id, version, terms, applies_to_all, actor)
        SELECT reward_number, workspace_id, later, terms, true, actor FROM reward_versions, generate_series(${from}::int, ${to}::int) later
        WHERE number = ${version?.number}`.execute(platform.db)
    await addVersions(2, 100)
    expect((await load()).get(version?.number ?? 0n)?.later).toHaveLength(99)
    await addVersions(101, 170)
    await expect(load()).rejects.toThrow(RangeError)
  })
})
