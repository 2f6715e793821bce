import { sql } from 'kysely'
import type { Db } from '../../platform/postgres.ts'

export type SessionListRow = { id: string; user_agent: string | null; ip_address: string | null; created_at: Date }
export type PasskeyRow = { id: string; name: string | null; created_at: Date }

const mostListed = 100

export async function selectSessions(db: Db, userId: string): Promise<SessionListRow[]> {
  const result = await sql<SessionListRow>`
    SELECT id, user_agent, ip_address, created_at FROM sessions
    WHERE user_id = ${userId} AND expires_at > now() ORDER BY created_at DESC LIMIT ${mostListed}`.execute(db)
  return result.rows
}

/** Deletes one session of the user, or all except one; returns how many. */
export async function deleteSessions(
  db: Db,
  userId: string,
  which: { id: string } | { except: string | undefined },
): Promise<number> {
  const condition = 'id' in which ? sql`id = ${which.id}` : sql`id <> ${which.except ?? ''}`
  const result = await sql`DELETE FROM sessions WHERE user_id = ${userId} AND ${condition} RETURNING id`.execute(db)
  return result.rows.length
}

export async function deleteExpiredSessions(db: Db): Promise<void> {
  await sql`DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE expires_at < now() LIMIT 100)`.execute(db)
}

/** Deletes the oldest sessions of a user, so that at most `most` remain. */
export async function deleteOldestSessions(db: Db, userId: string, most: number): Promise<void> {
  await sql`DELETE FROM sessions WHERE id IN (
    SELECT id FROM sessions WHERE user_id = ${userId} ORDER BY created_at DESC, id OFFSET ${most})`.execute(db)
}

export async function touchAuthenticated(db: Db, sessionId: string): Promise<void> {
  await sql`UPDATE sessions SET authenticated_at = now() WHERE id = ${sessionId}`.execute(db)
}

export async function selectExpiry(db: Db, sessionId: string): Promise<Date | undefined> {
  const result = await sql<{ expires_at: Date }>`SELECT expires_at FROM sessions WHERE id = ${sessionId}`.execute(db)
  return result.rows[0]?.expires_at
}

export async function updateTimes(
  db: Db,
  sessionId: string,
  { authenticatedAt, expiresAt }: { authenticatedAt: Date; expiresAt: Date },
): Promise<void> {
  await sql`UPDATE sessions SET authenticated_at = ${authenticatedAt}, expires_at = ${expiresAt}
    WHERE id = ${sessionId}`.execute(db)
}

export async function selectPasskeys(db: Db, userId: string): Promise<PasskeyRow[]> {
  const result = await sql<PasskeyRow>`
    SELECT id, name, created_at FROM passkeys WHERE user_id = ${userId} ORDER BY created_at LIMIT ${mostListed}`.execute(
    db,
  )
  return result.rows
}

/** Deletes the passkeys of a user; returns how many. */
export async function deletePasskeys(db: Db, userId: string): Promise<number> {
  return (await sql`DELETE FROM passkeys WHERE user_id = ${userId} RETURNING id`.execute(db)).rows.length
}

/** Returns false if the user has no such passkey. */
export async function deletePasskey(db: Db, userId: string, id: string): Promise<boolean> {
  const result = await sql`DELETE FROM passkeys WHERE user_id = ${userId} AND id = ${id} RETURNING id`.execute(db)
  return result.rows.length > 0
}
