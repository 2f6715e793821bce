import { call } from '../../app/call.ts'
import { formatCsv, saveCsv } from '../imports/csv.ts'
import type { AnalyticsSearch } from './analytics-search.ts'
import { type Dimension, dimensions, type Row, rowValue } from './dimensions.ts'
import { eventsQuery } from './event-search.ts'
import { measures } from './measures.ts'
import type { Moment } from './periods.ts'
import type { ValueText } from './value-text.ts'

const rowsPerDimension = 1_000
const dimensionsAtOnce = 12

/** Rows of one dimension: the value as the API has it, as people read it, and all figures; money in cents. */
export function formatRows(dimension: Dimension, rows: readonly Row[], text: ValueText): string {
  return formatCsv([['value', 'name', ...measures], ...rows.map((row) => cells(dimension, row, text))])
}

/** Saves everything that the page counts, one row for each value of each dimension. Returns the number of rows. */
export async function exportPage(
  search: AnalyticsSearch,
  moment: Moment,
  { workspace, text, hasPartners }: { workspace: string; text: ValueText; hasPartners: boolean },
): Promise<number> {
  const query = { ...eventsQuery(search, moment), event: 'composite' as const, limit: rowsPerDimension }
  const asked = dimensions.filter((dimension) => hasPartners || !/partner|top_groups/.test(dimension))
  const rows: string[][] = []
  const { count, timeseries = [] } = await call(
    'retrieveAnalyticsBatch',
    { body: { ...query, groupBy: ['count', 'timeseries'] } },
    workspace,
  )
  if (count) rows.push(['total', '', '', ...measures.map((measure) => String(count[measure]))])
  for (const row of timeseries) rows.push(['time', String(row.start), '', ...measures.map((name) => String(row[name]))])
  for (let first = 0; first < asked.length; first += dimensionsAtOnce) {
    const groupBy = asked.slice(first, first + dimensionsAtOnce)
    const batch = await call('retrieveAnalyticsBatch', { body: { ...query, groupBy } }, workspace)
    for (const dimension of groupBy)
      rows.push(...(batch[dimension] ?? []).map((row) => [dimension, ...cells(dimension, row, text)]))
  }
  const day = moment.now.toISOString().slice(0, 10)
  saveCsv(`analytics-${workspace}-${day}.csv`, formatCsv([['dimension', 'value', 'name', ...measures], ...rows]))
  return rows.length
}

function cells(dimension: Dimension, row: Row, text: ValueText): string[] {
  return [rowValue(dimension, row) ?? '', text(dimension, row), ...measures.map((measure) => String(row[measure]))]
}
