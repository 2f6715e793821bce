import { createClient } from '@tributary/contract/client'
import {
  createWebhook,
  getDelivery,
  listDeliveries,
  replayDelivery,
  replayFailed,
  testWebhook,
  triggers,
  updateWebhook,
  webhookEvent,
} from '@tributary/contract/webhooks'
import { sql } from 'kysely'
import { describe, expect, inject, it } from 'vitest'
import { type BuiltWorkspace, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { pruneSome, replayFailed as replay } from './deliveries.ts'
import { type DeliveryRow, insertDeliveries, insertEvents } from './deliveries-store.ts'
import { deleteWebhook } from './service.ts'

const platform = await openTestPlatform()
const { api } = inject('server')

const as = (workspace: Pick<BuiltWorkspace, 'key'>) => createClient({ url: api, token: workspace.key })
const day = 86_400_000

/** Creates a webhook whose host is not public, so that the worker sends nothing to it. */
async function withWebhook() {
  const workspace = await buildWorkspace(platform)
  const body = { name: 'a', url: 'https://localhost/', triggers: ['link.created' as const] }
  const { id } = await as(workspace)(createWebhook, { body })
  return { workspace, id, call: as(workspace) }
}

/** Inserts finished deliveries, which no worker sends. */
async function put(
  { workspace, id }: { workspace: BuiltWorkspace; id: string },
  names: string[],
  {
    status = 'failed',
    event = 'link.created',
    body = '{}',
    at = new Date(),
  }: { status?: DeliveryRow['status']; event?: DeliveryRow['event']; body?: string; at?: Date } = {},
): Promise<void> {
  const events = names.map((name) => ({ id: name, event, customerId: null, body }))
  const stored = events.map((event) => ({ ...event, createdAt: at.toISOString(), webhookIds: [id] }))
  await platform.db.transaction().execute(async (db) => {
    await insertEvents(db, workspace.id, stored)
    await insertDeliveries(db, workspace.id, stored, at)
    await sql`UPDATE webhook_deliveries SET status = ${status}, due_at = NULL
      WHERE workspace_id = ${workspace.id} AND event_id = ANY(${names}::text[])`.execute(db)
  })
}

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `evt_${index}`)

describe('testWebhook', () => {
  it.each(triggers)('202: queues a sample %s event like a real one', async (event) => {
    const { id, call } = await withWebhook()
    const queued = await call(testWebhook, { params: { id }, body: { event } })
    expect(queued).toMatchObject({ event, eventId: expect.stringMatching(/^evt_/), status: 'pending' })
    const { body } = await call(getDelivery, { params: { id, eventId: queued.eventId } })
    const stored = JSON.parse(body ?? '')
    expect(webhookEvent.parse(stored)).toEqual(stored)
    expect(stored).toMatchObject({ id: queued.eventId, event, createdAt: queued.createdAt })
  })

  it('202: the trigger defaults to link.created', async () => {
    const { workspace, id } = await withWebhook()
    const headers = { authorization: `Bearer ${workspace.key}` }
    const response = await fetch(`${api}/webhooks/${id}/test`, { method: 'POST', headers })
    expect([response.status, await response.json()]).toMatchObject([202, { event: 'link.created' }])
  })

  it('404 for an unknown webhook, and 422 for a disabled one', async () => {
    const { id, call } = await withWebhook()
    await expect(call(testWebhook, { params: { id: 'whk_unknown' }, body: {} })).rejects.toMatchObject({ status: 404 })
    await call(updateWebhook, { params: { id }, body: { disabled: true } })
    await expect(call(testWebhook, { params: { id }, body: {} })).rejects.toMatchObject({
      status: 422,
      message: expect.stringContaining('Enable it first'),
    })
  })
})

