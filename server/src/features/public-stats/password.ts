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
/** Of all clients together: who has many networks guesses no faster. */
const totalLimit = { points: 300, duration: 3_600 }

/** Checks passwords of public statistics; allows ten wrong passwords per client network and ten minutes, and 300 an hour in all. */
export function openPasswordCheck({ config, valkey }: Pick<Platform, 'config' | 'valkey'>): CheckPassword {
  const open = (given: typeof limit, keyPrefix: string) =>
    new RateLimiterRedis({
      ...{ ...given, keyPrefix, storeClient: valkey },
      insuranceLimiter: new RateLimiterMemory(given),
    })
  const [limiter, total] = [open(limit, 'limit:stats-password'), open(totalLimit, 'limit:stats-passwords')]
  return async ({ id, sealedPassword }, password, network) => {
    if (password === '') throw unauthorized('These statistics have a password. Send it in the header X-Stats-Password.')
    const visitor = `${id}/${network}`
    try {
      // Count the attempt before comparing the password, so that concurrent guesses are counted too.
      await limiter.consume(visitor)
      await total.consume(id)
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal
      const seconds = Math.max(1, Math.ceil(refusal.msBeforeNext / 1_000))
      throw new AppError('rate_limit_exceeded', `Too many wrong passwords. Try again in ${seconds} s.`)
    }
    const secret = unseal(config.ENCRYPTION_KEYS, sealPurpose(id), sealedPassword)
    if (!isSamePassword(secret, password)) throw unauthorized('X-Stats-Password is wrong.')
    await Promise.all([limiter.reward(visitor), total.reward(id)])
  }
}

/** The encryption purpose of a password: it can be decrypted only for its own link or folder. */
export function sealPurpose(subjectId: string): string {
  return `public statistics of ${subjectId}`
}
