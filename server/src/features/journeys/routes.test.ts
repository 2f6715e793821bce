import { randomUUID } from 'node:crypto'
import type { Journey } from '@tributary/contract/journeys'
import { newLead, newRefund, newSale } from '@tributary/contract/track'
import { describe, expect, inject, it } from 'vitest'
import { buildClick, buildCustomer, buildLink, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { clickRow, storeEvents } from '../../../test/events/feed-rows.ts'
import { serveMembers } from '../../../test/restricted-caller.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { createFolder } from '../folders/service.ts'
import { linkNumbers } from '../links/service.ts'
import { createToken } from '../tokens/service.ts'
import { trackLead } from '../track/leads.ts'
import { trackRefund } from '../track/refunds.ts'
import { trackSale } from '../track/sales.ts'

const platform = await openTestPlatform()
const { api } = inject('server')
const minuteMs = 60_000

/** A workspace, and functions that click and track some minutes ago. */
async function setUp() {
  const workspace = await buildWorkspace(platform)
  const ctx = contextIn(platform, workspace.id)
  const customerExternalId = `user-${randomUUID()}`
  const now = Date.now()
  const ago = (minutes: number) => ({ ...ctx, now: () => new Date(now - minutes * minuteMs) })
  const click = async (linkId: string, minutes: number, given: Parameters<typeof clickRow>[1] = {}) => {
    const [number = 0n] = await linkNumbers(ctx, { ids: [linkId] })
    const at = now - minutes * minuteMs
    const owner = { number, workspaceId: workspace.id, url: 'https://example.com/landing' }
    const { id } = buildClick(platform, owner, { at })
    const row = clickRow({ workspaceId: workspace.id, linkNumber: number }, { id_text: id, timestamp: at, ...given })
    await storeEvents(platform, { clicks: [row] })
    return id
  }
  const lead = (minutes: number, given: object) =>
    trackLead(ago(minutes), newLead.parse({ eventName: 'Sign up', customerExternalId, ...given }))
  const sale = (minutes: number, given: object) =>
    trackSale(ago(minutes), newSale.parse({ customerExternalId, ...given }))
  const refund = (minutes: number, given: object) => trackRefund(ago(minutes), newRefund.parse(given))
  return { workspace, ctx, customerExternalId, click, lead, sale, refund }
}

/** A customer with two clicks, two leads, two sales and two refunds. */
async function buildJourney() {
  const built = await setUp()
  const { workspace, click, lead, sale, refund } = built
  const link = await buildLink(platform, workspace, { key: 'spring', trackConversion: true })
  const first = await click(link.id, 300, { country: 'FR', referer: 't.co', referer_url: 'https://t.co/x' })
  await lead(240, { clickId: first, customerName: 'Ada', metadata: { plan: 'free' } })
  const second = await click(link.id, 180)
  await lead(120, { clickId: second, eventName: 'Trial', eventQuantity: 2 })
  await sale(60, { amount: 1_000, invoiceId: 'in_1', metadata: { plan: 'pro' } })
  await refund(30, { invoiceId: 'in_1', amount: 300 })
  await sale(10, { amount: 500, invoiceId: 'in_2' })
  await refund(5, { invoiceId: 'in_2', refundId: 're_2' })
  return { ...built, link, first, second }
}

async function read(key: string, path: string): Promise<{ status: number; journey: Journey; next: string | null }> {
  const response = await fetch(api + path, { headers: { authorization: `Bearer ${key}` } })
  const journey = (await response.json()) as Journey
  return { status: response.status, journey, next: response.headers.get('x-next-cursor') }
}

describe('getCustomerJourney', () => {
  it('200: has clicks, leads, sales and refunds with the value after each, newest first', async () => {
    const { workspace, customerExternalId, link, first, second } = await buildJourney()
    const { status, journey, next } = await read(workspace.key, `/customers/ext_${customerExternalId}/journey`)
    expect(status).toBe(200)
    expect(next).toBeNull()
    const shown = { id: link.id, domain: link.domain, key: 'spring', shortLink: link.shortLink, url: link.url }
    const none = { commissions: [], partner: null }
    expect(journey.events).toMatchObject([
      { event: 'refund', amount: -500, saleAmount: 700, refundId: 're_2', isFull: true, originalAmount: 500, ...none },
      { event: 'sale', amount: 500, saleAmount: 1_200, invoiceId: 'in_2', currency: 'usd', paymentProcessor: 'custom' },
      { event: 'refund', amount: -300, saleAmount: 700, invoiceId: 'in_1', isFull: false, refundId: null },
      { event: 'sale', amount: 1_000, saleAmount: 1_000, metadata: { plan: 'pro' }, clickId: second, link: shown },
      { event: 'lead', eventName: 'Trial', quantity: 2, attribution: 'last_click', clickId: second, ...none },
      { event: 'click', click: { id: second }, link: shown },
      { event: 'lead', eventName: 'Sign up', quantity: 1, metadata: { plan: 'free' }, clickId: first },
      { event: 'click', click: { id: first, country: 'FR', referer: 't.co', refererUrl: 'https://t.co/x' } },
    ])
    expect(journey.firstTouch).toMatchObject({ click: { id: first, country: 'FR' }, link: shown })
    expect(journey.lastTouch).toMatchObject({ click: { id: second }, link: shown })
    expect(JSON.stringify(journey)).not.toContain('10.0.0.1')
    const customer = await fetch(`${api}/customers/${journey.customerId}`, {
      headers: { authorization: `Bearer ${workspace.key}` },
    })
    const newest = journey.events[0] as { saleAmount: number }
    expect(await customer.json()).toMatchObject({ saleAmount: newest.saleAmount, sales: 1 })
  })

  it.each(['asc', 'desc'] as const)('200: pages are the whole journey, %s', async (sortOrder) => {
    const { workspace, customerExternalId } = await buildJourney()
    const path = `/customers/ext_${customerExternalId}/journey?sortOrder=${sortOrder}`
    const whole = await read(workspace.key, path)
    for (const pageSize of [1, 3]) {
      const events: unknown[] = []
      let cursor = ''
      for (;;) {
        const page = await read(workspace.key, `${path}&pageSize=${pageSize}${cursor && `&cursor=${cursor}`}`)
        expect(page.journey.firstTouch).toEqual(whole.journey.firstTouch)
        events.push(...page.journey.events)
        if (!page.next) break
        cursor = page.next
      }
      expect(events).toEqual(whole.journey.events)
    }
  })

  it('200: a sale of an earlier time stands at its time', async () => {
    const { workspace, customerExternalId, sale } = await buildJourney()
    await sale(200, { amount: 50, invoiceId: 'in_0' })
    const { journey } = await read(workspace.key, `/customers/ext_${customerExternalId}/journey`)
    const values = journey.events.map((event) => ('saleAmount' in event ? event.saleAmount : event.event))
    expect(values).toEqual([750, 1_250, 750, 1_050, 'lead', 'click', 50, 'lead', 'click'])
  })

  it('200: leaves out events of hidden folders, and counts them in the value', async () => {
    const { workspace, ctx, customerExternalId, click, lead, sale } = await setUp()
    const folder = await createFolder(ctx, { name: 'hidden', accessLevel: null })
    const hidden = await buildLink(platform, workspace, { key: 'h', folderId: folder.id, trackConversion: true })
    const shown = await buildLink(platform, workspace, { key: 's', trackConversion: true })
    await lead(50, { clickId: await click(hidden.id, 60) })
    await sale(45, { amount: 100 })
    const second = await click(shown.id, 40)
    await lead(30, { clickId: second, eventName: 'Trial' })
    await sale(20, { amount: 200 })
    const call = await serveMembers(platform, workspace.id, { hidden: [folder.id], readOnly: [] })
    const response = await call('restricted', 'get', `/customers/ext_${customerExternalId}/journey`)
    const text = await response.text()
    const journey = JSON.parse(text) as Journey
    expect(journey.events.map(({ event }) => event)).toEqual(['sale', 'lead', 'click'])
    expect(journey.events[0]).toMatchObject({ saleAmount: 300, link: { id: shown.id } })
    expect(journey.firstTouch?.click.id).toBe(second)
    expect(text).not.toContain(hidden.id)
  })

  it('200: has no commissions and no clicks without their scopes, and nothing for a customer without events', async () => {
    const { workspace, customerExternalId } = await buildJourney()
    const scoped = { workspaceId: workspace.id, name: 'reader', scopes: ['customers.read' as const] }
    const { key } = await createToken(platform, scoped)
    const { journey } = await read(key, `/customers/ext_${customerExternalId}/journey`)
    expect(journey.events[0]).toMatchObject({ event: 'refund', commissions: null })
    expect(journey).toMatchObject({ firstTouch: null, lastTouch: null })
    expect(journey.events.filter(({ event }) => event === 'click')).toEqual([])
    const { id } = await buildCustomer(platform, workspace)
    const empty = await read(workspace.key, `/customers/${id}/journey`)
    expect(empty.journey).toEqual({ customerId: id, firstTouch: null, lastTouch: null, events: [] })
  })

  it('404: a customer of another workspace; 422: a cursor of another customer or order', async () => {
    const { workspace, customerExternalId } = await buildJourney()
    const foreign = await buildCustomer(platform, await buildWorkspace(platform))
    expect((await read(workspace.key, `/customers/${foreign.id}/journey`)).status).toBe(404)
    const path = `/customers/ext_${customerExternalId}/journey?pageSize=1`
    const { next } = await read(workspace.key, path)
    expect((await read(workspace.key, `${path}&sortOrder=asc&cursor=${next}`)).status).toBe(422)
    const own = await buildCustomer(platform, workspace)
    expect((await read(workspace.key, `/customers/${own.id}/journey?cursor=${next}`)).status).toBe(422)
    expect((await read(workspace.key, `${path}&cursor=x`)).status).toBe(422)
  })
})
