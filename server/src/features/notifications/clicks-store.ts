import { type ClickHouse, type QueryLimits, query } from '../../platform/clickhouse.ts'
import type { Span } from './calendar.ts'
import { tables } from './tables.ts'
import { comparedWeeks, type LinkDay, leastClicks, leastWeeks } from './unusual.ts'

type Row = { number: string; clicks: string; history: string[] }

/** Slightly less than a day needs to be unusual, because the median of square roots is not the root of the median. */
const leastDistance = 4.5
const usual = "arrayReduce('quantileExactInclusive(0.5)', weeks)"
const distance = `2 * abs(sqrt(counts[1] + 0.375) - sqrt(${usual} + 0.375))`

/**
 * The clicks of links on the first of these days and on those of the weeks before since the link had its first click,
 * for links that can be unusual: the ones with the largest change, `limit` at most. Hours belong to the day in which
 * they begin.
 */
export async function selectLinkDays(
  clickhouse: ClickHouse,
  { workspaceId, days, limit }: { workspaceId: string; days: Span[]; limit: number },
  limits: QueryLimits,
): Promise<LinkDay[]> {
  const seconds = (bound: keyof Span) => days.map((day) => day[bound].getTime() / 1_000)
  const rows = await query<Row>(
    clickhouse,
    `SELECT toString(link_number) AS number, toString(counts[1]) AS clicks,
  arrayMap(count -> toString(count), weeks) AS history
FROM (
  SELECT link_number, minIf(second, hour_clicks > 0) AS first,
    sumForEach(arrayMap((start, end) -> if(second >= start AND second < end, hour_clicks, 0), {starts:Array(Int64)}, {ends:Array(Int64)})) AS counts,
    arrayFilter((count, start) -> start >= first, arraySlice(counts, 2), arraySlice({starts:Array(Int64)}, 2)) AS weeks
  FROM (
    SELECT link_number, toInt64(toUnixTimestamp(bucket)) AS second, clicks AS hour_clicks FROM ${tables.linkCounts}
    WHERE workspace_id = {workspaceId:String}
      AND bucket >= toDateTime({from:Int64}, 'UTC') AND bucket < toDateTime({to:Int64}, 'UTC'))
  GROUP BY link_number)
WHERE length(weeks) >= ${leastWeeks}
  AND (counts[1] >= ${leastClicks} OR ${usual} >= ${leastClicks})
  AND ${distance} >= ${leastDistance}
ORDER BY ${distance} DESC, link_number LIMIT {limit:UInt32}`,
    {
      ...{ workspaceId, limit },
      ...{ starts: seconds('from'), ends: seconds('to'), from: seconds('from').at(-1), to: seconds('to')[0] },
    },
    limits,
  )
  return rows.map(({ number, clicks, history }) => ({
    linkNumber: BigInt(number),
    clicks: Number(clicks),
    history: history.slice(0, comparedWeeks).map(Number),
  }))
}
