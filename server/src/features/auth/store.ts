import { sql } from 'kysely'
import type { Db } from '../../platform/postgres.ts'

export type UserRow = {
  id: string
  name: string
  email: string
  email_verified: boolean
  image: string | null
  two_factor_enabled: boolean
  disabled_at: Date | null
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

const shown = sql`id, name, email, email_verified, image, two_factor_enabled, disabled_at, created_at`

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
  row: Pick<UserRow, 'id' | 'name' | 'email' | 'email_verified'>,
): Promise<UserRow | undefined> {
  const result = await sql<UserRow>`
    INSERT INTO users (id, name, email, email_verified)
    VALUES (${row.id}, ${row.name}, ${row.email}, ${row.email_verified})
    ON CONFLICT (email) DO NOTHING RETURNING ${shown}`.execute(db)
  return result.rows[0]
}

export async function upsertPassword(db: Db, userId: string, hash: string): Promise<void> {
  await sql`
    INSERT INTO accounts (id, user_id, account_id, provider_id, password)
    VALUES (${`acc_${userId}`}, ${userId}, ${userId}, 'credential', ${hash})
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
