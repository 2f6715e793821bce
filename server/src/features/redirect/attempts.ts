import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import { clientNetwork } from '../../platform/client-address.ts'
import type { Platform } from '../../platform/context.ts'
import { isSamePassword, unseal } from '../../platform/seal.ts'
import type { RedirectLink } from '../links/service.ts'
import type { Attempt } from './decide.ts'

export type Attempts = (link: RedirectLink, password: string, ip: string) => Promise<Attempt>

const limit = { points: 10, duration: 600 }

/** Allows a visitor ten wrong passwords per link in ten minutes; correct passwords are not counted. */
export function openAttempts({ config, valkey }: Pick<Platform, 'config' | 'valkey'>): Attempts {
  const limiter = new RateLimiterRedis({
    ...limit,
    storeClient: valkey,
    keyPrefix: 'limit:password',
    insuranceLimiter: new RateLimiterMemory(limit),
  })
  return async (link, password, ip) => {
    const visitor = `${link.number}/${clientNetwork(ip)}`
    try {
      // The attempt is counted before the password is compared, so that concurrent guesses are counted too.
      await limiter.consume(visitor)
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal
      return { outcome: 'limited', retryAfter: Math.max(1, Math.ceil(refusal.msBeforeNext / 1_000)) }
    }
    const secret = unseal(config.ENCRYPTION_KEYS, link.id, Buffer.from(link.sealedPassword ?? '', 'base64'))
    if (!isSamePassword(secret, password)) return { outcome: 'wrong' }
    await limiter.reward(visitor)
    return { outcome: 'right' }
  }
}
