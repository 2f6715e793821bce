import type { NotificationKind } from '@tributary/contract/notifications'
import { sql } from 'kysely'
import type { AllWorkspacesDb, Db } from '../../platform/postgres.ts'

export type NotificationRow = {
  id: bigint
  workspace_id: string
  user_id: string
  kind: NotificationKind
  subject: string
  occasion: string
  facts: unknown
  status: 'waiting' | 'sending' | 'sent' | 'unknown' | 'failed' | 'skipped'
  reason: string | null
  due_at: Date
  attempts: number
  finished_at: Date | null
  created_at: Date
}
type NewNotification = Pick<NotificationRow, 'kind' | 'subject' | 'occasion' | 'facts' | 'due_at' | 'created_at'>

const columns = sql`id, workspace_id, user_id, kind, subject, occasion, facts, status, reason, due_at, attempts,
  finished_at, created_at`

/** Queues a notification for each of these users, except for those who have it already. Returns how many are new. */
export async function insertNotifications(
  db: Db,
  workspaceId: string,
  userIds: string[],
  row: NewNotification,
): Promise<number> {
  const result = await sql`INSERT INTO notifications
      (workspace_id, user_id, kind, subject, occasion, facts, due_at, created_at)
    SELECT ${workspaceId}, u.id, ${row.kind}, ${row.subject}, ${row.occasion}, ${JSON.stringify(row.facts)}::jsonb,
      ${row.due_at}, ${row.created_at}
    FROM unnest(${userIds}::text[]) AS u (id)
    ON CONFLICT (workspace_id, user_id, kind, subject, occasion) DO NOTHING RETURNING id`.execute(db)
  return result.rows.length
}

/** Claims the due notifications of one person about one workspace; no other worker claims them before `until`. */
export async function claimDue(db: AllWorkspacesDb, now: Date, until: Date, count: number): Promise<NotificationRow[]> {
  const result = await sql<NotificationRow>`
    WITH person AS (
      SELECT workspace_id, user_id FROM notifications WHERE status = 'waiting' AND due_at <= ${now}
      ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED),
    due AS (
      SELECT n.id FROM notifications n JOIN person USING (workspace_id, user_id)
      WHERE n.status = 'waiting' AND n.due_at <= ${now} ORDER BY n.id LIMIT ${count} FOR UPDATE OF n SKIP LOCKED)
    UPDATE notifications SET due_at = ${until} WHERE id IN (SELECT id FROM due) RETURNING ${columns}`.execute(db)
  return result.rows.sort((one, other) => Number(one.id - other.id))
}

/**
 * Marks claimed notifications as being sent, before the mail server gets the e-mail. Returns the ids of those whose
 * claim still stands: after a pause of this process, another one may have claimed and sent the rest.
 */
export async function markSending(
  db: Db,
  workspaceId: string,
  { ids, claimedUntil, emailId, now }: { ids: bigint[]; claimedUntil: Date; emailId: string; now: Date },
): Promise<bigint[]> {
  const result = await sql<{ id: bigint }>`UPDATE notifications
    SET status = 'sending', attempted_at = ${now}, attempts = attempts + 1, email_id = ${emailId}
    WHERE workspace_id = ${workspaceId} AND id = ANY(${ids}::bigint[]) AND status = 'waiting'
      AND due_at = ${claimedUntil} RETURNING id`.execute(db)
  return result.rows.map(({ id }) => id)
}

/** Ends notifications that wait or are being sent; one whose outcome seemed unknown can end, too. */
export async function finishNotifications(
  db: Db,
  workspaceId: string,
  ids: bigint[],
  { status, reason, now }: { status: NotificationRow['status']; reason: string | null; now: Date },
): Promise<void> {
  await sql`UPDATE notifications SET status = ${status}, reason = ${reason}, finished_at = ${now}
    WHERE workspace_id = ${workspaceId} AND id = ANY(${ids}::bigint[])
      AND status IN ('waiting', 'sending', 'unknown')`.execute(db)
}

