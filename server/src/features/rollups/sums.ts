import { eventTables } from '../events/service.ts'

export type Rollup = 'workspace_counts' | 'link_counts' | 'dimension_counts'
export type Source = 'clicks' | 'leads' | 'sales'
/** One part of a rollup: what the rows of one table come to. */
export type Sum = { rollup: Rollup; source: Source }
export type Count = 'clicks' | 'bots' | 'leads' | 'sales' | 'sale_amount'
/** How a rollup is made of the rows of one table: `key` names its columns, `keyOf` and `counts` say what they are. */
export type Summing = {
  table: string
  join: string
  key: string
  keyOf: string
  counts: Partial<Record<Count, string>>
}

export const sources: Source[] = ['clicks', 'leads', 'sales']

export const sums: Sum[] = (['workspace_counts', 'link_counts', 'dimension_counts'] as const).flatMap((rollup) =>
  sources.map((source) => ({ rollup, source })),
)

/** The same as the views of migrations 0004 and 0006; rows are named `event`. */
export function summing({ rollup, source }: Sum): Summing {
  const table = eventTables[source]
  if (rollup !== 'dimension_counts') return { table, join: '', ...keys[rollup], counts: countsOf[source] }
  const pairs = source === 'clicks' ? `if(bot = '', ${dimensions}, [('bot', bot)])` : dimensions
  const counts: Summing['counts'] = source === 'clicks' ? { clicks: 'count()' } : countsOf[source]
  return { table, join: `ARRAY JOIN ${pairs} AS pair`, ...keys[rollup], counts }
}

const keys: Record<Rollup, Pick<Summing, 'key' | 'keyOf'>> = {
  workspace_counts: {
    key: 'workspace_id, bucket',
    keyOf: "workspace_id, toStartOfFifteenMinutes(toDateTime(timestamp, 'UTC')) AS bucket",
  },
  link_counts: {
    key: 'workspace_id, link_number, bucket',
    keyOf: "workspace_id, link_number, toStartOfHour(toDateTime(timestamp, 'UTC')) AS bucket",
  },
  dimension_counts: {
    key: 'workspace_id, dimension, bucket, value',
    keyOf: "workspace_id, pair.1 AS dimension, toDate(timestamp, 'UTC') AS bucket, pair.2 AS value",
  },
}

const countsOf: Record<Source, Summing['counts']> = {
  clicks: { clicks: "countIf(bot = '')", bots: "countIf(bot != '')" },
  leads: { leads: 'count()' },
  sales: { sales: 'sum(event.sales)', sale_amount: 'sum(event.amount)' },
}

const dimensions = `[('continent', continent), ('country', country), ('region', concat(country, '\\t', region)),
  ('city', concat(country, '\\t', region, '\\t', city)), ('device', device), ('browser', browser), ('os', os),
  ('trigger', trigger), ('referer', referer), ('utm_source', utm_source), ('utm_medium', utm_medium),
  ('utm_campaign', utm_campaign), ('utm_term', utm_term), ('utm_content', utm_content)]`
