import { createClient } from '@tributary/contract/client'
import { createCommission } from '@tributary/contract/commissions'
import { updatePartner } from '@tributary/contract/partners'
import { createWebhook, getDelivery, listDeliveries, type Trigger, webhookEvent } from '@tributary/contract/webhooks'
import { Dub } from 'dub'
import { HTTPClient } from 'dub/lib/http.js'
import { webhookEventFromJSON } from 'dub/models/components'
import { sql } from 'kysely'
import { expect, inject, test } from 'vitest'
import { z } from 'zod'
import { runMaturing } from '../server/src/features/commissions/mature.ts'
import type { CommissionsChanged } from '../server/src/features/commissions/messages.ts'
import { commissionWebhooks } from '../server/src/features/commissions/webhooks.ts'
import { linksByNumber } from '../server/src/features/links/service.ts'
import { fanOut } from '../server/src/features/webhooks/fan-out.ts'
import { buildCustomer } from '../server/test/build.ts'
import { buildPartner, buildProgram, buildReward, decideAll, recordSale } from '../server/test/program.ts'
import { eventually, openTestPlatform } from '../server/test/stack.ts'

const platform = await openTestPlatform()
const { api } = inject('server')

/** The answer as the SDK's schemas state it, closed: no field more. Typed by hand from the SDK. */
const text = z.string()
const commission = z.strictObject({
  id: text,
  type: z.enum(['click', 'lead', 'sale', 'referral', 'custom']),
  amount: z.number(),
  earnings: z.number(),
  currency: text,
  status: z.enum(['pending', 'processed', 'paid', 'refunded', 'duplicate', 'fraud', 'canceled', 'hold']),
  invoiceId: text.nullable(),
  description: text.nullable(),
  quantity: z.number(),
  userId: text.nullable().optional(),
  metadata: z.record(text, z.any()).nullable(),
  createdAt: text,
  updatedAt: text,
  paidAt: text.nullable(),
  partner: z.strictObject({
    id: text,
    name: text,
    email: text.nullable(),
    image: text.nullable(),
    payoutsEnabledAt: text.nullable(),
    country: text.nullable(),
    groupId: text.nullable().optional(),
  }),
  customer: z
    .strictObject({
      id: text,
      name: text.nullable().optional(),
      email: text.nullable().optional(),
      avatar: text.nullable().optional(),
      externalId: text,
      stripeCustomerId: text.nullable().optional(),
      country: text.nullable().optional(),
      sales: z.number().nullable().optional(),
      saleAmount: z.number().nullable().optional(),
      createdAt: text,
      firstSaleAt: text.nullable().optional(),
      subscriptionCanceledAt: text.nullable().optional(),
    })
    .nullable()
    .optional(),
})

/** Creates a program with a reward and a partner, and a client of the public SDK that records raw responses. */
async function newClient() {
  const program = await buildProgram(platform)
  await buildReward(program)
  await buildReward(program, { event: 'lead', type: 'flat', amount: 250 })
  const partner = await buildPartner(platform, program)
  const answers: { status: number; body: unknown }[] = []
  const fetcher = async (request: string | URL | Request) => {
    const response = await fetch(request)
    answers.push({ status: response.status, body: await response.clone().json() })
    return response
  }
  const token = program.workspace.key
  const client = new Dub({ token, serverURL: api, httpClient: new HTTPClient({ fetcher }) })
  return { program, partner, client, lastAnswer: () => answers.at(-1) as (typeof answers)[number] }
}

test('a client of the public SDK lists commissions page after page', async () => {
  const { program, partner, client, lastAnswer } = await newClient()
  for (let index = 0; index < 5; index++) await recordSale(platform, program, partner, { metadata: { index } })
  await decideAll(platform, program)
  const seen: string[] = []
  for await (const page of await client.commissions.list({ pageSize: 2, type: 'sale' })) {
    expect(z.array(commission).parse(lastAnswer().body)).toHaveLength(page.result.length)
    seen.push(...page.result.map(({ id }) => id))
  }
  expect(new Set(seen).size).toBe(5)
  const byPartner = await client.commissions.list({ partnerId: partner.id, status: 'pending', sortBy: 'amount' })
  expect(byPartner.result).toHaveLength(10)
  expect(byPartner.result).toEqual(lastAnswer().body)
})

test('a client of the public SDK creates custom, lead and sale commissions', async () => {
  const { program, partner, client, lastAnswer } = await newClient()
  const partnerId = partner.id
  const created = await client.commissions.create({ type: 'custom', partnerId, amount: -500, description: 'fraud' })
  expect(created).toEqual({ success: true, message: expect.any(String) })
  expect(lastAnswer()).toEqual({ status: 202, body: created })
  const { id: customerId } = await buildCustomer(platform, program.workspace)
  await client.commissions.create({ type: 'lead', partnerId, customerId })
  const customer = { externalId: 'c-1', country: 'DE', name: 'Grace' }
  await client.commissions.create({ type: 'sale', partnerId, customer, sale: { amount: 5_000, invoiceId: 'i-1' } })
  await decideAll(platform, program)
  const { result } = await client.commissions.list({ sortOrder: 'asc' })
  expect(z.array(commission).parse(lastAnswer().body)).toHaveLength(4)
  expect(result.map(({ type, earnings }) => [type, earnings])).toEqual([
    ['custom', -500],
    ['lead', 250],
    ['lead', 250],
    ['sale', 500],
  ])
  const again = client.commissions.create({
    type: 'sale',
    partnerId,
    customerId,
    sale: { amount: 5, invoiceId: 'i-1' },
  })
  await expect(again).rejects.toMatchObject({ name: 'Conflict', statusCode: 409 })
  const none = client.commissions.create({ type: 'lead', partnerId })
  await expect(none).rejects.toMatchObject({ name: 'BadRequest', statusCode: 400 })
})

