import { sql } from 'kysely'
import {
  type AllWorkspacesClickHouse,
  atOnce,
  type ClickHouse,
  type QueryLimits,
  query,
} from '../../platform/clickhouse.ts'
import type { AllWorkspacesDb } from '../../platform/postgres.ts'
import { type Count, foldedName, isMonthly, type Sum, sources, summing, urlDimensions } from './sums.ts'

/** A month (its first day), its days from `from` on, and the workspaces to include; all when none is given. */
export type RollupRange = Mine & {
  month: string
  from?: string
  starts?: Starts
  /** Event rows that are not counted, because they are about to be deleted. */
  without?: { table: string; condition: string; values: Record<string, unknown> }
}
/** The first complete days of rollups that were added later; earlier days are not compared. */
export type Starts = { linkDays: string; urls: string; months: string }
type Mine = { workspaceId?: string; workspaceIds?: string[] }
export type DifferenceRow = Record<'workspace_id' | 'buckets' | 'missing' | 'surplus', string> & { counted: Count }

export async function selectMonths(
  clickhouse: AllWorkspacesClickHouse,
  workspaceId: string | undefined,
): Promise<string[]> {
  const within = `WHERE true ${ofWorkspace({ workspaceId })}`
  const days = sources.map((source) => {
    const { table } = summing({ rollup: 'workspace_counts', source })
    return `SELECT DISTINCT toDate(timestamp, 'UTC') AS bucket FROM ${table} ${within}`
  })
  const rows = await query<{ month: string }>(
    clickhouse,
    `SELECT DISTINCT toString(toStartOfMonth(bucket)) AS month FROM (
  ${days.join('\n  UNION ALL\n  ')}
  UNION ALL
  SELECT DISTINCT toDate(bucket, 'UTC') FROM workspace_counts ${within}
) ORDER BY month`,
    { workspaceId },
  )
  return rows.map(({ month }) => month)
}

/** Counts rollup buckets that differ from their event rows; skips buckets with events that may have expired. */
export async function selectDifferences(
  clickhouse: AllWorkspacesClickHouse,
  sum: Sum,
  range: RollupRange,
): Promise<DifferenceRow[]> {
  const pairs = Object.keys(summing(sum).counts).map((count) => `('${count}', ${count})`)
  return query<DifferenceRow>(
    clickhouse,
    `SELECT workspace_id, pair.1 AS counted, toString(count()) AS buckets,
  toString(sumIf(pair.2, pair.2 > 0)) AS missing, toString(-sumIf(pair.2, pair.2 < 0)) AS surplus
FROM (${differencesFragment(sum, range)}) ARRAY JOIN [${pairs.join(', ')}] AS pair
WHERE pair.2 != 0 GROUP BY workspace_id, counted ORDER BY workspace_id, counted`,
    range,
  )
}

/** Corrects a rollup: adds missing and subtracts surplus counts. Event inserts must be locked meanwhile. */
export async function repairRollup(clickhouse: AllWorkspacesClickHouse, sum: Sum, range: RollupRange): Promise<void> {
  const { without, ...values } = range
  const { rollup } = sum
  const { key, counts } = summing(sum)
  const columns = [key, ...Object.keys(counts), 'expires_on']
  const retention = rollup === 'dimension_counts' || rollup === 'dimension_months' ? ['kept_until'] : []
  await clickhouse.command({
    query: `INSERT INTO ${rollup} (${[...columns, ...retention].join(', ')})
SELECT ${[...columns, ...retention.map((column) => `expires_on AS ${column}`)].join(', ')} FROM (${differencesFragment(sum, range)})`,
    query_params: { ...values, ...without?.values },
    clickhouse_settings: { ...atOnce, distributed_product_mode: 'local' },
  })
}

