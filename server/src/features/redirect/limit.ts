import { isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'
import { parseRanges } from '../../platform/ranges.ts'

/** Whether a client address is within its click rate limit. */
export type AddressLimit = (ip: string, now: number) => boolean

type Bucket = { tokens: number; at: number }

/** How many seconds' worth of the sustained click rate a client address may use at once. */
const burstSeconds = 20
// A token bucket takes about 200 bytes, so two generations of them stay below 10 MB.
const maxEntries = 25_000
/**
 * Ranges of non-public addresses, which are not limited: such a client is a proxy that TRUSTED_PROXIES does not list,
 * and a limit would drop the clicks of everybody behind it.
 */
const internal = parseRanges(
  `0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.168.0.0/16
  ::/128 ::1/128 fc00::/7 fe80::/10`
    .split(/\s+/)
    .join('\n'),
)

/**
 * Limits clicks with a token bucket per IPv4 address or IPv6 /56, in this process. A bucket that is idle for
 * `burstSeconds` is full again, so it can be forgotten after that time.
 */
export function openAddressLimit(perSecond: number): AddressLimit {
  const most = perSecond * burstSeconds
  const buckets = openGenerations<Bucket | null>(maxEntries, burstSeconds * 1_000)
  return (ip, now) => {
    const network = ip.includes(':') ? ipv6Network(ip) : ip
    let bucket = buckets.get(network, now)
    if (bucket === undefined) {
      bucket = isInternal(ip) ? null : { tokens: most, at: now }
      buckets.set(network, bucket, now)
    }
    if (bucket === null) return true
    bucket.tokens = Math.min(most, bucket.tokens + (Math.max(0, now - bucket.at) / 1_000) * perSecond)
    bucket.at = now
    if (bucket.tokens < 1) return false
    bucket.tokens -= 1
    return true
  }
}

/** The first 56 bits of an IPv6 address: the largest network that a home connection gets. */
function ipv6Network(ip: string): string {
  if (!ipaddr.IPv6.isValid(ip)) return ip
  const [a = 0, b = 0, c = 0, d = 0] = ipaddr.IPv6.parse(ip).parts
  return `${a}:${b}:${c}:${d >> 8}`
}

function isInternal(ip: string): boolean {
  return !(isIPv4(ip) || ipaddr.isValid(ip)) || internal.has(ip)
}

/** Ids of clicks that this process stored recently; clicks with the same id are repeats and not logged. */
export type RecentClicks = { has(name: string, now: number): boolean; add(name: string, now: number): void }

const rememberedMs = 150_000
// Click ids have about 50 characters, so two generations of them stay below 10 MB.
const maxRemembered = 30_000

export function openRecentClicks(): RecentClicks {
  const generations = openGenerations<true>(maxRemembered, rememberedMs)
  return {
    has: (name, now) => generations.get(name, now) === true,
    add: (name, now) => generations.set(name, true, now),
  }
}

/** A map that drops entries not used for one to two lifetimes, or sooner when it is full. */
function openGenerations<V>(max: number, lifetimeMs: number) {
  let current = new Map<string, V>()
  let previous = new Map<string, V>()
  let since = 0
  const rotateWhenDue = (now: number) => {
    if (now - since < lifetimeMs && now >= since && current.size < max) return
    previous = now - since < 2 * lifetimeMs ? current : new Map()
    current = new Map()
    since = now
  }
  return {
    get(name: string, now: number): V | undefined {
      rotateWhenDue(now)
      const known = current.get(name)
      if (known !== undefined) return known
      const earlier = previous.get(name)
      if (earlier !== undefined) current.set(name, earlier)
      return earlier
    },
    set(name: string, value: V, now: number): void {
      rotateWhenDue(now)
      current.set(name, value)
    },
  }
}
