import { type ClickHouse, type QueryLimits, query } from '../../platform/clickhouse.ts'
import { tables } from './tables.ts'

type Kind = 'clicks' | 'leads' | 'sales'
export type RollupName = Exclude<keyof typeof tables, 'clicks' | 'leads' | 'sales' | 'attributes' | 'partnerAttributes'>
/** A WHERE clause: workspace first, every value a bound parameter. */
export type Condition = { text: string; values: Record<string, unknown> }
/** A column to count totals by; `start` is the start of a time series' bucket. */
export type TotalKey = 'link_number' | 'start'
export type LinkAttribute =
  | ('link_number' | 'domain' | 'folder_id' | 'partner_id' | 'tag_ids')
  | ('group_id' | 'partner_tag_ids')
export type Measure = 'clicks' | 'leads' | 'sales' | 'saleAmount'
/** The rollup buckets in [from, to), in Unix seconds, that replace event rows or the buckets of a finer rollup. */
export type Range = { rollup: RollupName; from: number; to: number }
/** A dimension with the SQL of its value in an event row, and the columns that the value is made from. */
export type Dimension = { name: string; columns: string[]; expression: string }
export type Counting = {
  /** The WHERE clause of each counted event table. */
  wheres: Partial<Record<Kind, Condition>>
  /** Each range is within the one before; event rows cover what is outside of the first. */
  ranges: Range[]
  period: { from: Date; to: Date }
  /** The same filters as SQL conditions on a rollup table; they use the bound parameters of `wheres`. */
  filters: string[]
  bots: 'exclude' | 'include' | 'only'
}
type Counts = Record<Measure, string>
export type Total = Counts & { link_number?: string; start?: string; visitors?: string }
/** The counts of a value; a value with parts, such as a city, has them separated by tabs. */
export type ValueCount = Counts & { name: string; value: string }
/** How many values to return of each name, and the measure to sort them by, highest first. */
export type Top = { most: Measure; limit: number }

const measures: Measure[] = ['clicks', 'leads', 'sales', 'saleAmount']
const sumsOfRows: Record<Kind, string[]> = {
  clicks: ['count()', '0', '0', '0'],
  leads: ['0', 'count()', '0', '0'],
  sales: ['0', '0', 'sum(sales)', 'sum(toInt128(amount))'],
}

/** Counts events in total, by link, by bucket of a time series, or by both. */
export function selectTotals(
  clickhouse: ClickHouse,
  counting: Counting & { keys: TotalKey[]; dimension?: Dimension; edges: number[]; visitors: boolean },
  limits: QueryLimits = {},
): Promise<Total[]> {
  const { keys, edges, dimension, visitors } = counting
  const groupBy = keys.length > 0 ? `GROUP BY ${keys.join(', ')}` : ''
  const parts = selectParts(counting, { columns: keys, groupBy, dimensions: dimension ? [dimension] : [], visitors })
  const sums = visitors ? [...measures, 'visitors'] : measures
  return query<Total>(
    clickhouse,
    `SELECT ${[...keys.map((key) => `toString(part.${key}) AS ${key}`), ...sums.map(sumText)].join(', ')}
FROM (
${parts.join('\nUNION ALL\n')}
) AS part ${keys.length > 0 ? `GROUP BY ${keys.map((key) => `part.${key}`).join(', ')}` : ''}`,
    { ...listValues(counting), edges },
    limits,
  )
}

/** The link of an event, as a dimension of event rows. */
export const linkDimension: Dimension = {
  name: 'link_number',
  columns: ['link_number'],
  expression: 'link_number',
}
const rowStart = 'roundDown(toUnixTimestamp64Second(timestamp), {edges:Array(Int64)})'
/** The bucket of a time series that an event is in, as a dimension of event rows. */
export const startDimension: Dimension = { name: 'start', columns: [rowStart], expression: rowStart }
/** All events in one group, as a dimension of event rows. */
export const totalDimension: Dimension = { name: 'total', columns: [], expression: "''" }

