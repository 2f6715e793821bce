import { chunks } from '../server/src/platform/batches.ts'
import { hashPartition } from '../server/src/platform/ids.ts'
import { ensureStreams } from '../server/src/platform/nats.ts'
import { buildLinks, someClicks } from './clicks.ts'
import { openBenchFolder } from './data/folder.ts'
import { readArguments, report } from './figures.ts'
import { clicksInMessage, type Ingested, ingestAll } from './ingest-log.ts'
import { failWhenMissed } from './table.ts'

/**
 * `npm run bench:growth -- <folder>...`: measures the CPU time of storing a click in folders of `bench:data`, whose numbers
 * of clicks differ. The least of several rounds, because merges of earlier rounds fall into some of them.
 */
const folders = readArguments()
if (folders.length < 2)
  throw new Error('Give two or more folders of bench:data: npm run bench:growth -- <folder> <folder>')
const rounds = 5
const clicks = 200_000

const measured: { stored: number; worker: number; clickHouse: number; all: number }[] = []
for (const folder of folders) measured.push(await measure(folder))
measured.sort((a, b) => a.stored - b.stored)
const least = measured[0]?.all ?? 0
report('growth', {
  title: 'clicks stored before',
  columns: ['worker, µs a click', 'ClickHouse, µs a click', 'both', '× the first'],
  rows: measured.map(({ stored, worker, clickHouse, all }) => [
    stored,
    worker.toFixed(1),
    clickHouse.toFixed(1),
    all.toFixed(1),
    (all / least).toFixed(2),
  ]),
})
failWhenMissed(
  measured.map(({ stored, all }) => ({
    name: `µs a click at ${stored} clicks × the first`,
    figure: all / least,
    atMost: 1.15,
  })),
)

async function measure(folder: string): Promise<(typeof measured)[number]> {
  await using bench = await openBenchFolder(folder)
  const { platform, made } = bench
  if (!made) throw new Error(`${folder} has no clicks: run npm run bench:data -- ${folder}`)
  await ensureStreams(platform.nats, platform.config)
  const links = await buildLinks(platform, 200)
  const partition = hashPartition(links[0]?.workspaceId ?? '', platform.config.EVENT_PARTITIONS)
  const runs: Ingested[] = []
  for (let round = 1; round <= rounds; round++) {
    runs.push(await ingestAll(bench, partition, [...chunks(someClicks(platform, links, clicks), clicksInMessage)]))
    console.error(`${made.clicks} clicks, round ${round} of ${rounds}: ${runs.at(-1)?.perSecond}/s`)
  }
  const sums = runs.map(({ workerCpu, clickHouseCpu }) => ({
    worker: workerCpu,
    clickHouse: clickHouseCpu,
    all: workerCpu + clickHouseCpu,
  }))
  const [best] = sums.sort((a, b) => a.all - b.all)
  return { stored: made.clicks, ...(best as (typeof sums)[number]) }
}
