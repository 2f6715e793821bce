import { openClickHouse } from './clickhouse.ts'
import { type Clock, systemClock } from './clock.ts'
import { type Config, servesVisitorsOnly } from './config.ts'
import type { Platform } from './context.ts'
import { openGeo } from './geo.ts'
import { openServerCheck } from './incarnation.ts'
import { type Log, openLog } from './log.ts'
import { openMetrics } from './metrics.ts'
import { closeNats, openNats } from './nats.ts'
import { openPostgres, type PoolUse, roleUse } from './postgres.ts'
import { openValkey } from './valkey.ts'

/** Opens all database and NATS connections of a process; disposing closes them in reverse order. */
export async function openPlatform(
  config: Config,
  log: Log = openLog(config.LOG_LEVEL),
  now: Clock = systemClock,
  use: PoolUse = roleUse(config),
): Promise<Platform & AsyncDisposable> {
  // The geo database opens first: only it and NATS can fail here, and then little else has to be closed.
  using opening = new DisposableStack()
  const geo = opening.use(openGeo(config, log))
  const nats = await openNats(config, log)
  opening.move()
  const metrics = openMetrics()
  // otlp.ts is imported only when tracing is configured.
  const traces = config.OTEL_EXPORTER_OTLP_ENDPOINT
    ? (await import('./otlp.ts')).openOtlp({ config, log, metrics })
    : undefined
  const watched = { metrics, tracing: traces }
  const clickhouse = openClickHouse(config, watcher(watched, 'clickhouse'))
  const check = servesVisitorsOnly(config) ? undefined : openServerCheck({ config, log, metrics, clickhouse, nats })
  const db = openPostgres(config, use, watcher(watched, 'postgresql'), check)
  // Redirect processes need no separate lookup pool: all their PostgreSQL connections serve lookups.
  const lookups = config.ROLES.includes('api')
    ? openPostgres(config, 'serving', watcher(watched, 'postgresql'), check, config.POSTGRES_LOOKUP_POOL)
    : db
  const valkey = openValkey(config, log)
  return {
    config,
    log,
    metrics,
    now,
    geo,
    db,
    lookups,
    clickhouse,
    valkey,
    nats,
    tracing: traces,
    async [Symbol.asyncDispose]() {
      await closeNats(nats)
      geo[Symbol.dispose]()
      valkey.disconnect()
      await clickhouse.close()
      if (lookups !== db) await lookups.destroy()
      await db.destroy()
      await traces?.[Symbol.asyncDispose]()
    },
  }
}

/** Returns a callback that records each SQL statement's duration in the metrics and its text in the current trace. */
function watcher({ metrics, tracing }: Pick<Platform, 'metrics' | 'tracing'>, engine: 'postgresql' | 'clickhouse') {
  return ({ text, durationMs, problem }: { text: string; durationMs: number; problem?: string }): void => {
    const verb = /^\s*(select|insert|update|delete)\b/i.exec(text)?.[1]?.toLowerCase() ?? 'other'
    const outcome = problem === undefined ? 'done' : 'failed'
    metrics.querySeconds.observe({ engine, statement: verb, outcome }, durationMs / 1_000)
    tracing?.ended({
      name: `${engine} ${verb}`,
      kind: 'client',
      durationMs,
      problem,
      attributes: { 'db.system.name': engine, 'db.query.text': text.slice(0, 2_000) },
    })
  }
}
