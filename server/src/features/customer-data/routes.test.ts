import { randomUUID } from 'node:crypto'
import type { CustomerErasure } from '@tributary/contract/customer-data'
import { sql } from 'kysely'
import { describe, expect, inject, it } from 'vitest'
import { browser, buildCustomer, buildWorkspace } from '../../../test/build.ts'
import { findTables } from '../../../test/find-text.ts'
import { buildEarner } from '../../../test/program.ts'
import { eventually, openTestPlatform } from '../../../test/stack.ts'
import { visit } from '../../../test/visit.ts'
import { buildWebhook } from '../../../test/webhooks.ts'
import { query } from '../../platform/clickhouse.ts'
import { linksByNumber } from '../links/service.ts'
import { createToken } from '../tokens/service.ts'
import { changeWorkspace } from '../workspaces/service.ts'
import { sections } from './sections.ts'

const platform = await openTestPlatform()
const { api, redirect } = inject('server')
const tables = Object.values(sections).flatMap((section) => section.tables)

type Row = Record<string, unknown>
type Document = { exportedAt: string; customer: Row } & Record<
  'omitted' | 'clicks' | 'events' | 'commissions' | 'webhookEvents' | 'storedResponses' | 'auditEntries',
  Row[]
>

async function send(key: string, method: string, path: string, body?: object, headers: Record<string, string> = {}) {
  const response = await fetch(api + path, {
    method,
    headers: { authorization: `Bearer ${key}`, ...headers },
    body: body && JSON.stringify(body),
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

async function exportDocument(key: string, id: string): Promise<Document> {
  const { status, text } = await send(key, 'GET', `/customers/${id}/export`)
  expect(status, text).toBe(200)
  return JSON.parse(text)
}

/** A customer of a partner's link, with a unique text in everything that is stored about it. */
async function trackPerson() {
  const mark = randomUUID().slice(0, 13)
  const condition = { entity: 'sale', attribute: 'metadata.note', operator: 'equals_to', value: 'x' }
  const modifier = { operator: 'AND', type: 'percentage', amount: 2_000, conditions: [condition] }
  const { program, partner } = await buildEarner(platform, { modifiers: [modifier] })
  const { workspace, ctx } = program
  await changeWorkspace(platform, workspace.id, { ip_storage: 'full' })
  await buildWebhook(platform, workspace.id, {
    url: 'https://localhost/',
    triggers: ['lead.created', 'sale.created', 'sale.refunded'],
  })
  const link = (await linksByNumber(ctx, [partner.link.number])).get(partner.link.number)
  const { headers } = await visit(`${redirect}/${link?.key}`, { host: workspace.domain, 'user-agent': browser })
  const clickId = new URL(String(headers.location)).searchParams.get('trib_id') ?? ''
  const externalId = `external-${mark}`
  const metadata = { note: `note-${mark}` }
  const once = () => ({ 'Idempotency-Key': randomUUID() })
  const { key } = workspace
  const lead = { clickId, eventName: 'Sign up', customerExternalId: externalId, customerName: `Name ${mark}`, metadata }
  expect((await send(key, 'POST', '/track/lead', lead, once())).status).toBe(200)
  const sale = { customerExternalId: externalId, amount: 500, invoiceId: 'in_1', metadata }
  expect((await send(key, 'POST', '/track/sale', sale, once())).status).toBe(200)
  expect((await send(key, 'POST', '/track/refund', { invoiceId: 'in_1', amount: 200 })).status).toBe(200)
  const email = `mail-${mark}@example.com`
  const { text } = await send(key, 'PATCH', `/customers/ext_${externalId}`, { email })
  return { workspace, mark, clickId, id: JSON.parse(text).id as string, externalId, email, metadata, link }
}

describe('exportCustomer', () => {
  it('200: has all that was tracked; after the deletion 404, and nothing of the person is left', async () => {
    const person = await trackPerson()
    const { workspace, mark, id, clickId, metadata } = person
    const { key } = workspace
    const expected = ['customers', 'conversions', 'commissions', 'webhook_events', 'lead_events', 'sale_events']
    const found = async () => (await findTables(platform, mark)).map((name) => name.replace(/^\w+ /, ''))
    await eventually(async () => expect(await found()).toEqual(expect.arrayContaining(expected)))
    expect((await found()).filter((name) => !tables.includes(name))).toEqual([])
    await sql`INSERT INTO webhook_attempts (delivery_number, number, workspace_id, url, at, duration_ms, response_excerpt)
      SELECT min(number), 99, ${workspace.id}, 'https://example.com/', now(), 1, ${mark} FROM webhook_deliveries
      WHERE workspace_id = ${workspace.id}`.execute(platform.db)
    const visible = async () => {
      const document = await exportDocument(key, id)
      expect(document.auditEntries.map(({ operation }) => operation)).toContain('updateCustomer')
      expect(document.clicks).toHaveLength(1)
      expect(document.events[0]?.click).not.toBeNull()
      return document
    }
    const document = await eventually(visible)
    expect(document.customer).toMatchObject({
      ...{ id, externalId: person.externalId, name: `Name ${mark}`, email: person.email, clickId },
      ...{ sales: 1, saleAmount: 300, linkId: person.link?.id, shortLink: person.link?.shortLink },
    })
    expect(document.omitted).toEqual([])
    expect(document.clicks).toMatchObject([{ id: clickId, ip: '127.0.0.1', linkId: person.link?.id, bot: null }])
    const click = { ip: '127.0.0.1', device: 'Desktop', browser: 'Chrome' }
    expect(document.events).toMatchObject([
      { event: 'lead', eventName: 'Sign up', clickId, metadata, click, attribution: 'last_click' },
      { event: 'sale', amount: 500, currency: 'usd', invoiceId: 'in_1', isFirst: true, metadata, click },
      { event: 'refund', amount: -200, invoiceId: 'in_1', isFull: false, metadata, click },
    ])
    expect(JSON.stringify(document.commissions)).toContain(mark)
    expect(document.webhookEvents.map(({ event }) => event).sort()).toEqual([
      'lead.created',
      'sale.created',
      'sale.refunded',
    ])
    expect(document.webhookEvents.every(({ body }) => JSON.stringify(body).includes(mark))).toBe(true)
    expect(JSON.stringify(document.webhookEvents)).toContain(`"responseExcerpt":"${mark}"`)
    expect(document.storedResponses).toMatchObject([
      { status: 200, response: { customer: { externalId: person.externalId } } },
      { status: 200, response: { sale: { metadata } } },
    ])
    const updated = { operation: 'updateCustomer', target: { ids: [id] } }
    expect(document.auditEntries[0]).toMatchObject({ ...updated, changes: [{ after: { email: person.email } }] })

    const { status, headers } = await send(key, 'GET', `/customers/ext_${person.externalId}/export`)
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('application/json')
    expect(headers.get('content-disposition')).toBe(`attachment; filename="${id}.json"`)
    expect((await send(key, 'GET', `/customers/${id}/erasure`)).status).toBe(404)
    expect((await send(key, 'DELETE', `/customers/${id}`)).status).toBe(200)
    expect((await send(key, 'GET', `/customers/${id}/export`)).status).toBe(404)
    const erased = await eventually(async () => {
      const { status, text } = await send(key, 'GET', `/customers/${id}/erasure`)
      const erasure = JSON.parse(text) as CustomerErasure
      expect({ status, erasure }).toMatchObject({ status: 200, erasure: { status: 'erased', left: [] } })
      return erasure
    }, 120_000)
    expect(Date.parse(erased.requestedAt)).toBeGreaterThan(Date.parse(document.exportedAt))
    expect(await findTables(platform, mark)).toEqual([])
    expect(await listAddresses(workspace.id)).toEqual(['::', '::', '::', '::'])
    await eventually(async () => {
      const { text } = await send(key, 'GET', '/audit-log?operation=exportCustomer')
      const entries = JSON.parse(text) as { target: object }[]
      expect(entries.length).toBeGreaterThan(1)
      expect(entries[0]).toMatchObject({ target: { kind: 'customers', ids: [id] } })
    })
  }, 600_000)

  it('200: leaves out sections whose scope the caller lacks, and says so', async () => {
    const workspace = await buildWorkspace(platform)
    const { id } = await buildCustomer(platform, workspace)
    const scoped = { workspaceId: workspace.id, name: 'reader', scopes: ['customers.read' as const] }
    const { key } = await createToken(platform, scoped)
    const document = await exportDocument(key, id)
    expect(document.omitted).toEqual([
      { section: 'clicks', scopes: ['analytics.read'] },
      { section: 'commissions', scopes: ['commissions.read'] },
      { section: 'webhookEvents', scopes: ['webhooks.read', 'analytics.read', 'commissions.read', 'partners.read'] },
      { section: 'storedResponses', scopes: ['analytics.read', 'commissions.read', 'partners.read'] },
      { section: 'auditEntries', scopes: ['audit.read'] },
    ])
    expect(Object.keys(document)).toEqual(['exportedAt', 'omitted', 'customer', 'events'])
  })

  it('200: has every event of a customer with many', async () => {
    const workspace = await buildWorkspace(platform)
    const { id } = await buildCustomer(platform, workspace)
    await sql`INSERT INTO conversions (id, workspace_id, kind, customer_id, event_name, attribution, amount, currency, stored_at, batch)
      SELECT 'evt_' || gen_random_uuid(), ${workspace.id}, 'sale', ${id}, 'Purchase', 'no_click', n, 'usd', now(), gen_random_uuid()
      FROM generate_series(1, 1001) AS n`.execute(platform.db)
    const { events } = await exportDocument(workspace.key, id)
    expect(events.map(({ amount }) => amount)).toEqual(Array.from({ length: 1_001 }, (_, index) => index + 1))
  })

  it('200: responses that only happen to contain a text of the customer are not exported', async () => {
    const workspace = await buildWorkspace(platform)
    const { id } = await buildCustomer(platform, workspace, { externalId: 'same' })
    const once = { 'Idempotency-Key': randomUUID() }
    expect((await send(workspace.key, 'POST', '/tokens', { name: 'same', scopes: ['apis.all'] }, once)).status).toBe(
      201,
    )
    expect((await exportDocument(workspace.key, id)).storedResponses).toEqual([])
  })

  it('404: a customer of another workspace', async () => {
    const workspace = await buildWorkspace(platform)
    const { id } = await buildCustomer(platform, await buildWorkspace(platform))
    expect((await send(workspace.key, 'GET', `/customers/${id}/export`)).status).toBe(404)
    expect((await send(workspace.key, 'GET', `/customers/${id}/erasure`)).status).toBe(404)
  })
})

async function listAddresses(workspaceId: string): Promise<string[]> {
  const part = (table: string) =>
    `SELECT toString(ip) AS address FROM ${table} WHERE workspace_id = {workspaceId:String}`
  const statement = ['click_events', 'lead_events', 'sale_events'].map(part).join(' UNION ALL ')
  const rows = await query<{ address: string }>(platform.clickhouse, statement, { workspaceId })
  return rows.map(({ address }) => address)
}
