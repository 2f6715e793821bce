import { type CacheOptions, openByteCache } from './byte-cache.ts'

/**
 * Memoizes a function of a string. Keys longer than `maxKeyLength` are not cached, so that clients can't fill the
 * memory with long keys.
 */
export function memo<V>(
  compute: (key: string) => V,
  { maxKeyLength = Number.POSITIVE_INFINITY, ...options }: CacheOptions & { maxKeyLength?: number },
): (key: string) => V {
  const known = openByteCache<{ value: V }>(options)
  // Many calls repeat the key of the call before: every visit through a proxy has its address.
  let last: { key: string; value: V } | undefined
  return (key) => {
    if (last?.key === key) return last.value
    if (key.length > maxKeyLength) return compute(key)
    let found = known.get(key)
    if (!found) {
      found = { value: compute(key) }
      known.set(key, found)
    }
    last = { key, value: found.value }
    return found.value
  }
}

export type AsyncMemo<V> = <W extends V>(key: string, make: () => Promise<W>) => Promise<W>

type AsyncMemoOptions<V> = Pick<CacheOptions, 'maxBytes'> & {
  measure?(value: V): number
  /** Returns how long to cache a value, given how long it took to compute; without it, values stay until evicted. */
  ttlMs?(value: V, tookMs: number): number
  /** Called with the number of running computations before another one; throws to reject it. */
  admit?(running: number): void
}

/** Memoizes an async function: concurrent callers with the same key share one computation; errors are not cached. */
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

/** Memoizes by object identity, such as one cache per configuration; a value lives as long as its object. */
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
