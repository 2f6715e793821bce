import { createClient } from '@tributary/contract/client'
import {
  bulkUpdateCommissions,
  type CommissionsQuery,
  createCommission,
  explainCommission,
  explainEvent,
  getCommission,
  listCommissions,
  updateCommission,
} from '@tributary/contract/commissions'
import { sql } from 'kysely'
import { describe, expect, inject, it } from 'vitest'
import { buildCustomer, buildWorkspace } from '../../../test/build.ts'
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
import { createToken } from '../tokens/service.ts'

const platform = await openTestPlatform()
const { api } = inject('server')
const unknown = 'cm_01890000-0000-7000-8000-000000000000'

async function buildWorld(terms: Parameters<typeof buildEarner>[1] = {}) {
  const { program, partner } = await buildEarner(platform, terms, { partner: { country: 'GB', tenant_id: 'tenant-1' } })
  const client = createClient({ url: api, token: program.workspace.key })
  const sell = async (given: Parameters<typeof recordSale>[3] = {}) => {
    const sale = await recordSale(platform, program, partner, given)
    await decideAll(platform, program)
    const [commission] = await client(listCommissions, { query: { invoiceId: sale.invoiceId } })
    return { ...sale, commission: commission as NonNullable<typeof commission> }
  }
  const owed = async () => {
    await expectSound(platform, program)
    return readOwed(program, partner.number)
  }
  const mature = () => matureAll(platform, program)
  return { program, partner, client, sell, owed, mature }
}

describe('listCommissions', () => {
  it('200: returns a commission with exactly its keys', async () => {
    const { program, partner, sell } = await buildWorld()
    const { customer, invoiceId } = await sell({ metadata: { plan: 'pro' } })
    const response = await fetch(`${api}/commissions`, {
      headers: { authorization: `Bearer ${program.workspace.key}` },
    })
    expect(await response.json()).toEqual([
      {
        id: expect.stringMatching(/^cm_[0-9a-f-]{36}$/),
        type: 'sale',
        amount: 10_000,
        earnings: 1_000,
        currency: 'usd',
        status: 'pending',
        invoiceId,
        description: null,
        quantity: 1,
        userId: null,
        metadata: { plan: 'pro' },
        createdAt: expect.any(String),
        updatedAt: expect.any(String),
        paidAt: null,
        partner: {
          id: partner.id,
          name: 'Ada',
          email: partner.email,
          image: null,
          payoutsEnabledAt: null,
          country: 'GB',
          groupId: program.group.id,
        },
        customer: expect.objectContaining({ id: customer.id }),
      },
    ])
  })

  it('200: filters, sorts and pages', async () => {
    const { program, partner, client, sell } = await buildWorld()
    const made = []
    for (const amount of [300, 100, 200])
      made.push((await sell({ amount, metadata: { amount, plan: `p${amount}` } })).commission)
    const other = await buildPartner(platform, program)
    const list = async (query: Partial<CommissionsQuery>) =>
      (await client(listCommissions, { query })).map(({ amount }) => amount)
    expect(await list({})).toEqual([200, 100, 300])
    expect(await list({ sortOrder: 'asc' })).toEqual([300, 100, 200])
    expect(await list({ sortBy: 'amount' })).toEqual([300, 200, 100])
    expect(await list({ startingAfter: made[2]?.id, pageSize: 1 })).toEqual([100])
    expect(await list({ endingBefore: made[0]?.id, pageSize: 1 })).toEqual([100])
    expect(await list({ page: 2, pageSize: 2 })).toEqual([300])
    expect(await list({ partnerId: partner.id })).toHaveLength(3)
    expect(await list({ partnerId: `-${partner.id}` })).toEqual([])
    expect(await list({ partnerId: other.id })).toEqual([])
    expect(await list({ tenantId: 'tenant-1' })).toHaveLength(3)
    expect(await list({ tenantId: 'unknown' })).toEqual([])
    expect(await list({ groupId: program.group.id })).toHaveLength(3)
    expect(await list({ groupId: `-${program.group.id}` })).toEqual([])
    expect(await list({ partnerTagId: 'ptag_unknown' })).toEqual([])
    expect(await list({ type: 'lead' })).toEqual([])
    expect(await list({ status: 'pending', interval: '24h' })).toHaveLength(3)
    expect(await list({ start: '2020-01-01', end: '2020-01-02' })).toEqual([])
    expect(await list({ query: "metadata['plan']:'p100'" })).toEqual([100])
    expect(await list({ query: "metadata['amount']>100 AND metadata['plan']!='p300'" })).toEqual([200])
    expect(await list({ query: "metadata['amount']<1e-400000 OR metadata['amount']<=1e2" })).toEqual([100])
    expect(await list({ payoutId: 'po_unknown' })).toEqual([])
    expect(await list({ customerId: 'cus_unknown' })).toEqual([])
  })

  it('404: without a program', async () => {
    const workspace = await buildWorkspace(platform)
    const client = createClient({ url: api, token: workspace.key })
    await expect(client(listCommissions)).rejects.toMatchObject({ status: 404 })
  })

  it('422: with both cursors, or an unknown one', async () => {
    const { client, sell } = await buildWorld()
    const { id } = (await sell()).commission
    const both = client(listCommissions, { query: { startingAfter: id, endingBefore: id } })
    await expect(both).rejects.toMatchObject({ status: 422 })
    await expect(client(listCommissions, { query: { startingAfter: unknown } })).rejects.toMatchObject({ status: 422 })
  })
})

