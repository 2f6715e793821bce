import type { Platform } from '../../platform/context.ts'

/** Found at that moment, while it was that owner's; null when there was nothing. */
export type Stored<T> = { value: T | null; owner: string; at: number }
export type ValkeyCache<T> = {
  /** Also one that is no longer fresh: it is better than nothing. */
  get(address: string, owner: string): Promise<Stored<T> | undefined>
  put(address: string, entry: Stored<T>, unknownMs: number): void
  remove(address: string): void
}

const restMs = 1_000
const retentionMs = 25 * 3_600_000

/**
 * What the redirect processes share in Valkey. Kept for more than a day, so that a process that starts while PostgreSQL
 * is away knows something. The name has to change with the shape of `T`, since old and new processes run together.
 */
export function openValkeyCache<T>({ valkey }: Pick<Platform, 'valkey'>, name: string): ValkeyCache<T> {
  let restsUntil = 0
  const entryKey = (address: string) => `redirect:${name}:${address}`
  return {
    async get(address, owner) {
      // Whoever waits for Valkey when it hangs waits once, not for every link.
      if (performance.now() < restsUntil) return undefined
      const text = await valkey.get(entryKey(address)).catch(() => {
        restsUntil = performance.now() + restMs
        return null
      })
      const entry = text === null ? undefined : (JSON.parse(text) as Stored<T>)
      return entry?.owner === owner ? entry : undefined
    },
    put(address, entry, unknownMs) {
      valkey.set(entryKey(address), JSON.stringify(entry), 'PX', entry.value ? retentionMs : unknownMs).catch(() => {})
    },
    remove(address) {
      valkey.del(entryKey(address)).catch(() => {})
    },
  }
}
