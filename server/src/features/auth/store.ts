import { sql } from 'kysely'
import { locks } from '../../platform/locks.ts'
import type { Db } from '../../platform/postgres.ts'

export type UserRow = {
  id: string
  name: string
  email: string
  email_verified: boolean
  image: string | null
  two_factor_enabled: boolean
  disabled_at: Date | null
  is_operator: boolean
  created_at: Date
}
export type SessionRow = {
  id: string
  user_id: string
  name: string
  email: string
  email_verified: boolean
  authenticated_at: Date
}

const shown = sql`id, name, email, email_verified, image, two_factor_enabled, disabled_at, is_operator, created_at`

/** Returns a session that has not expired, of a user who is not disabled. */
export async function selectSession(db: Db, token: string): Promise<SessionRow | undefined> {
  const result = await sql<SessionRow>`
    SELECT s.id, s.user_id, u.name, u.email, u.email_verified, s.authenticated_at
    FROM sessions s JOIN users u ON u.id = s.user_id
    WHERE s.token = ${token} AND s.expires_at > now() AND u.disabled_at IS NULL`.execute(db)
  return result.rows[0]
}

export async function selectUsers(db: Db, ids: string[]): Promise<UserRow[]> {
  const result = await sql<UserRow>`SELECT ${shown} FROM users WHERE id = ANY(${ids})`.execute(db)
  return result.rows
}

export async function selectUserByEmail(db: Db, email: string): Promise<UserRow | undefined> {
  const result = await sql<UserRow>`SELECT ${shown} FROM users WHERE email = ${email}`.execute(db)
  return result.rows[0]
}

/** Returns undefined if another user has the e-mail address. */
export async function insertUser(
  db: Db,
  row: Pick<UserRow, 'id' | 'name' | 'email' | 'email_verified' | 'is_operator'>,
): Promise<UserRow | undefined> {
  const result = await sql<UserRow>`
    INSERT INTO users (id, name, email, email_verified, is_operator)
    VALUES (${row.id}, ${row.name}, ${row.email}, ${row.email_verified}, ${row.is_operator})
    ON CONFLICT (email) DO NOTHING RETURNING ${shown}`.execute(db)
  return result.rows[0]
}

export async function upsertPassword(db: Db, userId: string, hash: string): Promise<void> {
  await sql`
    INSERT INTO accounts (id, user_id, account_id, provider_id, password)
    VALUES (${`acc_${userId}`}, ${userId}, ${userId}, 'password', ${hash})
    ON CONFLICT (provider_id, account_id) DO UPDATE SET password = excluded.password, updated_at = now()`.execute(db)
}

export async function insertSession(
  db: Db,
  row: { id: string; user_id: string; token: string; expires_at: Date },
): Promise<void> {
  await sql`
    INSERT INTO sessions (id, user_id, token, expires_at)
    VALUES (${row.id}, ${row.user_id}, ${row.token}, ${row.expires_at})`.execute(db)
}

export async function selectUser(db: Db, id: string): Promise<UserRow | undefined> {
  return (await selectUsers(db, [id]))[0]
}

export async function selectAllUsers(db: Db, limit: number): Promise<UserRow[]> {
  const result = await sql<UserRow>`SELECT ${shown} FROM users ORDER BY created_at LIMIT ${limit}`.execute(db)
  return result.rows
}

export async function hasUsers(db: Db): Promise<boolean> {
  const result = await sql<{ found: boolean }>`SELECT EXISTS (SELECT FROM users) AS found`.execute(db)
  return result.rows[0]?.found ?? false
}

/** Blocks until no other transaction creates the first user. */
export async function lockFirstUser(db: Db): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(${locks.firstUser})`.execute(db)
}

export type CredentialRow = { id: string; email: string; disabled_at: Date | null; password: string | null }

/** Returns a user with the hash of the password, in one statement, whether or not there is one. */
export async function selectCredential(db: Db, email: string): Promise<CredentialRow | undefined> {
  const result = await sql<CredentialRow>`
    SELECT u.id, u.email, u.disabled_at, a.password FROM users u
    LEFT JOIN accounts a ON a.provider_id = 'password' AND a.account_id = u.id WHERE u.email = ${email}`.execute(db)
  return result.rows[0]
}

/** Returns the former e-mail address; undefined if another user has the new one. */
export async function updateEmail(db: Db, userId: string, email: string): Promise<string | undefined> {
  const result = await sql<{ email: string }>`
    UPDATE users u SET email = ${email}, email_verified = true, updated_at = now()
    FROM (SELECT id, email FROM users WHERE id = ${userId} FOR UPDATE) former
    WHERE u.id = former.id AND NOT EXISTS (SELECT FROM users WHERE email = ${email} AND id <> ${userId})
    RETURNING former.email`.execute(db)
  return result.rows[0]?.email
}

export async function updateName(db: Db, userId: string, name: string): Promise<void> {
  await sql`UPDATE users SET name = ${name}, updated_at = now() WHERE id = ${userId}`.execute(db)
}

export async function markEmailVerified(db: Db, userId: string): Promise<void> {
  await sql`UPDATE users SET email_verified = true, updated_at = now()
    WHERE id = ${userId} AND NOT email_verified`.execute(db)
}

export async function updateDisabled(db: Db, userId: string, isDisabled: boolean): Promise<void> {
  await sql`UPDATE users SET disabled_at = CASE WHEN ${isDisabled} THEN coalesce(disabled_at, now()) END,
    updated_at = now() WHERE id = ${userId}`.execute(db)
}

export async function updateOperator(db: Db, userId: string, isOperator: boolean): Promise<void> {
  await sql`UPDATE users SET is_operator = ${isOperator}, updated_at = now() WHERE id = ${userId}`.execute(db)
}

export async function deleteUserRow(db: Db, userId: string): Promise<void> {
  await sql`DELETE FROM users WHERE id = ${userId}`.execute(db)
}

export async function deleteSecondFactors(db: Db, userId: string): Promise<void> {
  await sql`DELETE FROM two_factors WHERE user_id = ${userId}`.execute(db)
  await sql`UPDATE users SET two_factor_enabled = false WHERE id = ${userId}`.execute(db)
}