function differencesFragment(sum: Sum, range: RollupRange): string {
  const { table, day, join, key, keyExpression, counts } = summing(sum)
  const names = Object.keys(counts)
  const ofRows = Object.entries(counts).map(([name, count]) => `toInt128(${count}) AS ${name}`)
  const from = range.from === undefined || isMonthly(sum.rollup) ? undefined : range.from
  const exclusion = range.without?.table === table ? `AND NOT (${range.without.condition})` : ''
  const within = (day: string) => `toStartOfMonth(${day}) = {month:Date}
    ${from === undefined ? '' : `AND ${day} >= {from:Date}`} ${ofWorkspace(range)}`
  return `SELECT ${[key, ...names].join(', ')}, expires AS expires_on FROM (
  SELECT ${[key, ...names.map((name) => `sum(${name}) AS ${name}`)].join(', ')}, min(expires_on) AS expires FROM (
    SELECT ${[keyExpression, ...ofRows].join(', ')}, min(event.expires_on) AS expires_on
    FROM ${table} AS event ${join} WHERE ${within(day)} ${exclusion} GROUP BY ${key}
    UNION ALL
    SELECT ${[key, ...names.map((name) => `-${name}`)].join(', ')}, expires_on FROM ${sum.rollup} WHERE ${within('toDate(bucket)')}
  ) GROUP BY ${key}
) WHERE expires > today() AND (${names.map((name) => `${name} != 0`).join(' OR ')}) ${sinceStart(sum, range)}`
}

function sinceStart({ rollup }: Sum, { starts }: RollupRange): string {
  if (!starts) return ''
  if (rollup === 'link_days') return `AND bucket >= toDate('${starts.linkDays}')`
  if (isMonthly(rollup)) return `AND bucket >= toDate('${starts.months}')`
  const names = urlDimensions.flatMap((name) => [name, foldedName(name)]).map((name) => `'${name}'`)
  return rollup === 'dimension_counts'
    ? `AND (dimension NOT IN (${names.join(', ')}) OR bucket >= toDate('${starts.urls}'))`
    : ''
}

export type LinkRange = { workspaceId?: string; first: bigint; last: bigint }
export type PeopleRow = { workspace_id: string; number: string; doubled: string; last: string }
export type StoredRow = { workspace_id: string; number: string; stored: string[]; last_bucket: string; doubled: string }

const linksWithin = (range: LinkRange) => `link_number BETWEEN {first:UInt64} AND {last:UInt64} ${ofWorkspace(range)}`

export function selectPeople(clickhouse: AllWorkspacesClickHouse, range: LinkRange): Promise<PeopleRow[]> {
  const { table } = summing({ rollup: 'link_counts', source: 'clicks' })
  return query<PeopleRow>(
    clickhouse,
    `SELECT workspace_id, toString(link_number) AS number, toString(count() - uniqExact(id)) AS doubled,
  toString(toUnixTimestamp64Milli(max(timestamp))) AS last
FROM ${table} WHERE ${linksWithin(range)} AND bot = ''
GROUP BY workspace_id, link_number`,
    range,
  )
}

/** Stored events per link: counted from rows or, for hours with possibly expired rows, taken from the rollup. */
export function selectStored(clickhouse: AllWorkspacesClickHouse, of: 'clicks' | 'leads and sales', range: LinkRange) {
  const from = of === 'clicks' ? (['clicks'] as const) : (['leads', 'sales'] as const)
  const counts: Count[] = of === 'clicks' ? ['clicks'] : ['leads', 'sales', 'sale_amount']
  const within = linksWithin(range)
  const ofRows = from.map((source) => {
    const { table, key, keyExpression, counts: sums } = summing({ rollup: 'link_counts', source })
    return `SELECT ${keyExpression}, [${counts.map((count) => `toInt128(${sums[count] ?? 0})`).join(', ')}] AS rows,
      arrayMap(row -> toInt128(0), rows) AS counts,
      toInt64(${of === 'clicks' ? '0' : 'count() - uniqExact(id)'}) AS doubles, min(event.expires_on) AS expires_on
    FROM ${table} AS event WHERE ${within} GROUP BY ${key}`
  })
  return query<StoredRow>(
    clickhouse,
    `SELECT workspace_id, toString(link_number) AS number, toString(sum(doubles)) AS doubled,
  arrayMap(sum -> toString(sum), sumForEach(if(expires > today(), rows, counted))) AS stored,
  toString(maxIf(toUnixTimestamp(bucket), arrayExists(count -> count > 0, counted))) AS last_bucket
FROM (
  SELECT workspace_id, link_number, bucket, sumForEach(rows) AS rows, sumForEach(counts) AS counted, sum(doubles) AS doubles,
    min(expires_on) AS expires
  FROM (
    ${ofRows.join('\n    UNION ALL\n    ')}
    UNION ALL
    SELECT workspace_id, link_number, bucket, arrayMap(count -> toInt128(0), counts), [${counts.map((count) => `toInt128(${count})`).join(', ')}] AS counts, 0, expires_on
    FROM link_counts WHERE ${within}
  )
  GROUP BY workspace_id, link_number, bucket
)
GROUP BY workspace_id, link_number
HAVING arrayExists(sum -> sum != '0', stored) OR doubled != '0'`,
    range,
  )
}

