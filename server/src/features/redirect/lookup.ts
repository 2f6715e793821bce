import { openByteCache } from '../../platform/byte-cache.ts'
import type { Platform } from '../../platform/context.ts'
import { PoolBusyError } from '../../platform/postgres.ts'
import type { Stored, ValkeyCache } from './valkey-cache.ts'

export type Lookup<T> = {
  /** Finds a domain or link; null when none exists. No promise when cached in memory; rejects on a failed lookup. */
  find(address: string, owner: string): T | null | Promise<T | null>
  forget(address: string): void
}

/** Whether change messages are received from NATS now, and since when without a gap. */
export type ChangeSubscription = { isOn: boolean; since: number }

export type Source = 'memory' | 'valkey' | 'postgres' | 'aged'

type Options<T> = {
  /** Maximum memory of cached links or domains; a tenth of it, in addition, for addresses without one. */
  maxBytes: number
  subscription: ChangeSubscription
  sharedCache: ValkeyCache<T>
  log: Platform['log']
  read(address: string): Promise<T | null>
  onFound?(from: Source): void
}
type Entry<T> = Stored<T> & { restsUntil?: number }
/** A running lookup; `isLate` when a visitor has stopped waiting for it. */
type Load<T> = { found: Promise<T | null>; owner: string; isLate: boolean; isOver: boolean }

const knownMs = 60_000
const unknownMs = 10_000
const unsubscribedMs = 1_000
const patienceMs = 250
const longestWaitMs = 5_000
const restMs = 1_000

/**
 * Looks up in memory, then in the shared Valkey cache, then in PostgreSQL. A hit never extends an entry's lifetime,
 * which is shorter while NATS is disconnected. A stale entry is still served while PostgreSQL is slow or down.
 */
export function openLookup<T extends object>(options: Options<T>): Lookup<T> {
  const { subscription, sharedCache, onFound = () => {} } = options
  const known = openByteCache<Entry<T>>({ maxBytes: options.maxBytes })
  // A separate cache, so that requests for missing links can't evict existing links.
  const unknown = openByteCache<Entry<T>>({ maxBytes: Math.ceil(options.maxBytes / 10) })
  const loads = new Map<string, Load<T>>()

  /** The cached entry of an address, unless it was loaded for another owner. */
  function findEntry(address: string, owner: string): Entry<T> | undefined {
    const entry = known.get(address) ?? unknown.get(address)
    return entry?.owner === owner ? entry : undefined
  }

  function isFresh(entry: Stored<T>): boolean {
    const lifeMs = subscription.isOn ? (entry.value ? knownMs : unknownMs) : unsubscribedMs
    return entry.at > subscription.since && Date.now() - entry.at < lifeMs
  }

  function remember(address: string, entry: Stored<T>): void {
    drop(address)
    if (entry.value) known.set(address, entry)
    else unknown.set(address, entry)
  }

  function drop(address: string): void {
    known.delete(address)
    unknown.delete(address)
  }

  function start(address: string, owner: string): Load<T> {
    const load: Load<T> = { found: read(), owner, isLate: false, isOver: false }
    loads.set(address, load)
    load.found.catch(failed).finally(() => {
      load.isOver = true
      if (loads.get(address) === load) loads.delete(address)
    })
    return load

    async function read(): Promise<T | null> {
      const cached = await sharedCache.get(address, owner)
      // A change message that arrived meanwhile has cancelled this load, so its result is not cached.
      if (cached && loads.get(address) === load) remember(address, cached)
      if (cached && isFresh(cached)) {
        onFound('valkey')
        return cached.value
      }
      const at = Date.now()
      const entry = { value: await options.read(address), owner, at }
      onFound('postgres')
      if (loads.get(address) !== load) return entry.value
      remember(address, entry)
      sharedCache.put(address, entry, unknownMs)
      return entry.value
    }

    function failed(error: Error): void {
      const entry = findEntry(address, owner)
      if (entry) entry.restsUntil = performance.now() + restMs
      options.log.warn({ error: error.message, address }, 'serving cached links while PostgreSQL is unreachable')
    }
  }

  async function outcome(load: Load<T>, address: string, owner: string): Promise<T | null> {
    try {
      return await within(load.found, patienceMs)
    } catch (error) {
      load.isLate = true
      const aged = findEntry(address, owner)
      if (aged) {
        onFound('aged')
        return aged.value
      }
      if (load.isOver) throw error
      return within(load.found, longestWaitMs)
    }
  }

  return {
    find(address, owner) {
      const entry = findEntry(address, owner)
      if (entry && isFresh(entry)) {
        onFound('memory')
        return entry.value
      }
      const running = loads.get(address)
      const isResting = entry?.restsUntil !== undefined && entry.restsUntil > performance.now()
      if (entry && (isResting || (running?.owner === owner && running.isLate))) {
        onFound('aged')
        return entry.value
      }
      return outcome(running?.owner === owner ? running : start(address, owner), address, owner)
    },
    forget(address) {
      drop(address)
      loads.delete(address)
      sharedCache.remove(address)
    },
  }
}

async function within<T>(found: Promise<T>, milliseconds: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new PoolBusyError(`link lookup timed out after ${milliseconds} ms`)), milliseconds)
  })
  return Promise.race([found, tooLate]).finally(() => clearTimeout(timer))
}
