import { openByteCache } from '../../platform/byte-cache.ts'

export type SharedCache<V> = (key: string, make: () => Promise<V>) => Promise<V>

type Limits<V> = { maxBytes: number; bytesOf(value: V): number; lifeMsOf?(value: V): number }

/** Keeps what was made; who asks while it is being made waits for the same. */
export function sharedCache<V extends object>({ maxBytes, bytesOf, lifeMsOf }: Limits<V>): SharedCache<V> {
  const kept = openByteCache<V>({ maxBytes, measure: bytesOf })
  const underWay = new Map<string, Promise<V>>()

  async function start(key: string, make: () => Promise<V>): Promise<V> {
    try {
      const value = await make()
      kept.set(key, value, { ttl: lifeMsOf?.(value) })
      return value
    } finally {
      underWay.delete(key)
    }
  }

  return async (key, make) => {
    const known = kept.get(key)
    if (known) return known
    const running = underWay.get(key) ?? start(key, make)
    underWay.set(key, running)
    return running
  }
}
