import { type ExceededLimit, exceededLimit, type QueryLimits } from '../../platform/clickhouse.ts'
import type { Config } from '../../platform/config.ts'
import { invalid } from '../../platform/errors.ts'

export type LimitSettings = Pick<Config, 'QUERY_MAX_SECONDS' | 'QUERY_MAX_MEGABYTES' | 'QUERY_MAX_ROWS'>

/** ClickHouse limits for a query. Only counts get a row limit: a list stops reading when its page is full. */
export function queryLimits(settings: LimitSettings, work: 'list' | 'count'): QueryLimits {
  const { QUERY_MAX_SECONDS: seconds, QUERY_MAX_MEGABYTES: megabytes, QUERY_MAX_ROWS: rows } = settings
  return {
    max_execution_time: seconds,
    ...(megabytes > 0 && { max_memory_usage: String(megabytes * 2 ** 20) }),
    ...(rows > 0 && work === 'count' && { max_rows_to_read: String(rows) }),
  }
}

/** Runs a query within the operator's limits. The error for an exceeded limit names the parameter to narrow. */
export async function runLimited<T>(
  ctx: { config: LimitSettings },
  ask: (limits: QueryLimits) => Promise<T>,
  query: { start?: string } = {},
  work: 'list' | 'count' = 'list',
): Promise<T> {
  try {
    return await ask(queryLimits(ctx.config, work))
  } catch (error) {
    const limit = exceededLimit(error)
    if (!limit) throw error
    const period = query.start?.trim() ? '`start` and `end`' : '`interval`'
    const remedy = `Narrow ${period} in the query, or filter by \`linkId\`.`
    throw invalid(`This query ${excess(limit, ctx.config)}. ${remedy}`)
  }
}

function excess(limit: ExceededLimit, settings: LimitSettings): string {
  if (limit === 'time') return `takes longer than the ${settings.QUERY_MAX_SECONDS} s of QUERY_MAX_SECONDS`
  if (limit === 'rows') return `reads more than the ${settings.QUERY_MAX_ROWS} events of QUERY_MAX_ROWS`
  const { QUERY_MAX_MEGABYTES: megabytes } = settings
  return `needs more memory than ${megabytes > 0 ? `the ${megabytes} MB of QUERY_MAX_MEGABYTES` : 'ClickHouse allows'}`
}
