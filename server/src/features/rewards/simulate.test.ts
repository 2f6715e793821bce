import { createClient } from '@tributary/contract/client'
import { createGroup } from '@tributary/contract/groups'
import { createReward, type NewReward, simulateReward } from '@tributary/contract/rewards'
import { sql } from 'kysely'
import { describe, expect, inject, it } from 'vitest'
import { buildCustomer, buildLink, buildPartner, buildProgram, buildWorkspace } from '../../../test/build.ts'
import { openTestPlatform } from '../../../test/stack.ts'

const platform = await openTestPlatform()
const { api } = inject('server')
const period = { start: '2026-01-01T00:00:00Z', end: '2026-07-01T00:00:00Z' }
const percent = (amountInPercentage: number) => ({ type: 'percentage', amountInPercentage }) as const

async function withGroup() {
  const workspace = await buildWorkspace(platform)
  await buildProgram(platform, workspace)
  const call = createClient({ url: api, token: workspace.key })
  const { id: groupId } = await call(createGroup, { body: { name: 'Gold', slug: 'gold' } })
  const create = (given: Partial<NewReward>) =>
    call(createReward, { body: { groupId, event: 'sale', ...percent(10), ...given } as NewReward })

  async function addPartner(name: string) {
    const partner = await buildPartner(platform, workspace, { groupId, name })
    const { id } = await buildLink(platform, workspace)
    const result = await sql<{ number: bigint }>`
      UPDATE links SET partner_id = ${partner.id} WHERE id = ${id} RETURNING number`.execute(platform.db)
    return { ...partner, linkNumber: result.rows[0]?.number as bigint }
  }

  /** Stores a sale as tracking would, at a time in the past. */
  async function sell(
    { id, linkNumber }: Awaited<ReturnType<typeof addPartner>>,
    given: {
      customerId?: string
      amount: number
      at: string
      kind?: 'sale' | 'refund'
      sale?: bigint
      metadata?: object
    },
  ) {
    const customerId = given.customerId ?? (await buildCustomer(platform, workspace)).id
    const metadata = given.metadata ? JSON.stringify(given.metadata) : null
    const result = await sql<{ number: bigint }>`
      INSERT INTO conversions (id, workspace_id, kind, customer_id, event_name, link_number, attribution, amount, currency,
        original_amount, original_currency, is_first, sale_number, metadata, partner_id, created_at, stored_at)
      VALUES (gen_random_uuid(), ${workspace.id}, ${given.kind ?? 'sale'}, ${customerId}, 'Purchase', ${linkNumber}, 'lead',
        ${given.amount}, 'usd', ${given.amount}, 'usd', ${given.customerId === undefined}, ${given.sale ?? null},
        ${metadata}, ${id}, ${new Date(given.at)}, now())
      RETURNING number`.execute(platform.db)
    return { customerId, number: result.rows[0]?.number as bigint }
  }
  const simulate = (body: object) => call(simulateReward, { body: { groupId, ...period, ...body } as never })
  return { workspace, call, groupId, create, addPartner, sell, simulate }
}