describe('a key without the scopes that read partners and customers', () => {
  it('gets commissions without e-mail addresses, pictures and countries of partners', async () => {
    const { program, partner, sell } = await buildWorld()
    const { commission, customer } = await sell()
    const { id } = program.workspace
    await sql`UPDATE customers SET email = 'cleo@example.com' WHERE id = ${customer.id}`.execute(platform.db)
    const scopes = ['commissions.read' as const]
    const { key } = await createToken(platform, { workspaceId: id, name: 'few', scopes })
    const client = createClient({ url: api, token: key })
    const shown = [await client(getCommission, { params: { id: commission.id } }), ...(await client(listCommissions))]
    for (const each of shown) {
      expect(each.partner).toMatchObject({ id: partner.id, name: 'Ada', email: null, image: null, country: null })
      expect(each.customer).toMatchObject({ id: customer.id, externalId: customer.external_id, email: null })
    }
    expect(commission.partner).toMatchObject({ email: partner.email, country: 'GB' })
  })
})

describe('createCommission', () => {
  it('202: a custom commission is owed at once, and a negative one claws back', async () => {
    const { partner, client, program, owed } = await buildWorld()
    const create = (amount: number, description?: string) =>
      client(createCommission, { body: { type: 'custom', partnerId: partner.id, amount, description } })
    expect(await create(500)).toEqual({ success: true, message: 'The commission was created.' })
    await create(-200, 'order_canceled')
    expect(await readCommissions(program)).toMatchObject([
      { type: 'custom', earnings: 500n },
      { type: 'custom', earnings: -200n, description: 'order_canceled' },
    ])
    expect(await owed()).toEqual({ accrued: 300n })
    await expect(create(-1)).rejects.toMatchObject({ status: 400 })
    await expect(create(0)).rejects.toMatchObject({ status: 422 })
    await expect(create(1.5)).rejects.toMatchObject({ status: 422 })
  })

  it('202: a sale by hand of a new customer is decided like a tracked one', async () => {
    const { partner, client, program } = await buildWorld()
    const customer = { externalId: 'c-1', country: 'de', email: 'c@example.com' }
    const sale = { amount: 4_000, invoiceId: 'inv-1', metadata: { plan: 'pro' } }
    await client(createCommission, { body: { type: 'sale', partnerId: partner.id, customer, sale } })
    await decideAll(platform, program)
    const [commission] = await client(listCommissions, {})
    expect(commission).toMatchObject({ type: 'sale', amount: 4_000, earnings: 400, invoiceId: 'inv-1' })
    expect(commission?.customer).toMatchObject({ externalId: 'c-1', country: 'DE', sales: 1, saleAmount: 4_000 })
    const again = client(createCommission, { body: { type: 'sale', partnerId: partner.id, customer, sale } })
    await expect(again).rejects.toMatchObject({ status: 409 })
  })

  it('202: a lead by hand of a known customer', async () => {
    const { partner, client, program } = await buildWorld({ event: 'lead', type: 'flat', amount: 70 })
    const customer = await buildCustomer(platform, program.workspace)
    const body = { type: 'lead' as const, partnerId: partner.id, customerId: customer.id, leadEventName: 'Sign up' }
    await client(createCommission, { body })
    await decideAll(platform, program)
    expect(await client(listCommissions, {})).toMatchObject([{ type: 'lead', earnings: 70 }])
    await expect(client(createCommission, { body })).rejects.toMatchObject({ status: 409 })
  })

  it('400, 404: customer, link, partner and Stripe', async () => {
    const { partner, client, program } = await buildWorld()
    const { id: customerId } = await buildCustomer(platform, program.workspace)
    const create = (body: object) =>
      client(createCommission, { body: { type: 'sale', partnerId: partner.id, sale: { amount: 5 }, ...body } as never })
    await expect(create({})).rejects.toMatchObject({ status: 400 })
    await expect(create({ customerId, customer: { externalId: 'x', country: 'DE' } })).rejects.toMatchObject({
      status: 400,
    })
    await expect(create({ customerId: 'cus_unknown' })).rejects.toMatchObject({ status: 404 })
    await expect(create({ customerId, linkId: 'link_unknown' })).rejects.toMatchObject({ status: 404 })
    await expect(create({ customerId, partnerId: 'pn_unknown' })).rejects.toMatchObject({ status: 404 })
    await expect(create({ customerId, sale: null, importStripeInvoices: true })).rejects.toMatchObject({ status: 400 })
    await expect(create({ customerId, sale: null })).rejects.toMatchObject({ status: 400 })
    await sql`UPDATE links SET partner_id = NULL WHERE partner_id = ${partner.id}`.execute(platform.db)
    await expect(create({ customerId })).rejects.toMatchObject({ status: 400 })
  })
})

