import { prepare } from '../server/src/features/ingest/service.ts'
import { chunks } from '../server/src/platform/batches.ts'
import { hashPartition } from '../server/src/platform/ids.ts'
import { ensureStreams } from '../server/src/platform/nats.ts'
import { buildLinks, someClicks } from './clicks.ts'
import { readArguments, report } from './figures.ts'
import { clicksInMessage, type Ingested, ingestAll } from './ingest-log.ts'
import { openBench } from './stack.ts'
import { failWhenMissed, middle } from './table.ts'

/** Measures ingest from NATS to ClickHouse, beside the bare client inserting the same rows. */
const [clicks = 300_000] = readArguments().map(Number)
const rounds = 5
const rowsInInsert = 20_000

await using bench = await openBench()
const { platform } = bench
await ensureStreams(platform.nats, platform.config)
const links = await buildLinks(platform, 200)
const partition = hashPartition(links[0]?.workspaceId ?? '', platform.config.EVENT_PARTITIONS)
// New clicks for each round: the worker would look up late ones in ClickHouse.
const buildMessages = () => [...chunks(someClicks(platform, links, clicks), clicksInMessage)]
const { rows } = await prepare(
  platform,
  { partition, owner: 'bench' },
  buildMessages().map((body, n) => ({ sequence: n, body })),
)
const columns = Object.keys(rows[0] as object) as [string, ...string[]]
const compactRows = rows.map((row) => Object.values(row))
await platform.clickhouse.command({ query: 'CREATE TABLE bare_events AS click_events' })

const ingested: Ingested[] = []
const perSecond = { bare: [] as number[], compact: [] as number[], ours: [] as number[] }
for (let round = 1; round <= rounds; round++) {
  perSecond.bare.push(await insertBare('JSONEachRow', rows))
  perSecond.compact.push(await insertBare('JSONCompactEachRow', compactRows))
  ingested.push(await ingestAll(bench, partition, buildMessages()))
  perSecond.ours.push(ingested.at(-1)?.perSecond ?? 0)
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
const cpu = (figure: 'workerCpu' | 'clickHouseCpu') => middle(ingested.map((run) => run[figure])).toFixed(1)
console.log(`\nCPU time of a click: worker ${cpu('workerCpu')} µs, ClickHouse ${cpu('clickHouseCpu')} µs`)
failWhenMissed([{ name: 'ingest, rows/s × bare', figure: beside(perSecond.ours), atLeast: 0.9 }])

async function insertBare<Row>(format: 'JSONEachRow' | 'JSONCompactEachRow', ready: Row[]): Promise<number> {
  const started = performance.now()
  for (const values of chunks(ready, rowsInInsert))
    await platform.clickhouse.insert({ table: 'bare_events', columns, values, format })
  return Math.round(clicks / ((performance.now() - started) / 1000))
}
