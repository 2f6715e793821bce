import { Dub } from 'dub'
import { HTTPClient } from 'dub/lib/http.js'
import { expect, inject, test } from 'vitest'
import { z } from 'zod'
import { buildCustomer } from '../server/test/build.ts'
import { buildPartner, buildProgram, buildReward, decideAll, recordSale } from '../server/test/program.ts'
import { openTestPlatform } from '../server/test/stack.ts'

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
