import { createClient } from '@tributary/contract/client'
import { mergePartners } from '@tributary/contract/partners'
import { createWebhook, getDelivery, listDeliveries, webhookEvent } from '@tributary/contract/webhooks'
import { Dub } from 'dub'
import { HTTPClient } from 'dub/lib/http.js'
import {
  DiscountCodeSchema$inboundSchema as discountCodeSchema,
  LinkSchema$inboundSchema as linkSchema,
  webhookEventFromJSON,
} from 'dub/models/components'
import {
  RetrievePartnerAnalyticsResponseBody$inboundSchema as analyticsSchema,
  ListPartnerApplicationsResponseBody$inboundSchema as applicationSchema,
  CreatePartnerResponseBody$inboundSchema as createdPartnerSchema,
  RetrievePartnerLinksResponseBody$inboundSchema as partnerLinkSchema,
  ListPartnersResponseBody$inboundSchema as partnerSchema,
} from 'dub/models/operations'
import { expect, inject, test } from 'vitest'
import { z } from 'zod/v3'
import { createDiscount } from '../server/src/features/discounts/service.ts'
import { applyToProgram } from '../server/src/features/enrolments/applications.ts'
import { requireDefaultGroup } from '../server/src/features/groups/service.ts'
import { buildProgram, buildWorkspace } from '../server/test/build.ts'
import { contextIn } from '../server/test/context.ts'
import { eventually, openTestPlatform } from '../server/test/stack.ts'
import { closeSchema } from './closed-schema.ts'

const platform = await openTestPlatform()
const { api } = inject('server')

/** Creates a client of the public SDK in a workspace with a program; `closed` checks the last raw body strictly. */
async function newClient() {
  const workspace = await buildWorkspace(platform)
  const program = await buildProgram(platform, workspace)
  const answers: unknown[] = []
  const fetcher = async (request: string | URL | Request) => {
    const response = await fetch(request)
    answers.push(await response.clone().json())
    return response
  }
  const client = new Dub({ token: workspace.key, serverURL: api, httpClient: new HTTPClient({ fetcher }) })
  const closed = (schema: z.ZodTypeAny) => expect(closeSchema(schema).safeParse(answers.at(-1)).error).toBeUndefined()
  return { workspace, program, client, closed, ctx: contextIn(platform, workspace.id) }
}
const result = z.object({ partnerId: z.string() })

test('a client of the public SDK creates, lists, deactivates and bans partners', async () => {
  const { client, closed, program } = await newClient()
  const partner = await client.partners.create({
    email: 'ann@example.com',
    name: 'Ann',
    tenantId: 't1',
    country: 'DE',
    description: 'd',
    linkProps: { tagIds: [], comments: 'c' },
  })
  closed(createdPartnerSchema)
  expect(partner).toMatchObject({ name: 'Ann', status: 'approved', programId: program.id, links: [{ key: 'ann' }] })
  const bob = await client.partners.create({ email: 'bob@example.com' })
  expect(await client.partners.list()).toEqual([bob, partner])
  closed(z.array(partnerSchema))
  expect(await client.partners.list({ tenantId: 't1', sortBy: 'returnOnAdSpend', pageSize: 1 })).toEqual([partner])
  expect(await client.partners.list({ search: 'bob', status: 'approved', country: 'FR' })).toEqual([])
  await expect(client.partners.create({ email: 'x@example.com', tenantId: 't1' })).rejects.toMatchObject({
    name: 'Conflict',
  })
  expect(await client.partners.deactivate({ tenantId: 't1' })).toEqual({ partnerId: partner.id })
  closed(result)
  await expect(client.partners.deactivate({ tenantId: 't1' })).rejects.toMatchObject({ name: 'BadRequest' })
  expect(await client.partners.ban({ partnerId: partner.id, reason: 'fake_traffic' })).toEqual({
    partnerId: partner.id,
  })
  closed(result)
  const [banned] = await client.partners.list({ status: 'banned' })
  closed(z.array(partnerSchema))
  expect(banned).toMatchObject({ id: partner.id, bannedReason: 'fake_traffic', bannedAt: expect.any(String) })
  await expect(client.partners.ban({ partnerId: 'pn_x', reason: 'spam' })).rejects.toMatchObject({ name: 'NotFound' })
})

test('a client of the public SDK creates, upserts and lists links of partners, and reads their analytics', async () => {
  const { client, closed } = await newClient()
  const { id: partnerId } = await client.partners.create({ email: 'ann@example.com' })
  const link = await client.partners.createLink({ partnerId, url: 'https://example.com/a', key: 'mine', comments: 'c' })
  closed(linkSchema)
  expect(link).toMatchObject({ key: 'mine', partnerId, comments: 'c', trackConversion: true })
  const body = { partnerId, url: 'https://example.com/a', linkProps: { archived: true } }
  expect(await client.partners.upsertLink(body)).toMatchObject({ id: link.id, archived: true })
  closed(linkSchema)
  const links = await client.partners.retrieveLinks({ partnerId })
  closed(z.array(partnerLinkSchema))
  expect(links.map(({ key }) => key)).toEqual(['mine', 'ann'])
  await expect(client.partners.retrieveLinks({})).rejects.toMatchObject({ name: 'BadRequest' })
  await expect(client.partners.createLink({ partnerId, url: 'https://other.example' })).rejects.toMatchObject({
    name: 'BadRequest',
  })
  for (const groupBy of ['count', 'timeseries', 'top_links'] as const) {
    const analytics = await client.partners.analytics({ partnerId, groupBy, interval: '7d' })
    closed(analyticsSchema)
    expect(Array.isArray(analytics)).toBe(groupBy !== 'count')
  }
})

