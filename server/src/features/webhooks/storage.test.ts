import { randomUUID } from 'node:crypto'
import { newWebhook } from '@tributary/contract/webhooks'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { buildLink, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { clickRow } from '../../../test/events/feed-rows.ts'
import { openOwnDatabase } from '../../../test/own-database.ts'
import { enqueueClicks } from '../../../test/webhooks.ts'
import { webhookScopes } from '../../roles/webhooks.ts'
import { linkNumbers } from '../links/service.ts'
import { pruneSome } from './deliveries.ts'
import { webhookMetrics } from './metrics.ts'
import { createWebhook } from './service.ts'

const platform = await openOwnDatabase({ WEBHOOK_STORAGE_MEGABYTES: '1' })
const perMegabyte = Math.floor(1_000_000 / 62_000)

async function setUp() {
  const workspace = await buildWorkspace(platform)
  const ctx = contextIn(platform, workspace.id)
  const geo = Object.fromEntries(['DE', 'FR', 'US'].map((code) => [code, `https://a.example/${'x'.repeat(20_000)}`]))
  const { id } = await buildLink(platform, workspace, { geo })
  const [linkNumber = 0n] = await linkNumbers(ctx, { ids: [id] })
  const url = `https://example.com/${randomUUID()}`
  await createWebhook(ctx, webhookScopes, newWebhook.parse({ name: 'n', url, triggers: ['link.clicked'] }))
  const publishEvents = async (count: number) => {
    const clicks = Array.from({ length: count }, () => clickRow({ workspaceId: workspace.id, linkNumber }))
    for (const click of clicks) await enqueueClicks(platform, [click])
  }
  return { ctx, publishEvents }
}

async function stored({ workspaceId }: { workspaceId: string }) {
  const result = await sql<{ events: bigint; bytes: bigint; counted: bigint }>`
    SELECT count(*) AS events, coalesce(sum(octet_length(body)), 0) AS bytes,
      (SELECT bytes FROM webhook_storage WHERE workspace_id = ${workspaceId}) AS counted
    FROM webhook_events WHERE workspace_id = ${workspaceId}`.execute(platform.db)
  const { events, bytes, counted } = result.rows[0] as (typeof result.rows)[number]
  expect(Number(counted)).toBe(Number(bytes))
  return Number(events)
}

test("a workspace's pending events never exceed WEBHOOK_STORAGE_MEGABYTES, and dropped events are counted", async () => {
  const { ctx, publishEvents } = await setUp()
  await publishEvents(perMegabyte + 5)
  expect(await stored(ctx)).toBe(perMegabyte)
  const dropped = await webhookMetrics(platform).eventsDropped.get()
  expect(dropped.values[0]?.value).toBe(5)
})

test('delivered events are deleted to make room for new events, which lowers the stored bytes', async () => {
  const { ctx, publishEvents } = await setUp()
  await publishEvents(perMegabyte)
  await sql`UPDATE webhook_deliveries SET status = 'delivered', due_at = NULL
    WHERE workspace_id = ${ctx.workspaceId}`.execute(platform.db)
  await publishEvents(3)
  expect(await stored(ctx)).toBe(3)
  const later = { ...platform, now: () => new Date(Date.now() + 60 * 86_400_000) }
  while (await pruneSome(later));
  expect(await stored(ctx)).toBe(0)
})

test('a full workspace is not searched for finished events again at once, because that delays all workspaces', async () => {
  const { ctx, publishEvents } = await setUp()
  await publishEvents(perMegabyte + 1)
  await sql`UPDATE webhook_deliveries SET status = 'delivered', due_at = NULL
    WHERE workspace_id = ${ctx.workspaceId}`.execute(platform.db)
  await publishEvents(1)
  expect(await stored(ctx)).toBe(perMegabyte)
  const publishAgain = async () => {
    await publishEvents(1)
    return stored(ctx)
  }
  await expect.poll(publishAgain, { interval: 200, timeout: 60_000 }).toBe(1)
})