/** Counts events by the values of dimensions, and the buckets of a time series. Omits values whose counts are all zero. */
export function selectValues(
  clickhouse: ClickHouse,
  counting: Counting & { dimensions: Dimension[]; edges?: number[] } & Top,
  limits: QueryLimits = {},
): Promise<ValueCount[]> {
  const { dimensions } = counting
  const groupBy = 'GROUP BY name, value'
  const parts = selectParts(counting, { columns: ['name', 'value'], groupBy, dimensions, visitors: false })
  return selectTop(clickhouse, counting, parts.join('\nUNION ALL\n'), dimensions.length, limits)
}

/** Counts events by links or by current attributes of links and partners; a link counts for each of its tags. */
export function selectLinkCounts(
  clickhouse: ClickHouse,
  counting: Counting & { attributes: LinkAttribute[] } & Top,
  limits: QueryLimits = {},
): Promise<ValueCount[]> {
  const { attributes } = counting
  const columns = ['link_number']
  const parts = selectParts(counting, { columns, groupBy: 'GROUP BY link_number', dimensions: [], visitors: false })
  const pairs = attributes.map((name) =>
    name === 'tag_ids' || name === 'partner_tag_ids'
      ? `arrayMap(tag -> ('${name}', toString(tag)), if(empty(${name}), [''], ${name}))`
      : `[('${name}', toString(${name === 'link_number' ? 'part.link_number' : name}))]`,
  )
  const counts = `SELECT link_number, ${measures.map((name) => `sum(${name}) AS ${name}`).join(', ')}
FROM (
${parts.join('\nUNION ALL\n')}
) GROUP BY link_number`
  const isOnlyLinks = attributes.every((name) => name === 'link_number')
  const source = isOnlyLinks
    ? `SELECT 'link_number' AS name, toString(link_number) AS value, ${measures.join(', ')} FROM (${counts})`
    : `SELECT pair.1 AS name, pair.2 AS value, ${measures.join(', ')} FROM (${counts}) AS part
LEFT JOIN (
${attributes.some(isOfPartner) ? linksWithPartners : ofLinks}
) AS link USING link_number
ARRAY JOIN arrayConcat(${pairs.join(', ')}) AS pair`
  return selectTop(clickhouse, counting, source, attributes.length, limits)
}

function isOfPartner(name: LinkAttribute): boolean {
  return name === 'group_id' || name === 'partner_tag_ids'
}

const ofLinks = `SELECT link_number, domain, folder_id, partner_id, tag_ids FROM ${tables.attributes} FINAL
WHERE workspace_id = {workspaceId:String}`
const linksWithPartners = `SELECT * FROM (
${ofLinks}
) AS own LEFT JOIN (
  SELECT partner_id, group_id, tag_ids AS partner_tag_ids FROM ${tables.partnerAttributes} FINAL
  WHERE workspace_id = {workspaceId:String}
) AS partner USING partner_id`

const mostBytes = 16_000_000

/** Sums the counts of each name and value, and returns the highest of each name; names share `mostBytes` of text. */
function selectTop(
  clickhouse: ClickHouse,
  counting: Counting & Top & { edges?: number[] },
  source: string,
  names: number,
  limits: QueryLimits,
): Promise<ValueCount[]> {
  const order = [...new Set([counting.most, ...measures])].map((name) => `${name} DESC`).join(', ')
  return query<ValueCount>(
    clickhouse,
    `SELECT name, value, ${measures.map((name) => `toString(top.${name}) AS ${name}`).join(', ')}
FROM (
SELECT *, sum(length(value) + 1) OVER (
  PARTITION BY name ORDER BY ${order}, value ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS bytes
FROM (
SELECT name, value, ${measures.map((name) => `sum(part.${name}) AS ${name}`).join(', ')}
FROM (
${source}
) AS part
GROUP BY name, value
HAVING ${measures.map((name) => `${name} != 0`).join(' OR ')}
ORDER BY name, ${order}, value
LIMIT {limit:UInt32} BY name, if(name = 'start', value, '')
)
) AS top
WHERE bytes <= {bytes:UInt64}
ORDER BY name, bytes`,
    {
      ...listValues(counting),
      edges: counting.edges ?? [],
      limit: counting.limit,
      bytes: Math.floor(mostBytes / names),
    },
    limits,
  )
}

