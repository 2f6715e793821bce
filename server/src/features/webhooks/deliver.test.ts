import { sql } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import { buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { openOwnDatabase, takeMessages } from '../../../test/own-database.ts'
import { eventually } from '../../../test/stack.ts'
import {
  allowLoopback,
  buildWebhook,
  queueEvents,
  type Receiver,
  startReceiver,
  subscribed,
} from '../../../test/webhooks.ts'
import { webhookScopes } from '../../roles/webhooks.ts'
import { deliver, measurePending, takeDue } from './deliver.ts'
import { pruneSome, replayDelivery } from './deliveries.ts'
import { type DeliveryRow, selectAttempts, selectDelivery } from './deliveries-store.ts'
import { eraseCustomerEvents } from './fan-out.ts'
import { webhookMetrics } from './metrics.ts'
import { offsetsMs } from './schedule.ts'
import { requireWebhook, updateWebhook } from './service.ts'
import { openSlots } from './slots.ts'
import type { WebhookRow } from './store.ts'

const real = await openOwnDatabase(allowLoopback)
// The current time for the code under test; the tests advance it.
let clock = new Date()
const platform = { ...real, now: () => clock }
const hour = 3_600_000
const day = 24 * hour

describe('retries of a failed webhook delivery', () => {
  test('a delivery fails after ten calls on schedule, none of them early', async () => {
    const { webhook, receiver } = await build((response) => response.writeHead(500).end('no'))
    const [eventId = ''] = await queueEvents(platform, [webhook])
    const start = clock
    const times: number[] = []
    for (;;) {
      expect(await deliverDue()).toBe(1)
      times.push(clock.getTime() - start.getTime())
      const { due_at, status } = await readDelivery(webhook, eventId)
      if (!due_at) break
      expect(status).toBe('pending')
      setClock(due_at.getTime() - 1)
      expect(await deliverDue()).toBe(0)
      setClock(due_at.getTime())
    }
    expect(times).toHaveLength(offsetsMs.length)
    for (const [index, time] of times.entries()) {
      const planned = offsetsMs[index] ?? 0
      expect(time).toBeGreaterThanOrEqual(planned)
      expect(time).toBeLessThanOrEqual(Math.ceil(planned * 1.1))
    }
    const ended = await readDelivery(webhook, eventId)
    expect(ended).toMatchObject({ status: 'failed', attempts: 10, tries: 10, due_at: null, response_status: 500 })
    expect(receiver.heard.map(({ headers }) => headers['webhook-id'])).toEqual(Array(10).fill(eventId))
    const log = await selectAttempts(platform.db, webhook.workspace_id, ended.number)
    expect(log.map(({ number, at }) => [number, at.getTime() - start.getTime()])).toEqual(
      times.map((time, index) => [index + 1, time]).reverse(),
    )
    const problem = 'The receiver answered 500 instead of 2xx.'
    expect(log[0]).toMatchObject({ url: webhook.url, response_status: 500, response_excerpt: 'no', problem })
    setClock(clock.getTime() + 2 * day)
    expect(await deliverDue()).toBe(0)
    expect((await current(webhook)).failing_since).toEqual(start)
  })

  test("a delivery is retried until a call succeeds, which also clears the webhook's `failing_since`", async () => {
    const { webhook } = await build((response, { calls }) => response.writeHead(calls < 4 ? 503 : 200).end())
    const [eventId = ''] = await queueEvents(platform, [webhook])
    for (let call = 1; call <= 4; call++) {
      await deliverDue()
      expect((await current(webhook)).failing_since === null).toBe(call === 4)
      setClock(clock.getTime() + hour)
    }
    expect(await readDelivery(webhook, eventId)).toMatchObject({ status: 'delivered', attempts: 4, due_at: null })
    setClock(clock.getTime() + 2 * day)
    expect(await deliverDue()).toBe(0)
  })

  test('a receiver can postpone the next call with Retry-After', async () => {
    const answer = { 'retry-after': String(3_600) }
    const { webhook } = await build((response) => response.writeHead(429, answer).end())
    const [eventId = ''] = await queueEvents(platform, [webhook])
    await deliverDue()
    expect((await readDelivery(webhook, eventId)).due_at).toEqual(new Date(clock.getTime() + hour))
  })
})

describe('disabling a webhook', () => {
  test('five days of failed calls disable a webhook, and enabling it resumes deliveries', async () => {
    let status = 500
    const { webhook, receiver } = await build((response) => response.writeHead(status).end())
    const start = clock
    await takeMessages(platform)
    const eventIds: string[] = []
    for (let passed = 0; passed < 5 * day; passed += 6 * hour) {
      setClock(start.getTime() + passed)
      eventIds.push(...(await queueEvents(platform, [webhook])))
      await deliverDue()
      expect(await current(webhook)).toMatchObject({ disabled_at: null, failing_since: start })
    }
    expect((await subscribed(platform, webhook.workspace_id)).triggers).toEqual(['link.created'])
    expect(await takeMessages(platform)).toEqual([])

    setClock(start.getTime() + 5 * day + hour)
    while ((await current(webhook)).disabled_at === null) {
      expect(clock.getTime() - start.getTime()).toBeLessThan(6 * day)
      setClock(clock.getTime() + hour)
      await deliverDue()
    }
    const disabled = await current(webhook)
    expect(disabled).toMatchObject({ disabled_at: clock, disabled_reason: 'failing', failing_since: start })
    expect((await subscribed(platform, webhook.workspace_id)).triggers).toEqual([])
    const { workspace_id: workspaceId, id: webhookId } = webhook
    expect(await takeMessages(platform)).toEqual([{ workspaceId, webhookId, reason: 'failing' }])

    const calls = receiver.heard.length
    setClock(clock.getTime() + 2 * day)
    expect(await deliverDue()).toBe(0)
    expect(receiver.heard).toHaveLength(calls)

    status = 204
    await updateWebhook({ ...contextIn(platform, workspaceId), now: platform.now }, webhookScopes, webhookId, {
      disabled: false,
    })
    const pending = await readStates(webhook, 'pending')
    expect(pending.length).toBeGreaterThan(0)
    await deliverDue()
    expect(await readStates(webhook, 'delivered')).toEqual(pending)
    expect(await current(webhook)).toMatchObject({ disabled_at: null, failing_since: null })
  })

  test('one failure long after the previous one does not disable a webhook', async () => {
    const { webhook } = await build((response) => response.writeHead(500).end(), {
      failing_since: new Date(clock.getTime() - 20 * day),
    })
    await queueEvents(platform, [webhook])
    await deliverDue()
    expect((await current(webhook)).disabled_at).toBeNull()
  })

  test('a 410 disables a webhook at once, and its pending deliveries wait', async () => {
    const { webhook } = await build((response) => response.writeHead(410).end())
    await takeMessages(platform)
    await queueEvents(platform, [webhook], 12)
    expect(await deliverDue()).toBe(10)
    expect(await current(webhook)).toMatchObject({ disabled_at: clock, disabled_reason: 'gone' })
    expect((await subscribed(platform, webhook.workspace_id)).triggers).toEqual([])
    const { workspace_id: workspaceId, id: webhookId } = webhook
    expect(await takeMessages(platform)).toEqual([{ workspaceId, webhookId, reason: 'gone' }])
    setClock(clock.getTime() + day)
    expect(await deliverDue()).toBe(0)
    expect(await readStates(webhook, 'pending')).toHaveLength(12)
  })

  test('a response from a former URL does not disable a webhook', async () => {
    const { webhook } = await build((response) => response.writeHead(410).end())
    await queueEvents(platform, [webhook])
    const due = await takeDue(platform, openTestSlots())
    await sql`UPDATE webhooks SET url = 'https://new.example/' WHERE id = ${webhook.id}`.execute(platform.db)
    for (const delivery of due) await deliver(platform, delivery)
    expect(await current(webhook)).toMatchObject({ disabled_at: null, failing_since: null })
  })
})

describe('due deliveries', () => {
  test('one worker claims a delivery, and another takes it over when that worker dies', async () => {
    const { webhook } = await build()
    const eventIds = await queueEvents(platform, [webhook], 60)
    const taken = (await Promise.all(Array.from({ length: 8 }, () => takeDue(platform, openTestSlots())))).flat()
    const ids = taken.map(({ event_id }) => event_id)
    expect(new Set(ids).size).toBe(ids.length)
    while (ids.length < 60) ids.push(...(await takeDue(platform, openTestSlots())).map(({ event_id }) => event_id))
    expect(ids.toSorted()).toEqual(eventIds.toSorted())
    setClock(clock.getTime() + 24_999)
    expect(await takeDue(platform, openTestSlots())).toEqual([])
    setClock(clock.getTime() + 1)
    expect(await takeDue(platform, openTestSlots(100))).toHaveLength(60)
  })

  test('workers claim one delivery per webhook before a second one, and take turns when slots are scarce', async () => {
    const built = await Promise.all([1, 2, 3, 4].map(() => build()))
    const webhooks = built.map(({ webhook }) => webhook).sort((one, other) => (one.id < other.id ? -1 : 1))
    for (const webhook of webhooks) await queueEvents(platform, [webhook], 50)
    const mine = openSlots({ perWebhook: 10, perWorkspace: 25, inAll: 25 })
    const ofEach = async () => {
      const taken = await takeDue(platform, mine)
      for (const { webhook_id } of taken) mine.ended(webhook_id)
      return webhooks.map(({ id }) => taken.filter(({ webhook_id }) => webhook_id === id).length)
    }
    expect(await ofEach()).toEqual([7, 6, 6, 6])
    const few = openSlots({ perWebhook: 10, perWorkspace: 3, inAll: 3 })
    const turns = [await takeDue(platform, few), []]
    expect(few.room()).toEqual({ count: 0, after: webhooks[2]?.id })
    for (const { webhook_id } of turns[0] ?? []) few.ended(webhook_id)
    turns[1] = await takeDue(platform, few)
    expect(turns.map((taken) => taken.map(({ webhook_id }) => webhook_id).toSorted())).toEqual([
      webhooks.slice(0, 3).map(({ id }) => id),
      Array(3).fill(webhooks[3]?.id),
    ])
  })

  test('deliveries to a receiver without a free slot wait', async () => {
    const { webhook } = await build()
    await queueEvents(platform, [webhook], 5)
    const mine = openSlots({ perWebhook: 3, perWorkspace: 100, inAll: 100 })
    expect(await takeDue(platform, mine)).toHaveLength(3)
    expect(await takeDue(platform, mine)).toHaveLength(0)
    mine.ended(webhook.id)
    expect(await takeDue(platform, mine)).toHaveLength(1)
  })

  test('due deliveries are counted', async () => {
    const { webhook } = await build()
    await queueEvents(platform, [webhook], 7)
    await measurePending(platform)
    expect((await webhookMetrics(platform).pending.get()).values[0]?.value).toBe(7)
  })

  test('a delivery is repeated with the same id when the worker dies after the call and before recording it', async () => {
    const { webhook, receiver } = await build()
    const [eventId = ''] = await queueEvents(platform, [webhook])
    const [taken] = await takeDue(platform, openTestSlots())
    const dying = platform.db.transaction().execute(async (db) => {
      if (taken) await deliver({ ...platform, db }, taken)
      throw new Error('killed before the commit')
    })
    await expect(dying).rejects.toThrow('killed')
    expect(await readDelivery(webhook, eventId)).toMatchObject({ status: 'pending', attempts: 0, tries: 0 })
    expect(await deliverDue()).toBe(0)
    setClock(clock.getTime() + 25_000)
    expect(await deliverDue()).toBe(1)
    expect(await readDelivery(webhook, eventId)).toMatchObject({ status: 'delivered', attempts: 1, due_at: null })
    expect(receiver.heard.map(({ headers, body }) => [headers['webhook-id'], body])).toEqual(
      Array(2).fill([eventId, `{"id":"${eventId}"}`]),
    )
  })

  test.each([
    ['ahead', 60_000],
    ['behind', -60_000],
  ])('a worker whose clock is far %s loses no delivery, but sends it twice', async (_where, skewMs) => {
    const { webhook, receiver } = await build()
    const other = { ...platform, now: () => new Date(clock.getTime() + skewMs) }
    const [eventId = ''] = await queueEvents(platform, [webhook])
    const [first, second] = skewMs > 0 ? [platform, other] : [other, platform]
    setClock(clock.getTime() + 60_000)
    const [taken, again] = [await takeDue(first, openTestSlots()), await takeDue(second, openTestSlots())]
    expect([taken, again].map((due) => due.map(({ event_id }) => event_id))).toEqual([[eventId], [eventId]])
    for (const delivery of again) await deliver(second, delivery)
    for (const delivery of taken) await deliver(first, delivery)
    expect(await readDelivery(webhook, eventId)).toMatchObject({ status: 'delivered', attempts: 2, tries: 1 })
    expect(receiver.heard.map(({ headers }) => headers['webhook-id'])).toEqual([eventId, eventId])
    setClock(clock.getTime() + day)
    expect([await takeDue(first, openTestSlots()), await takeDue(second, openTestSlots())]).toEqual([[], []])
  })

  test('an event of an erased customer is not sent', async () => {
    const { webhook, receiver } = await build()
    const [eventId = ''] = await queueEvents(platform, [webhook])
    await sql`UPDATE webhook_events SET body = NULL WHERE id = ${eventId}`.execute(platform.db)
    await deliverDue()
    expect(await readDelivery(webhook, eventId)).toMatchObject({ status: 'failed', attempts: 0, due_at: null })
    expect(receiver.heard).toEqual([])
  })
})

describe('a delivery that is replayed or erased during its call', () => {
  test('a replay during the call sends the delivery again, whatever the call returned', async () => {
    const { webhook, receiver } = await build()
    const [eventId = ''] = await queueEvents(platform, [webhook])
    const [taken] = await takeDue(platform, openTestSlots())
    setClock(clock.getTime() + 1)
    await replayDelivery({ ...contextIn(platform, webhook.workspace_id), now: platform.now }, webhook.id, eventId)
    if (taken) await deliver(platform, taken)
    expect(await readDelivery(webhook, eventId)).toMatchObject({
      status: 'pending',
      due_at: clock,
      attempts: 1,
      tries: 0,
    })
    await deliverDue()
    expect(await readDelivery(webhook, eventId)).toMatchObject({ status: 'delivered', attempts: 2, tries: 1 })
    expect(receiver.heard).toHaveLength(2)
  })

  test('erasing the customer during the call discards the response', async () => {
    const { webhook } = await build((response) => response.writeHead(500).end('Jane Doe'))
    const [eventId = ''] = await queueEvents(platform, [webhook])
    const [taken] = await takeDue(platform, openTestSlots())
    await sql`UPDATE webhook_deliveries SET status = 'failed', due_at = NULL WHERE event_id = ${eventId}`.execute(
      platform.db,
    )
    if (taken) await deliver(platform, taken)
    const delivery = await readDelivery(webhook, eventId)
    expect(delivery).toMatchObject({ status: 'failed', due_at: null, attempts: 1 })
    const [attempt] = await selectAttempts(platform.db, webhook.workspace_id, delivery.number)
    expect(attempt).toMatchObject({ response_status: 500, response_excerpt: null })
  })
})

test('erasing the customer while a response is recorded erases the response', async () => {
  const { webhook } = await build((response) => response.writeHead(500).end('Jane Doe'))
  const [eventId = ''] = await queueEvents(platform, [webhook])
  await sql`UPDATE webhook_events SET customer_id = 'cus_jane' WHERE id = ${eventId}`.execute(platform.db)
  const [taken] = await takeDue(platform, openTestSlots())
  let erasing: Promise<void> | undefined
  await platform.db.transaction().execute(async (db) => {
    if (taken) await deliver({ ...platform, db }, taken)
    erasing = eraseCustomerEvents(platform, [{ workspaceId: webhook.workspace_id, customerId: 'cus_jane' }])
    await eventually(async () => {
      const waiting = sql`SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`
      expect((await waiting.execute(platform.db)).rows).toHaveLength(1)
    })
  })
  await erasing
  const delivery = await readDelivery(webhook, eventId)
  expect(delivery).toMatchObject({ status: 'failed', due_at: null, attempts: 1 })
  const [attempt] = await selectAttempts(platform.db, webhook.workspace_id, delivery.number)
  expect(attempt).toMatchObject({ response_status: 500, response_excerpt: null })
})

test('events are deleted after thirty days with their deliveries and attempts, but recently queued ones are kept', async () => {
  const { webhook } = await build()
  const old = await queueEvents(platform, [webhook], 501)
  await deliverDue()
  setClock(clock.getTime() + 29 * day)
  const [late = ''] = await queueEvents(platform, [webhook])
  await sql`UPDATE webhook_events SET created_at = ${new Date(clock.getTime() - 60 * day)} WHERE id = ${late}`.execute(
    platform.db,
  )
  expect(await pruneSome(platform)).toBe(false)
  expect(await countIn('webhook_deliveries', webhook)).toBe(old.length + 1)
  setClock(clock.getTime() + day + 1)
  while (await pruneSome(platform));
  expect(await countIn('webhook_events', webhook)).toBe(1)
  expect(await countIn('webhook_deliveries', webhook)).toBe(1)
  expect(await countIn('webhook_attempts', webhook)).toBe(0)
})

type Answer = (
  response: Parameters<NonNullable<Parameters<typeof startReceiver>[0]>>[0],
  heard: { calls: number },
) => void

async function build(
  answer: Answer = (response) => response.writeHead(204).end(),
  given: Partial<WebhookRow> = {},
): Promise<{ webhook: WebhookRow; receiver: Receiver }> {
  let calls = 0
  const receiver = await startReceiver((response) => answer(response, { calls: ++calls }))
  onTestFinished(() => receiver[Symbol.asyncDispose]())
  const { id } = await buildWorkspace(platform)
  const webhook = await buildWebhook(platform, id, { url: receiver.url, ...given })
  onTestFinished(async () => {
    await sql`DELETE FROM webhooks WHERE id = ${webhook.id}`.execute(platform.db)
  })
  return { webhook, receiver }
}

function openTestSlots(perWebhook = 10) {
  return openSlots({ perWebhook, perWorkspace: 500, inAll: 500 })
}

/** Sends all due deliveries once, as the worker does. Returns the number of calls. */
async function deliverDue(): Promise<number> {
  const due = await takeDue(platform, openTestSlots())
  await Promise.all(due.map((delivery) => deliver(platform, delivery)))
  return due.length
}

function setClock(time: number): void {
  clock = new Date(time)
}

async function readDelivery({ workspace_id, id }: WebhookRow, eventId: string): Promise<DeliveryRow> {
  return (await selectDelivery(platform.db, workspace_id, id, eventId)) as DeliveryRow
}

async function readStates({ id }: WebhookRow, status: string): Promise<string[]> {
  const result = await sql<{ event_id: string }>`
    SELECT event_id FROM webhook_deliveries WHERE webhook_id = ${id} AND status = ${status}
    ORDER BY number`.execute(platform.db)
  return result.rows.map(({ event_id }) => event_id)
}

function current({ workspace_id, id }: WebhookRow): Promise<WebhookRow> {
  return requireWebhook(contextIn(platform, workspace_id), id)
}

async function countIn(table: string, { workspace_id }: WebhookRow): Promise<number> {
  const result = await sql<{ count: bigint }>`
    SELECT count(*) FROM ${sql.table(table)} WHERE workspace_id = ${workspace_id}`.execute(platform.db)
  return Number(result.rows[0]?.count)
}
