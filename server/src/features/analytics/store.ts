import { type ClickHouse, type QueryLimits, query } from '../../platform/clickhouse.ts'

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
/** The tables of the events, whose owner says what may be read in them. */
export type Tables = Record<Kind | RollupName | 'attributes', string>
/** The workspace first, and every value bound. */
export type Condition = { text: string; values: Record<string, unknown> }
/** `base_url` is the destination without its parameters, `start` the second at which a bucket of a series begins. */
export type CountKey = Column | Visitor | 'base_url' | 'start'
export type LinkAttribute = 'domain' | 'folder_id' | 'partner_id' | 'tag_ids'
export type Measure = 'clicks' | 'leads' | 'sales' | 'saleAmount'
/** The buckets of a rollup from one second up to another, which stand for the rows of that time. */
export type Rollup = { name: RollupName; dimension?: string; from: number; to: number }
export type Counting = {
  tables: Tables
  /** The condition for each kind of event that is counted. */
  wheres: Partial<Record<Kind, Condition>>
  keys: CountKey[]
  /** Instead of keys: what the link has now, each of several tags. */
  attribute?: LinkAttribute
  edges?: number[]
  rollup?: Rollup
  bots?: 'exclude' | 'include' | 'only'
  visitors?: boolean
  most: Measure
  limit: number
}
/** `keys` in the order asked for. */
export type Group = { keys: string[]; visitors: string } & Record<Measure, string>

/** Counts by these keys, most first; without keys the total. Groups whose counts are all zero are left out. */
export function selectGroups(clickhouse: ClickHouse, counting: Counting, limits: QueryLimits = {}): Promise<Group[]> {
  const { wheres, attribute, edges, rollup, most, limit } = counting
  const grouped = attribute ? ['attribute'] : counting.keys.map((_, index) => `key${index}`)
  const values: Record<string, unknown> = Object.assign({}, ...Object.values(wheres).map(({ values }) => values))
  const order = [...new Set([most, ...measures])].map((name) => `sum(part.${name}) DESC`)
  return query<Group>(
    clickhouse,
    `SELECT [${grouped.map((name) => `toString(${name})`).join(', ')}]::Array(String) AS keys,
  ${[...measures, 'visitors'].map((name) => `toString(sum(part.${name})) AS ${name}`).join(', ')}
FROM (
${partsOf(counting).join('\nUNION ALL\n')}
) AS part ${attribute ? joinOf(counting.tables.attributes, attribute) : ''}
${grouped.length > 0 ? `GROUP BY ${grouped.join(', ')}` : ''}
HAVING ${measures.map((name) => `sum(part.${name}) != 0`).join(' OR ')}
ORDER BY ${[...order, ...grouped].join(', ')}
LIMIT {limit:UInt32}`,
    { ...values, edges, middle: rollup?.from, end: rollup?.to, limit },
    limits,
  )
}

/** When the earliest bucket begins that holds anything, in seconds. The first of 1970 holds counts of no time. */
export async function selectFirstBucket(
  clickhouse: ClickHouse,
  workspaceId: string,
  tables: Tables,
): Promise<number | undefined> {
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
  sales: ['0', '0', 'sum(sales)', 'sum(amount)'],
}
const afterSecond = (name: string) => `timestamp >= toDateTime64({${name}:UInt32}, 3, 'UTC')`

/** The rows of each kind, and the buckets of the rollup in the middle of them. */
function partsOf({ tables, wheres, keys, attribute, rollup, bots, visitors }: Counting): string[] {
  const columns = attribute ? (['link_number'] as const) : keys
  const expressions = columns.map((key, index) => `${expressionOf(key)} AS key${index}`)
  const groupBy = columns.length > 0 ? `GROUP BY ${columns.map((_, index) => `key${index}`).join(', ')}` : ''
  const part = (source: string, sums: string[], people: string, condition: string) => {
    const counts = [...sums, people].map((sum, index) => `toInt64(${sum}) AS ${measures[index] ?? 'visitors'}`)
    return `  SELECT ${[...expressions, ...counts].join(', ')}\n  FROM ${source} WHERE ${condition} ${groupBy}`
  }
  const outside = rollup ? `AND NOT (${afterSecond('middle')} AND NOT ${afterSecond('end')})` : ''
  const parts = (Object.entries(wheres) as [Kind, Condition][]).map(([kind, { text }]) => {
    const people = visitors && kind === 'clicks' ? 'uniqExact(ip, device, browser, os)' : '0'
    return part(tables[kind], sumsOfRows[kind], people, `${text} ${outside}`)
  })
  const [condition] = Object.values(wheres)
  if (!rollup || !condition) return parts
  const sums = sumsOfBuckets(Object.keys(wheres), bots)
  return [...parts, part(bucketsAsRows(tables[rollup.name], rollup, bots), sums, '0', condition.text)]
}

/** Leads and sales are never of bots. */
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

/** Under the names that the columns of rows have, so that one condition serves both. */
function bucketsAsRows(table: string, { name, dimension }: Rollup, bots: Counting['bots']): string {
  const pieces = partsOfValue[dimension ?? '']
  const values = pieces
    ? pieces.map((column, index) => `splitByChar('\\t', value)[${index + 1}] AS ${column}`)
    : [`value AS ${dimension}`]
  const columns = { workspaceCounts: ['bots'], linkCounts: ['bots', 'link_number'], dimensionCounts: values }[name]
  const bucket = (bound: string) => {
    const moment = `toDateTime({${bound}:UInt32}, 'UTC')`
    return name === 'dimensionCounts' ? `toDate(${moment})` : moment
  }
  return `(
    SELECT workspace_id, toDateTime64(bucket, 3, 'UTC') AS timestamp, '${bots === 'only' ? 'some' : ''}' AS bot,
      ${[...columns, 'clicks', 'leads', 'sales', 'sale_amount'].join(', ')}
    FROM ${table} WHERE workspace_id = {workspaceId:String} AND bucket >= ${bucket('middle')} AND bucket < ${bucket('end')}
      ${dimension ? `AND dimension = '${dimension}'` : ''}
  )`
}

function expressionOf(key: CountKey): string {
  if (key === 'base_url') return 'cutFragment(cutQueryString(url))'
  return key === 'start' ? 'roundDown(toUnixTimestamp64Second(timestamp), {edges:Array(Int64)})' : key
}

function joinOf(table: string, attribute: LinkAttribute): string {
  const each = attribute === 'tag_ids' ? "arrayJoin(if(empty(tag_ids), [''], tag_ids))" : attribute
  return `LEFT JOIN (
  SELECT link_number AS key0, ${each} AS attribute FROM ${table} FINAL WHERE workspace_id = {workspaceId:String}
) AS link USING key0`
}
