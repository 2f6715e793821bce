import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { prepare } from '../server/src/features/ingest/service.ts'
import { clicksSubject } from '../server/src/features/redirect/messages.ts'
import { sleep } from '../server/src/platform/clock.ts'
import { hashPartition } from '../server/src/platform/ids.ts'
import { ensureStreams, openPublisher } from '../server/src/platform/nats.ts'
import { startServer } from '../server/test/server-process.ts'
import { buildLinks, someClicks } from './clicks.ts'
import { readArguments, report } from './figures.ts'
import { openBench } from './stack.ts'
import { failWhenMissed, middle } from './table.ts'

/** Measures ingest from NATS to ClickHouse, beside the bare client inserting the same rows. */
const [clicks = 300_000] = readArguments().map(Number)
const rounds = 5
const clicksInMessage = 100
const rowsInInsert = 20_000

await using bench = await openBench()
const { platform, environment } = bench
await ensureStreams(platform.nats, platform.config)
const links = await buildLinks(platform, 200)
const partition = hashPartition(links[0]?.workspaceId ?? '', platform.config.EVENT_PARTITIONS)
const messages = chunks(someClicks(platform, links, clicks), clicksInMessage)
const { rows } = await prepare(
  platform,
  { partition, owner: 'bench' },
  messages.map((body, n) => ({ sequence: n, body })),
)
const columns = Object.keys(rows[0] as object) as [string, ...string[]]
const compactRows = rows.map((row) => Object.values(row))
await platform.clickhouse.command({ query: 'CREATE TABLE bare_events AS click_events' })

const perSecond = { bare: [] as number[], compact: [] as number[], ours: [] as number[] }
for (let round = 1; round <= rounds; round++) {
  perSecond.bare.push(await insertBare('JSONEachRow', rows))
  perSecond.compact.push(await insertBare('JSONCompactEachRow', compactRows))
  perSecond.ours.push(await ingestAll())
  console.error(`round ${round} of ${rounds}: bare ${perSecond.bare.at(-1)}/s, ours ${perSecond.ours.at(-1)}/s`)
}
const beside = (list: number[]) => middle(list.map((rate, round) => rate / (perSecond.bare[round] ?? 1)))
const row = (name: string, list: number[]) => [name, middle(list), beside(list).toFixed(2)]
report('ingest', {
  title: `ingest, ${clicks} clicks`,
  columns: ['rows/s', '× bare'],
  rows: [
    row(`bare insert of the same rows, ${rowsInInsert} at once, JSONEachRow`, perSecond.bare),
    row('the same as JSONCompactEachRow', perSecond.compact),
    row('log → steps → rows, rollups and counters', perSecond.ours),
  ],
})
failWhenMissed([{ name: 'ingest, rows/s × bare', figure: beside(perSecond.ours), atLeast: 0.6 }])

async function insertBare<Row>(format: 'JSONEachRow' | 'JSONCompactEachRow', ready: Row[]): Promise<number> {
  const started = performance.now()
  for (const values of chunks(ready, rowsInInsert))
    await platform.clickhouse.insert({ table: 'bare_events', columns, values, format })
  return Math.round(clicks / ((performance.now() - started) / 1000))
}

/** The clock starts with the first stored batch, to exclude the worker's start. */
async function ingestAll(): Promise<number> {
  await platform.valkey.flushall()
  const before = await stored()
  using publisher = openPublisher(platform.nats, 30_000)
  for (const some of chunks(messages, 50))
    await Promise.all(
      some.map((body) =>
        publisher.publish({ subject: clicksSubject(partition), id: randomUUID(), body: JSON.stringify(body) }),
      ),
    )
  const worker = await startServer({ ...environment, ROLES: 'worker' })
  try {
    let first: { sequence: number; at: number } | undefined
    for (;;) {
      const sequence = await stored()
      const at = performance.now()
      if (sequence > before && !first) first = { sequence, at }
      if (first && sequence >= before + messages.length)
        return Math.round(((sequence - first.sequence) * clicksInMessage) / ((at - first.at) / 1000))
      await sleep(20)
    }
  } finally {
    await worker.stop()
  }
}

async function stored(): Promise<number> {
  const found = await sql<{ sequence: bigint }>`
    SELECT sequence FROM ingest_cursors WHERE partition = ${partition}`.execute(platform.db)
  return Number(found.rows[0]?.sequence ?? 0)
}

function chunks<T>(list: T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, n) => list.slice(n * size, (n + 1) * size))
}