export type CountCorrection = { workspace_id: string; link_number: string } & Partial<Record<Count, number>>

/** Inserts rollup counts without event rows, dated to the first hour of 1970. */
export async function insertCorrections(clickhouse: ClickHouse, counts: CountCorrection[]): Promise<void> {
  if (counts.length === 0) return
  const values = counts.map((count) => ({ ...count, bucket: 0, expires_on: '1970-01-01' }))
  const insert = (table: string, ...more: string[]) =>
    clickhouse.insert({
      table,
      columns: ['workspace_id', 'bucket', 'clicks', 'leads', 'sales', 'sale_amount', 'expires_on', ...more],
      values,
      format: 'JSONEachRow',
      clickhouse_settings: atOnce,
    })
  await insert('link_counts', 'link_number')
  await insert('workspace_counts')
}

/** The values of a dimension that the rollup of a workspace and day counts separately. */
export async function selectValues(
  clickhouse: ClickHouse,
  of: { workspaceId: string; day: string; dimension: string; limit: number },
): Promise<string[]> {
  const rows = await query<{ value: string }>(
    clickhouse,
    `SELECT DISTINCT value FROM dimension_counts
WHERE workspace_id = {workspaceId:String} AND dimension = {dimension:String} AND bucket = {day:Date} LIMIT {limit:UInt32}`,
    of,
  )
  return rows.map(({ value }) => value)
}

/** Buckets of the daily or monthly rollup in [from, to), in Unix seconds; each range is within the one before. */
export type FoldedRange = { table: 'dimension_counts' | 'dimension_months'; from: number; to: number }

/** Those of the dimensions that have folded values in the first of the ranges. */
export async function selectFolded(
  clickhouse: ClickHouse,
  of: { workspaceId: string; dimensions: string[]; ranges: FoldedRange[] },
  limits: QueryLimits,
): Promise<string[]> {
  const isWithin = (index: number) =>
    ['from', 'to']
      .map((bound, n) => `bucket ${n ? '<' : '>='} toDate(toDateTime({${bound}${index}:UInt32}, 'UTC'))`)
      .join(' AND ')
  const parts = of.ranges.map(({ table }, index) => {
    const rest = of.ranges[index + 1] ? `AND NOT (${isWithin(index + 1)})` : ''
    return `SELECT DISTINCT dimension FROM ${table}
WHERE workspace_id = {workspaceId:String} AND dimension IN {names:Array(String)} AND ${isWithin(index)} ${rest}`
  })
  const bounds = of.ranges.flatMap(({ from, to }, index) => [
    [`from${index}`, from],
    [`to${index}`, to],
  ])
  const values = {
    workspaceId: of.workspaceId,
    names: of.dimensions.map(foldedName),
    ...Object.fromEntries(bounds),
  }
  const rows = await query<{ dimension: string }>(clickhouse, parts.join('\nUNION ALL\n'), values, limits)
  const found = new Set(rows.map(({ dimension }) => dimension))
  return of.dimensions.filter((name) => found.has(foldedName(name)))
}

export type StartRow = { rollup: 'link_days' | 'urls' | 'months'; first_day: string }

/** The first day from which each of the rollups that were added later has all events. */
export async function selectStarts(db: AllWorkspacesDb): Promise<StartRow[]> {
  const result = await sql<StartRow>`SELECT rollup, first_day::text FROM rollup_starts`.execute(db)
  return result.rows
}

export async function completeStarts(db: AllWorkspacesDb): Promise<void> {
  await sql`UPDATE rollup_starts SET first_day = '1970-01-01'`.execute(db)
}

function ofWorkspace({ workspaceId, workspaceIds }: Mine): string {
  if (workspaceId !== undefined) return 'AND workspace_id = {workspaceId:String}'
  return workspaceIds === undefined ? '' : 'AND workspace_id IN {workspaceIds:Array(String)}'
}
