import { Dub } from 'dub'
import { webhookEventFromJSON } from 'dub/models/components'
import { Webhook } from 'standardwebhooks'
import { expect, inject, onTestFinished, test } from 'vitest'
import { createDatabase } from '../engines/postgres.ts'
import { startEngines } from '../engines/start.ts'
import { migrate } from '../server/src/platform/migrate.ts'
import { browser, buildWorkspace } from '../server/test/build.ts'
import { startServer } from '../server/test/server-process.ts'
import { eventually, openTestPlatform } from '../server/test/stack.ts'
import { visit } from '../server/test/visit.ts'
import { allowLoopback, startReceiver } from '../server/test/webhooks.ts'
import { clickKeys, customerKeys, linkKeys, saleKeys } from './specification.ts'

const triggers = [
  'link.created',
  'link.updated',
  'link.deleted',
  'link.clicked',
  'lead.created',
  'sale.created',
  'sale.refunded',
]
const url = 'https://shop.example/welcome'

type Part = Record<string, unknown>
type Body = { id: string; event: string; createdAt: string; data: Part }

/** Starts a server that may call receivers on loopback, and creates a workspace with a webhook for every trigger. */
async function setUp() {
  const engines = await startEngines({ only: ['nats', 'clickhouse', 'valkey'] })
  const { POSTGRES_URL = '', ...shared } = inject('environment')
  const database = await createDatabase(POSTGRES_URL, `webhooks_${Date.now()}`)
  const environment = { ...shared, ...engines.urls, ...allowLoopback, POSTGRES_URL: database }
  const platform = await openTestPlatform(environment)
  await migrate(platform.config, platform.clickhouse, () => {})
  const server = await startServer(environment)
  const receiver = await startReceiver()
  onTestFinished(async () => {
    await server.stop()
    await receiver[Symbol.asyncDispose]()
    await engines.stop()
  })
  const workspace = await buildWorkspace(platform, { plan: 'business' })
  const post = async (path: string, body: unknown) => {
    const headers = { authorization: `Bearer ${workspace.key}`, 'content-type': 'application/json' }
    const response = await fetch(`${server.api}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    expect(response.ok).toBe(true)
    return (await response.json()) as { secret: string }
  }
  const { secret } = await post('/webhooks', { name: 'all', url: receiver.url, triggers })
  return { server, receiver, workspace, post, verifier: new Webhook(secret) }
}

test('the public SDK decodes the events of every trigger, bulk calls included', async () => {
  const { server, receiver, workspace, post, verifier } = await setUp()
  const client = new Dub({ token: workspace.key, serverURL: server.api })
  const { domain } = workspace
  const expected: string[] = []
  const expects = (event: string, ...keys: string[]) => expected.push(...keys.map((key) => `${event} ${key}`))

  const geo = { DE: 'https://shop.example/de' }
  const full = { expiresAt: '2040-01-01T00:00:00Z', title: 'Shop', tagNames: ['t'], password: 'hush', geo }
  await client.tags.create({ name: 't' })
  const link = await client.links.create({ url, domain, key: 'one', trackConversion: true })
  await client.links.create({ url, domain, key: 'full', ...full })
  expects('link.created', 'one', 'full')
  await client.links.update(link.id, { comments: 'Changed' })
  expects('link.updated', 'one')
  const upsert = { url: 'https://shop.example/upsert', domain, key: 'up' }
  await client.links.upsert(upsert)
  await client.links.upsert({ ...upsert, title: 'Changed' })
  expects('link.created', 'up')
  expects('link.updated', 'up')
  const many = await client.links.createMany(['a', 'b', 'c'].map((key) => ({ url, domain, key })))
  expects('link.created', 'a', 'b', 'c')
  const linkIds = many.flatMap((link) => ('id' in link ? [link.id] : []))
  await client.links.updateMany({ linkIds, data: { archived: true } })
  expects('link.updated', 'a', 'b', 'c')
  await client.links.deleteMany({ linkIds: linkIds.slice(1) })
  await client.links.delete(linkIds[0] as string)
  expects('link.deleted', 'a', 'b', 'c')

  const landed = await visit(`${server.redirect}/one`, { host: domain, 'user-agent': browser })
  const clickId = new URL(landed.headers.location ?? '').searchParams.get('trib_id') ?? ''
  await visit(`${server.redirect}/one`, { host: domain, 'user-agent': 'Googlebot/2.1' })
  const ada = { customerExternalId: 'ada', customerName: 'Ada', customerEmail: 'ada@example.com' }
  await client.track.lead({ clickId, eventName: 'Sign up', metadata: { plan: { seats: 3 } }, ...ada })
  const money = { amount: 4_900, invoiceId: 'in_1', paymentProcessor: 'stripe' as const }
  await client.track.sale({ customerExternalId: 'ada', ...money })
  await post('/track/refund', { invoiceId: 'in_1', amount: 900 })
  for (const event of ['link.clicked', 'lead.created', 'sale.created', 'sale.refunded']) expects(event, 'one')

  const bodies = await eventually(async () => {
    const found = receiver.heard.map(({ body }) => JSON.parse(body) as Body)
    expect(found.map(eventName).toSorted()).toEqual(expected.toSorted())
    return found
  }, 60_000)
  expect(new Set(bodies.map(({ id }) => id)).size).toBe(expected.length)
  for (const { body, headers } of receiver.heard) {
    verifier.verify(body, headers as Record<string, string>)
    const event = JSON.parse(body) as Body
    expect(headers['webhook-id']).toBe(event.id)
    checkClosed(event)
    // The SDK does not know our refund event, so it decodes the event as a sale.
    const known = event.event === 'sale.refunded' ? { ...event, event: 'sale.created' } : event
    const decoded = webhookEventFromJSON(JSON.stringify(known))
    expect(decoded.error).toBeUndefined()
    expect(decoded.value).toMatchObject({ id: event.id, event: known.event })
  }
  expect(JSON.stringify(bodies)).not.toContain('hush')

  const findData = (event: string) => bodies.find((body) => body.event === event)?.data
  expect(findData('link.clicked')).toMatchObject({ click: { id: clickId, browser: 'Chrome' }, link: { id: link.id } })
  expect(findData('lead.created')).toMatchObject({
    eventName: 'Sign up',
    metadata: { plan: { seats: 3 } },
    customer: { externalId: 'ada', email: 'ada@example.com' },
    click: { id: clickId },
  })
  expect(findData('sale.created')).toMatchObject({ sale: { ...money, currency: 'usd' }, metadata: null, partner: null })
  expect(findData('sale.refunded')).toMatchObject({ sale: { ...money, amount: -900, currency: 'usd' } })
})

function eventName({ event, data }: Body): string {
  const link = isLinkEvent(event) ? data : (data.link as Part)
  return `${event} ${link.key}`
}

function isLinkEvent(event: string): boolean {
  return ['link.created', 'link.updated', 'link.deleted'].includes(event)
}

/** Checks that an event has exactly the fields of the specification, at every level. */
function checkClosed({ event, data, ...envelope }: Body): void {
  expect(Object.keys(envelope).sort()).toEqual(['createdAt', 'id'])
  const [link, { click, customer, sale }] = isLinkEvent(event) ? [data, {} as Part] : [data.link as Part, data]
  const optional = 'testVariants' in link ? [] : ['testVariants']
  expect([...Object.keys(link), ...optional].sort()).toEqual(linkKeys)
  if (isLinkEvent(event)) return
  expect(Object.keys(click as Part).sort()).toEqual(clickKeys)
  const conversion = event === 'link.clicked' ? [] : ['eventName', 'customer', 'partner', 'metadata']
  const keys = ['click', 'link', ...conversion, ...(event.startsWith('sale') ? ['sale'] : [])]
  expect(Object.keys(data).sort()).toEqual(keys.sort())
  if (customer) expect(Object.keys(customer).sort()).toEqual(customerKeys)
  if (sale) expect(Object.keys(sale).sort()).toEqual(saleKeys)
}
