import { availableParallelism } from 'node:os'
import { sql } from 'kysely'
import { rollupTables } from '../server/src/features/rollups/service.ts'
import type { FigureTable } from '../server/src/maintenance/sizing/figures.ts'
import { openClickHouse, query } from '../server/src/platform/clickhouse.ts'
import { sleep } from '../server/src/platform/clock.ts'
import { type BuiltWorkspace, buildWorkspace } from '../server/test/build.ts'
import { columnsByTable } from './data/columns.ts'
import { openBenchFolder } from './data/folder.ts'
import { readArguments, report } from './figures.ts'

/**
 * `npm run bench:data -- <folder> [clicks]`: generates events of 13 months inside ClickHouse, two fifths of them in one
 * workspace, with a lead for every 25 clicks and a sale for every 50. The folder stays, for `npm run bench:reading --
 * <folder>`. Reports the bytes of events and rollups on disk; for a folder that has its clicks already, it does only that.
 */
const [folder, clicksText = '50000000'] = readArguments()
if (folder === undefined) throw new Error('Give the data folder: npm run bench:data -- <folder> [clicks]')
const clicks = Number(clicksText)
const links = 5_000
const dayMs = 86_400_000
const spanMs = 395 * dayMs
const slices = Math.max(13, Math.ceil(clicks / 250_000))

await using bench = await openBenchFolder(folder)
const { db } = bench.platform
// An insert may take long on a busy machine, and repeating one after a timeout would double its events.
const clickhouse = openClickHouse(bench.platform.config, undefined, 600_000)
if (!bench.made) await makeEvents()
report('data', await measureSizes(bench.made?.clicks ?? clicks))
await clickhouse.close()

async function makeEvents(): Promise<void> {
  const until = Date.now()
  const workspace = await buildWorkspace(bench.platform)
  const first = await makeLinks(workspace)
  const started = performance.now()
  const insert = async (slice: number): Promise<void> => {
    // Each slice is a period of time, so that an insert touches only two or three monthly partitions.
    const [begin, end] = [slice, slice + 1].map((folder) => Math.floor((folder * clicks) / slices)) as [number, number]
    const [from, to] = [slice, slice + 1].map((folder) => until - spanMs + Math.floor((folder * spanMs) / slices)) as [
      number,
      number,
    ]
    const values = { workspaceId: workspace.id, first: String(first), links, from, lengthMs: to - from, until }
    await make('click_events', begin, end, 1, values)
    await make('lead_events', begin, end, 25, values)
    await make('sale_events', begin, end, 50, values)
    const perSecond = Math.round(end / ((performance.now() - started) / 1000))
    if (slice % 5 === 4) console.error(`${end} of ${clicks} clicks, ${perSecond}/s`)
  }
  // An insert uses one core.
  const waiting = Array.from({ length: slices }, (_, slice) => slice).values()
  const insertAll = async () => {
    for (const slice of waiting) await insert(slice)
  }
  await Promise.all(Array.from({ length: availableParallelism() }, insertAll))
  const seconds = Math.round((performance.now() - started) / 1000)
  const made = { hot: await linkAt(first + 1n), cold: await linkAt(first + BigInt(links) - 2n) }
  await bench.keep({ workspaceId: workspace.id, key: workspace.key, links: made, until, clicks })
  // ClickHouse merges each month of a rollup by itself when nothing was added to it for an hour.
  for (const rollup of Object.values(rollupTables)) {
    console.error(`merging ${rollup}`)
    await clickhouse.command({ query: `OPTIMIZE TABLE ${rollup} FINAL` })
  }
  await untilMerged()
  console.log(`${clicks} clicks, with leads and sales, in ${seconds} s`)
}

async function make(
  table: keyof typeof columnsByTable,
  begin: number,
  end: number,
  every: number,
  values: Record<string, unknown>,
): Promise<void> {
  const columns = Object.entries(columnsByTable[table])
  const count = Math.floor((end - begin) / every)
  await clickhouse.command({
    query: `INSERT INTO ${table} (${columns.map(([name]) => name).join(', ')})
SELECT ${columns.map(([name, expression]) => `${expression} AS ${name}`).join(',\n  ')}
FROM (SELECT {begin:UInt64} + number * {every:UInt32} AS n FROM numbers({count:UInt64}))
SETTINGS min_insert_block_size_rows = 1000000, insert_deduplicate = 0, prefer_column_name_to_alias = 1`,
    query_params: { ...values, begin, every, count },
  })
}

/** Creates links; returns the number of the first link. */
async function makeLinks(workspace: BuiltWorkspace): Promise<bigint> {
  const result = await sql<{ first: bigint }>`
    WITH made AS (
      INSERT INTO links (id, workspace_id, domain, key, lookup_key, url)
      SELECT 'link_' || gen_random_uuid(), ${workspace.id}, ${workspace.domain}, 'k' || n, 'k' || n,
        'https://example.com/page-' || n FROM generate_series(1, ${links}::int) n
      RETURNING number, workspace_id
    ), counted AS (
      INSERT INTO link_counters (link_number, workspace_id) SELECT number, workspace_id FROM made
    ) SELECT min(number) AS first FROM made`.execute(db)
  const first = result.rows[0]?.first ?? 0n
  await clickhouse.command({
    query: `INSERT INTO link_attributes (workspace_id, link_number, domain, version)
SELECT {workspaceId:String}, {first:UInt64} + number, {domain:String}, 1 FROM numbers({links:UInt32})`,
    query_params: { workspaceId: workspace.id, first: String(first), domain: workspace.domain, links },
  })
  return first
}

async function linkAt(number: bigint): Promise<{ id: string; number: string }> {
  const result = await sql<{ id: string }>`SELECT id FROM links WHERE number = ${number}`.execute(db)
  return { id: result.rows[0]?.id ?? '', number: String(number) }
}

/** Waits for ClickHouse merges, which would distort the measurement. */
async function untilMerged(): Promise<void> {
  for (let quiet = 0; quiet < 5; ) {
    const [row] = await query<{ merges: string }>(
      clickhouse,
      'SELECT toString(count()) AS merges FROM system.merges',
      {},
    )
    quiet = row?.merges === '0' ? quiet + 1 : 0
    await sleep(1_000)
  }
}

/** The bytes on disk of each event table and of all rollups, by row and by click. */
async function measureSizes(clicks: number): Promise<FigureTable> {
  const found = await query<{ table: string; rows: string; bytes: string }>(
    clickhouse,
    `SELECT table, toString(sum(rows)) AS rows, toString(sum(bytes_on_disk)) AS bytes
FROM system.parts WHERE active AND database = currentDatabase() GROUP BY table`,
    {},
  )
  const row = (name: string, tables: string[]) => {
    const chosen = found.filter(({ table }) => tables.includes(table))
    const rows = chosen.reduce((sum, { rows }) => sum + Number(rows), 0)
    const bytes = chosen.reduce((sum, { bytes }) => sum + Number(bytes), 0)
    return [name, rows, Math.round(bytes / 1e6), (bytes / rows).toFixed(1), (bytes / clicks).toFixed(1)]
  }
  return {
    title: `${clicks} clicks in ClickHouse`,
    columns: ['rows', 'MB', 'bytes a row', 'bytes a click'],
    rows: [
      ...Object.keys(columnsByTable).map((table) => row(table, [table])),
      row('rollups', Object.values(rollupTables)),
    ],
  }
}
