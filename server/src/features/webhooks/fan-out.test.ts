import { randomInt, randomUUID } from 'node:crypto'
import { newLink } from '@tributary/contract/links'
import { newLead, newRefund, newSale } from '@tributary/contract/track'
import {
  listDeliveries as listDeliveriesOperation,
  newWebhook,
  triggers,
  type WebhookEvent,
  webhookEvent,
} from '@tributary/contract/webhooks'
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { buildConversionLink } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { clickRow } from '../../../test/events/feed-rows.ts'
import { openOwnDatabase } from '../../../test/own-database.ts'
import { enqueueClicks, fanOutConversions, fanOutLinks, releaseConversions } from '../../../test/webhooks.ts'
import type { Ctx } from '../../platform/context.ts'
import { transaction } from '../../platform/postgres.ts'
import { webhookScopes } from '../../roles/webhooks.ts'
import { customerErased } from '../customers/messages.ts'
import { customersById, deleteCustomer, findCustomer } from '../customers/service.ts'
import { createFolder } from '../folders/service.ts'
import { claim, ingest } from '../ingest/service.ts'
import { clickEventId } from '../ingest/webhooks.ts'
import { getLink } from '../links/list.ts'
import { linkChanged } from '../links/messages.ts'
import { createLink, deleteLink, linkNumbers, updateLink } from '../links/service.ts'
import { exportSome } from '../track/export.ts'
import { trackLead } from '../track/leads.ts'
import { clickFactsResolved, conversionRecorded } from '../track/messages.ts'
import { trackRefund } from '../track/refunds.ts'
import { trackSale } from '../track/sales.ts'
import { listDeliveries } from './deliveries.ts'
import type { DeliveryRow, EventRow } from './deliveries-store.ts'
import { eraseCustomerEvents } from './fan-out.ts'
import { createWebhook, deleteWebhook, updateWebhook } from './service.ts'

const platform = await openOwnDatabase()
const holder = { partition: randomInt(1_000, 2 ** 31), owner: randomUUID() }
let sequence = 0
await claim(platform, holder)

async function setUp(given: Record<string, unknown> = {}) {
  const { workspace, link, click } = await buildConversionLink(platform)
  const ctx = contextIn(platform, workspace.id)
  const hook = (given: Record<string, unknown> = {}) =>
    createWebhook(
      ctx,
      webhookScopes,
      newWebhook.parse({ name: 'n', url: `https://example.com/${randomUUID()}`, triggers: [...triggers], ...given }),
    )
  return { ctx, link, click, hook, webhook: await hook(given) }
}

/** Removes and returns a workspace's outbox messages, as the relay does. */
async function takeMessages({ workspaceId }: Ctx, subject: string): Promise<unknown[]> {
  const taken = await sql<{ id: bigint; body: unknown }>`
    DELETE FROM outbox WHERE workspace_id = ${workspaceId} AND subject LIKE ${subject} RETURNING *`.execute(platform.db)
  return taken.rows.sort((one, other) => Number(one.id - other.id)).map(({ body }) => body)
}

const takeLinks = async (ctx: Ctx) =>
  (await takeMessages(ctx, 'changes.%.links')).map((body) => linkChanged.parse(body))
const takeConversions = async (ctx: Ctx) => {
  const nouns = ['leads', 'sales', 'refunds']
  const bodies = await Promise.all(nouns.map((noun) => takeMessages(ctx, `changes.%.${noun}`)))
  return bodies.flat().map((body) => conversionRecorded.parse(body))
}
const takeClickFacts = async (ctx: Ctx) =>
  (await takeMessages(ctx, 'changes.%.click-facts')).map((body) => clickFactsResolved.parse(body))

async function listEvents({ workspaceId }: Ctx): Promise<WebhookEvent[]> {
  const result = await sql<EventRow>`
    SELECT * FROM webhook_events WHERE workspace_id = ${workspaceId} ORDER BY created_at, id`.execute(platform.db)
  return result.rows.map((row) => {
    const event = JSON.parse(row.body ?? '') as WebhookEvent
    // Parsing drops unknown keys, so equality means that the event has exactly the contract's keys.
    expect(webhookEvent.parse(event)).toEqual(event)
    expect(row).toMatchObject({ id: event.id, event: event.event, created_at: new Date(event.createdAt) })
    return event
  })
}

