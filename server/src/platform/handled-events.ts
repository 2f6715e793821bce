import { sql } from 'kysely'
import type { Platform } from './context.ts'
import type { Db } from './postgres.ts'

// Longer than the log keeps an event.
const retentionDays = 8
const deletedAtOnce = 10_000

/**
 * Records that a subscriber handles these events, and returns the ids that it has not handled before. Call it in the
 * transaction that does the work. A subscriber whose own tables have a unique key for the event does not need it.
 */
export async function claimEvents(db: Db, subscriber: string, eventIds: string[]): Promise<Set<string>> {
  // Sorted, so that two workers with the same events never deadlock.
  const ids = [...new Set(eventIds)].sort()
  const result = await sql<{ event_id: string }>`
    INSERT INTO handled_events (subscriber, event_id) SELECT ${subscriber}, unnest(${ids}::text[])
    ON CONFLICT DO NOTHING RETURNING event_id`.execute(db)
  return new Set(result.rows.map((row) => row.event_id))
}

/** Deletes events that the log no longer has. Returns how many. */
export async function pruneHandledEvents({ db }: Pick<Platform, 'db'>): Promise<number> {
  const result = await sql`
    DELETE FROM handled_events WHERE (subscriber, event_id) IN (SELECT subscriber, event_id FROM handled_events
      WHERE handled_at < now() - make_interval(days => ${retentionDays}) ORDER BY handled_at LIMIT ${deletedAtOnce})`.execute(
    db,
  )
  return Number(result.numAffectedRows ?? 0n)
}