/** `isAttempt` if this counts as an attempt; those that were being sent have been counted. */
type Deferral = { from: 'waiting' | 'sending'; dueAt: Date; reason: string | null; isAttempt?: boolean }

/**
 * Lets notifications wait until another time: those that the mail server did not take, or that a limit delays. Leaves
 * those alone that another worker sends meanwhile.
 */
export async function deferNotifications(
  db: Db,
  workspaceId: string,
  ids: bigint[],
  { from, dueAt, reason, isAttempt = false }: Deferral,
): Promise<void> {
  await sql`UPDATE notifications SET status = 'waiting', due_at = ${dueAt}, reason = ${reason}, attempted_at = NULL,
    email_id = NULL, attempts = attempts + ${isAttempt ? 1 : 0} WHERE workspace_id = ${workspaceId} AND id = ANY(${ids}::bigint[])
      AND status = ${from}`.execute(db)
}

/** Ends notifications whose process stopped while it sent them: the mail server may have them, so they are not repeated. */
export async function endInterrupted(db: AllWorkspacesDb, before: Date, now: Date): Promise<bigint[]> {
  const result = await sql<{ id: bigint }>`UPDATE notifications
    SET status = 'unknown', reason = 'interrupted', finished_at = ${now}
    WHERE status = 'sending' AND attempted_at < ${before} RETURNING id`.execute(db)
  return result.rows.map(({ id }) => id)
}

/** Counts the e-mails since a time, to a user and about a workspace. */
export async function countEmails(
  db: AllWorkspacesDb,
  { userId, workspaceId, since }: { userId: string; workspaceId: string; since: Date },
): Promise<{ toUser: number; inWorkspace: number }> {
  const result = await sql<{ user: bigint; workspace: bigint }>`SELECT
    (SELECT count(DISTINCT email_id) FROM notifications
      WHERE user_id = ${userId} AND attempted_at > ${since}) AS user,
    (SELECT count(DISTINCT email_id) FROM notifications
      WHERE workspace_id = ${workspaceId} AND attempted_at > ${since}) AS workspace`.execute(db)
  return { toUser: Number(result.rows[0]?.user ?? 0), inWorkspace: Number(result.rows[0]?.workspace ?? 0) }
}

/** A page of a member's notifications, without those that were not for this person after all. */
export async function selectNotifications(
  db: Db,
  workspaceId: string,
  page: { userId: string; since: Date; ascending: boolean; offset: number; count: number },
): Promise<NotificationRow[]> {
  const { userId, since, ascending, offset, count } = page
  const result = await sql<NotificationRow>`SELECT ${columns} FROM notifications
    WHERE workspace_id = ${workspaceId} AND user_id = ${userId} AND status <> 'skipped' AND created_at > ${since}
    ORDER BY id ${ascending ? sql`ASC` : sql`DESC`} LIMIT ${count} OFFSET ${offset}`.execute(db)
  return result.rows
}

export async function pruneNotifications(db: AllWorkspacesDb, before: Date, count: number): Promise<number> {
  const result = await sql`DELETE FROM notifications WHERE id IN (
    SELECT id FROM notifications WHERE finished_at < ${before} ORDER BY finished_at LIMIT ${count})
    RETURNING id`.execute(db)
  return result.rows.length
}

/** How many notifications are due, since when, and how many the mail server has refused since a time. */
export async function selectBacklog(
  db: AllWorkspacesDb,
  now: Date,
  since: Date,
): Promise<{ due: number; oldest: Date | null; refused: number }> {
  const result = await sql<{ due: bigint; oldest: Date | null; refused: bigint }>`SELECT
    (SELECT count(*) FROM notifications WHERE status = 'waiting' AND due_at <= ${now}) AS due,
    (SELECT min(due_at) FROM notifications WHERE status = 'waiting' AND due_at <= ${now}) AS oldest,
    (SELECT count(*) FROM notifications
      WHERE finished_at > ${since} AND status = 'failed' AND reason = 'refused') AS refused`.execute(db)
  const { due = 0n, oldest = null, refused = 0n } = result.rows[0] ?? {}
  return { due: Number(due), oldest, refused: Number(refused) }
}
