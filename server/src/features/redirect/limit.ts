import ipaddr from 'ipaddr.js'

/** False when this address has used up its clicks for now. */
export type AddressLimit = (ip: string, now: number) => boolean

type Bucket = { tokens: number; at: number }

/** Seconds of the sustained rate that an address may use at once. */
const burstSeconds = 20
// An entry takes about 200 bytes, so both generations stay below 10 MB.
const maxEntries = 25_000
/**
 * These are not public addresses. One of them is a proxy that TRUSTED_PROXIES does not list, and a limit would drop the
 * clicks of everybody behind it.
 */
const internal = ['loopback', 'private', 'linkLocal', 'uniqueLocal', 'carrierGradeNat', 'unspecified']

/**
 * A token bucket per IPv4 address and IPv6 /56, in this process. A bucket that is idle for `burstSeconds` is full
 * again, so remembering two generations of that length is enough.
 */
export function openAddressLimit(perSecond: number): AddressLimit {
  const most = perSecond * burstSeconds
  const buckets = openGenerations<Bucket | null>(maxEntries, burstSeconds * 1_000)
  return (ip, now) => {
    const network = ip.includes(':') ? ipv6Network(ip) : ip
    let bucket = buckets.get(network, now)
    if (bucket === undefined) {
      bucket = isInternal(ip) ? null : { tokens: most, at: now }
      buckets.set(network, bucket)
    }
    if (bucket === null) return true
    bucket.tokens = Math.min(most, bucket.tokens + (Math.max(0, now - bucket.at) / 1_000) * perSecond)
    bucket.at = now
    if (bucket.tokens < 1) return false
    bucket.tokens -= 1
    return true
  }
}

/** The first 56 bits: the largest network of a home connection. */
function ipv6Network(ip: string): string {
  if (!ipaddr.IPv6.isValid(ip)) return ip
  const [a = 0, b = 0, c = 0, d = 0] = ipaddr.IPv6.parse(ip).parts
  return `${a}:${b}:${c}:${d >> 8}`
}

function isInternal(ip: string): boolean {
  return !ipaddr.isValid(ip) || internal.includes(ipaddr.process(ip).range())
}

/** Ids of recently stored clicks of this process: their repeats need not be logged. */
export type RecentClicks = { has(name: string, now: number): boolean; add(name: string, now: number): void }

const rememberedMs = 150_000
// Names have about 50 characters, so both generations stay below 10 MB.
const maxRemembered = 30_000

export function openRecentClicks(): RecentClicks {
  const generations = openGenerations<true>(maxRemembered, rememberedMs)
  return {
    has: (name, now) => generations.get(name, now) === true,
    add: (name, now) => {
      generations.get(name, now)
      generations.set(name, true)
    },
  }
}

/** A map that drops entries unused for one to two lifetimes, or sooner when it is full. */
function openGenerations<V>(max: number, lifetimeMs: number) {
  let current = new Map<string, V>()
  let previous = new Map<string, V>()
  let since = 0
  const rotate = (now: number) => {
    previous = now - since < 2 * lifetimeMs ? current : new Map()
    current = new Map()
    since = now
  }
  return {
    get(name: string, now: number): V | undefined {
      if (now - since >= lifetimeMs || now < since || current.size >= max) rotate(now)
      const known = current.get(name)
      if (known !== undefined) return known
      const earlier = previous.get(name)
      if (earlier !== undefined) current.set(name, earlier)
      return earlier
    },
    set: (name: string, value: V) => void current.set(name, value),
  }
}
