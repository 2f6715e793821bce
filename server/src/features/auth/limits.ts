import { createHash } from 'node:crypto'
import type { Platform } from '../../platform/context.ts'
import { AppError } from '../../platform/errors.ts'
import type { RateLimiter } from '../../platform/rate-limit.ts'
import { cookiePrefix, isHostCookie, readCookie, signValue, verifyValue } from './cookies.ts'

type Attempt = { network: string; email: string; cookie: string | undefined }
type Limited = Pick<Platform, 'config' | 'now' | 'metrics'> & { limiter: RateLimiter }

const windowSeconds = 15 * 60
const deviceDays = 180
const mailsPerHour = 5
const mailsPerUserAndDay = 20
// An attacker may have the cookies of several devices of one user.
const knownDevices = 5

/**
 * Counts a sign-in attempt per address, per e-mail address and in all; throws 429 above a limit. E-mail addresses without
 * an account count too, so that the limit does not reveal which exist. Returns whether the device is known.
 */
export async function limitSignIn(limited: Limited, { network, email, cookie }: Attempt): Promise<boolean> {
  const { config } = limited
  const minutes = { windowSeconds }
  await spend(limited, `sign-in:address:${network}`, { limit: config.SIGN_IN_ATTEMPTS_PER_ADDRESS, ...minutes })
  const device = knownDevice(config, email, cookie)
  const account = { limit: config.SIGN_IN_ATTEMPTS_PER_ACCOUNT, ...minutes }
  // An attacker can't use up the limit of the owner's own browser.
  if (device) {
    await spend(limited, `sign-in:device:${digest(device)}`, account)
    await spend(limited, `sign-in:known:${digest(email)}`, { ...account, limit: account.limit * knownDevices })
  } else {
    await spend(limited, `sign-in:account:${digest(email)}`, account)
    await spend(limited, 'sign-in:all', { limit: config.SIGN_IN_ATTEMPTS_PER_MINUTE, windowSeconds: 60 })
  }
  return device !== undefined
}

/** Counts any request to the sign-in pages. */
export async function limitVisits(limited: Limited, network: string): Promise<void> {
  await spend(limited, `sign-in:visit:${network}`, {
    limit: limited.config.SIGN_IN_VISITS_PER_MINUTE,
    windowSeconds: 60,
  })
}

/**
 * Returns whether this address may get another e-mail of this kind; responses must not depend on it, or they reveal other
 * requests. A known device has a limit of its own, so that an attacker can't use up that of the owner.
 */
export async function mayMail(
  { limiter, now, config }: Limited,
  { kind, email, cookie }: { kind: string; email: string; cookie?: string | undefined },
): Promise<boolean> {
  const device = knownDevice(config, email, cookie)
  const subject = device ? `device:${digest(device)}` : digest(email)
  const allowance = { limit: mailsPerHour, windowSeconds: 3_600 }
  return (await limiter(`sign-in:mail:${kind}:${subject}`, allowance, now())).allowed
}

/** Returns whether a user may send another e-mail, to whatever address. */
export async function maySend({ limiter, now }: Limited, userId: string): Promise<boolean> {
  return (await limiter(`sign-in:sender:${userId}`, { limit: mailsPerUserAndDay, windowSeconds: 86_400 }, now()))
    .allowed
}

/** Returns the `Set-Cookie` header that marks this browser as one in which the user signed in. */
export function deviceCookie(config: Platform['config'], email: string, now: Date): string {
  const value = signValue(config, `device:${digest(email)}:${now.getTime()}`)
  const secure = isHostCookie(config) ? '; Secure' : ''
  return `${deviceCookieName(config)}=${encodeURIComponent(value)}; Max-Age=${deviceDays * 86_400}; Path=/; HttpOnly${secure}; SameSite=Lax`
}

function knownDevice(config: Platform['config'], email: string, cookie: string | undefined): string | undefined {
  const value = verifyValue(config, readCookie(cookie, deviceCookieName(config)))
  const [kind, owner, since] = value?.split(':') ?? []
  const isCurrent = Date.now() - Number(since) < deviceDays * 86_400_000
  return kind === 'device' && owner === digest(email) && isCurrent ? value : undefined
}

function deviceCookieName(config: Platform['config']): string {
  return `${cookiePrefix(config)}.device`
}

async function spend(
  { limiter, now, metrics }: Limited,
  subject: string,
  allowance: { limit: number; windowSeconds: number },
): Promise<void> {
  const { allowed, retryAfter } = await limiter(subject, allowance, now())
  if (allowed) return
  metrics.limited.inc({ plan: 'none', limit: 'sign-in' })
  const wait = retryAfter > 90 ? `${Math.ceil(retryAfter / 60)} minutes` : `${retryAfter} s`
  throw new AppError('rate_limit_exceeded', `Too many attempts. Try again in ${wait}.`)
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22)
}
