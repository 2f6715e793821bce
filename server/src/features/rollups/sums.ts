import { eventTables } from '../event-storage/service.ts'

export type Rollup = 'workspace_counts' | 'link_counts' | 'link_days' | 'dimension_counts'
export type Source = 'clicks' | 'leads' | 'sales'
/** The part of a rollup that sums the rows of one event table. */
export type Sum = { rollup: Rollup; source: Source }
export type Count = 'clicks' | 'bots' | 'leads' | 'sales' | 'sale_amount'
/** How a rollup is computed from an event table: its key columns, and the SQL expressions of key and counts. */
export type Summing = {
  table: string
  join: string
  key: string
  keyExpression: string
  counts: Partial<Record<Count, string>>
}

export const sources: Source[] = ['clicks', 'leads', 'sales']

// Hours of links come before days: a view adds every change of the hours to the days.
export const sums: Sum[] = (['workspace_counts', 'link_counts', 'link_days', 'dimension_counts'] as const).flatMap(
  (rollup) => sources.map((source) => ({ rollup, source })),
)

/** Must match the materialized views of migrations 0004, 0006 and 0017. The event table's alias is `event`. */
export function summing({ rollup, source }: Sum): Summing {
  const table = eventTables[source]
  if (rollup !== 'dimension_counts') return { table, join: '', ...keys[rollup], counts: countsBySource[source] }
  const pairs = source === 'clicks' ? `if(bot = '', ${dimensions}, [('bot', bot)])` : dimensions
  const counts: Summing['counts'] = source === 'clicks' ? { clicks: 'count()' } : countsBySource[source]
  return { table, join: `ARRAY JOIN ${pairs} AS pair`, ...keys[rollup], counts }
}

const keys: Record<Rollup, Pick<Summing, 'key' | 'keyExpression'>> = {
  workspace_counts: {
    key: 'workspace_id, bucket',
    keyExpression: "workspace_id, toStartOfFifteenMinutes(toDateTime(timestamp, 'UTC')) AS bucket",
  },
  link_counts: {
    key: 'workspace_id, link_number, bucket',
    keyExpression: "workspace_id, link_number, toStartOfHour(toDateTime(timestamp, 'UTC')) AS bucket",
  },
  link_days: {
    key: 'workspace_id, link_number, bucket',
    keyExpression: "workspace_id, link_number, toDate(timestamp, 'UTC') AS bucket",
  },
  dimension_counts: {
    key: 'workspace_id, dimension, bucket, value',
    keyExpression: "workspace_id, pair.1 AS dimension, toDate(timestamp, 'UTC') AS bucket, pair.2 AS value",
  },
}

const countsBySource: Record<Source, Summing['counts']> = {
  clicks: { clicks: "countIf(bot = '')", bots: "countIf(bot != '')" },
  leads: { leads: 'count()' },
  sales: { sales: 'sum(event.sales)', sale_amount: 'sum(toInt128(event.amount))' },
}

/** Dimensions whose values a visitor can choose; a dimension's index is its bit in the column `folded`. */
export const foldable = [
  'city',
  'browser',
  'os',
  'referer',
  'utm_source',
  'utm_medium',
  'utm_campaign',
  'utm_term',
  'utm_content',
  'url',
  'base_url',
  'referer_url',
] as const
export type Foldable = (typeof foldable)[number]
/** Dimensions that were added later: days before `rollup_starts` do not have them. */
export const urlDimensions: readonly string[] = ['url', 'base_url', 'referer_url']

/** The rollup dimension that counts all folded (rare) values of a dimension in one total. */
export const foldedName = (dimension: string) => `${dimension} folded`

/** A dimension with the SQL of its value in an event row, and the columns that the value is made from. */
export type Dimension = { name: string; columns: string[]; expression: string }

export function describeDimension(name: string): Dimension {
  const columns = { region: ['country', 'region'], city: ['country', 'region', 'city'] }[name]
  const expression = values[name] ?? name
  return { name, columns: columns ?? [expression], expression }
}

const values: Record<string, string> = {
  region: "concat(country, '\\t', region)",
  city: "concat(country, '\\t', region, '\\t', city)",
  base_url: 'cutFragment(cutQueryString(url))',
}
const dimensions = `[${['continent', 'country', 'region', 'city', 'device', 'browser', 'os', 'trigger', 'referer']
  .concat(['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content', 'url', 'base_url', 'referer_url'])
  .map(pairExpression)
  .join(', ')}]`

function pairExpression(dimension: string): string {
  const pair = `('${dimension}', ${values[dimension] ?? dimension})`
  const bit = (foldable as readonly string[]).indexOf(dimension)
  return bit === -1 ? pair : `if(bitTest(folded, ${bit}), ('${foldedName(dimension)}', ''), ${pair})`
}
