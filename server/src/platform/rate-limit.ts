import type { Access, Plan } from '@tributary/contract/operation'
import type { Redis } from 'ioredis'
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import { openByteCache } from './byte-cache.ts'
import type { Config } from './config.ts'
import { AppError } from './errors.ts'

export type Allowance = { limit: number; windowSeconds: number }
export type Verdict = { allowed: boolean; limit: number; remaining: number; resetAt: number; retryAfter: number }
export type RateLimiter = (subject: string, allowance: Allowance, now: Date) => Promise<Verdict>

const perMinute: Record<Exclude<Plan, 'enterprise'>, number> = { free: 60, pro: 600, business: 1_200, advanced: 3_000 }
const exportsPerMinute: Record<Plan, number> = { free: 0, pro: 0, business: 6, advanced: 12, enterprise: 60 }
const perSecond: Record<Exclude<Plan, 'enterprise'>, number> = { free: 0, pro: 2, business: 4, advanced: 8 }

/** Returns the rate limit of a plan. The free plan has no analytics, so its analytics requests count as standard ones. */
export function findAllowance(plan: Plan, limit: Access['limit'], config: Config): Allowance {
  if (limit === 'export' && exportsPerMinute[plan] > 0) return { limit: exportsPerMinute[plan], windowSeconds: 60 }
  if (limit === 'analytics' && plan !== 'free') {
    return { limit: plan === 'enterprise' ? config.ENTERPRISE_ANALYTICS_PER_SECOND : perSecond[plan], windowSeconds: 1 }
  }
  return { limit: plan === 'enterprise' ? config.ENTERPRISE_REQUESTS_PER_MINUTE : perMinute[plan], windowSeconds: 60 }
}

/** Formats the rate limit as response headers. */
export function limitHeaders({ limit, remaining, resetAt, retryAfter }: Verdict): Record<string, string> {
  return {
    'X-RateLimit-Limit': String(limit),
    'X-RateLimit-Remaining': String(remaining),
    'X-RateLimit-Reset': String(resetAt),
    'Retry-After': String(retryAfter),
  }
}

/** Builds the 429 error; `who` names the plan or key that sets the limit. */
export function tooMany(
  { limit, retryAfter }: Verdict,
  { who, whose, window = 'minute' }: { who?: string; whose?: string; window?: 'second' | 'minute' } = {},
): AppError {
  const requests = `${limit} requests per ${window}${whose ? ` ${whose}` : ''}`
  const rule = who ? `${who} allows ${requests} here.` : `${requests} are allowed here.`
  return new AppError('rate_limit_exceeded', `${rule} Try again in ${retryAfter} s.`)
}

/** Counts a request per visitor network, so that one visitor can't exhaust a publishable key, and per key. */
export async function limitPublishable(
  limiter: RateLimiter,
  { keyId, network, config, now }: { keyId: string; network: string; config: Config; now: Date },
): Promise<Verdict> {
  const perVisitor = { limit: config.PUBLISHABLE_VISITOR_REQUESTS_PER_MINUTE, windowSeconds: 60 }
  const visitor = await limiter(`${keyId}:${network}`, perVisitor, now)
  if (!visitor.allowed) return visitor
  const perKey = { limit: config.PUBLISHABLE_KEY_REQUESTS_PER_MINUTE, windowSeconds: 60 }
  const key = await limiter(`pages:${keyId}`, perKey, now)
  return key.allowed ? visitor : key
}

export type UnauthenticatedLimit = {
  /** Whether this network has exhausted its limit, according to this process's memory. */
  isUsedUp(network: string): boolean
  /** Counts a request without a valid API key. */
  spend(network: string, now: Date): Promise<Verdict>
}

const mostNetworks = 50_000

/** Limits requests without a valid key per network. Keeps exhausted networks in memory, so that their requests skip Valkey. */
export function openUnauthenticatedLimit(limiter: RateLimiter, config: Config): UnauthenticatedLimit {
  const usedUp = openByteCache<Verdict>({ maxBytes: 8_000_000, most: mostNetworks })
  const allowance = { limit: config.UNAUTHENTICATED_REQUESTS_PER_MINUTE, windowSeconds: 60 }
  return {
    isUsedUp: (network) => usedUp.has(network),
    async spend(network, now) {
      const known = usedUp.get(network)
      if (known) return { ...known, retryAfter: Math.max(1, known.resetAt - Math.floor(now.getTime() / 1000)) }
      const verdict = await limiter(`unauthenticated:${network}`, allowance, now)
      if (!verdict.allowed) usedUp.set(network, verdict, { ttl: verdict.retryAfter * 1000 })
      return verdict
    },
  }
}

/** Counts requests in Valkey, shared by all processes; while Valkey is unreachable, each process counts alone. */
export function openRateLimiter(valkey: Redis): RateLimiter {
  const limiters = new Map<string, RateLimiterRedis>()

  function limiterFor({ limit, windowSeconds }: Allowance): RateLimiterRedis {
    const name = `${limit}/${windowSeconds}`
    const options = { points: limit, duration: windowSeconds }
    const limiter =
      limiters.get(name) ??
      new RateLimiterRedis({
        ...options,
        storeClient: valkey,
        keyPrefix: `limit:${name}`,
        insuranceLimiter: new RateLimiterMemory(options),
      })
    limiters.set(name, limiter)
    return limiter
  }

  return async (subject, allowance, now) => {
    const result = await limiterFor(allowance)
      .consume(subject)
      .then((outcome) => ({ allowed: true, outcome }))
      .catch((outcome: unknown) => {
        if (!(outcome instanceof RateLimiterRes)) throw outcome
        return { allowed: false, outcome }
      })
    const resetAfterMs = Math.max(0, result.outcome.msBeforeNext)
    return {
      allowed: result.allowed,
      limit: allowance.limit,
      remaining: Math.max(0, result.outcome.remainingPoints),
      resetAt: Math.ceil((now.getTime() + resetAfterMs) / 1000),
      retryAfter: Math.max(1, Math.ceil(resetAfterMs / 1000)),
    }
  }
}

/** Runs work of a subject, but not more than `most` at once, so that one subject can't take all of a limit that they share. */
export function openConcurrencyLimit(most: number, refusal: () => Error) {
  const running = new Map<string, number>()
  return async <R>(subject: string, work: () => Promise<R>): Promise<R> => {
    const count = running.get(subject) ?? 0
    if (count >= most) throw refusal()
    running.set(subject, count + 1)
    try {
      return await work()
    } finally {
      const left = (running.get(subject) ?? 1) - 1
      if (left > 0) running.set(subject, left)
      else running.delete(subject)
    }
  }
}
