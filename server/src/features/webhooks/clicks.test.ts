import { randomUUID } from 'node:crypto'
import { newWebhook, type WebhookEvent } from '@tributary/contract/webhooks'
import { sql } from 'kysely'
import { afterAll, expect, test } from 'vitest'
import { startEngines } from '../../../../engines/start.ts'
import { buildConversionLink } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { openOwnDatabase } from '../../../test/own-database.ts'
import { eventually } from '../../../test/stack.ts'
import { fanOutClicks } from '../../../test/webhooks.ts'
import { ensureStreams, jetStream } from '../../platform/nats.ts'
import { webhookScopes } from '../../roles/webhooks.ts'
import { startIngest } from '../ingest/jobs.ts'
import { type ClickBatchStored, clickBatchStored } from '../ingest/messages.ts'
import type { RawClick } from '../redirect/messages.ts'
import { webhookMetrics } from './metrics.ts'
import { createWebhook } from './service.ts'

const engines = await startEngines({ only: ['nats', 'valkey'] })
const platform = await openOwnDatabase({ ...engines.urls, EVENT_PARTITIONS: '1' })
await ensureStreams(platform.nats, platform.config)
const ingest = await startIngest(platform)
afterAll(async () => {
  await ingest[Symbol.asyncDispose]()
  await engines.stop()
})

async function takeBatches(clicks: RawClick[]): Promise<ClickBatchStored[]> {
  await jetStream(platform.nats).publish('events.0.clicks', JSON.stringify(clicks))
  return eventually(async () => {
    const taken = await sql<{ body: unknown }>`
      DELETE FROM outbox WHERE subject = 'changes.0.click-batches' RETURNING body`.execute(platform.db)
    expect(taken.rows.length).toBeGreaterThan(0)
    return taken.rows.map(({ body }) => clickBatchStored.parse(body))
  })
}

async function clickIds(workspaceId: string): Promise<string[]> {
  const result = await sql<{ body: string }>`
    SELECT body FROM webhook_events WHERE workspace_id = ${workspaceId} ORDER BY created_at, id`.execute(platform.db)
  return result.rows.map(({ body }) => {
    const event = JSON.parse(body) as WebhookEvent
    if (event.event !== 'link.clicked') throw new Error(`Unexpected event ${event.event}`)
    return event.data.click.id
  })
}

async function setUp({ listens }: { listens: boolean }) {
  const { workspace, click } = await buildConversionLink(platform)
  const given = { name: 'n', url: `https://example.com/${randomUUID()}`, triggers: ['link.clicked'] }
  if (listens) await createWebhook(contextIn(platform, workspace.id), webhookScopes, newWebhook.parse(given))
  return { workspaceId: workspace.id, click }
}

test('a stored batch of clicks is published without personal data, and webhooks read the clicks from the event log', async () => {
  const [mine, other] = [await setUp({ listens: true }), await setUp({ listens: false })]
  const [person, bot] = [mine.click({ ip: '203.0.113.7' }), mine.click({ userAgent: 'Googlebot/2.1' })]
  const batches = await takeBatches([person, other.click(), bot, person])
  expect(batches).toHaveLength(1)
  const [batch] = batches
  expect(batch?.workspaceIds?.toSorted()).toEqual([mine.workspaceId, other.workspaceId].toSorted())
  expect(JSON.stringify(batches)).not.toMatch(/203\.0\.113|example\.com|Mozilla/)
  await fanOutClicks(platform, batches)
  await fanOutClicks(platform, batches)
  expect(await clickIds(mine.workspaceId)).toEqual([person.id])
  expect(await clickIds(other.workspaceId)).toEqual([])
})

test('clicks that the event log has lost are counted as dropped, and later batches are still delivered', async () => {
  const { workspaceId, click } = await setUp({ listens: true })
  const [batch] = await takeBatches([click()])
  if (!batch) throw new Error('Expected a batch')
  const dropped = async () => (await webhookMetrics(platform).eventsDropped.get()).values[0]?.value ?? 0
  const before = await dropped()
  await fanOutClicks(platform, [{ ...batch, stream: 'another' }, batch])
  expect(await dropped()).toBe(before + 1)
  expect(await clickIds(workspaceId)).toHaveLength(1)
})
