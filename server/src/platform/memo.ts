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
