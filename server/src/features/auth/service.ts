import { z } from 'zod'
import { openByteCache } from '../../platform/byte-cache.ts'
import type { Platform } from '../../platform/context.ts'
import { AppError, invalid } from '../../platform/errors.ts'
import { newId, randomText } from '../../platform/ids.ts'
import { transaction } from '../../platform/postgres.ts'
import { readCookie, sessionCookieName, signValue, verifyValue } from './cookies.ts'
import { hashPassword } from './passwords.ts'
import {
  insertSession,
  insertUser,
  selectSession,
  selectUserByEmail,
  selectUsers,
  type UserRow,
  upsertPassword,
} from './store.ts'

export type Session = {
  id: string
  userId: string
  name: string
  email: string
  isEmailVerified: boolean
  /** When the user last entered a password or used a passkey in this session. */
  authenticatedAt: Date
}
export type User = {
  id: string
  name: string
  email: string
  isEmailVerified: boolean
  image: string | null
  hasSecondFactor: boolean
  disabledAt: Date | null
  /** Whether the user sees the state of the whole installation. */
  isOperator: boolean
  createdAt: Date
}
type Databases = Pick<Platform, 'db' | 'config'>
// As in the contract. Looser rules would accept lists of addresses.
const emailAddress = z.email().max(254)

// An ended session must stop working within a second in every process.
const cachedMs = 750
const sessions = openByteCache<Promise<Session | undefined>>({
  maxBytes: 16_000_000,
  most: 10_000,
  ttlMs: cachedMs,
  measure: () => 1_000,
})

/** Returns the session of a `Cookie` header; undefined without a valid one, or when its user is disabled. */
export async function findSession(platform: Databases, cookieHeader: string | undefined): Promise<Session | undefined> {
  const cookie = readCookie(cookieHeader, sessionCookieName(platform.config))
  const token = verifyValue(platform.config, cookie)
  if (!token) return undefined
  const cached = sessions.get(token)
  if (cached) return cached
  const found = loadSession(platform, token)
  sessions.set(token, found)
  found.catch(() => sessions.delete(token))
  return found
}

/** Makes this process read a changed session again; others do within a second. */
export function forgetSession({ config }: Databases, cookieHeader: string | undefined): void {
  sessions.delete(verifyValue(config, readCookie(cookieHeader, sessionCookieName(config))) ?? '')
}

async function loadSession({ db }: Databases, token: string): Promise<Session | undefined> {
  const row = await selectSession(db, token)
  return (
    row && {
      id: row.id,
      userId: row.user_id,
      name: row.name,
      email: row.email,
      isEmailVerified: row.email_verified,
      authenticatedAt: row.authenticated_at,
    }
  )
}

export async function usersByIds({ db }: Pick<Platform, 'db'>, ids: string[]): Promise<Map<string, User>> {
  if (ids.length === 0) return new Map()
  const rows = await selectUsers(db, [...new Set(ids)])
  return new Map(rows.map((row) => [row.id, presentUser(row)]))
}

export async function findUserByEmail({ db }: Pick<Platform, 'db'>, email: string): Promise<User | undefined> {
  const row = await selectUserByEmail(db, normalizeEmail(email))
  return row && presentUser(row)
}

/**
 * Creates a user; throws 409 if the e-mail address is taken. Without a password, the user signs in with a link. A caller
 * with a transaction passes the hash of the password, because hashing would occupy its connection.
 */
export async function createUser(
  platform: Databases,
  input: {
    email: string
    name: string
    password?: string
    hash?: string
    isEmailVerified?: boolean
    isOperator?: boolean
  },
): Promise<User> {
  const email = normalizeEmail(input.email)
  const hash = input.password === undefined ? input.hash : await hashPassword(input.password)
  const user = await transaction(platform, async ({ db }) => {
    const { name, isEmailVerified = false, isOperator = false } = input
    const row = { id: newId('user'), name, email, email_verified: isEmailVerified, is_operator: isOperator }
    const inserted = await insertUser(db, row)
    if (inserted && hash) await upsertPassword(db, inserted.id, hash)
    return inserted
  })
  if (!user) throw emailTaken(email)
  return presentUser(user)
}

export function emailTaken(email: string): AppError {
  return new AppError('conflict', `A user with the e-mail address ${email} exists already. Sign in, or choose another.`)
}

/** Starts a session without a sign-in, for tests and one-time links; returns the value of the `Cookie` header. */
export async function startSession({ db, config }: Databases, userId: string, validMs = 86_400_000): Promise<string> {
  const token = randomText(32)
  await insertSession(db, {
    id: newId('ses'),
    user_id: userId,
    token,
    expires_at: new Date(Date.now() + validMs),
  })
  return `${sessionCookieName(config)}=${encodeURIComponent(signValue(config, token))}`
}

export function normalizeEmail(text: string): string {
  const email = text.trim().toLowerCase()
  if (!emailAddress.safeParse(email).success) {
    throw invalid(`${JSON.stringify(text.slice(0, 300))} is not an e-mail address, such as ada@example.com.`)
  }
  return email
}

function presentUser(row: UserRow): User {
  return {
    id: row.id,
    name: row.name,
    email: row.email,
    isEmailVerified: row.email_verified,
    image: row.image,
    hasSecondFactor: row.two_factor_enabled,
    disabledAt: row.disabled_at,
    isOperator: row.is_operator,
    createdAt: row.created_at,
  }
}
