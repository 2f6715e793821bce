import { sql } from 'kysely'
import { query } from '../server/src/platform/clickhouse.ts'
import { sleep } from '../server/src/platform/clock.ts'
import { buildLink, buildWorkspace } from '../server/test/build.ts'
import { startServer } from '../server/test/server-process.ts'
import { readArguments, report } from './figures.ts'
import { runLoad } from './run-load.ts'
import { openBench } from './stack.ts'
import { failWhenMissed } from './table.ts'

/** Measures the pipeline from redirect to ClickHouse rows and counters: a steady load, and how far the counters lag behind. */
const [rate = 12_200, seconds = 60] = readArguments().map(Number)
const connections = 64

await using bench = await openBench()
const { platform, environment } = bench
const workspace = await buildWorkspace(platform)
const links = await Promise.all(
  Array.from({ length: 200 }, (_, n) => buildLink(platform, workspace, { key: `bench-${n}` })),
)
const [redirect, worker] = await Promise.all([
  startServer({ ...environment, ROLES: 'redirect' }),
  startServer({ ...environment, ROLES: 'worker' }),
])
const target = {
  url: redirect.redirect,
  host: workspace.domain,
  paths: links.map((link) => `/${link.key}`),
  connections,
  rate,
}
let isOver = false
try {
  const warm = await runLoad({ ...target, seconds: 5 })
  const before = await waitForRows(Number.POSITIVE_INFINITY)
  const lags = watchLag()
  const load = await runLoad({ ...target, seconds, distinct: true })
  const ended = performance.now()
  const stored = await waitForRows(before + load.answered)
  isOver = true
  const rows = await storedRows()
  const worst = Math.max(0, ...(await lags))
  console.error(
    `warmed up with ${warm.answered} clicks; the last click was counted ${Math.round(performance.now() - ended)} ms after the end`,
  )
  const columns = ['clicks/s', 'p50 ms', 'p99 ms', 'failures', 'maximum lag, s', 'answered', 'counted', 'rows']
  const figures = [
    Math.round(load.perSecond),
    load.p50.toFixed(1),
    load.p99.toFixed(1),
    load.failures,
    worst.toFixed(1),
  ]
  report('pipeline', {
    title: `end to end, ${seconds} s at ${rate}/s`,
    columns,
    rows: [['ack', ...figures, load.answered, stored - before, rows - before]],
  })
  failWhenMissed([
    { name: 'end to end, clicks/s', figure: load.perSecond, atLeast: 12_000 },
    { name: 'end to end, lag in seconds', figure: worst, atMost: 2 },
    { name: 'end to end, failures', figure: load.failures, atMost: 0 },
    { name: 'end to end, counted', figure: stored - before, atLeast: load.answered, atMost: load.answered },
    { name: 'end to end, rows', figure: rows - before, atLeast: load.answered, atMost: load.answered },
  ])
} finally {
  isOver = true
  await Promise.all([redirect.stop(), worker.stop()])
}

/** Reads the worker's metric for the age of the oldest uncounted click, once a second. */
async function watchLag(): Promise<number[]> {
  const lags: number[] = []
  while (!isOver) {
    const text = await (await fetch(`${worker.ops}/metrics`)).text()
    for (const [, value] of text.matchAll(/^tributary_ingest_lag_seconds\{[^}]*\} (\S+)$/gm)) lags.push(Number(value))
    await sleep(1_000)
  }
  return lags
}

/** Waits until the expected number of clicks is counted, or the count stalls. */
async function waitForRows(expected: number): Promise<number> {
  for (let [last, stuck] = [-1, 0]; ; await sleep(500)) {
    const now = await counted()
    stuck = now === last ? stuck + 1 : 0
    last = now
    if (now >= expected || stuck > 20) return now
  }
}

async function counted(): Promise<number> {
  const found = await sql<{ clicks: bigint }>`
    SELECT coalesce(sum(clicks), 0)::bigint AS clicks FROM link_counters`.execute(platform.db)
  return Number(found.rows[0]?.clicks ?? 0)
}

async function storedRows(): Promise<number> {
  const [row] = await query<{ rows: string }>(platform.clickhouse, 'SELECT count() AS rows FROM click_events', {})
  return Number(row?.rows)
}