async function deliveries({ workspaceId }: Ctx): Promise<DeliveryRow[]> {
  const result = await sql<DeliveryRow>`
    SELECT * FROM webhook_deliveries WHERE workspace_id = ${workspaceId} ORDER BY number`.execute(platform.db)
  return result.rows
}

/** Creates a customer with a click, a lead, a sale and a partial refund. */
async function convert({ ctx, click }: Pick<Awaited<ReturnType<typeof setUp>>, 'ctx' | 'click'>) {
  const visit = click({ country: 'DE', city: 'Berlin', region: 'BE', referer: 'https://example.org/' })
  sequence = await ingest(platform, holder, sequence, [{ sequence: sequence + 1, body: [visit] }])
  const person = { customerExternalId: 'ada', customerEmail: 'ada@example.com', customerName: 'Ada' }
  const lead = { clickId: visit.id, eventName: 'Sign up', eventQuantity: 2, metadata: { plan: 'pro' }, ...person }
  await trackLead(ctx, newLead.parse(lead))
  await trackSale(ctx, newSale.parse({ customerExternalId: 'ada', amount: 1_000, invoiceId: 'in_1' }))
  await trackRefund(ctx, newRefund.parse({ invoiceId: 'in_1', amount: 400 }))
  await exportNow()
  return visit
}

async function exportNow(): Promise<void> {
  await sql`UPDATE conversions SET due_at = now() - interval '1 second' WHERE stored_at IS NULL`.execute(platform.db)
  while ((await exportSome(platform)) > 0);
}

describe('link events', () => {
  test('link events are queued once, however often their message is delivered', async () => {
    const { ctx, webhook } = await setUp()
    const link = await createLink(ctx, newLink.parse({ url: 'https://example.com/a', key: 'a', password: 'hush' }))
    const changed = await updateLink(ctx, link.id, { title: 'New' })
    await deleteLink(ctx, link.id)
    const messages = await takeLinks(ctx)
    await fanOutLinks(platform, messages)
    await fanOutLinks(platform, [...messages, ...messages])
    await Promise.all([fanOutLinks(platform, messages), fanOutLinks(platform, messages)])
    const events = (await listEvents(ctx)).sort((one, other) => (one.id < other.id ? -1 : 1))
    expect(events.map(({ event }) => event)).toEqual(['link.created', 'link.updated', 'link.deleted'])
    expect(events.map(({ data }) => data)).toEqual(
      [link, changed, changed].map((link) => ({ ...link, password: null })),
    )
    const rows = await deliveries(ctx)
    expect(rows.map(({ event_id }) => event_id).toSorted()).toEqual(events.map(({ id }) => id))
    for (const row of rows) {
      expect(row).toMatchObject({ webhook_id: webhook.id, status: 'pending', tries: 0, attempts: 0 })
      expect(row.due_at).toEqual(row.started_at)
    }
  })

  test('links that are too large for a message are read from PostgreSQL', async () => {
    const { ctx } = await setUp()
    const link = await createLink(ctx, newLink.parse({ url: 'https://example.com/a', key: 'a' }))
    const changes = (await takeLinks(ctx)).flatMap((change) => {
      if (!change.event) return []
      const { link: _, ...event } = change.event
      return [
        { ...change, event },
        { ...change, event: { ...event, id: 'evt_gone' }, linkNumber: '4100000000' },
      ]
    })
    await fanOutLinks(platform, changes)
    expect((await listEvents(ctx)).map(({ data }) => data)).toEqual([link])
  })
})

