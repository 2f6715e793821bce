import type { Preferences } from '@tributary/contract/preferences'
import { sql } from 'kysely'
import type { Db } from '../../platform/postgres.ts'

export async function selectPreferences(db: Db, workspaceId: string, userId: string): Promise<unknown> {
  const result = await sql<{ value: unknown }>`
    SELECT value FROM preferences WHERE workspace_id = ${workspaceId} AND user_id = ${userId}`.execute(db)
  return result.rows[0]?.value
}

export async function upsertPreferences(
  db: Db,
  workspaceId: string,
  userId: string,
  value: Preferences,
): Promise<void> {
  await sql`INSERT INTO preferences (workspace_id, user_id, value)
    VALUES (${workspaceId}, ${userId}, ${JSON.stringify(value)}::jsonb)
    ON CONFLICT (workspace_id, user_id) DO UPDATE SET value = EXCLUDED.value, updated_at = now()`.execute(db)
}
