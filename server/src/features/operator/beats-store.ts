import { sql } from 'kysely'
import type { Db } from '../../platform/postgres.ts'

/** A value of a metric: its name, the value of its label or an empty text, and the number. */
export type Figure = [name: string, label: string, value: number]
export type BeatRow = {
  id: string
  role: string
  host: string
  version: string
  figures: Figure[]
  started_at: Date
  seen_at: Date
}

export async function upsertBeat(db: Db, row: BeatRow): Promise<void> {
  await sql`INSERT INTO process_beats (id, role, host, version, figures, started_at, seen_at)
    VALUES (${row.id}, ${row.role}, ${row.host}, ${row.version}, ${JSON.stringify(row.figures)}::jsonb,
      ${row.started_at}, ${row.seen_at})
    ON CONFLICT (id) DO UPDATE SET figures = EXCLUDED.figures, seen_at = EXCLUDED.seen_at`.execute(db)
}

export async function deleteBeat(db: Db, id: string): Promise<void> {
  await sql`DELETE FROM process_beats WHERE id = ${id}`.execute(db)
}

export async function pruneBeats(db: Db, before: Date): Promise<void> {
  await sql`DELETE FROM process_beats WHERE seen_at < ${before}`.execute(db)
}

/** Processes that have reported since a time, the most recently started first. */
export async function selectBeats(db: Db, since: Date, count: number): Promise<BeatRow[]> {
  const result = await sql<BeatRow>`SELECT id, role, host, version, figures, started_at, seen_at FROM process_beats
    WHERE seen_at > ${since} ORDER BY started_at DESC, id LIMIT ${count}`.execute(db)
  return result.rows
}
