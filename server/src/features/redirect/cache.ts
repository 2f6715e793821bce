import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node'
import type { z } from 'zod'
import { openByteCache } from '../../platform/byte-cache.ts'
import type { Platform } from '../../platform/context.ts'
import { domainChanged, domainChangedSubject } from '../domains/messages.ts'
import { findDomainForRedirect, type RedirectDomain } from '../domains/service.ts'
import { linkChanged, linkChangedSubject } from '../links/messages.ts'
import { findForRedirect, type RedirectLink } from '../links/service.ts'
import { workspaceDeleted, workspaceDeletedSubject } from '../workspaces/messages.ts'
import { type ChangeSubscription, type Lookup, openLookup } from './lookup.ts'
import { redirectMetrics } from './metrics.ts'
import { openValkeyCache } from './valkey-cache.ts'

export type Found = { domain: RedirectDomain | null; link: RedirectLink | null }
export type RedirectCache = AsyncDisposable & {
  /** Returns without a promise when domain and link are in memory. With a null key, looks up only the domain. */
  find(host: string, key: string | null): Found | Promise<Found>
}

type Handles = Pick<Platform, 'db' | 'config' | 'valkey' | 'nats' | 'metrics' | 'log'>

const propagationMs = 500
// Longer than any cache entry lives.
const deletedMs = 300_000
const nothing: Found = { domain: null, link: null }

/**
 * Caches domains and links for the redirect. A cached link counts only if it was loaded for the domain's current id, so
 * a deleted or re-added host serves no former links. Change messages invalidate entries in every process.
 */
export function openRedirectCache(platform: Handles): RedirectCache {
  const { log, nats, config } = platform
  const metrics = redirectMetrics(platform)
  const cacheBytes = config.REDIRECT_CACHE_MEGABYTES * 1_000_000
  // Valkey entries written before this process subscribed to changes may be stale.
  const subscription: ChangeSubscription = { isOn: true, since: Date.now() }
  const domains = openLookup<RedirectDomain>({
    maxBytes: cacheBytes / 4,
    subscription,
    sharedCache: openValkeyCache(platform, 'domain'),
    log,
    read: (host) => findDomainForRedirect(platform, host),
  })
  const links = openLookup<RedirectLink>({
    maxBytes: cacheBytes,
    subscription,
    sharedCache: openValkeyCache(platform, 'link'),
    log,
    read: (address) => {
      const slash = address.indexOf('/')
      return findForRedirect(platform, address.slice(0, slash), address.slice(slash + 1))
    },
    onFound: (from) => metrics.linkLookups.count(from),
  })
  const deleted = openByteCache<true>({ maxBytes: 1_000_000, ttlMs: deletedMs })
  const subscriptions = [
    subscribe(nats, linkChangedSubject, linkChanged, (change) => {
      forget(links, formatAddress(change.domain, change.lookupKey))
      if (change.former) forget(links, formatAddress(change.former.domain, change.former.lookupKey))
    }),
    subscribe(nats, domainChangedSubject, domainChanged, (change) => {
      forget(domains, change.slug)
      if (change.renamedTo) forget(domains, change.renamedTo)
    }),
    subscribe(nats, workspaceDeletedSubject, workspaceDeleted, ({ workspaceId }) => deleted.set(workspaceId, true)),
  ]
  void followSubscription(nats, subscription)

  function findLink(domain: RedirectDomain | null, host: string, key: string | null): Found | Promise<Found> {
    if (!domain || isDeleted(domain.workspaceId)) return nothing
    if (key === null) return { domain, link: null }
    const link = links.find(formatAddress(host, key), domain.id)
    return link instanceof Promise ? link.then((link) => live(domain, link)) : live(domain, link)
  }

  /** Cached links of a deleted workspace, which may be millions, are ignored until they expire. */
  function live(domain: RedirectDomain, link: RedirectLink | null): Found {
    return foundOn(domain, isDeleted(link?.workspaceId) ? null : link)
  }

  function isDeleted(workspaceId: string | undefined): boolean {
    return workspaceId !== undefined && deleted.size > 0 && deleted.has(workspaceId)
  }

  return {
    find(host, key) {
      const domain = domains.find(host, '')
      return domain instanceof Promise
        ? domain.then((domain) => findLink(domain, host, key))
        : findLink(domain, host, key)
    },
    async [Symbol.asyncDispose]() {
      for (const subscription of subscriptions) subscription.unsubscribe()
    },
  }
}

/** Ignores a link of another workspace: right after a domain changed owner, links of the former owner may exist. */
function foundOn(domain: RedirectDomain, link: RedirectLink | null): Found {
  const isForeign = link !== null && domain.workspaceId !== undefined && link.workspaceId !== domain.workspaceId
  return { domain, link: isForeign ? null : link }
}

function forget(lookup: Pick<Lookup<object>, 'forget'>, address: string): void {
  lookup.forget(address)
  // Another process that has not received the change yet may write its old entry to Valkey, so it is dropped again.
  setTimeout(() => lookup.forget(address), propagationMs).unref()
}

function subscribe<S extends z.ZodType>(
  nats: NatsConnection,
  subject: string,
  schema: S,
  onChange: (change: z.output<S>) => void,
): Subscription {
  return nats.subscribe(subject, {
    callback: (error, message) => {
      const change = error ? undefined : read(schema, message)
      if (change !== undefined) onChange(change)
    },
  })
}

/** Returns undefined for an invalid message: an error thrown here would end all subscriptions of the connection. */
function read<S extends z.ZodType>(schema: S, message: Msg): z.output<S> | undefined {
  try {
    return schema.safeParse(message.json()).data
  } catch {
    return undefined
  }
}

/** Tracks the NATS connection: changes published while it was down are missed, so older cache entries become stale. */
async function followSubscription(nats: NatsConnection, subscription: ChangeSubscription): Promise<void> {
  for await (const status of nats.status()) {
    if (status.type === 'disconnect') subscription.isOn = false
    if (status.type !== 'reconnect') continue
    subscription.isOn = true
    subscription.since = Date.now() + 1
  }
}

const formatAddress = (host: string, key: string) => `${host}/${key}`
