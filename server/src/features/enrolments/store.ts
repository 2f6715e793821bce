import { sql } from 'kysely'
import type { AllWorkspacesDb, Db } from '../../platform/postgres.ts'

/** Adds to the e-mails of a recipient and day. Returns the new count. */
export async function addEmail(db: Db, workspaceId: string, day: string, recipient: Buffer): Promise<number> {
  const result = await sql<{ emails: number }>`
    INSERT INTO partner_email_counts AS c (workspace_id, day, recipient, emails)
    VALUES (${workspaceId}, ${day}::date, ${recipient}, 1)
    ON CONFLICT (workspace_id, day, recipient) DO UPDATE SET emails = c.emails + 1 RETURNING emails`.execute(db)
  return result.rows[0]?.emails ?? 0
}

export async function selectEmails(db: Db, workspaceId: string, day: string, recipient: Buffer): Promise<number> {
  const result = await sql<{ emails: number }>`SELECT emails FROM partner_email_counts
    WHERE workspace_id = ${workspaceId} AND day = ${day}::date AND recipient = ${recipient}`.execute(db)
  return result.rows[0]?.emails ?? 0
}

export async function deleteEmailCounts(db: AllWorkspacesDb, before: string): Promise<void> {
  await sql`DELETE FROM partner_email_counts WHERE day < ${before}::date`.execute(db)
}
