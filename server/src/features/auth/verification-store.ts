import { sql } from 'kysely'
import { randomText } from '../../platform/ids.ts'
import type { Db } from '../../platform/postgres.ts'

export async function insertVerification(
  db: Db,
  { identifier, value, expiresAt }: { identifier: string; value: string; expiresAt: Date },
): Promise<void> {
  // Each insert removes some expired rows, so that the tables stay small without a job.
  await sql`DELETE FROM verifications WHERE id IN (SELECT id FROM verifications WHERE expires_at < now() LIMIT 100)`.execute(
    db,
  )
  await sql`
    INSERT INTO verifications (id, identifier, value, expires_at)
    VALUES (${randomText(24)}, ${identifier}, ${value}, ${expiresAt})`.execute(db)
}

export async function selectVerification(db: Db, identifier: string): Promise<string | undefined> {
  const result = await sql<{ value: string }>`
    SELECT value FROM verifications WHERE identifier = ${identifier} AND expires_at > now()`.execute(db)
  return result.rows[0]?.value
}

type UsedCode = { userId: string; code: string }
const codeId = ({ userId, code }: UsedCode) => `totp:${userId}:${code}`

/** Returns false if the code was inserted in the last two minutes; the window of a code is 90 seconds. */
export async function insertUsedCode(db: Db, used: UsedCode): Promise<boolean> {
  const id = codeId(used)
  const result = await sql`
    INSERT INTO verifications (id, identifier, value, expires_at)
    VALUES (${id}, ${id}, '', now() + interval '2 minutes')
    ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at WHERE verifications.expires_at < now()
    RETURNING id`.execute(db)
  return result.rows.length > 0
}

export async function deleteUsedCode(db: Db, used: UsedCode): Promise<void> {
  await sql`DELETE FROM verifications WHERE id = ${codeId(used)}`.execute(db)
}

/** Deletes a row that has not expired and returns its value. */
export async function deleteVerification(db: Db, identifier: string): Promise<string | undefined> {
  const result = await sql<{ value: string }>`
    DELETE FROM verifications WHERE identifier = ${identifier} AND expires_at > now() RETURNING value`.execute(db)
  return result.rows[0]?.value
}

/** Ends links that were issued to a user, for instance after a password reset. */
export async function deleteLinksOfUser(db: Db, userId: string): Promise<void> {
  const owner = `%"userId":${JSON.stringify(userId)}%`
  await sql`DELETE FROM verifications WHERE identifier LIKE 'link:%' AND value LIKE ${owner}`.execute(db)
}
