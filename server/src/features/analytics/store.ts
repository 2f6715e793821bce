import { type ClickHouse, type QueryLimits, query } from '../../platform/clickhouse.ts'
import { tables } from './tables.ts'

type Kind = 'clicks' | 'leads' | 'sales'
type RollupName = 'workspaceCounts' | 'linkCounts' | 'dimensionCounts'
type Column =
  | 'url'
  | 'referer_url'
  | 'referer'
  | 'trigger'
  | 'link_number'
  | 'country'
  | 'region'
  | 'city'
  | 'continent'
type Visitor = 'device' | 'browser' | 'os' | 'utm_source' | 'utm_medium' | 'utm_campaign' | 'utm_term' | 'utm_content'
/** A WHERE clause: workspace first, every value a bound parameter. */
export type Condition = { text: string; values: Record<string, unknown> }
/** A column to group by; `base_url` is the destination without query, `start` the start of a time series' bucket. */
export type CountKey = Column | Visitor | 'base_url' | 'start'
export type LinkAttribute = 'domain' | 'folder_id' | 'partner_id' | 'tag_ids'
export type Measure = 'clicks' | 'leads' | 'sales' | 'saleAmount'
/** The rollup buckets in [from, to), in Unix seconds, that replace event rows; `isAll` when no rows are needed. */
export type Rollup = { name: RollupName; dimension?: string; from: number; to: number; isAll: boolean }
export type Counting = {
  /** The WHERE clause of each counted event table. */
  wheres: Partial<Record<Kind, Condition>>
  keys: CountKey[]
  /** Groups by a current attribute of the link instead of keys; a link counts for each of its tags. */
  attribute?: LinkAttribute
  edges?: number[]
  rollup?: Rollup
  /** The same filters as SQL conditions on a rollup table; they use the bound parameters of `wheres`. */
  filters?: string[]
  bots?: 'exclude' | 'include' | 'only'
  visitors?: boolean
  most: Measure
  limit: number
}
/** The counts of a group; `keys` has its values in the requested order. */
export type Group = { keys: string[]; visitors?: string } & Record<Measure, string>

/** Counts events by these keys, highest first, or in total without keys. Omits groups whose counts are all zero. */
export function selectGroups(clickhouse: ClickHouse, counting: Counting, limits: QueryLimits = {}): Promise<Group[]> {
  const { wheres, attribute, edges, rollup, limit } = counting
  const grouped = attribute ? ['attribute'] : counting.keys.map((_, index) => `key${index}`)
  const values: Record<string, unknown> = Object.assign({}, ...Object.values(wheres).map(({ values }) => values))
  return query<Group>(
    clickhouse,
    `SELECT [${grouped.map((name) => `toString(${name})`).join(', ')}]::Array(String) AS keys,
  ${listMeasures(counting)
    .map((name) => `toString(sum(part.${name})) AS ${name}`)
    .join(', ')}
FROM (
${selectParts(counting).join('\nUNION ALL\n')}
) AS part ${attribute ? joinAttribute(attribute) : ''}
${grouped.length > 0 ? `GROUP BY ${grouped.join(', ')}` : ''}
${grouped.length > 0 && !edges?.length ? mostFirst(counting.most, grouped) : ''}`,
    { ...values, edges, middle: rollup?.from, end: rollup?.to, limit },
    limits,
  )
}

function mostFirst(most: Measure, grouped: string[]): string {
  const order = [...new Set([most, ...measures])].map((name) => `sum(part.${name}) DESC`)
  return `HAVING ${measures.map((name) => `sum(part.${name}) != 0`).join(' OR ')}
ORDER BY ${[...order, ...grouped].join(', ')}
LIMIT {limit:UInt32}`
}

/** The start of the workspace's first rollup bucket, in Unix seconds; 1970 is skipped, it has counts without a time. */
export async function selectFirstBucket(clickhouse: ClickHouse, workspaceId: string): Promise<number | undefined> {
  const [row] = await query<{ first: string }>(
    clickhouse,
    `SELECT toString(toUnixTimestamp(min(bucket))) AS first FROM ${tables.workspaceCounts}
WHERE workspace_id = {workspaceId:String} AND bucket > toDateTime(0, 'UTC')`,
    { workspaceId },
  )
  return Number(row?.first ?? 0) || undefined
}

