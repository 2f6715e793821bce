import { sql } from 'kysely'
import type { Platform } from './context.ts'
import type { Db } from './postgres.ts'
import { startInterval } from './schedule.ts'

export type LetterKind = 'conversion' | 'outbox'
export type NewLetter = {
  workspaceId: string
  kind: LetterKind
  /** Id of the failed message or event in its own table. */
  reference: string
  reason: string
  /** The failed message, if no other table has it. */
  body?: unknown
}
export type Letter = {
  workspace_id: string
  kind: LetterKind
  reference: string
  reason: string
  body: unknown
  attempts: number
  first_seen_at: Date
}

const kinds: LetterKind[] = ['conversion', 'outbox']
const measureIntervalMs = 5_000

/** Inserts a dead letter; call it in the transaction that dequeues the message. A repeated one keeps its first date. */
export async function insertLetter(db: Db, letter: NewLetter): Promise<void> {
  const { workspaceId, kind, reference, reason, body } = letter
  await sql`INSERT INTO dead_letters (workspace_id, kind, reference, reason, body)
    VALUES (${workspaceId}, ${kind}, ${reference}, ${reason}, ${body === undefined ? null : JSON.stringify(body)}::jsonb)
    ON CONFLICT (kind, reference) DO UPDATE SET reason = excluded.reason, attempts = dead_letters.attempts + 1,
      last_seen_at = now(), retried_at = NULL`.execute(db)
}

export async function selectLetters(db: Db, { limit, reference }: { limit: number; reference?: string }) {
  const named = reference === undefined ? sql`true` : sql`reference = ${reference}`
  const result = await sql<Letter>`SELECT workspace_id, kind, reference, reason, body, attempts, first_seen_at
    FROM dead_letters WHERE retried_at IS NULL AND ${named} ORDER BY number LIMIT ${limit}`.execute(db)
  return result.rows
}

export async function countLetters(db: Db, workspaceId?: string): Promise<Record<LetterKind, number>> {
  const mine = workspaceId === undefined ? sql`true` : sql`workspace_id = ${workspaceId}`
  const result = await sql<{ kind: LetterKind; count: bigint }>`
    SELECT kind, count(*) FROM dead_letters WHERE retried_at IS NULL AND ${mine} GROUP BY kind`.execute(db)
  const counts = new Map(result.rows.map(({ kind, count }) => [kind, Number(count)]))
  return { conversion: counts.get('conversion') ?? 0, outbox: counts.get('outbox') ?? 0 }
}

/** Hides a dead letter until its message fails again. */
export async function markRetried(db: Db, kind: LetterKind, reference: string): Promise<void> {
  await sql`UPDATE dead_letters SET retried_at = now() WHERE kind = ${kind} AND reference = ${reference}`.execute(db)
}

/** Deletes dead letters whose messages were processed or dropped. */
export async function deleteLetters(db: Db, kind: LetterKind, references: string[]): Promise<void> {
  await sql`DELETE FROM dead_letters WHERE kind = ${kind} AND reference = ANY(${references}::text[])`.execute(db)
}

export function startLetterMeter(platform: Platform): AsyncDisposable {
  return startInterval(platform, 'count dead letters', measureIntervalMs, async () => {
    const counts = await countLetters(platform.db).catch(() => undefined)
    if (counts) for (const kind of kinds) platform.metrics.deadLetters.set({ kind }, counts[kind])
  })
}
