import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { buildWorkspace } from '../../../test/build.ts'
import { openOwnDatabase } from '../../../test/own-database.ts'
import { eventually } from '../../../test/stack.ts'
import { allowLoopback, buildWebhook, queueEvents, type Receiver, startReceiver } from '../../../test/webhooks.ts'
import { startDeliveries } from './jobs.ts'
import type { WebhookRow } from './store.ts'

const platform = await openOwnDatabase({ ...allowLoopback, POSTGRES_POOL: '10', SHUTDOWN_GRACE_MS: '500' })
const receivers = 20
const rounds = 10

test('a receiver that hangs for 15 s per call does not delay 20 other receivers', async () => {
  const { id } = await buildWorkspace(platform)
  await using hanging = await startReceiver(() => {})
  await using all = new AsyncDisposableStack()
  const listening = await Promise.all(Array.from({ length: receivers }, () => startReceiver()))
  for (const receiver of listening) all.use(receiver)
  const slow = await buildWebhook(platform, id, { url: hanging.url })
  const quick = await Promise.all(listening.map(({ url }) => buildWebhook(platform, id, { url })))
  await using _dispatch = startDeliveries(platform)
  const alone = await measureP95(listening, quick)
  await queueEvents(platform, [slow], 200)
  await eventually(async () => expect(hanging.heard.length).toBe(10))
  const beside = await measureP95(listening, [slow, ...quick])
  console.info(`p95 ${alone} ms without it, ${beside} ms beside it`)
  // Compare with the delay without the hanging receiver, because the machine may be busy.
  expect(beside).toBeLessThan(Math.max(2_000, 2 * alone))
  // The hanging receiver gets ten calls at first, then one at a time.
  expect(hanging.heard.length).toBeLessThanOrEqual(12)

  const attempts = sql<{ problem: string; duration_ms: number }>`
    SELECT problem, duration_ms FROM webhook_attempts WHERE workspace_id = ${id} AND url = ${slow.url}`
  const [hung] = await eventually(async () => {
    const { rows } = await attempts.execute(platform.db)
    expect(rows.length).toBeGreaterThanOrEqual(10)
    return rows
  }, 30_000)
  expect(hung?.problem).toBe('The receiver did not answer within 15 s.')
  expect(hung?.duration_ms).toBeGreaterThanOrEqual(14_900)
}, 180_000)

/** The 95th percentile of the time from queueing an event to its arrival at the receivers. */
async function measureP95(listening: Receiver[], webhooks: WebhookRow[]): Promise<number> {
  const queuedAt = new Map<string, number>()
  for (let round = 0; round < rounds; round++) {
    const at = Date.now()
    for (const eventId of await queueEvents(platform, webhooks)) queuedAt.set(eventId, at)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  const arrived = () =>
    listening.flatMap(({ heard }) =>
      heard.flatMap(({ headers, at }) => {
        const queued = queuedAt.get(String(headers['webhook-id']))
        return queued === undefined ? [] : [at - queued]
      }),
    )
  await eventually(async () => expect(arrived()).toHaveLength(listening.length * rounds), 20_000)
  return arrived().sort((one, other) => one - other)[Math.floor(listening.length * rounds * 0.95)] ?? 0
}

test('a quick receiver gets as many concurrent calls as allowed, and no more', async () => {
  const { id } = await buildWorkspace(platform)
  let [open, most] = [0, 0]
  await using receiver = await startReceiver((response) => {
    most = Math.max(most, ++open)
    setTimeout(() => {
      open -= 1
      response.writeHead(204).end()
    }, 150)
  })
  const webhook = await buildWebhook(platform, id, { url: receiver.url })
  const eventIds = await queueEvents(platform, [webhook], 150)
  await using _dispatch = startDeliveries(platform)
  await eventually(async () => {
    const left = sql`SELECT FROM webhook_deliveries WHERE webhook_id = ${webhook.id} AND status <> 'delivered'`
    expect((await left.execute(platform.db)).rows).toEqual([])
  }, 30_000)
  expect(receiver.heard.map(({ headers }) => headers['webhook-id']).toSorted()).toEqual(eventIds.toSorted())
  expect(most).toBe(10)
})
