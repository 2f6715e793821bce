import { type CacheOptions, openByteCache } from './byte-cache.ts'

/**
 * Remembers the results of a function of a text. Keys longer than `maxKeyLength` are computed each time, so that no
 * client can fill the memory with them.
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
  /** For how long a value that took so long to make is remembered; without it, as long as there is room. */
  ttlMs?(value: V, tookMs: number): number
  /** Called before another value is made, with how many are being made; it throws to refuse. */
  admit?(running: number): void
}

/** Remembers what was made for a key; callers that come while it is being made wait for it. A failure is not remembered. */
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

/** Makes one value for each object: a cache for the configuration of a process, which lives as long as that. */
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