describe('listDeliveries', () => {
  it('200: lists deliveries newest first, page by page, filtered by status or event', async () => {
    const { workspace, id, call } = await withWebhook()
    await put({ workspace, id }, numbered(5))
    await put({ workspace, id }, ['evt_good'], { status: 'delivered', event: 'sale.created' })
    const names = async (query: object) =>
      (await call(listDeliveries, { params: { id }, query })).map(({ eventId }) => eventId)
    expect(await names({})).toEqual(['evt_good', 'evt_4', 'evt_3', 'evt_2', 'evt_1', 'evt_0'])
    expect(await names({ status: 'delivered' })).toEqual(['evt_good'])
    expect(await names({ event: 'sale.created' })).toEqual(['evt_good'])
    expect(await names({ event: 'sale.created', status: 'failed' })).toEqual([])

    const headers = { authorization: `Bearer ${workspace.key}` }
    const seen: string[] = []
    for (let cursor = ''; ; ) {
      const query = new URLSearchParams({ status: 'failed', limit: '2', cursor })
      const response = await fetch(`${api}/webhooks/${id}/deliveries?${query}`, { headers })
      seen.push(...((await response.json()) as { eventId: string }[]).map(({ eventId }) => eventId))
      cursor = response.headers.get('x-next-cursor') ?? ''
      if (cursor === '') break
    }
    expect(seen).toEqual(['evt_4', 'evt_3', 'evt_2', 'evt_1', 'evt_0'])

    expect(await names({ page: 2, pageSize: 4 })).toEqual(['evt_1', 'evt_0'])
    expect(await names({ sortOrder: 'asc', pageSize: 2 })).toEqual(['evt_0', 'evt_1'])
    expect(await names({ sortOrder: 'asc', pageSize: 2, page: 2 })).toEqual(['evt_2', 'evt_3'])
    const first = await fetch(`${api}/webhooks/${id}/deliveries?sortOrder=asc&pageSize=4`, { headers })
    const cursor = first.headers.get('x-next-cursor') ?? ''
    expect(await names({ sortOrder: 'asc', cursor })).toEqual(['evt_4', 'evt_good'])
  })

  it('404 for an unknown webhook, and 422 for a cursor of another list', async () => {
    const { id, call } = await withWebhook()
    const unknown = call(listDeliveries, { params: { id: 'whk_unknown' } })
    await expect(unknown).rejects.toMatchObject({ status: 404 })
    const wrong = call(listDeliveries, { params: { id }, query: { cursor: '17' } })
    await expect(wrong).rejects.toMatchObject({ status: 422 })
  })
})

describe('getDelivery', () => {
  it('200: returns the delivery with the body and every attempt, newest first', async () => {
    const { workspace, id, call } = await withWebhook()
    await put({ workspace, id }, ['evt_a'], { body: '{"id":"evt_a"}' })
    await sql`INSERT INTO webhook_attempts (delivery_number, number, workspace_id, url, at, duration_ms,
        response_status, response_excerpt, problem)
      SELECT number, n, workspace_id, 'https://localhost/', '2026-01-01T00:00:00Z', 7, 500, 'Oh', NULL
      FROM webhook_deliveries, generate_series(1, 2) AS n WHERE webhook_id = ${id}`.execute(platform.db)
    const delivery = await call(getDelivery, { params: { id, eventId: 'evt_a' } })
    expect(delivery).toMatchObject({ eventId: 'evt_a', status: 'failed', nextAttemptAt: null, body: '{"id":"evt_a"}' })
    expect(delivery.log.map(({ number }) => number)).toEqual([2, 1])
    expect(delivery.log[0]).toEqual({
      number: 2,
      url: 'https://localhost/',
      at: '2026-01-01T00:00:00.000Z',
      durationMs: 7,
      responseStatus: 500,
      responseExcerpt: 'Oh',
      problem: null,
    })
  })

  it('404: an unknown delivery', async () => {
    const { id, call } = await withWebhook()
    const missing = call(getDelivery, { params: { id, eventId: 'evt_unknown' } })
    await expect(missing).rejects.toMatchObject({
      status: 404,
      message: 'There is no delivery evt_unknown in this workspace.',
    })
  })
})