test('a client of the public SDK lists, approves and rejects applications', async () => {
  const { client, closed, program } = await newClient()
  for (const name of ['Ann', 'Bob'])
    await applyToProgram(
      { ...platform, config: { ...platform.config, SMTP_URL: undefined } },
      { programId: program.id, email: `${name}@example.com`, name, answers: [{ label: 'Why?', value: null }] },
    )
  const [bob, ann] = await client.partnerApplications.list({ pageSize: 10 })
  closed(z.array(applicationSchema))
  expect(ann).toMatchObject({ partner: { name: 'Ann' }, applicationFormData: [{ label: 'Why?', value: null }] })
  const [annId, bobId] = [ann?.partner.id ?? '', bob?.partner.id ?? '']
  expect(await client.partnerApplications.approve({ partnerId: annId })).toEqual({ partnerId: annId })
  closed(result)
  const rejection = { partnerId: bobId, rejectionReason: 'other' as const, rejectionNote: 'n' }
  expect(await client.partnerApplications.reject(rejection)).toEqual({ partnerId: bobId })
  closed(result)
  const [rejected] = await client.partners.list({ status: 'rejected' })
  closed(z.array(partnerSchema))
  expect(rejected?.application).toMatchObject({ rejectionReason: 'other', rejectionNote: 'n' })
  await expect(client.partnerApplications.reject({ partnerId: bobId })).rejects.toMatchObject({ name: 'BadRequest' })
  expect(await client.partnerApplications.list()).toEqual([])
})

test('a client of the public SDK creates, lists and deletes discount codes', async () => {
  const { client, closed, ctx } = await newClient()
  const { id: groupId } = await requireDefaultGroup(ctx)
  const { id: partnerId } = await client.partners.create({ email: 'ann@example.com' })
  const { id: linkId } = await client.partners.createLink({ partnerId })
  await expect(client.discountCodes.create({ partnerId, linkId })).rejects.toMatchObject({ name: 'BadRequest' })
  const discount = await createDiscount(ctx, { groupId, type: 'flat', amount: 500 })
  const code = await client.discountCodes.create({ partnerId, linkId, code: 'ANN5' })
  closed(discountCodeSchema)
  expect(code).toMatchObject({ code: 'ANN5', partnerId, linkId, discountId: discount.id })
  expect(await client.discountCodes.list({ partnerId })).toEqual([code])
  closed(z.array(discountCodeSchema))
  expect(await client.discountCodes.delete('ann5')).toEqual({ id: code.id })
  closed(z.object({ id: z.string() }))
  await expect(client.discountCodes.delete('ann5')).rejects.toMatchObject({ name: 'NotFound' })
})

test('the public SDK decodes the webhook events of partners and discount codes', async () => {
  const { workspace, client, program, ctx } = await newClient()
  const triggers = [
    ...(['partner.enrolled', 'partner.application_submitted', 'partner.merged'] as const),
    ...(['discount_code.created', 'discount_code.deleted'] as const),
  ]
  const call = createClient({ url: api, token: workspace.key })
  const body = { name: 'partners', url: 'https://receiver.example/', triggers }
  const { id } = await call(createWebhook, { body })
  const group = await requireDefaultGroup(ctx)
  await createDiscount(ctx, { groupId: group.id, type: 'percentage', amount: 12.5 })
  const ann = await client.partners.create({ email: 'ann@example.com', name: 'Ann' })
  const bob = await client.partners.create({ email: 'bob@example.com', name: 'Bob' })
  const withoutSmtp = { ...platform, config: { ...platform.config, SMTP_URL: undefined } }
  await applyToProgram(withoutSmtp, { programId: program.id, email: 'cy@example.com', name: 'Cy' })
  await client.discountCodes.delete('ANN')
  await call(mergePartners, { body: { sourcePartnerId: bob.id, targetPartnerId: ann.id } })
  const deliveries = await eventually(async () => {
    const found = await call(listDeliveries, { params: { id } })
    expect(found).toHaveLength(7)
    return found
  }, 20_000)
  const events: unknown[] = []
  for (const { eventId } of deliveries) {
    const delivery = await call(getDelivery, { params: { id, eventId } })
    const decoded = webhookEventFromJSON(delivery.body ?? '')
    expect(decoded.ok, delivery.body ?? '').toBe(true)
    if (decoded.ok) events.push(decoded.value.event)
    expect(webhookEvent.parse(JSON.parse(delivery.body ?? ''))).toEqual(JSON.parse(delivery.body ?? ''))
  }
  const twice = ['discount_code.created', 'partner.enrolled'] as const
  expect(events.sort()).toEqual([...triggers, ...twice].sort())
})
