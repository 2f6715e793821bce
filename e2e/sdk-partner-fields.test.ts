import { Dub } from 'dub'
import { HTTPClient } from 'dub/lib/http.js'
import {
  GetCustomersResponseBody$inboundSchema as customerSchema,
  LeadEvent$inboundSchema as leadEventSchema,
  TrackLeadResponseBody$inboundSchema as leadSchema,
  SaleEvent$inboundSchema as saleEventSchema,
  TrackSaleResponseBody$inboundSchema as saleSchema,
} from 'dub/models/operations'
import { expect, inject, test } from 'vitest'
import { z } from 'zod/v3'
import { createDiscount } from '../server/src/features/discounts/service.ts'
import { requireDefaultGroup } from '../server/src/features/groups/service.ts'
import { browser, buildPartner, buildProgram, buildWorkspace } from '../server/test/build.ts'
import { contextIn } from '../server/test/context.ts'
import { eventually, openTestPlatform } from '../server/test/stack.ts'
import { visit } from '../server/test/visit.ts'
import { closeSchema } from './closed-schema.ts'

const platform = await openTestPlatform()
const { api, redirect } = inject('server')

test('leads, sales, events and customers of a partner show it to a client of the public SDK, with no unknown key', async () => {
  const workspace = await buildWorkspace(platform, { plan: 'business' })
  const ctx = contextIn(platform, workspace.id)
  const { id: programId } = await buildProgram(platform, workspace)
  const { id: groupId } = await requireDefaultGroup(ctx)
  const discount = await createDiscount(ctx, { groupId, type: 'flat', amount: 500 })
  const { id, name, email, image } = await buildPartner(platform, workspace, { tenant_id: 'tenant-1' })
  const bodies: unknown[] = []
  const fetcher = async (request: string | URL | Request) => {
    const response = await fetch(request)
    bodies.push(await response.clone().json())
    return response
  }
  const client = new Dub({ token: workspace.key, serverURL: api, httpClient: new HTTPClient({ fetcher }) })
  const closed = (schema: z.ZodTypeAny) => expect(closeSchema(schema).safeParse(bodies.at(-1)).error).toBeUndefined()

  const link = await client.partners.createLink({ partnerId: id, key: 'ada' })
  const { headers } = await visit(`${redirect}/${link.key}`, { host: workspace.domain, 'user-agent': browser })
  const clickId = new URL(headers.location ?? '').searchParams.get('trib_id') ?? ''
  const owned = { partnerId: id, programId, tenantId: 'tenant-1' }
  const lead = await client.track.lead({ clickId, eventName: 'Sign up', customerExternalId: 'cleo' })
  expect(lead.link).toMatchObject({ id: link.id, ...owned })
  closed(leadSchema)
  await client.track.sale({ customerExternalId: 'cleo', amount: 4900 })
  closed(saleSchema)

  for (const [event, schema] of [
    ['leads', leadEventSchema],
    ['sales', saleEventSchema],
  ] as const) {
    await eventually(async () => {
      const events = await client.events.list({ event, partnerId: id, groupId })
      expect(events).toMatchObject([{ link: owned }])
    }, 20_000)
    closed(z.array(schema))
    // Beyond the limit of four requests in a second, the plan's answer is 429.
    await eventually(async () => {
      expect(await client.events.list({ event, groupId: `-${groupId}` })).toEqual([])
    }, 20_000)
  }
  const { result } = await client.customers.list({ partnerId: id, programId, includeExpandedFields: true })
  expect(result).toMatchObject([{ partner: { id, name, email, image }, discount: { id: discount.id, amount: 500 } }])
  closed(z.array(customerSchema))
  expect((await client.customers.list({ partnerId: 'pn_x' })).result).toEqual([])
})
