import type { Msg } from '@nats-io/transport-node'
import { openByteCache } from '../../platform/byte-cache.ts'
import type { Platform } from '../../platform/context.ts'
import { transaction } from '../../platform/postgres.ts'
import { parseHost } from './host.ts'
import { type DomainChanged, domainChanged, domainChangedSubject } from './messages.ts'
import { insertCertificate, lockDomains, selectCertificateHolder } from './store.ts'

type Handles = Pick<Platform, 'db' | 'nats' | 'config' | 'log'>
export type TlsHosts = AsyncDisposable & {
  /** Whether a TLS certificate may be issued for this host. */
  allows(host: string): Promise<boolean> | boolean
}

const allowedMs = 30_000
const refusedMs = 5_000
// Limits concurrent lookups, so that requests for unknown hosts don't take all PostgreSQL connections.
const mostLookups = 10

/**
 * Caches for which hosts TLS certificates may be issued. Refused hosts have a separate cache, so that many of them
 * evict no allowed host. Known allowed hosts stay allowed while PostgreSQL is down.
 */
export function openTlsHosts(platform: Handles): TlsHosts {
  const allowed = openByteCache<{ freshUntil: number }>({ maxBytes: 16_000_000 })
  const refused = openByteCache<{ freshUntil: number }>({ maxBytes: 8_000_000 })
  const loading = new Map<string, Promise<boolean>>()
  const changes = platform.nats.subscribe(domainChangedSubject, {
    callback: (error, message) => {
      const change = error ? undefined : parseChange(message)
      if (!change) return
      for (const memory of [allowed, refused, loading]) memory.delete(change.slug)
    },
  })

  function load(host: string): Promise<boolean> {
    const found = mayHaveCertificate(platform, host)
      .then((good) => {
        // A domain change that arrived meanwhile has cancelled this load, so its result is not cached.
        if (loading.get(host) !== found) return good
        const [memory, other] = good ? [allowed, refused] : [refused, allowed]
        memory.set(host, { freshUntil: Date.now() + (good ? allowedMs : refusedMs) })
        other.delete(host)
        return good
      })
      .finally(() => {
        if (loading.get(host) === found) loading.delete(host)
      })
    loading.set(host, found)
    return found
  }

  return {
    allows(asked) {
      const host = asked.toLowerCase()
      if (host === platform.config.SHORT_DOMAIN) return true
      const known = allowed.get(host)
      if (known && known.freshUntil > Date.now()) return true
      if ((refused.get(host)?.freshUntil ?? 0) > Date.now() || parseHost(host) !== host) return false
      const under = loading.get(host)
      if (!under && loading.size >= mostLookups) {
        if (known) return true
        throw new Error(`Too many TLS host lookups: ${mostLookups} are running`)
      }
      const found = under ?? load(host)
      return known ? found.catch(() => true) : found
    },
    async [Symbol.asyncDispose]() {
      changes.unsubscribe()
    },
  }
}

/** Whether a host may have a TLS certificate; a new host counts towards its workspace's daily limit. */
async function mayHaveCertificate({ db, config, log }: Handles, host: string): Promise<boolean> {
  const holder = await selectCertificateHolder(db, host)
  if (!holder || holder.isKnown) return holder !== undefined
  const { workspaceId } = holder
  const most = config.CERTIFICATES_PER_WORKSPACE_PER_DAY
  const isAllowed = await transaction({ db }, async ({ db }) => {
    await lockDomains(db, workspaceId)
    return insertCertificate(db, workspaceId, host, most)
  })
  if (!isAllowed) log.warn({ workspaceId, host, most }, 'TLS certificate refused, daily limit of the workspace reached')
  return isAllowed
}

function parseChange(message: Msg): DomainChanged | undefined {
  try {
    return domainChanged.parse(message.json())
  } catch {
    // An error thrown from a NATS callback would end all subscriptions of the connection.
    return undefined
  }
}
