import { LRUCache } from 'lru-cache'

/** Of an entry besides its key and value: links of the list, slots of the map. */
const entryBytes = 150

/**
 * A memory cache that drops what was used least recently. It is bounded by bytes, because a client chooses how long its
 * values are; `most` only sizes it.
 */
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

/** About the memory of a value that could be JSON; two bytes for each character, as the longest form of a text has. */
export function estimateBytes(value: unknown): number {
  if (typeof value === 'string') return 24 + 2 * value.length
  if (ArrayBuffer.isView(value)) return 100 + value.byteLength
  if (typeof value !== 'object' || value === null) return 8
  let bytes = 32
  for (const name in value) bytes += 16 + estimateBytes((value as Record<string, unknown>)[name])
  return bytes
}
