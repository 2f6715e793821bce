import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'
import { AppError, invalid } from '../../platform/errors.ts'
import { refuseInTransaction } from '../../platform/postgres.ts'
import { isCommonPassword } from './common-passwords.ts'

// 32 MB of memory and about 0.2 s for each password.
const cost = { N: 2 ** 15, r: 8, p: 3 }
const keyBytes = 32
const concurrency = 2
const mostWaiting = 64

type Lane = { running: number; waiting: (() => void)[] }
// Known devices have a lane of their own, so that a flood of guesses can't make the owner wait.
const lanes: Record<'known' | 'unknown', Lane> = {
  known: { running: 0, waiting: [] },
  unknown: { running: 0, waiting: [] },
}
export type HashLane = keyof typeof lanes

/** Hashes a password with scrypt and a random salt, as `scrypt$N$r$p$salt$key`. */
export async function hashPassword(password: string, lane: HashLane = 'unknown'): Promise<string> {
  refuseInTransaction('The hashing of a password')
  const salt = randomBytes(16)
  const key = await inLane(lane, () => derive(password, salt, cost))
  return ['scrypt', cost.N, cost.r, cost.p, salt.toString('base64url'), key.toString('base64url')].join('$')
}

/** Has the cost of a stored hash, for e-mail addresses without an account. */
const dummy = ['scrypt', cost.N, cost.r, cost.p, 'A'.repeat(22), 'A'.repeat(43)].join('$')

/** Whether a password matches its hash; takes as long without a hash. */
export async function isPassword(
  password: string,
  stored: string | null | undefined,
  lane: HashLane = 'unknown',
): Promise<boolean> {
  const [scheme, N, r, p, salt = '', key = ''] = (stored ?? dummy).split('$')
  if (scheme !== 'scrypt') return false
  const expected = Buffer.from(key, 'base64url')
  const options = { N: Number(N), r: Number(r), p: Number(p) }
  const actual = await inLane(lane, () => derive(password, Buffer.from(salt, 'base64url'), options))
  return timingSafeEqual(actual, expected) && typeof stored === 'string'
}

/** Limits concurrency: each lane runs two at a time, some queue, the rest get 429. */
export async function inLane<R>(name: HashLane, work: () => Promise<R>): Promise<R> {
  const lane = lanes[name]
  if (lane.running < concurrency) lane.running += 1
  else {
    if (lane.waiting.length >= mostWaiting) {
      throw new AppError('rate_limit_exceeded', 'Too many people are signing in right now. Try again in a few seconds.')
    }
    await new Promise<void>((resolve) => lane.waiting.push(resolve))
  }
  try {
    return await work()
  } finally {
    const next = lane.waiting.shift()
    if (next) next()
    else lane.running -= 1
  }
}

/** Normalized, because keyboards compose accented letters in two ways. */
function derive(password: string, salt: Buffer, options: ScryptOptions): Promise<Buffer> {
  const memory = 256 * (options.N ?? 0) * (options.r ?? 0)
  return new Promise((resolve, reject) =>
    scrypt(password.normalize('NFC'), salt, keyBytes, { ...options, maxmem: memory }, (error, key) =>
      error ? reject(error) : resolve(key),
    ),
  )
}

/** Throws 422 for a password that is too short, too long or among the common ones. */
export function requireGoodPassword(password: string, personal: string[]): void {
  // UTF-16 units, as in the fields of the forms and in the limits of the API.
  const { length } = password
  if (length < 10 || length > 200) throw invalid(`The password has ${length} characters. Choose one with 10 to 200.`)
  if (isCommonPassword(password, personal)) {
    throw invalid(
      'This password is easy to guess. Choose another, for example several words that do not belong together.',
    )
  }
}
