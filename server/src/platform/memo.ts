import { type CacheOptions, openByteCache } from './byte-cache.ts'

/**
 * Memoizes a function of a string. Keys longer than `maxKeyLength` are computed each time, so that no client can fill
 * the memory with them.
 */
export function memo<V>(
  compute: (key: string) => V,
  { maxKeyLength = Number.POSITIVE_INFINITY, ...options }: CacheOptions & { maxKeyLength?: number },
): (key: string) => V {
  const known = openByteCache<{ value: V }>(options)
  return (key) => {
    if (key.length > maxKeyLength) return compute(key)
    let found = known.get(key)
    if (!found) {
      found = { value: compute(key) }
      known.set(key, found)
    }
    return found.value
  }
}

export type AsyncMemo<V> = <W extends V>(key: string, make: () => Promise<W>) => Promise<W>

type AsyncMemoOptions<V> = Pick<CacheOptions, 'maxBytes'> & {
  measure?(value: V): number
  /** Time to live of a value, given how long it took to compute; without it, until evicted. */
  ttlMs?(value: V, tookMs: number): number
  /** Called before a value is computed, with the number in progress; it throws to refuse. */
  admit?(running: number): void
}

/** Memoizes an async function; concurrent callers of a key share one computation. A failure is not cached. */
export function openAsyncMemo<V extends object>({ ttlMs, admit, ...options }: AsyncMemoOptions<V>): AsyncMemo<V> {
  const known = openByteCache<V>(options)
  const running = new Map<string, Promise<V>>()

  async function start<W extends V>(key: string, make: () => Promise<W>): Promise<W> {
    const startedAt = performance.now()
    try {
      const value = await make()
      known.set(key, value, { ttl: ttlMs?.(value, performance.now() - startedAt) })
      return value
    } finally {
      running.delete(key)
    }
  }

  return async <W extends V>(key: string, make: () => Promise<W>) => {
    const found = known.get(key) ?? running.get(key)
    if (found !== undefined) return found as W | Promise<W>
    admit?.(running.size)
    const making = start(key, make)
    running.set(key, making)
    return making
  }
}

/** Computes one value per object, such as a cache per configuration, with the same lifetime. */
export function memoByObject<K extends object, V, More extends unknown[]>(
  make: (object: K, ...more: More) => V,
): (object: K, ...more: More) => V {
  const made = new WeakMap<K, { value: V }>()
  return (object, ...more) => {
    const found = made.get(object) ?? { value: make(object, ...more) }
    made.set(object, found)
    return found.value
  }
}