describe('simulateReward', () => {
  it('200: compares proposed with current terms for each partner, and writes nothing', async () => {
    const { create, addPartner, sell, simulate, workspace } = await withGroup()
    await create({ maxDuration: 1 })
    const [ada, bob, eve] = [await addPartner('Ada'), await addPartner('Bob'), await addPartner('Eve')]
    const early = await sell(ada, { amount: 99_999, at: '2025-12-20T00:00:00Z' })
    await sell(ada, { amount: 10_000, at: '2026-01-10T00:00:00Z', customerId: early.customerId })
    await sell(ada, { amount: 10_000, at: '2026-02-10T00:00:00Z', customerId: early.customerId })
    const refunded = await sell(bob, { amount: 20_000, at: '2026-02-10T00:00:00Z' })
    await sell(bob, { amount: -5_000, at: '2026-02-11T00:00:00Z', kind: 'refund', sale: refunded.number })
    await sell(eve, { amount: 10_000, at: '2026-07-01T00:00:00Z' })
    await create({ groupId: null, partnerId: eve.id, ...percent(50) })
    const count = async () => {
      const tables = sql`SELECT (SELECT count(*) FROM rewards WHERE workspace_id = ${workspace.id}) AS rewards,
        (SELECT count(*) FROM reward_versions WHERE workspace_id = ${workspace.id}) AS versions`
      return (await tables.execute(platform.db)).rows
    }
    const before = await count()
    expect(await simulate({ ...percent(20), maxDuration: null })).toEqual({
      start: '2026-01-01T00:00:00.000Z',
      end: '2026-07-01T00:00:00.000Z',
      currency: 'usd',
      isComplete: true,
      sales: 3,
      saleAmount: 40_000,
      current: 2_500,
      proposed: 7_000,
      difference: 4_500,
      partners: [
        {
          partnerId: ada.id,
          name: 'Ada',
          sales: 2,
          saleAmount: 20_000,
          current: 1_000,
          proposed: 4_000,
          difference: 3_000,
        },
        {
          partnerId: bob.id,
          name: 'Bob',
          sales: 1,
          saleAmount: 20_000,
          current: 1_500,
          proposed: 3_000,
          difference: 1_500,
        },
      ],
    })
    expect(await count()).toEqual(before)
  })

  it("200: a partner's own reward comes before the proposed reward of its group, and can be proposed itself", async () => {
    const { create, addPartner, sell, simulate } = await withGroup()
    const ada = await addPartner('Ada')
    await sell(ada, { amount: 10_000, at: '2026-02-10T00:00:00Z' })
    await create({ groupId: null, partnerId: ada.id, ...percent(50) })
    expect(await simulate(percent(20))).toMatchObject({ current: 5_000, proposed: 5_000, difference: 0 })
    const own = { groupId: null, partnerId: ada.id, ...percent(20) }
    expect(await simulate(own)).toMatchObject({ current: 5_000, proposed: 2_000, difference: -3_000 })
  })

  it('200: tiers count from the first sale ever, and conditions see customers and products', async () => {
    const { addPartner, sell, simulate } = await withGroup()
    const ada = await addPartner('Ada')
    await sell(ada, { amount: 15_000, at: '2025-12-20T00:00:00Z' })
    await sell(ada, { amount: 10_000, at: '2026-01-10T00:00:00Z' })
    await sell(ada, { amount: 10_000, at: '2026-01-11T00:00:00Z', metadata: { productId: 'gold' } })
    const tier = { entity: 'partner', attribute: 'totalSaleAmount', operator: 'greater_than_or_equal', value: 25_000 }
    const product = { entity: 'sale', attribute: 'productId', operator: 'equals_to', value: 'gold' }
    const modifiers = [{ conditions: [tier, product], ...percent(30) }]
    expect(await simulate({ ...percent(10), modifiers })).toMatchObject({ current: 0, proposed: 1_000 + 3_000 })
  })

  it('404: an unknown group or partner, and a workspace without a program', async () => {
    const { simulate } = await withGroup()
    await expect(simulate({ groupId: 'grp_unknown', ...percent(1) })).rejects.toMatchObject({ status: 404 })
    const unknown = { groupId: null, partnerId: 'pn_unknown', ...percent(1) }
    await expect(simulate(unknown)).rejects.toMatchObject({ status: 404 })
    const bare = createClient({ url: api, token: (await buildWorkspace(platform)).key })
    const body = { groupId: 'grp_1', ...period, ...percent(1) }
    await expect(bare(simulateReward, { body })).rejects.toMatchObject({ status: 404 })
  })

  it('422: a period that is empty or longer than a year, and terms that do not fit together', async () => {
    const { simulate } = await withGroup()
    const refused = { status: 422 }
    await expect(simulate({ ...percent(1), end: period.start })).rejects.toMatchObject(refused)
    await expect(simulate({ ...percent(1), end: '2027-02-01T00:00:00Z' })).rejects.toMatchObject(refused)
    await expect(simulate({ type: 'flat' })).rejects.toMatchObject(refused)
  })
})
