import type { Platform } from '../../platform/context.ts'

/** A cache entry, loaded at time `at` for an owner; `value` is null when the link or domain did not exist. */
export type Stored<T> = { value: T | null; owner: string; at: number }
export type ValkeyCache<T> = {
  /** Returns the entry of an address, even a stale entry. */
  get(address: string, owner: string): Promise<Stored<T> | undefined>
  put(address: string, entry: Stored<T>, unknownMs: number): void
  remove(address: string): void
}

const restMs = 1_000
const retentionMs = 25 * 3_600_000
// When many links change, one command removes the entries of all changes of this time.
const removalMs = 5

/**
 * The second-level cache that redirect processes share in Valkey. Entries last more than a day, for a process that
 * starts while PostgreSQL is down. When the shape of `T` changes, change `name`: old and new processes run together.
 */
export function openValkeyCache<T>({ valkey }: Pick<Platform, 'valkey'>, name: string): ValkeyCache<T> {
  let restsUntil = 0
  const removed = new Set<string>()
  let isTimed = false
  const removeAll = () => {
    isTimed = false
    const keys = [...removed]
    removed.clear()
    if (keys.length > 0) valkey.del(keys).catch(() => {})
  }
  const entryKey = (address: string) => `redirect:${name}:${address}`
  return {
    async get(address, owner) {
      // While Valkey hangs, a process waits for it once per second, not for every link.
      if (performance.now() < restsUntil || removed.has(entryKey(address))) return undefined
      const text = await valkey.get(entryKey(address)).catch(() => {
        restsUntil = performance.now() + restMs
        return null
      })
      const entry = text === null ? undefined : (JSON.parse(text) as Stored<T>)
      return entry?.owner === owner ? entry : undefined
    },
    put(address, entry, unknownMs) {
      removed.delete(entryKey(address))
      valkey.set(entryKey(address), JSON.stringify(entry), 'PX', entry.value ? retentionMs : unknownMs).catch(() => {})
    },
    remove(address) {
      if (!isTimed) setTimeout(removeAll, removalMs).unref()
      isTimed = true
      removed.add(entryKey(address))
    },
  }
}
