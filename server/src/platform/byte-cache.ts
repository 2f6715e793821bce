import { LRUCache } from 'lru-cache'

/** Estimated bytes per cache entry besides its key and value: list links and map slots. */
const entryBytes = 150

/** An LRU cache bounded by bytes, because clients choose the length of cached values; `most` also bounds the entries. */
export type ByteCache<V extends {}, K extends string | number = string> = LRUCache<K, V>

export type CacheOptions = { maxBytes: number; most?: number; ttlMs?: number }

export function openByteCache<V extends {}, K extends string | number = string>({
  maxBytes,
  most,
  ttlMs,
  measure = estimateBytes,
}: CacheOptions & { measure?(value: V): number }): ByteCache<V, K> {
  return new LRUCache<K, V>({
    maxSize: maxBytes,
    sizeCalculation: (value, key) => entryBytes + estimateBytes(key) + Math.ceil(measure(value)),
    ...(most !== undefined && { max: most }),
    ...(ttlMs !== undefined && { ttl: ttlMs }),
  })
}

export type RecentEntries<V> = { get(key: string): V | undefined; set(key: string, value: V): void }

/**
 * Keeps the newest entries, at least half of `most`. Costs a fraction of a cache that orders its entries, where each is written
 * once and hardly ever read; keys and values must have bounded lengths.
 */
export function openRecentEntries<V>(most: number): RecentEntries<V> {
  let [newer, older] = [new Map<string, V>(), new Map<string, V>()]
  return {
    get: (key) => newer.get(key) ?? older.get(key),
    set(key, value) {
      if (newer.size >= most / 2) [newer, older] = [new Map(), newer]
      newer.set(key, value)
    },
  }
}

/** Estimates the memory of a JSON value, with two bytes per character: the worst case of a V8 string. */
export function estimateBytes(value: unknown): number {
  if (typeof value === 'string') return 24 + 2 * value.length
  if (ArrayBuffer.isView(value)) return 100 + value.byteLength
  if (typeof value !== 'object' || value === null) return 8
  let bytes = 32
  for (const name in value) bytes += 16 + estimateBytes((value as Record<string, unknown>)[name])
  return bytes
}
