import { Dub } from 'dub'
import { LeadEvent$inboundSchema, SaleEvent$inboundSchema } from 'dub/models/operations'
import { expect, inject, test } from 'vitest'
import { createDatabase } from '../engines/postgres.ts'
import { startEngines } from '../engines/start.ts'
import { migrate } from '../server/src/platform/migrate.ts'
import { browser, buildLink, buildWorkspace } from '../server/test/build.ts'
import { startServer } from '../server/test/server-process.ts'
import { eventually, openTestPlatform } from '../server/test/stack.ts'
import { visit } from '../server/test/visit.ts'

const url = 'https://shop.example/welcome'

/** Visits the link and returns the click id that the landing page would get. */
async function land(redirect: string, host: string, key: string): Promise<string> {
  const { status, headers } = await visit(`${redirect}/${key}`, { host, 'user-agent': browser })
  expect(status).toBe(302)
  return new URL(headers.location ?? '').searchParams.get('trib_id') ?? ''
}

test('click, lead and sale through the public SDK are in GET /events, on the link and on the customer', async () => {
  const platform = await openTestPlatform()
  const { api, redirect } = inject('server')
  const workspace = await buildWorkspace(platform, { plan: 'business' })
  const client = new Dub({ token: workspace.key, serverURL: api })
  const link = await client.links.create({ url, domain: workspace.domain, trackConversion: true })
  const clickId = await land(redirect, workspace.domain, link.key)

  const lead = await client.track.lead({
    clickId,
    eventName: 'Sign up',
    customerExternalId: 'ada',
    customerName: 'Ada',
    customerEmail: 'ada@example.com',
    metadata: { plan: 'pro' },
  })
  expect(lead).toMatchObject({ click: { id: clickId }, link: { id: link.id }, customer: { externalId: 'ada' } })
  const sold = { customerExternalId: 'ada', amount: 4900, invoiceId: 'in_1', paymentProcessor: 'stripe' as const }
  const sale = await client.track.sale(sold)
  expect(sale).toMatchObject({ eventName: 'Purchase', sale: { amount: 4900, currency: 'usd', invoiceId: 'in_1' } })
  expect(await client.track.sale(sold)).toEqual(sale)
  expect(await client.track.sale({ customerExternalId: 'nobody', amount: 1 })).toMatchObject({
    customer: null,
    sale: null,
  })
  await expect(
    client.track.lead({ clickId: 'forged', eventName: 'Sign up', customerExternalId: 'eve' }),
  ).rejects.toMatchObject({ statusCode: 404 })

  await eventually(async () => {
    const counted = await client.links.get({ linkId: link.id })
    expect(counted).toMatchObject({ clicks: 1, leads: 1, conversions: 1, sales: 1, saleAmount: 4900 })
  }, 15_000)
  const leads = await client.events.list({ event: 'leads' })
  expect(leads).toMatchObject([{ event: 'lead', eventName: 'Sign up', metadata: { plan: 'pro' }, browser: 'Chrome' }])
  const sales = await client.events.list({ event: 'sales' })
  expect(sales).toMatchObject([
    { event: 'sale', sale: { amount: 4900 }, customer: { email: 'ada@example.com', sales: 1 } },
  ])

  const raw = async (event: string) => {
    const response = await fetch(`${api}/events?event=${event}`, {
      headers: { authorization: `Bearer ${workspace.key}` },
    })
    return ((await response.json()) as Record<string, unknown>[])[0] ?? {}
  }
  const [rawLead, rawSale] = [await raw('leads'), await raw('sales')]
  expect(Object.keys(rawLead)).toHaveLength(21)
  expect(Object.keys(rawSale)).toHaveLength(25)
  expect(LeadEvent$inboundSchema.safeParse(rawLead).success).toBe(true)
  expect(SaleEvent$inboundSchema.safeParse(rawSale).success).toBe(true)
  expect((await client.customers.list({ externalId: 'ada' })).result).toMatchObject([{ sales: 1, saleAmount: 4900 }])
})

test('a lead right after its click is attributed while the worker is stopped, and completed when it restarts', async () => {
  const engines = await startEngines({ only: ['nats', 'clickhouse', 'valkey'] })
  const database = await createDatabase(inject('environment').POSTGRES_URL as string, `late_${Date.now()}`)
  const environment = { ...inject('environment'), ...engines.urls, POSTGRES_URL: database }
  const platform = await openTestPlatform(environment)
  await migrate(platform.config, platform.clickhouse, () => {})
  const front = await startServer({ ...environment, ROLES: 'api,redirect' })
  try {
    const workspace = await buildWorkspace(platform)
    const link = await buildLink(platform, workspace, { url, trackConversion: true })
    const client = new Dub({ token: workspace.key, serverURL: front.api })
    const clickId = await land(front.redirect, workspace.domain, link.key)
    await new Promise((resolve) => setTimeout(resolve, 10))
    const lead = await client.track.lead({ clickId, eventName: 'Sign up', customerExternalId: 'ada' })
    expect(lead.link?.id).toBe(link.id)
    await client.track.sale({ customerExternalId: 'ada', amount: 100 })
    expect(await client.events.list({ event: 'leads' })).toEqual([])

    const worker = await startServer({ ...environment, ROLES: 'worker' })
    try {
      const events = await eventually(async () => {
        const found = await client.events.list({ event: 'leads' })
        expect(found).toHaveLength(1)
        return found
      }, 30_000)
      expect(events).toMatchObject([{ click: { id: clickId, browser: 'Chrome' }, link: { id: link.id } }])
      await eventually(async () => {
        expect(await client.links.get({ linkId: link.id })).toMatchObject({
          clicks: 1,
          leads: 1,
          sales: 1,
          saleAmount: 100,
        })
      }, 15_000)
    } finally {
      await worker.stop()
    }
  } finally {
    await front.stop()
    await engines.stop()
  }
})
