import { LRUCache } from 'lru-cache'
import type { Platform } from '../../platform/context.ts'
import { linkChanged, linkChangedSubject } from '../links/messages.ts'
import { findForRedirect, type RedirectLink } from '../links/service.ts'

export type LinkCache = AsyncDisposable & {
  find(domain: string, key: string): Promise<RedirectLink | null> | RedirectLink | null
}

type Entry = { link: RedirectLink | null; freshUntil: number }
type Handles = Pick<Platform, 'db' | 'valkey' | 'nats' | 'metrics' | 'log'>

const knownMs = 60_000
const unknownMs = 10_000

/**
 * Memory, then Valkey, then PostgreSQL. A change is forgotten by every process as soon as it is told; the age is the
 * safety net for a message that got lost, and a hit does not extend it. While PostgreSQL is away an aged entry serves on.
 */
export function openLinkCache(platform: Handles): LinkCache {
  const entries = new LRUCache<string, Entry>({ max: 200_000 })
  const loading = new Map<string, Promise<RedirectLink | null>>()
  const changes = platform.nats.subscribe(linkChangedSubject, {
    callback: (error, message) => {
      if (error) return
      const change = linkChanged.safeParse(message.json())
      if (change.success) forget(addressOf(change.data.domain, change.data.lookupKey))
    },
  })

  function forget(address: string): void {
    entries.delete(address)
    loading.delete(address)
    // Every process that may have stored the old link deletes it, so none can be left behind.
    platform.valkey.del(valkeyName(address)).catch(() => {})
  }

  function load(address: string, domain: string, key: string): Promise<RedirectLink | null> {
    const found = read(platform, address, domain, key)
      .then(({ link, from }) => {
        platform.metrics.linkLookups.inc({ from })
        // A change that was told meanwhile has removed this load: its result may be old.
        if (loading.get(address) !== found) return link
        entries.set(address, { link, freshUntil: Date.now() + (link ? knownMs : unknownMs) })
        if (from === 'postgres') remember(platform, address, link)
        return link
      })
      .finally(() => {
        if (loading.get(address) === found) loading.delete(address)
      })
    loading.set(address, found)
    return found
  }

  return {
    find(domain, key) {
      const address = addressOf(domain, key)
      const entry = entries.get(address)
      if (entry && entry.freshUntil > Date.now()) {
        platform.metrics.linkLookups.inc({ from: 'memory' })
        return entry.link
      }
      const found = loading.get(address) ?? load(address, domain, key)
      if (!entry) return found
      return found.catch((error: Error) => {
        platform.log.warn({ error: error.message }, 'PostgreSQL is away: serving links from memory')
        entries.set(address, { link: entry.link, freshUntil: Date.now() + 1_000 })
        return entry.link
      })
    },
    async [Symbol.asyncDispose]() {
      changes.unsubscribe()
    },
  }
}

async function read(platform: Handles, address: string, domain: string, key: string) {
  const cached = await platform.valkey.get(valkeyName(address)).catch(() => null)
  if (cached) return { link: JSON.parse(cached) as RedirectLink | null, from: 'valkey' }
  return { link: await findForRedirect(platform, domain, key), from: 'postgres' }
}

function remember(platform: Handles, address: string, link: RedirectLink | null): void {
  platform.valkey.set(valkeyName(address), JSON.stringify(link), 'PX', link ? knownMs : unknownMs).catch(() => {})
}

const addressOf = (domain: string, key: string) => `${domain}/${key}`
const valkeyName = (address: string) => `link:${address}`
