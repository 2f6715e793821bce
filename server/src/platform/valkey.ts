import { Redis } from 'ioredis'
import type { Config } from './config.ts'
import type { Log } from './log.ts'

/** Connects to Valkey. Commands fail fast, because every caller has a fallback while Valkey is down. */
export function openValkey(config: Config, log: Log): Redis {
  const valkey = new Redis(config.VALKEY_URL.replace(/^valkey:/, 'redis:'), {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 1_000,
    commandTimeout: 250,
    retryStrategy: (attempt) => Math.min(50 * attempt, 500),
    lazyConnect: true,
  })
  let lost = false
  valkey.on('error', (error) => {
    if (!lost)
      log.warn(
        { error: error.message },
        'Valkey is unreachable: each process limits rates by itself and caches in its own memory',
      )
    lost = true
  })
  valkey.on('ready', () => {
    if (lost) log.info('Valkey reconnected')
    lost = false
  })
  valkey.connect().catch(() => {})
  return valkey
}