describe('createCommission for a partner that does not earn', () => {
  it.each([
    ['deactivated', 'sale', 422],
    ['deactivated', 'lead', 422],
    ['deactivated', 'custom', 202],
    ['banned', 'sale', 422],
    ['banned', 'custom', 422],
  ] as const)('a %s partner: a %s is %i', async (status, type, expected) => {
    const { partner, program } = await buildWorld()
    await sql`UPDATE partners SET status = ${status} WHERE number = ${partner.number}`.execute(platform.db)
    const { id: customerId } = await buildCustomer(platform, program.workspace)
    const given = { sale: { customerId, sale: { amount: 5 } }, lead: { customerId }, custom: { amount: 5 } }[type]
    const response = await fetch(`${api}/commissions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${program.workspace.key}` },
      body: JSON.stringify({ type, partnerId: partner.id, ...given }),
    })
    expect(response.status).toBe(expected)
    if (expected === 422) expect(await response.text()).toContain(`${partner.id}, which is ${status}`)
  })
})

describe('updateCommission', () => {
  it('200: status and back again, each with its posting', async () => {
    const { client, sell, owed } = await buildWorld()
    const { id } = (await sell()).commission
    const set = (status: 'pending' | 'fraud' | 'canceled') =>
      client(updateCommission, { params: { id }, body: { status } })
    expect(await set('fraud')).toMatchObject({ id, status: 'fraud', earnings: 1_000 })
    expect(await owed()).toEqual({ accrued: 0n })
    expect(await set('canceled')).toMatchObject({ status: 'canceled' })
    expect(await set('pending')).toMatchObject({ status: 'pending' })
    expect(await owed()).toEqual({ accrued: 1_000n })
    await expect(set('pending')).rejects.toMatchObject({ status: 400 })
  })

  it('200: a new sale amount goes through the same terms; later refunds are in proportion', async () => {
    const { client, sell, owed, program } = await buildWorld()
    const { commission, invoiceId } = await sell({ amount: 1_000 })
    const { id } = commission
    const patch = (body: object) => client(updateCommission, { params: { id }, body })
    expect(await patch({ saleAmount: 3_000 })).toMatchObject({ amount: 3_000, earnings: 300, status: 'pending' })
    expect(await patch({ modifySaleAmount: -1_000, saleAmount: 7 })).toMatchObject({ amount: 2_000, earnings: 200 })
    expect(await patch({ earnings: 150 })).toMatchObject({ amount: 2_000, earnings: 150 })
    expect(await patch({})).toMatchObject({ earnings: 150 })
    expect(await owed()).toEqual({ accrued: 150n })
    await recordRefund(program, invoiceId, 500)
    await decideAll(platform, program)
    expect(await client(getCommission, { params: { id } })).toMatchObject({ amount: 1_000, earnings: 75 })
    expect(await owed()).toEqual({ accrued: 75n })
    expect(await patch({ saleAmount: 0 })).toMatchObject({ status: 'refunded', earnings: 75 })
    expect(await owed()).toEqual({ accrued: 0n })
  })

  it('200: leaves its open payout', async () => {
    const { client, sell, owed, mature } = await buildWorld()
    const { id } = (await sell()).commission
    await mature()
    expect(await owed()).toEqual({ accrued: 0n, due: 1_000n })
    expect(await client(updateCommission, { params: { id }, body: { earnings: 400 } })).toMatchObject({
      status: 'pending',
    })
    expect(await owed()).toEqual({ accrued: 400n, due: 0n })
    await mature()
    expect(await client(updateCommission, { params: { id }, body: { status: 'duplicate' } })).toMatchObject({
      status: 'duplicate',
    })
    expect(await owed()).toEqual({ accrued: 0n, due: 0n })
  })

  it('400: a paid one, one on its way, and the amount of one that is not a sale', async () => {
    const { client, sell, mature, partner, program } = await buildWorld()
    const { id } = (await sell()).commission
    await mature()
    const patch = (id: string, body: object) => client(updateCommission, { params: { id }, body })
    await sql`UPDATE payouts SET status = 'sent' WHERE workspace_id = ${program.ctx.workspaceId}`.execute(platform.db)
    await expect(patch(id, { status: 'fraud' })).rejects.toMatchObject({ status: 400 })
    await sql`UPDATE commissions SET status = 'paid' WHERE workspace_id = ${program.ctx.workspaceId}`.execute(
      platform.db,
    )
    await expect(patch(id, { status: 'fraud' })).rejects.toMatchObject({ status: 400 })
    await client(createCommission, { body: { type: 'custom', partnerId: partner.id, amount: 5 } })
    const [custom] = await client(listCommissions, { query: { type: 'custom' } })
    await expect(patch(custom?.id ?? '', { saleAmount: 5 })).rejects.toMatchObject({ status: 400 })
    await expect(patch(unknown, { status: 'fraud' })).rejects.toMatchObject({ status: 404 })
    await expect(patch('unknown', { status: 'fraud' })).rejects.toMatchObject({ status: 404 })
  })
})