test('a client of the public SDK changes commissions, one and many', async () => {
  const { program, partner, client, lastAnswer } = await newClient()
  await recordSale(platform, program, partner)
  await recordSale(platform, program, partner)
  await decideAll(platform, program)
  const { result } = await client.commissions.list({ type: 'sale' })
  const ids = result.map(({ id }) => id)
  const [id = ''] = ids
  const changed = await client.commissions.update({ id, requestBody: { saleAmount: 3_000 } })
  expect(changed).toMatchObject({ id, amount: 3_000, earnings: 300, status: 'pending' })
  expect(changed).toEqual(commission.parse(lastAnswer().body))
  expect(await client.commissions.update({ id })).toEqual({ ...changed, updatedAt: expect.any(String) })
  const many = await client.commissions.updateMany({ commissionIds: ids, status: 'fraud' })
  expect(many).toEqual(ids.map((id) => ({ id, status: 'fraud' })))
  expect(lastAnswer()).toEqual({ status: 200, body: many })
  const unknown = client.commissions.update({ id: 'cm_unknown', requestBody: { status: 'fraud' } })
  await expect(unknown).rejects.toMatchObject({ name: 'NotFound', statusCode: 404 })
  const same = client.commissions.update({ id, requestBody: { status: 'fraud' } })
  await expect(same).rejects.toMatchObject({ name: 'BadRequest', statusCode: 400 })
})

test('the public SDK decodes commission.created and the partners of leads and sales; each event is sent once', async () => {
  const { program, partner } = await newClient()
  const call = createClient({ url: api, token: program.workspace.key })
  const listen = async (name: string, ...triggers: Trigger[]) => {
    const { id } = await call(createWebhook, { body: { name, url: `https://receiver.example/${name}`, triggers } })
    return async (count: number) => {
      const deliveries = await eventually(async () => {
        const found = await call(listDeliveries, { params: { id } })
        expect(found).toHaveLength(count)
        return found
      }, 20_000)
      const read = deliveries.map(({ eventId }) => call(getDelivery, { params: { id, eventId } }))
      const bodies = (await Promise.all(read)).map(({ body }) => JSON.parse(body ?? ''))
      for (const body of bodies) expect(webhookEvent.parse(body)).toEqual(body)
      return bodies.toSorted((one, other) => (one.event < other.event ? -1 : 1))
    }
  }
  const known = await listen('known', 'commission.created', 'lead.created', 'sale.created')
  const extensions = await listen('extensions', 'commission.updated', 'partner.updated')
  const { customer } = await recordSale(platform, program, partner, { metadata: { plan: 'pro' } })
  await decideAll(platform, program)
  const clawback = { type: 'custom' as const, partnerId: partner.id, amount: -500, description: 'fraud' }
  await call(createCommission, { body: clawback })
  const created = await known(5)
  for (const body of created) {
    const decoded = webhookEventFromJSON(JSON.stringify(body))
    expect(decoded.ok, JSON.stringify(body)).toBe(true)
    expect(body.data.partner).toMatchObject({
      id: partner.id,
      totalCommissions: expect.any(Number),
      groupId: program.group.id,
    })
  }
  const commissions = created.filter(({ event }) => event === 'commission.created').map(({ data }) => data)
  const byEarnings = commissions.toSorted((one, other) => one.earnings - other.earnings)
  const linkId = (await linksByNumber(program.ctx, [partner.link.number])).get(partner.link.number)?.id
  expect(byEarnings).toMatchObject([
    { type: 'custom', earnings: -500, description: 'fraud', customer: null, link: null },
    { type: 'lead', earnings: 250, customer: { id: customer.id }, link: { id: linkId } },
    {
      type: 'sale',
      amount: 10_000,
      earnings: 1_000,
      status: 'pending',
      metadata: { plan: 'pro' },
      link: { id: linkId },
    },
  ])
  expect(byEarnings.some((data) => 'paidAt' in data)).toBe(false)

  await runMaturing(platform, new Date(Date.now() + 1_000), { workspaceIds: [program.ctx.workspaceId] })
  await call(updatePartner, { params: { id: partner.id }, body: { companyName: 'Ada & Co' } })
  const updated = await extensions(4)
  expect(updated.map(({ event, data }) => [event, data.status])).toEqual([
    ...Array.from({ length: 3 }, () => ['commission.updated', 'processed']),
    ['partner.updated', 'approved'],
  ])
  expect(updated[3].data).toMatchObject({ id: partner.id, companyName: 'Ada & Co' })

  const sent = await sql<{ body: CommissionsChanged }>`SELECT body FROM (SELECT body, workspace_id, subject FROM outbox
    UNION ALL SELECT body, workspace_id, subject FROM outbox_published) AS o
    WHERE workspace_id = ${program.ctx.workspaceId} AND subject LIKE '%.commissions'`.execute(platform.db)
  await fanOut(
    platform,
    commissionWebhooks,
    sent.rows.map(({ body }) => body),
  )
  expect([await known(5), (await extensions(4)).length]).toEqual([created, 4])
})
