import type { Operation, Plan } from '@tributary/contract/operation'
import type { Redis } from 'ioredis'
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import type { Config } from './config.ts'

export type Allowance = { limit: number; windowSeconds: number }
export type Verdict = { allowed: boolean; limit: number; remaining: number; resetAt: number; retryAfter: number }
export type RateLimiter = (subject: string, allowance: Allowance, now: Date) => Promise<Verdict>

const perMinute: Record<Exclude<Plan, 'enterprise'>, number> = { free: 60, pro: 600, business: 1_200, advanced: 3_000 }
const exportsPerMinute: Record<Plan, number> = { free: 0, pro: 0, business: 6, advanced: 12, enterprise: 60 }
const perSecond: Record<Exclude<Plan, 'enterprise'>, number> = { free: 0, pro: 2, business: 4, advanced: 8 }

/** Free has no analytics: its requests there count as ordinary ones and are refused by plan. */
export function allowanceOf(plan: Plan, limit: Operation['limit'], config: Config): Allowance {
  if (limit === 'export' && exportsPerMinute[plan] > 0) return { limit: exportsPerMinute[plan], windowSeconds: 60 }
  if (limit === 'analytics' && plan !== 'free') {
    return { limit: plan === 'enterprise' ? config.ENTERPRISE_ANALYTICS_PER_SECOND : perSecond[plan], windowSeconds: 1 }
  }
  return { limit: plan === 'enterprise' ? config.ENTERPRISE_REQUESTS_PER_MINUTE : perMinute[plan], windowSeconds: 60 }
}

/** Windows are shared through Valkey; while it is away each process counts for itself. */
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
