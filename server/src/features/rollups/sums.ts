import { eventTables } from '../event-storage/service.ts'

const rollups = [
  ...(['workspace_counts', 'link_counts', 'link_days', 'link_months'] as const),
  ...(['dimension_counts', 'dimension_months'] as const),
] as const
export type Rollup = (typeof rollups)[number]
export type Source = 'clicks' | 'leads' | 'sales'
/** The part of a rollup that sums the rows of one event table. */
export type Sum = { rollup: Rollup; source: Source }
export type Count = 'clicks' | 'bots' | 'leads' | 'sales' | 'sale_amount'
/** How a rollup is computed from an event table or a finer rollup: the SQL of its key, its counts and a row's day. */
export type Summing = {
  table: string
  day: string
  join: string
  key: string
  keyExpression: string
  counts: Partial<Record<Count, string>>
}

export const sources: Source[] = ['clicks', 'leads', 'sales']

// Finer rollups come first: a view adds every change of the hours to the days, and of the days to the months.
export const sums: Sum[] = rollups.flatMap((rollup) => sources.map((source) => ({ rollup, source })))

/** Must match the materialized views of migrations 0004, 0006, 0017 and 0018. The table's alias is `event`. */
export function summing({ rollup, source }: Sum): Summing {
  if (isMonthly(rollup)) return summingDays(rollup, source)
  const [table, day] = [eventTables[source], "toDate(timestamp, 'UTC')"]
  if (rollup !== 'dimension_counts') return { table, day, join: '', ...keys[rollup], counts: countsBySource[source] }
  const pairs = source === 'clicks' ? `if(bot = '', ${dimensions}, [('bot', bot)])` : dimensions
  const counts: Summing['counts'] = source === 'clicks' ? { clicks: 'count()' } : countsBySource[source]
  return { table, day, join: `ARRAY JOIN ${pairs} AS pair`, ...keys[rollup], counts }
}

export function isMonthly(rollup: Rollup): rollup is keyof typeof daysByMonths {
  return rollup in daysByMonths
}

const daysByMonths = { link_months: 'link_days', dimension_months: 'dimension_counts' } as const

/** Months are computed from days, which are computed from events: comparing them with a month of events would take long. */
function summingDays(rollup: keyof typeof daysByMonths, source: Source): Summing {
  const names = (Object.keys(countsBySource[source]) as Count[]).filter(
    (name) => rollup === 'link_months' || name !== 'bots',
  )
  const counts = Object.fromEntries(names.map((name) => [name, `sum(event.${name})`]))
  return { table: daysByMonths[rollup], day: 'event.bucket', join: '', ...keys[rollup], counts }
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
  link_months: {
    key: 'workspace_id, link_number, bucket',
    keyExpression: 'workspace_id, link_number, toStartOfMonth(event.bucket) AS bucket',
  },
  dimension_months: {
    key: 'workspace_id, dimension, bucket, value',
    keyExpression: 'workspace_id, dimension, toStartOfMonth(event.bucket) AS bucket, value',
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