describe('click events', () => {
  test('click events are queued once, with a stable id', async () => {
    const { ctx, link } = await setUp()
    const [linkNumber = 0n] = await linkNumbers(ctx, { ids: [link.id] })
    const owner = { workspaceId: ctx.workspaceId, linkNumber }
    const clicks = [clickRow(owner), clickRow(owner, { trigger: 'qr', ip: '::' })]
    await enqueueClicks(platform, clicks)
    await enqueueClicks(platform, [...clicks, ...clicks])
    const events = await listEvents(ctx)
    expect(events.map(({ id }) => id).toSorted()).toEqual(clicks.map(({ id_text }) => clickEventId(id_text)).toSorted())
    expect(await deliveries(ctx)).toHaveLength(2)
    const [first] = clicks
    expect(events.find(({ id }) => id === clickEventId(first?.id_text ?? ''))).toMatchObject({
      event: 'link.clicked',
      createdAt: new Date(first?.timestamp ?? 0).toISOString(),
      data: {
        click: { id: first?.id_text, country: 'DE', city: 'Berlin', qr: false, ip: '10.0.0.1', trigger: 'link' },
        link: { id: link.id },
      },
    })
  })

  test('click events of permanently deleted links are still queued', async () => {
    const { ctx } = await setUp()
    const clicks = [clickRow({ workspaceId: ctx.workspaceId, linkNumber: 4_100_000_000n })]
    await enqueueClicks(platform, clicks)
    expect(await listEvents(ctx)).toMatchObject([{ data: { link: { id: 'link_deleted' } } }])
  })
})

