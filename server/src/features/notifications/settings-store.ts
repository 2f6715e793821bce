import type { NotificationKind } from '@tributary/contract/notifications'
import { sql } from 'kysely'
import type { AllWorkspacesDb, Db } from '../../platform/postgres.ts'
import type { ScheduledKind } from './calendar.ts'

type ChoiceRow = { user_id: string; kind: NotificationKind; is_on: boolean }

/** What a member chose, by kind. */
export async function selectChoices(
  db: Db,
  workspaceId: string,
  userId: string,
): Promise<Map<NotificationKind, boolean>> {
  const result = await sql<ChoiceRow>`SELECT kind, is_on FROM notification_settings
    WHERE workspace_id = ${workspaceId} AND user_id = ${userId}`.execute(db)
  return new Map(result.rows.map(({ kind, is_on }) => [kind, is_on]))
}

/** What members chose for one kind, by user. */
export async function selectChoicesByUser(
  db: Db,
  workspaceId: string,
  kind: NotificationKind,
): Promise<Map<string, boolean>> {
  const result = await sql<ChoiceRow>`SELECT user_id, is_on FROM notification_settings
    WHERE workspace_id = ${workspaceId} AND kind = ${kind}`.execute(db)
  return new Map(result.rows.map(({ user_id, is_on }) => [user_id, is_on]))
}

/** Stores what a member chose; null restores the default. Returns whether this changed something. */
export async function replaceChoice(
  db: Db,
  workspaceId: string,
  { userId, kind, isOn }: { userId: string; kind: NotificationKind; isOn: boolean | null },
): Promise<boolean> {
  const statement =
    isOn === null
      ? sql`DELETE FROM notification_settings
          WHERE workspace_id = ${workspaceId} AND user_id = ${userId} AND kind = ${kind} RETURNING kind`
      : sql`INSERT INTO notification_settings (workspace_id, user_id, kind, is_on)
          VALUES (${workspaceId}, ${userId}, ${kind}, ${isOn})
          ON CONFLICT (workspace_id, user_id, kind) DO UPDATE SET is_on = EXCLUDED.is_on, updated_at = now()
          WHERE notification_settings.is_on <> EXCLUDED.is_on RETURNING kind`
  return (await statement.execute(db)).rows.length > 0
}

export type ScheduleRow = { workspace_id: string; kind: ScheduledKind }

/** Schedules a kind for a workspace, unless it is scheduled already; locks the schedule, so that no worker ends it. */
export async function insertSchedule(db: Db, workspaceId: string, kind: ScheduledKind, dueAt: Date): Promise<void> {
  await sql`INSERT INTO notification_schedules AS known (workspace_id, kind, due_at)
    VALUES (${workspaceId}, ${kind}, ${dueAt})
    ON CONFLICT (workspace_id, kind) DO UPDATE SET due_at = known.due_at`.execute(db)
}

/** Claims a schedule that is due; no other worker claims it before `until`. */
export async function claimSchedule(db: AllWorkspacesDb, now: Date, until: Date): Promise<ScheduleRow | undefined> {
  const result = await sql<ScheduleRow>`UPDATE notification_schedules SET due_at = ${until}
    WHERE (workspace_id, kind) = (
      SELECT workspace_id, kind FROM notification_schedules WHERE due_at <= ${now}
      ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING workspace_id, kind`.execute(db)
  return result.rows[0]
}

export async function moveSchedule(db: Db, workspaceId: string, kind: ScheduledKind, dueAt: Date): Promise<void> {
  await sql`UPDATE notification_schedules SET due_at = ${dueAt}
    WHERE workspace_id = ${workspaceId} AND kind = ${kind}`.execute(db)
}

/** Ends a schedule that no member of the workspace wants any more. */
export async function deleteSchedule(db: Db, workspaceId: string, kind: ScheduledKind): Promise<void> {
  await sql`DELETE FROM notification_schedules s WHERE workspace_id = ${workspaceId} AND kind = ${kind}
    AND NOT EXISTS (SELECT FROM notification_settings c
      WHERE c.workspace_id = s.workspace_id AND c.kind = s.kind AND c.is_on)`.execute(db)
}
