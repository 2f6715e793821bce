import { openClickHouse } from './clickhouse.ts'
import { type Clock, systemClock } from './clock.ts'
import type { Config } from './config.ts'
import type { Platform } from './context.ts'
import { openGeo } from './geo.ts'
import { type Log, openLog } from './log.ts'
import { openMetrics } from './metrics.ts'
import { closeNats, openNats } from './nats.ts'
import { openPostgres } from './postgres.ts'
import { openRates } from './rates.ts'
import { openValkey } from './valkey.ts'

/** Opens every handle of a process; disposing closes them in reverse. */
export async function openPlatform(
  config: Config,
  log: Log = openLog(config.LOG_LEVEL),
  now: Clock = systemClock,
): Promise<Platform & AsyncDisposable> {
  // First, because only these can fail here, and hardly anything else is open then.
  using opening = new DisposableStack()
  const geo = opening.use(openGeo(config, log))
  const rates = openRates(config, log)
  const nats = await openNats(config, log)
  opening.move()
  const db = openPostgres(config)
  const clickhouse = openClickHouse(config)
  const valkey = openValkey(config, log)
  return {
    config,
    log,
    metrics: openMetrics(),
    now,
    geo,
    rates,
    db,
    clickhouse,
    valkey,
    nats,
    async [Symbol.asyncDispose]() {
      await closeNats(nats)
      geo[Symbol.dispose]()
      valkey.disconnect()
      await clickhouse.close()
      await db.destroy()
    },
  }
}