const measures: Measure[] = ['clicks', 'leads', 'sales', 'saleAmount']
const sumsOfRows: Record<Kind, string[]> = {
  clicks: ['count()', '0', '0', '0'],
  leads: ['0', 'count()', '0', '0'],
  sales: ['0', '0', 'sum(sales)', 'sum(toInt128(amount))'],
}
const afterSecond = (name: string) => `timestamp >= toDateTime64({${name}:UInt32}, 3, 'UTC')`

function listMeasures({ visitors }: Counting): (Measure | 'visitors')[] {
  return visitors ? [...measures, 'visitors'] : measures
}

/** The subqueries to sum: event rows of each kind, and rollup buckets for the middle of the period. */
function selectParts(counting: Counting): string[] {
  const { wheres, keys, attribute, rollup, bots } = counting
  const columns = attribute ? (['link_number'] as const) : keys
  const expressions = columns.map((key, index) => `${countExpression(key)} AS key${index}`)
  const groupBy = columns.length > 0 ? `GROUP BY ${columns.map((_, index) => `key${index}`).join(', ')}` : ''
  const part = (sums: string[], source: string) => {
    const counts = listMeasures(counting).map(
      (name, index) => `${name === 'saleAmount' ? 'toInt128' : 'toInt64'}(${sums[index]}) AS ${name}`,
    )
    return `SELECT ${[...expressions, ...counts].join(', ')}\n  FROM ${source} ${groupBy}`
  }
  const outside = rollup ? `AND NOT (${afterSecond('middle')} AND NOT ${afterSecond('end')})` : ''
  const parts = (Object.entries(wheres) as [Kind, Condition][]).map(([kind, { text }]) => {
    const people = kind === 'clicks' ? 'uniqExact(ip, device, browser, os)' : '0'
    return `  ${part([...sumsOfRows[kind], people], `${tables[kind]} WHERE ${text} ${outside}`)}`
  })
  if (!rollup) return parts
  const ofBuckets = part(sumsOfBuckets(Object.keys(wheres), bots), selectBuckets(rollup, counting.filters))
  return [...(rollup.isAll ? [] : parts), `  WITH ${namesInBuckets(rollup).join(', ')} ${ofBuckets}`]
}

/** The sums over rollup buckets; leads and sales are never from bots. */
function sumsOfBuckets(kinds: string[], bots: Counting['bots'] = 'exclude'): string[] {
  const clicks = { exclude: 'sum(clicks)', include: 'sum(clicks + bots)', only: 'sum(bots)' }[bots]
  const counts = (kind: Kind) => kinds.includes(kind) && (kind === 'clicks' || bots !== 'only')
  return [
    counts('clicks') ? clicks : '0',
    counts('leads') ? 'sum(leads)' : '0',
    ...(counts('sales') ? ['sum(sales)', 'sum(sale_amount)'] : ['0', '0']),
  ]
}

const partsOfValue: Record<string, string[]> = { region: ['country', 'region'], city: ['country', 'region', 'city'] }

/** Aliases of rollup values with the names of event columns, so that the same conditions work for both. */
function namesInBuckets({ dimension }: Rollup): string[] {
  const pieces = partsOfValue[dimension ?? '']
  const values = pieces
    ? pieces.map((column, index) => `splitByChar('\\t', value)[${index + 1}] AS ${column}`)
    : dimension
      ? [`value AS ${dimension}`]
      : []
  return ["toDateTime64(bucket, 3, 'UTC') AS timestamp", ...values]
}

function selectBuckets({ name, dimension }: Rollup, filters: string[] = []): string {
  const bucket = (bound: string) => {
    const moment = `toDateTime({${bound}:UInt32}, 'UTC')`
    return name === 'dimensionCounts' ? `toDate(${moment})` : moment
  }
  const conditions = [
    'workspace_id = {workspaceId:String}',
    `bucket >= ${bucket('middle')}`,
    `bucket < ${bucket('end')}`,
    ...(dimension ? [`dimension = '${dimension}'`] : []),
    ...filters,
  ]
  return `${tables[name]} WHERE ${conditions.join(' AND ')}`
}

function countExpression(key: CountKey): string {
  if (key === 'base_url') return 'cutFragment(cutQueryString(url))'
  return key === 'start' ? 'roundDown(toUnixTimestamp64Second(timestamp), {edges:Array(Int64)})' : key
}

function joinAttribute(attribute: LinkAttribute): string {
  const each = attribute === 'tag_ids' ? "arrayJoin(if(empty(tag_ids), [''], tag_ids))" : attribute
  return `LEFT JOIN (
  SELECT link_number AS key0, ${each} AS attribute FROM ${tables.attributes} FINAL WHERE workspace_id = {workspaceId:String}
) AS link USING key0`
}
