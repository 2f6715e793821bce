import { AckPolicy, jetstreamManager } from '@nats-io/jetstream'
import { sql } from 'kysely'
import {
  conversionRecorded,
  conversionRecordedMessage,
  conversionSubjects,
} from '../server/src/features/track/messages.ts'
import { claimEvents } from '../server/src/platform/handled-events.ts'
import { job, startJobs } from '../server/src/platform/jobs.ts'
import { changeStream, ensureStreams, jetStream } from '../server/src/platform/nats.ts'
import { transaction } from '../server/src/platform/postgres.ts'
import { readArguments, report } from './figures.ts'
import { openBench } from './stack.ts'

/** `npm run bench:subscribers`: measures subscribers that start with a backlog of sales, a bare consumer and bare inserts. */
const subscribers = 20
const [events = 20_000] = readArguments().map(Number)
const leastPerSecond = 1_000

await using bench = await openBench()
const { platform } = bench
await ensureStreams(platform.nats, platform.config)
await sql`CREATE TABLE sums (subscriber text PRIMARY KEY, events bigint NOT NULL, amount bigint NOT NULL)`.execute(
  platform.db,
)
const names = Array.from({ length: subscribers }, (_, index) => `bench-${index}`)
for (const name of names) await sql`INSERT INTO sums VALUES (${name}, 0, 0)`.execute(platform.db)
await publishBacklog()

const bareConsume = await measure(consumeBare)
const bareInsert = await measure(insertBare)
const handled = await measure(handleAll)
const sums = await sql<{ events: bigint; amount: bigint }>`SELECT DISTINCT events, amount FROM sums`.execute(
  platform.db,
)
const isExact = sums.rows.length === 1 && Number(sums.rows[0]?.events) === events
const perSubscriber = (seconds: number) => Math.round(events / seconds)
const row = (name: string, seconds: number) => [name, perSubscriber(seconds), perSubscriber(seconds) * subscribers]
report('subscribers', {
  title: `${subscribers} subscribers, backlog of ${events} sales`,
  columns: ['events/s each', 'events/s in all', 'exact'],
  rows: [
    [...row('bare: read and acknowledge', bareConsume), ''],
    [...row('bare: insert the keys, 500 at once', bareInsert), ''],
    [...row('subscribers', handled), isExact ? 'yes' : 'NO'],
  ],
})
if (!isExact || perSubscriber(handled) < leastPerSecond) process.exitCode = 1

async function publishBacklog(): Promise<void> {
  const stream = jetStream(platform.nats)
  const recordedAt = new Date().toISOString()
  for (let first = 0; first < events; first += 500) {
    const numbers = Array.from({ length: Math.min(500, events - first) }, (_, index) => first + index)
    const facts = { workspaceId: 'ws_bench', kind: 'sale' as const, partnerId: null, clickId: null, quantity: 1 }
    const sales = numbers.map((number) => ({
      ...{ ...facts, id: `evt_${number}`, customerId: `cus_${number % 500}`, linkNumber: '1', amount: number % 1_000 },
      ...{ currency: 'usd', saleNumber: null, recordedAt },
    }))
    const messages = sales.map((sale) => conversionRecordedMessage(sale, 0))
    await Promise.all(messages.map(({ subject, body }) => stream.publish(subject, JSON.stringify(body))))
  }
}

async function measure(work: () => Promise<void>): Promise<number> {
  const started = performance.now()
  await work()
  return (performance.now() - started) / 1_000
}

async function consumeBare(): Promise<void> {
  const manager = await jetstreamManager(platform.nats)
  await Promise.all(
    names.map(async (name) => {
      const durable_name = `bare-${name}`
      const filter_subject = conversionSubjects.sale
      await manager.consumers.add(changeStream, {
        ...{ durable_name, filter_subject, ack_policy: AckPolicy.Explicit, max_ack_pending: 2_000 },
      })
      const source = await (await jetStream(platform.nats).consumers.get(changeStream, durable_name)).consume()
      let read = 0
      for await (const message of source) {
        message.json()
        message.ack()
        if (++read === events) break
      }
      await manager.consumers.delete(changeStream, durable_name)
    }),
  )
}

async function insertBare(): Promise<void> {
  const ids = Array.from({ length: events }, (_, number) => `evt_${number}`)
  await Promise.all(
    names.map(async (name) => {
      for (let first = 0; first < events; first += 500) {
        await sql`INSERT INTO handled_events (subscriber, event_id)
          SELECT ${`bare-${name}`}, unnest(${ids.slice(first, first + 500)}::text[])`.execute(platform.db)
      }
    }),
  )
}

async function handleAll(): Promise<void> {
  const done = Promise.withResolvers<void>()
  const left = new Map(names.map((name) => [name, events]))
  const jobs = names.map((name) =>
    job({
      name,
      subject: conversionSubjects.sale,
      schema: conversionRecorded,
      async handle(platform, sales) {
        const fresh = await transaction(platform, async ({ db }) => {
          const claimed = await claimEvents(
            db,
            name,
            sales.map(({ id }) => id),
          )
          const amount = sales.filter(({ id }) => claimed.has(id)).reduce((sum, sale) => sum + sale.amount, 0)
          await sql`UPDATE sums SET events = events + ${claimed.size}, amount = amount + ${amount}
            WHERE subscriber = ${name}`.execute(db)
          return claimed.size
        })
        left.set(name, (left.get(name) ?? 0) - fresh)
        if ([...left.values()].every((count) => count <= 0)) done.resolve()
      },
    }),
  )
  await using _running = await startJobs(platform, jobs)
  await done.promise
}
