import { Dub } from 'dub'
import { HTTPClient } from 'dub/lib/http.js'
import { expect, inject, test } from 'vitest'
import { linkNumbers } from '../server/src/features/links/service.ts'
import { buildCustomer, buildLink, buildWorkspace } from '../server/test/build.ts'
import { contextIn } from '../server/test/context.ts'
import { clickRow, leadRow, saleRow, storeEvents } from '../server/test/events/feed-rows.ts'
import { openTestPlatform } from '../server/test/stack.ts'
import {
  clickEventKeys,
  clickKeys,
  customerKeys,
  leadEventKeys,
  linkDates,
  linkKeys,
  saleEventKeys,
  saleKeys,
} from './specification.ts'

const platform = await openTestPlatform()
const { api } = inject('server')
type Body = Record<string, unknown> & Record<'click' | 'link' | 'customer' | 'sale', Record<string, unknown>>

async function setUp() {
  const workspace = await buildWorkspace(platform)
  const link = await buildLink(platform, workspace, { key: 'spring' })
  const [linkNumber] = await linkNumbers(contextIn(platform, workspace.id), { ids: [link.id] })
  const owner = { workspaceId: workspace.id, linkNumber: linkNumber as bigint }
  const customer = await buildCustomer(platform, workspace, { externalId: 'ada', email: 'ada@example.com' })
  const answers: { status: number; body: Body[] }[] = []
  const fetcher = async (request: string | URL | Request) => {
    const response = await fetch(request)
    answers.push({ status: response.status, body: (await response.clone().json()) as Body[] })
    return response
  }
  const client = new Dub({ token: workspace.key, serverURL: api, httpClient: new HTTPClient({ fetcher }) })
  return { workspace, link, owner, customer, client, bodies: () => answers.at(-1)?.body ?? [] }
}

/** Checks that a response has exactly the fields of the specification at every level, and no null dates. */
function checkClosed(body: Body, keys: string[]): void {
  expect(Object.keys(body).sort()).toEqual(keys)
  expect(Object.keys(body.click).sort()).toEqual(clickKeys)
  const optional = 'testVariants' in body.link ? [] : ['testVariants']
  expect([...Object.keys(body.link), ...optional].sort()).toEqual(linkKeys)
  for (const name of linkDates) expect(body.link[name]).toEqual(expect.any(String))
  if ('customer' in body) expect(Object.keys(body.customer).sort()).toEqual(customerKeys)
  if ('sale' in body) expect(Object.keys(body.sale).sort()).toEqual(saleKeys)
}

test('a client of the public SDK lists clicks, leads and sales', async () => {
  const { link, owner, customer, client, bodies } = await setUp()
  const deletedLink = { ...owner, linkNumber: 4_100_000_000n }
  const about = { customer_id: customer.id, metadata: '{"plan":{"seats":3},"isTrial":false}' }
  const first = Date.now() - 60_000
  const moments = [0, 1, 2, 3, 4].map((index) => first + index)
  const owners = [owner, owner, deletedLink, owner, owner]
  const stored = {
    clicks: moments.map((timestamp, index) => clickRow(owners[index] ?? owner, { timestamp })),
    leads: moments.map((timestamp, index) => leadRow(owners[index] ?? owner, { timestamp, ...(index > 1 && about) })),
    sales: moments.map((timestamp, index) => saleRow(owners[index] ?? owner, { timestamp, ...(index > 1 && about) })),
  }
  await storeEvents(platform, stored)
  const kinds = { clicks: clickEventKeys, leads: leadEventKeys, sales: saleEventKeys }
  for (const [event, keys] of Object.entries(kinds)) {
    const kind = event as keyof typeof kinds
    const all = await client.events.list({ event: kind, interval: '7d' })
    expect(all).toHaveLength(5)
    expect(bodies()).toHaveLength(5)
    for (const body of bodies()) checkClosed(body, keys)
    const ids = (some: Body[]) => some.map((body) => body.eventId ?? body.click_id)
    const expected = stored[kind].map((row) => ('id' in row ? row.id : (row as { id_text: string }).id_text)).reverse()
    expect(ids(bodies())).toEqual(expected)
    expect(bodies().map((body) => body.link_id)).toEqual([link.id, link.id, 'link_deleted', link.id, link.id])
    const walked: unknown[] = []
    for (let page = 1; page <= 3; page++) {
      await client.events.list({ event: kind, interval: '7d', page, limit: 2, sortOrder: 'asc' })
      walked.push(...ids(bodies()))
    }
    expect(walked).toEqual(expected.toReversed())
    expect(await client.events.list({ event: kind, interval: '7d', country: 'FR' })).toEqual([])
  }
  const [sale] = await client.events.list({ event: 'sales', limit: 1 })
  expect(sale).toMatchObject({
    event: 'sale',
    sale: { amount: 1000, currency: 'usd', invoiceId: 'in_1', paymentProcessor: 'stripe' },
    customer: { id: customer.id, externalId: 'ada' },
  })
  expect(bodies()[0]?.metadata).toEqual({ plan: { seats: 3 }, isTrial: false })
})

test('a client of the public SDK reads a refund as a sale with a negative amount', async () => {
  const { owner, customer, client, bodies } = await setUp()
  const timestamp = Date.now() - 1_000
  const about = { customer_id: customer.id, invoice_id: 'in_7' }
  const refund = { kind: 'refund', sales: 0, amount: '-400', timestamp }
  await storeEvents(platform, { sales: [saleRow(owner, { ...about, timestamp: timestamp - 1 })] })
  await storeEvents(platform, { sales: [saleRow(owner, { ...about, ...refund })] })
  const listed = await client.events.list({ event: 'sales' })
  for (const body of bodies()) checkClosed(body, saleEventKeys)
  expect(listed).toMatchObject([
    { event: 'sale', sale: { amount: -400, invoiceId: 'in_7' }, saleAmount: -400 },
    { event: 'sale', sale: { amount: 1000, invoiceId: 'in_7' }, saleAmount: 1000 },
  ])
  expect(await client.analytics.retrieve({ event: 'sales' })).toMatchObject({ sales: 1, saleAmount: 600 })
})

test('a client of the public SDK throws error responses as errors', async () => {
  const { client } = await setUp()
  await expect(client.events.list({ limit: 5000 })).rejects.toThrow()
  const refused = client.events.list({ externalId: 'ext_none' })
  await expect(refused).rejects.toMatchObject({ name: 'NotFound', statusCode: 404 })
  const badZone = client.events.list({ timezone: 'Mars/Base' })
  await expect(badZone).rejects.toMatchObject({ name: 'UnprocessableEntity', statusCode: 422 })
})
