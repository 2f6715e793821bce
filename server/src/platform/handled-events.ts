import { sql } from 'kysely'
import type { Platform } from './context.ts'
import type { Db } from './postgres.ts'

// Keeps records for longer than NATS keeps an event, so that a redelivered event is always recognized.
const retentionDays = 8
const deletedAtOnce = 10_000

/**
 * Records that a subscriber handles these events, and returns the ids it has not handled before. Call it in the
 * transaction that does the work. Subscribers whose own tables have a unique key per event don't need it.
 */
export async function claimEvents(db: Db, subscriber: string, eventIds: string[]): Promise<Set<string>> {
  // Sorted, so that two workers that insert the same event ids never deadlock.
  const ids = [...new Set(eventIds)].sort()
  const result = await sql<{ event_id: string }>`
    INSERT INTO handled_events (subscriber, event_id) SELECT ${subscriber}, unnest(${ids}::text[])
    ON CONFLICT DO NOTHING RETURNING event_id`.execute(db)
  return new Set(result.rows.map((row) => row.event_id))
}

/** Deletes records of events that the event log no longer has. Returns the number of deleted rows. */
export async function pruneHandledEvents({ db }: Pick<Platform, 'db'>): Promise<number> {
  const result = await sql`
    DELETE FROM handled_events WHERE (subscriber, event_id) IN (SELECT subscriber, event_id FROM handled_events
      WHERE handled_at < now() - make_interval(days => ${retentionDays}) ORDER BY handled_at LIMIT ${deletedAtOnce})`.execute(
    db,
  )
  return Number(result.numAffectedRows ?? 0n)
}
