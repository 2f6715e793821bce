import { Redis } from 'ioredis'
import { sleep } from './clock.ts'
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

/** The version of Valkey or Redis; undefined when it is down. Waits for the connection, which opens in the background. */
export async function valkeyVersion(valkey: Redis, withinMs: number): Promise<string | undefined> {
  for (const until = Date.now() + withinMs; Date.now() < until; await sleep(50)) {
    const info = await valkey.info('server').catch(() => '')
    const version = /^valkey_version:(\S+)/m.exec(info) ?? /^redis_version:(\S+)/m.exec(info)
    if (version?.[1]) return version[1]
  }
  return undefined
}
