import { sql } from 'kysely'
import type { AllWorkspacesDb } from '../../platform/postgres.ts'

/**
 * Deletes old activities among the next `count` after a number, and returns the last of these; undefined at the end. Bans
 * and deactivations of a partner that still is banned or deactivated stay: they say which links to enable again.
 */
export async function deleteActivities(
  db: AllWorkspacesDb,
  { after, before, count }: { after: bigint; before: Date; count: number },
): Promise<bigint | undefined> {
  const result = await sql<{ number: bigint }>`WITH old AS (
      SELECT a.number, a.kind, p.status FROM partner_activities a JOIN partners p ON p.number = a.partner_number
      WHERE a.number IN (SELECT number FROM partner_activities WHERE number > ${after} ORDER BY number LIMIT ${count})
        AND a.created_at < ${before}),
    deleted AS (
      DELETE FROM partner_activities WHERE number IN (SELECT number FROM old
        WHERE kind NOT IN ('banned', 'deactivated') OR status NOT IN ('banned', 'deactivated')))
    SELECT max(number) AS number FROM old`.execute(db)
  return result.rows[0]?.number ?? undefined
}
