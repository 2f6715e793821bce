import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import type { Platform } from '../../platform/context.ts'
import { AppError, unauthorized } from '../../platform/errors.ts'
import { isSamePassword, unseal } from '../../platform/seal.ts'

export type CheckPassword = (
  subject: { id: string; sealedPassword: Buffer },
  password: string,
  network: string,
) => Promise<void>

const limit = { points: 10, duration: 600 }

/** Checks passwords of public statistics; allows ten wrong passwords per client network, link and ten minutes. */
export function openPasswordCheck({ config, valkey }: Pick<Platform, 'config' | 'valkey'>): CheckPassword {
  const limiter = new RateLimiterRedis({
    ...limit,
    storeClient: valkey,
    keyPrefix: 'limit:stats-password',
    insuranceLimiter: new RateLimiterMemory(limit),
  })
  return async ({ id, sealedPassword }, password, network) => {
    if (password === '') throw unauthorized('These statistics have a password. Send it in the header X-Stats-Password.')
    const visitor = `${id}/${network}`
    try {
      // Count the attempt before comparing the password, so that concurrent guesses are counted too.
      await limiter.consume(visitor)
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal
      const seconds = Math.max(1, Math.ceil(refusal.msBeforeNext / 1_000))
      throw new AppError('rate_limit_exceeded', `Too many wrong passwords. Try again in ${seconds} s.`)
    }
    const secret = unseal(config.ENCRYPTION_KEYS, sealPurpose(id), sealedPassword)
    if (!isSamePassword(secret, password)) throw unauthorized('X-Stats-Password is wrong.')
    await limiter.reward(visitor)
  }
}

/** The encryption purpose of a password: it can be decrypted only for its own link or folder. */
export function sealPurpose(subjectId: string): string {
  return `public statistics of ${subjectId}`
}