describe('bulkUpdateCommissions', () => {
  it('200: sets all, or none when one can not be changed', async () => {
    const { client, sell, owed } = await buildWorld()
    const ids = [(await sell()).commission.id, (await sell()).commission.id]
    const set = (commissionIds: string[], status: 'fraud' | 'canceled') =>
      client(bulkUpdateCommissions, { body: { commissionIds, status } })
    await expect(set([...ids, unknown], 'fraud')).rejects.toMatchObject({ status: 404 })
    expect(await owed()).toEqual({ accrued: 2_000n })
    expect(await set(ids, 'fraud')).toEqual(ids.map((id) => ({ id, status: 'fraud' })))
    expect(await owed()).toEqual({ accrued: 0n })
    await expect(set(ids, 'fraud')).rejects.toMatchObject({ status: 400 })
  })
})

describe('explainCommission and explainEvent', () => {
  it('200: why a commission has its amount, with refunds and postings', async () => {
    const { client, sell, program } = await buildWorld()
    const { commission, invoiceId, id: eventId } = await sell()
    await recordRefund(program, invoiceId, 4_000)
    await decideAll(platform, program)
    const explained = await client(explainCommission, { params: { id: commission.id } })
    expect(explained).toMatchObject({
      outcome: 'commission',
      commissionId: commission.id,
      eventId,
      earnings: 600,
      text: expect.stringMatching(
        /^Version 1 of the group's reward: 10 % of 100\.00 USD = 10\.00 USD\. Refunds left 60\.00 USD of the sale, which earn 6\.00 USD\. It is due on \d{4}-\d\d-\d\d\.$/,
      ),
      reasoning: { earnings: 1_000, reward: { version: 1, origin: 'group' } },
      refunds: [{ amount: -4_000 }],
      postings: [
        { kind: 'earned', amount: 1_000 },
        { kind: 'corrected', amount: -400 },
      ],
    })
    expect(await client(explainEvent, { query: { eventId } })).toEqual(explained)
    expect(await client(explainEvent, { query: { invoiceId } })).toEqual(explained)
  })

  it('200: why a sale earned nothing, or is not decided', async () => {
    const { client, sell, program, partner } = await buildWorld({ maxDuration: 0 })
    const { customer } = await sell()
    const second = await recordSale(platform, program, partner, { customer })
    await decideAll(platform, program)
    expect(await client(explainEvent, { query: { eventId: second.id } })).toMatchObject({
      outcome: 'nothing',
      reason: 'window_over',
      earnings: 0,
      reasoning: { window: { endsAt: expect.any(String) } },
    })
  })

  it('400, 404: no event, or an unknown one', async () => {
    const { client } = await buildWorld()
    await expect(client(explainEvent, {})).rejects.toMatchObject({ status: 400 })
    await expect(client(explainEvent, { query: { eventId: 'evt_unknown' } })).rejects.toMatchObject({ status: 404 })
    await expect(client(explainCommission, { params: { id: unknown } })).rejects.toMatchObject({ status: 404 })
    await expect(client(getCommission, { params: { id: unknown } })).rejects.toMatchObject({ status: 404 })
  })
})