describe('replayDelivery', () => {
  it('202: sends a delivery again, even a successful one', async () => {
    const { workspace, id, call } = await withWebhook()
    await put({ workspace, id }, ['evt_a'], { status: 'delivered', at: new Date(Date.now() - day) })
    const replayed = await call(replayDelivery, { params: { id, eventId: 'evt_a' } })
    expect(replayed).toMatchObject({ eventId: 'evt_a', status: 'pending' })
    expect(Date.parse(replayed.nextAttemptAt ?? '')).toBeGreaterThan(Date.now() - day / 2)
  })

  it('404 for an unknown delivery, and 422 for an event of an erased customer', async () => {
    const { workspace, id, call } = await withWebhook()
    await put({ workspace, id }, ['evt_a'])
    await sql`UPDATE webhook_events SET body = NULL WHERE workspace_id = ${workspace.id}`.execute(platform.db)
    const again = (eventId: string) => call(replayDelivery, { params: { id, eventId } })
    await expect(again('evt_unknown')).rejects.toMatchObject({ status: 404 })
    await expect(again('evt_a')).rejects.toMatchObject({ status: 422, message: expect.stringContaining('erased') })
    expect(await call(getDelivery, { params: { id, eventId: 'evt_a' } })).toMatchObject({
      status: 'failed',
      body: null,
    })
  })
})

describe('replayFailed', () => {
  it('202: replays only failed deliveries created since the given time', async () => {
    const { workspace, id, call } = await withWebhook()
    await put({ workspace, id }, ['evt_old'], { at: new Date(Date.now() - 3 * day) })
    await put({ workspace, id }, ['evt_new'], { at: new Date(Date.now() - day) })
    await put({ workspace, id }, ['evt_good'], { at: new Date(Date.now() - day), status: 'delivered' })
    const since = new Date(Date.now() - 2 * day).toISOString()
    expect(await call(replayFailed, { params: { id }, body: { since } })).toEqual({ replayed: 1 })
    const failed = await call(listDeliveries, { params: { id }, query: { status: 'failed' } })
    expect(failed.map(({ eventId }) => eventId)).toEqual(['evt_old'])
    const pending = await call(listDeliveries, { params: { id }, query: { status: 'pending' } })
    expect(pending.map(({ eventId }) => eventId)).toEqual(['evt_new'])
  })

  it('202: replays thousands of deliveries once each, even for two concurrent requests', async () => {
    const { workspace, id } = await withWebhook()
    await put({ workspace, id }, numbered(2_500), { at: new Date(Date.now() - day) })
    const context = contextIn(platform, workspace.id)
    const since = new Date(Date.now() - 2 * day).toISOString()
    const counts = await Promise.all([replay(context, id, since), replay(context, id, since)])
    expect(counts.reduce((sum, { replayed }) => sum + replayed, 0)).toBe(2_500)
    await deleteWebhook(context, id)
  })

  it('404 for an unknown webhook, and 422 for a time before the retention period', async () => {
    const { id, call } = await withWebhook()
    const again = (id: string, since: Date) =>
      call(replayFailed, { params: { id }, body: { since: since.toISOString() } })
    await expect(again('whk_unknown', new Date())).rejects.toMatchObject({ status: 404 })
    await expect(again(id, new Date(Date.now() - 31 * day))).rejects.toMatchObject({ status: 422 })
  })
})

it('the worker deletes all rows of a deleted webhook', async () => {
  const { workspace, id } = await withWebhook()
  await put({ workspace, id }, numbered(1_200))
  await deleteWebhook(contextIn(platform, workspace.id), id)
  while (await pruneSome(platform));
  const left = await sql`SELECT id FROM webhooks WHERE id = ${id}
    UNION ALL SELECT event_id FROM webhook_deliveries WHERE webhook_id = ${id}`.execute(platform.db)
  expect(left.rows).toEqual([])
})
