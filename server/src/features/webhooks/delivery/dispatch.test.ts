import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { buildWorkspace } from '../../../../test/build.ts'
import { openOwnDatabase } from '../../../../test/own-database.ts'
import { eventually } from '../../../../test/stack.ts'
import { allowLoopback, buildWebhook, queueEvents, startReceiver } from '../../../../test/webhooks.ts'
import { startDeliveries } from '../jobs.ts'

const platform = await openOwnDatabase({ ...allowLoopback, POSTGRES_POOL: '10', SHUTDOWN_GRACE_MS: '500' })
const receivers = 20
const rounds = 10

test('one receiver that hangs for 15 s a call does not delay 20 others', async () => {
  const { id } = await buildWorkspace(platform)
  await using hanging = await startReceiver(() => {})
  const listening = await Promise.all(Array.from({ length: receivers }, () => startReceiver()))
  const slow = await buildWebhook(platform, id, { url: hanging.url })
  const quick = await Promise.all(listening.map(({ url }) => buildWebhook(platform, id, { url })))
  await queueEvents(platform, [slow], 200)
  const dispatch = startDeliveries(platform)
  await eventually(async () => expect(hanging.heard.length).toBe(10))

  const queuedAt = new Map<string, number>()
  for (let round = 0; round < rounds; round++) {
    const at = Date.now()
    for (const eventId of await queueEvents(platform, [slow, ...quick])) queuedAt.set(eventId, at)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  const expected = receivers * rounds
  await eventually(async () => expect(listening.flatMap(({ heard }) => heard)).toHaveLength(expected), 20_000)
  // Ten at first; then one at a time.
  expect(hanging.heard.length).toBeLessThanOrEqual(12)

  const delays = listening
    .flatMap(({ heard }) => heard.map(({ headers, at }) => at - (queuedAt.get(String(headers['webhook-id'])) ?? 0)))
    .sort((one, other) => one - other)
  const p95 = delays[Math.floor(delays.length * 0.95)] ?? 0
  console.info(`p50 ${delays[Math.floor(delays.length / 2)]} ms, p95 ${p95} ms, longest ${delays.at(-1)} ms`)
  expect(p95).toBeLessThan(2_000)

  await dispatch[Symbol.asyncDispose]()
  for (const receiver of listening) await receiver[Symbol.asyncDispose]()
})

test('a quick receiver is called so often at the same time as allowed, and not more often', async () => {
  const { id } = await buildWorkspace(platform)
  let [open, most] = [0, 0]
  await using receiver = await startReceiver((response) => {
    most = Math.max(most, ++open)
    setTimeout(() => {
      open -= 1
      response.writeHead(204).end()
    }, 30)
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