/** The start of the first rollup bucket of links that match the conditions, in Unix seconds; 1970 is skipped, it has counts without a time. */
export async function selectFirstBucket(
  clickhouse: ClickHouse,
  workspaceId: string,
  limits: QueryLimits,
  { conditions, values }: { conditions: string[]; values: Record<string, unknown> },
): Promise<number | undefined> {
  const table = conditions.length > 0 ? tables.linkCounts : tables.workspaceCounts
  const [row] = await query<{ first: string }>(
    clickhouse,
    `SELECT toString(toUnixTimestamp(min(bucket))) AS first FROM ${table}
WHERE ${['workspace_id = {workspaceId:String}', "bucket > toDateTime(0, 'UTC')", ...conditions].join(' AND ')}`,
    { ...values, workspaceId },
    limits,
  )
  return Number(row?.first ?? 0) || undefined
}

const startExpression = (second: string) => `roundDown(toInt64(${second}), {edges:Array(Int64)}) AS start`
const sumText = (name: string) => `toString(sum(part.${name})) AS ${name}`

type Shape = { columns: string[]; groupBy: string; dimensions: Dimension[]; visitors: boolean }

/** The subqueries to sum: the buckets of each rollup, and the event rows of each kind. */
function selectParts(counting: Counting, shape: Shape): string[] {
  const { wheres, ranges, bots } = counting
  const kinds = Object.keys(wheres) as Kind[]
  const ofRollups = ranges.map((_, index) => selectBuckets(counting, index, shape, bucketSums(kinds, bots)))
  if (isWhole(counting)) return ofRollups
  const rest = ranges.length > 0 ? `\n  AND NOT (${isWithin('timestamp', 'rows', 0)})` : ''
  const ofRows = kinds.map((kind) => {
    const source = `${tables[kind]} WHERE ${wheres[kind]?.text}${rest}`
    const people = kind === 'clicks' ? 'uniqExact(ip, device, browser, os)' : '0'
    return selectRows(source, shape, [...sumsOfRows[kind], people])
  })
  return [...ofRollups, ...(shape.columns.includes('value') ? [nameGroups(ofRows, shape.dimensions)] : ofRows)]
}

/** Whether the first range is the whole period, so that no event row is needed. */
function isWhole({ ranges: [first], period }: Counting): boolean {
  return first?.from === period.from.getTime() / 1000 && first.to >= period.to.getTime() / 1000
}

/** The subquery of event rows of one kind. It reads them once for all dimensions. */
function selectRows(source: string, { columns, groupBy, dimensions, visitors }: Shape, sums: string[]): string {
  const counts = countColumns(sums, visitors)
  if (!columns.includes('value')) {
    const start = startExpression('toUnixTimestamp64Second(timestamp)')
    const found = columns.map((column) => (column === 'start' ? start : column))
    return `SELECT ${[...found, ...counts].join(', ')}\nFROM ${source}\n${groupBy}`
  }
  const keys = listKeys(dimensions)
  const shown = [...keys].map(([column, key]) => (column === key ? key : `${column} AS ${key}`))
  const sets = dimensions.map(({ columns }) => `(${columns.map((column) => keys.get(column)).join(', ')})`)
  return `SELECT ${[`grouping(${[...keys.values()].join(', ')}) AS grouped`, ...shown, ...counts].join(', ')}
FROM ${source}
GROUP BY GROUPING SETS (${sets.join(', ')})`
}

/** Names the groups of all kinds at once: ClickHouse plans a statement the longer, the more expressions it has. */
function nameGroups(ofRows: string[], dimensions: Dimension[]): string {
  const keys = listKeys(dimensions)
  const choose = (of: (dimension: Dimension) => string) => {
    const cases = dimensions.map((dimension) => `grouped = ${groupingMask(keys, dimension)}, ${of(dimension)}`)
    return `multiIf(${cases.join(', ')}, '')`
  }
  const name = choose(({ name }) => `'${name}'`)
  const value = choose(({ expression }) => `toString(${keys.get(expression) ?? expression})`)
  return `SELECT ${name} AS name, ${value} AS value, ${measures.join(', ')} FROM (
${ofRows.join('\nUNION ALL\n')}
)`
}

