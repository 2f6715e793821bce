import { createHash, randomBytes } from 'node:crypto'
import type { Platform } from '../../platform/context.ts'
import { AppError } from '../../platform/errors.ts'
import { deleteVerification, insertVerification, selectVerification } from './verification-store.ts'

/** The value that is stored with a one-time link, by the purpose of the link. */
export type LinkValues = {
  'sign-in': { userId: string }
  reset: { userId: string }
  'sign-up': { email: string }
  'change-email': { userId: string; email: string }
  setup: Record<string, never>
}
export type Purpose = keyof LinkValues

const minuteMs = 60_000
const lifetimes: Record<Purpose, number> = {
  'sign-in': 15 * minuteMs,
  reset: 60 * minuteMs,
  'sign-up': 1_440 * minuteMs,
  'change-email': 60 * minuteMs,
  setup: 1_440 * minuteMs,
}
const paths: Record<Purpose, string> = {
  'sign-in': '/sign-in/use-link',
  reset: '/reset-password/new',
  'sign-up': '/sign-up/new',
  'change-email': '/account/email/confirm',
  setup: '/setup',
}

/** Issues a one-time link. The database has the hash of its secret; its address is API_URL, whatever host a request named. */
export async function issueLink<P extends Purpose>(
  { db, config }: Pick<Platform, 'db' | 'config'>,
  purpose: P,
  value: LinkValues[P],
  { next, lifetimeMs = lifetimes[purpose] }: { next?: string; lifetimeMs?: number } = {},
): Promise<string> {
  const token = randomBytes(24).toString('base64url')
  const expiresAt = new Date(Date.now() + lifetimeMs)
  await insertVerification(db, { identifier: identify(purpose, token), value: JSON.stringify(value), expiresAt })
  const query = new URLSearchParams({ token, ...(next && { next }) })
  return `${config.API_URL}${paths[purpose]}?${query}`
}

/** Returns the value of a link without using it up; undefined for an unknown, used or expired one. */
export async function peekLink<P extends Purpose>(
  { db }: Pick<Platform, 'db'>,
  purpose: P,
  token: string,
): Promise<LinkValues[P] | undefined> {
  const text = await selectVerification(db, identify(purpose, token))
  return text === undefined ? undefined : (JSON.parse(text) as LinkValues[P])
}

/** Uses up a link; of concurrent uses, one succeeds. */
export async function useLink<P extends Purpose>(
  { db }: Pick<Platform, 'db'>,
  purpose: P,
  token: string,
): Promise<LinkValues[P]> {
  const text = await deleteVerification(db, identify(purpose, token))
  if (text === undefined) throw linkEnded()
  return JSON.parse(text) as LinkValues[P]
}

export function linkEnded(): AppError {
  return new AppError('not_found', 'This link was used already or has expired. Ask for a new one.')
}

function identify(purpose: Purpose, token: string): string {
  return `link:${purpose}:${createHash('sha256').update(token).digest('base64url')}`
}