describe('lead, sale and refund events', () => {
  test('lead and sale events are queued once, with the click, the link and the customer', async () => {
    const given = await setUp()
    const { ctx, link } = given
    const visit = await convert(given)
    const messages = await takeConversions(ctx)
    expect(JSON.stringify(messages)).not.toMatch(/"ada|ada@/)
    await fanOutConversions(platform, messages)
    await fanOutConversions(platform, messages)
    const events = await listEvents(ctx)
    expect(events.map(({ event }) => event)).toEqual(['lead.created', 'sale.created', 'sale.refunded'])
    expect(await deliveries(ctx)).toHaveLength(3)
    const [lead, sale, refund] = events
    expect(lead?.data).toMatchObject({
      eventName: 'Sign up',
      customer: { externalId: 'ada', name: 'Ada', email: 'ada@example.com', country: 'DE' },
      click: { id: visit.id, country: 'DE', city: 'Berlin', timestamp: new Date(visit.at).toISOString() },
      link: { id: link.id, leads: 2 },
      partner: null,
      metadata: { plan: 'pro' },
    })
    expect(sale?.data).toMatchObject({ sale: { amount: 1_000, currency: 'usd', invoiceId: 'in_1' }, metadata: null })
    expect(refund?.data).toMatchObject({ sale: { amount: -400, currency: 'usd', invoiceId: 'in_1' } })
  })

  test('leads and sales are published with or without a webhook, and without personal data', async () => {
    const { workspace, click } = await buildConversionLink(platform)
    const ctx = contextIn(platform, workspace.id)
    await convert({ ctx, click })
    const events = await takeConversions(ctx)
    expect(events.map(({ kind, amount }) => [kind, amount])).toEqual([
      ['lead', 0],
      ['sale', 1_000],
      ['refund', -400],
    ])
    expect(JSON.stringify(events)).not.toMatch(/ada|in_1|pro/)
    await fanOutConversions(platform, events)
    expect(await listEvents(ctx)).toEqual([])
  })

  test('lead and sale events wait until the click is stored, and their delivery shows this', async () => {
    const given = await setUp()
    const { ctx, click, webhook } = given
    const visit = click({ country: 'FR', city: 'Paris' })
    await trackLead(ctx, newLead.parse({ clickId: visit.id, eventName: 'Sign up', customerExternalId: 'eve' }))
    await fanOutConversions(platform, await takeConversions(ctx))
    const waiting = await deliveries(ctx)
    expect(waiting).toMatchObject([{ status: 'pending', due_at: null, waits_for: 'click' }])
    const listed = await listDeliveries(ctx, webhook.id, listDeliveriesOperation.query.parse({}))
    expect(listed.deliveries).toMatchObject([{ status: 'pending', waitingFor: 'click', nextAttemptAt: null }])
    sequence = await ingest(platform, holder, sequence, [{ sequence: sequence + 1, body: [visit] }])
    await exportNow()
    const resolved = await takeClickFacts(ctx)
    await releaseConversions(platform, resolved)
    await releaseConversions(platform, resolved)
    expect((await listEvents(ctx)).map(({ data }) => data)).toMatchObject([{ click: { id: visit.id, city: 'Paris' } }])
    const [due] = await deliveries(ctx)
    expect(due).toMatchObject({ status: 'pending', waits_for: null })
    expect(due?.due_at).toEqual(due?.started_at)
  })

  test('lead and sale events are due at once when their click facts are known', async () => {
    const given = await setUp()
    const { ctx } = given
    await convert(given)
    await trackSale(ctx, newSale.parse({ customerExternalId: 'ada', amount: 500, invoiceId: 'in_2' }))
    await fanOutConversions(platform, await takeConversions(ctx))
    const events = await listEvents(ctx)
    expect(events.map(({ data }) => data)).toMatchObject(Array(4).fill({ click: { city: 'Berlin' } }))
    expect((await deliveries(ctx)).map(({ waits_for }) => waits_for)).toEqual([null, null, null, null])
  })

  test('waiting events of a customer who is erased are never sent', async () => {
    const { ctx, click } = await setUp()
    const visit = click()
    await trackLead(ctx, newLead.parse({ clickId: visit.id, eventName: 'Sign up', customerExternalId: 'eve' }))
    await fanOutConversions(platform, await takeConversions(ctx))
    await deleteCustomer(ctx, 'ext_eve')
    const erased = (await takeMessages(ctx, 'changes.%.customer-erased')).map((body) => customerErased.parse(body))
    await eraseCustomerEvents(platform, erased)
    sequence = await ingest(platform, holder, sequence, [{ sequence: sequence + 1, body: [visit] }])
    await exportNow()
    await releaseConversions(platform, await takeClickFacts(ctx))
    expect(await deliveries(ctx)).toMatchObject([{ status: 'failed', due_at: null, waits_for: null }])
  })
})

describe('the webhooks that get an event', () => {
  test('an event is sent to enabled webhooks with the trigger and the link in scope', async () => {
    const { ctx, link, hook, webhook } = await setUp({ triggers: ['link.updated'] })
    const folder = await createFolder(ctx, { name: 'F', accessLevel: null })
    const other = await createFolder(ctx, { name: 'G', accessLevel: null })
    const inFolder = await hook({ linkScope: 'folders', folderIds: [folder.id] })
    const inOther = await hook({ linkScope: 'folders', folderIds: [other.id] })
    const named = await hook({ linkScope: 'links', linkIds: [link.id] })
    await hook({ linkScope: 'links' })
    await hook({ triggers: ['link.clicked'] })
    const disabled = await hook()
    await updateWebhook(ctx, webhookScopes, disabled.id, { disabled: true })
    const deleted = await hook()
    await deleteWebhook(ctx, deleted.id)
    await updateLink(ctx, link.id, { folderId: folder.id })
    await fanOutLinks(platform, await takeLinks(ctx))
    const heard = (await deliveries(ctx)).map(({ webhook_id }) => webhook_id)
    expect(heard.toSorted()).toEqual([webhook.id, inFolder.id, named.id].toSorted())
    await updateLink(ctx, link.id, { folderId: other.id })
    await fanOutLinks(platform, await takeLinks(ctx))
    const then = (await deliveries(ctx)).slice(heard.length).map(({ webhook_id }) => webhook_id)
    expect(then.toSorted()).toEqual([webhook.id, inOther.id, named.id].toSorted())
  })

  test('an event is sent only to webhooks that are older than the event and still enabled', async () => {
    const { workspace } = await buildConversionLink(platform)
    const ctx = contextIn(platform, workspace.id)
    await takeLinks(ctx)
    await createLink(ctx, newLink.parse({ url: 'https://example.com/a', key: 'before' }))
    await new Promise((resolve) => setTimeout(resolve, 5))
    const given = { name: 'n', url: 'https://example.com/hook', triggers: [...triggers] }
    const { id } = await createWebhook(ctx, webhookScopes, newWebhook.parse(given))
    await createLink(ctx, newLink.parse({ url: 'https://example.com/a', key: 'after' }))
    await fanOutLinks(platform, await takeLinks(ctx))
    expect((await listEvents(ctx)).map(({ data }) => data)).toMatchObject([{ key: 'after' }])
    await updateWebhook(ctx, webhookScopes, id, { disabled: true })
    await createLink(ctx, newLink.parse({ url: 'https://example.com/a', key: 'disabled' }))
    await fanOutLinks(platform, await takeLinks(ctx))
    expect(await listEvents(ctx)).toHaveLength(1)
  })

  test('an event that no webhook gets is not stored', async () => {
    const { ctx, webhook } = await setUp({ linkScope: 'links' })
    await createLink(ctx, newLink.parse({ url: 'https://example.com/a' }))
    const messages = await takeLinks(ctx)
    await fanOutLinks(platform, messages)
    expect(await listEvents(ctx)).toEqual([])
    await deleteWebhook(ctx, webhook.id)
    await fanOutLinks(platform, messages)
    expect(await listEvents(ctx)).toEqual([])
  })
})

describe('erasing a customer', () => {
  const takeErased = async (ctx: Ctx) =>
    (await takeMessages(ctx, 'changes.%.customer-erased')).map((body) => customerErased.parse(body))

  test('erasing a customer erases the bodies of stored events and cancels pending deliveries', async () => {
    const given = await setUp()
    const { ctx } = given
    await convert(given)
    await fanOutConversions(platform, await takeConversions(ctx))
    const [first] = await deliveries(ctx)
    await sql`UPDATE webhook_deliveries SET status = 'delivered', due_at = NULL WHERE number = ${first?.number}`.execute(
      platform.db,
    )
    await sql`INSERT INTO webhook_attempts (delivery_number, number, workspace_id, url, at, duration_ms, response_excerpt)
      VALUES (${first?.number}, 1, ${ctx.workspaceId}, 'https://example.com/', now(), 1, 'Hello Ada')`.execute(
      platform.db,
    )
    await deleteCustomer(ctx, 'ext_ada')
    const erased = await takeErased(ctx)
    await eraseCustomerEvents(platform, erased)
    await eraseCustomerEvents(platform, erased)
    const bodies = await sql<EventRow>`
      SELECT * FROM webhook_events WHERE workspace_id = ${ctx.workspaceId} AND customer_id IS NOT NULL`.execute(
      platform.db,
    )
    expect(bodies.rows.map(({ body }) => body)).toEqual([null, null, null])
    const rows = await deliveries(ctx)
    expect(rows.map(({ status, due_at }) => [status, due_at])).toEqual([
      ['delivered', null],
      ['failed', null],
      ['failed', null],
    ])
    const attempts = await sql<{ response_excerpt: string | null }>`
      SELECT response_excerpt FROM webhook_attempts WHERE workspace_id = ${ctx.workspaceId}`.execute(platform.db)
    expect(attempts.rows).toEqual([{ response_excerpt: null }])
  })

  test('events that are queued after the erasure have no customer data and metadata', async () => {
    const given = await setUp()
    const { ctx } = given
    await convert(given)
    await deleteCustomer(ctx, 'ext_ada')
    await fanOutConversions(platform, await takeConversions(ctx))
    const events = await listEvents(ctx)
    expect(events).toHaveLength(3)
    expect(JSON.stringify(events)).not.toMatch(/ada@example|"Ada"|"ada"|"pro"/)
    expect(events[0]?.data).toMatchObject({ customer: { name: 'Deleted customer', email: null }, metadata: null })
  })

  test('an erasure while events are being queued erases these events too', async () => {
    const given = await setUp()
    const { ctx } = given
    await convert(given)
    const customer = await findCustomer(ctx, 'ada')
    const order: string[] = []
    const [lock, erase] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const publishing = transaction(ctx, async (ctx) => {
      await customersById(ctx, [customer?.id ?? ''])
      lock.resolve()
      await erase.promise
      order.push('told')
    })
    await lock.promise
    const erasing = deleteCustomer(ctx, 'ext_ada').then(() => order.push('erased'))
    await new Promise((resolve) => setTimeout(resolve, 100))
    erase.resolve()
    await Promise.all([publishing, erasing])
    expect(order).toEqual(['told', 'erased'])
  })
})

test('no webhook gets events of another workspace', async () => {
  const [mine, other] = [await setUp(), await setUp()]
  await updateLink(mine.ctx, mine.link.id, { title: 'Mine' })
  await fanOutLinks(platform, await takeLinks(mine.ctx))
  expect(await listEvents(other.ctx)).toEqual([])
  expect((await listEvents(mine.ctx)).map(({ data }) => data)).toEqual([
    await getLink(mine.ctx, { linkId: mine.link.id }),
  ])
})