/** The columns by which dimensions group event rows, with their names in a subquery. */
function listKeys(dimensions: Dimension[]): Map<string, string> {
  const columns = new Set(dimensions.flatMap(({ columns }) => columns))
  return new Map([...columns].map((column, index) => [column, /^\w+$/.test(column) ? column : `key${index}`]))
}

/** What `grouping` returns for the groups of a dimension: a bit for each key, 1 for a key that is none of its columns. */
function groupingMask(keys: Map<string, string>, { columns }: Dimension): number {
  return [...keys.keys()].reduce((mask, key) => mask * 2 + (columns.includes(key) ? 0 : 1), 0)
}

function selectBuckets(
  { ranges, filters }: Counting,
  index: number,
  { columns, groupBy, dimensions, visitors }: Shape,
  sums: string[],
): string {
  const { rollup } = ranges[index] as Range
  const conditions = [
    'workspace_id = {workspaceId:String}',
    isWithin('bucket', rollup, index),
    ...(ranges[index + 1] ? [`NOT (${isWithin('bucket', rollup, index + 1)})`] : []),
    ...(dimensions.length > 0 ? [`dimension IN (${dimensions.map(({ name }) => `'${name}'`).join(', ')})`] : []),
    ...filters,
  ]
  const names: Record<string, string> = {
    name: 'dimension AS name',
    start: startExpression("toUnixTimestamp(toDateTime(bucket, 'UTC'))"),
  }
  const found = columns.map((column) => names[column] ?? column)
  // Conditions name the column of an event, so the value gets its name.
  const isFiltered = dimensions.length === 1 && filters.length > 0
  const table = isFiltered ? `(SELECT *, value AS ${dimensions[0]?.name} FROM ${tables[rollup]})` : tables[rollup]
  return `SELECT ${[...found, ...countColumns(sums, visitors)].join(', ')}
FROM ${table} WHERE ${conditions.join(' AND ')}
${groupBy}`
}

/** Whether a row or bucket is within a range, whose bounds are the parameters `from0`, `to0` and so on. */
function isWithin(column: string, of: RollupName | 'rows', index: number): string {
  const bound = (name: string) => {
    const parameter = `{${name}${index}:UInt32}`
    if (of === 'rows') return `toDateTime64(${parameter}, 3, 'UTC')`
    const moment = `toDateTime(${parameter}, 'UTC')`
    return of === 'workspaceCounts' || of === 'linkCounts' ? moment : `toDate(${moment})`
  }
  return `${column} >= ${bound('from')} AND ${column} < ${bound('to')}`
}

function countColumns(sums: string[], visitors: boolean): string[] {
  const names = visitors ? [...measures, 'visitors'] : measures
  return names.map((name, index) => `${name === 'saleAmount' ? 'toInt128' : 'toInt64'}(${sums[index]}) AS ${name}`)
}

/** The sums over rollup buckets; leads and sales are never from bots. */
function bucketSums(kinds: Kind[], bots: Counting['bots']): string[] {
  const clicks = { exclude: 'sum(clicks)', include: 'sum(clicks + bots)', only: 'sum(bots)' }[bots]
  const counts = (kind: Kind) => kinds.includes(kind) && (kind === 'clicks' || bots !== 'only')
  return [
    counts('clicks') ? clicks : '0',
    counts('leads') ? 'sum(leads)' : '0',
    ...(counts('sales') ? ['sum(sales)', 'sum(sale_amount)'] : ['0', '0']),
  ]
}

function listValues({ wheres, ranges }: Counting): Record<string, unknown> {
  const bounds = ranges.flatMap(({ from, to }, index) => [
    [`from${index}`, from],
    [`to${index}`, to],
  ])
  return Object.assign({}, ...Object.values(wheres).map(({ values }) => values), Object.fromEntries(bounds))
}
