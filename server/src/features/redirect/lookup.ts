import { openByteCache } from '../../platform/byte-cache.ts'
import type { Platform } from '../../platform/context.ts'
import type { Stored, ValkeyCache } from './shelf.ts'

export type Lookup<T> = {
  /** Without waiting when it is in memory; null when there is no such thing. Fails when nobody can tell. */
  find(address: string, owner: string): T | null | Promise<T | null>
  forget(address: string): void
}

/** Whether changes are heard of at present, and since when without a gap. */
export type ChangeSubscription = { isOn: boolean; since: number }

export type Source = 'memory' | 'valkey' | 'postgres' | 'aged'

type Options<T> = {
  /** Memory for what is known; a tenth of it for what does not exist. */
  maxBytes: number
  subscription: ChangeSubscription
  sharedCache: ValkeyCache<T>
  log: Platform['log']
  read(address: string): Promise<T | null>
  onFound?(from: Source): void
}
type Entry<T> = Stored<T> & { restsUntil?: number }
/** `isLate` once somebody has waited for it in vain. */
type Load<T> = { found: Promise<T | null>; owner: string; isLate: boolean; isOver: boolean }

const knownMs = 60_000
const unknownMs = 10_000
const unheardMs = 1_000
const patienceMs = 250
const longestWaitMs = 5_000
const restMs = 1_000

/**
 * Memory, then the shelf that all processes share, then PostgreSQL. An entry is fresh for a time that no hit extends,
 * and that is shorter while nobody can be told of changes. Later it still serves while PostgreSQL is slow or away.
 */
export function openLookup<T extends object>(options: Options<T>): Lookup<T> {
  const { subscription, sharedCache, onFound = () => {} } = options
  const known = openByteCache<Entry<T>>({ maxBytes: options.maxBytes })
  // Apart, so that nobody can drive out what is known by asking for what does not exist.
  const unknown = openByteCache<Entry<T>>({ maxBytes: Math.ceil(options.maxBytes / 10) })
  const loads = new Map<string, Load<T>>()

  /** What was found for another owner is as good as not there. */
  function findEntry(address: string, owner: string): Entry<T> | undefined {
    const entry = known.get(address) ?? unknown.get(address)
    return entry?.owner === owner ? entry : undefined
  }

  function isFresh(entry: Stored<T>): boolean {
    const lifeMs = subscription.isOn ? (entry.value ? knownMs : unknownMs) : unheardMs
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
      const shelved = await sharedCache.get(address, owner)
      // A change that was told meanwhile has ended this load: what it finds may be old.
      if (shelved && loads.get(address) === load) remember(address, shelved)
      if (shelved && isFresh(shelved)) {
        onFound('valkey')
        return shelved.value
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
      options.log.warn({ error: error.message, address }, 'PostgreSQL did not answer: what is known serves on')
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
    timer = setTimeout(() => reject(new Error(`no answer in ${milliseconds} ms`)), milliseconds)
  })
  return Promise.race([found, tooLate]).finally(() => clearTimeout(timer))
}
