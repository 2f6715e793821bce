import { sql } from 'kysely'
import type { Db } from '../../platform/postgres.ts'

/**
 * A batch under way: which messages it holds, the positions of events that are left out, and what it adds to the
 * counters (link number, clicks, time of the last). Whoever takes over after a crash does exactly this.
 */
export type Intent = { first: number; last: number; excluded: number[]; counts: [string, number, number][] }
export type Cursor = { sequence: number; intent: Intent | null }
export type Holder = { partition: number; owner: string }

const lease = sql`now() + interval '8 seconds'`

// NOTE every workspace: a partition of the log holds the events of many.

/** The cursor when this owner now holds the partition; undefined while another one does. */
export async function claimPartition(db: Db, { partition, owner }: Holder): Promise<Cursor | undefined> {
  await sql`INSERT INTO ingest_cursors (partition) VALUES (${partition}) ON CONFLICT DO NOTHING`.execute(db)
  const result = await sql<{ sequence: bigint; intent: Intent | null }>`
    UPDATE ingest_cursors SET owner = ${owner}, leased_until = ${lease}
    WHERE partition = ${partition} AND (owner = ${owner} OR leased_until < now())
    RETURNING sequence, intent`.execute(db)
  const row = result.rows[0]
  return row && { sequence: Number(row.sequence), intent: row.intent }
}

export async function renewLease(db: Db, { partition, owner }: Holder): Promise<boolean> {
  const result = await sql`UPDATE ingest_cursors SET leased_until = ${lease}
    WHERE partition = ${partition} AND owner = ${owner}`.execute(db)
  return result.numAffectedRows === 1n
}

/** False when another owner has taken over. */
export async function writeIntent(db: Db, holder: Holder, before: number, intent: Intent): Promise<boolean> {
  const result = await sql`UPDATE ingest_cursors SET intent = ${JSON.stringify(intent)}::jsonb, leased_until = ${lease}
    WHERE partition = ${holder.partition} AND owner = ${holder.owner} AND sequence = ${before}`.execute(db)
  return result.numAffectedRows === 1n
}

/** False when another owner has taken over. */
export async function advanceCursor(db: Db, holder: Holder, before: number, last: number): Promise<boolean> {
  const result = await sql`UPDATE ingest_cursors SET sequence = ${last}, intent = NULL, leased_until = ${lease}
    WHERE partition = ${holder.partition} AND owner = ${holder.owner} AND sequence = ${before}`.execute(db)
  return result.numAffectedRows === 1n
}

export async function releasePartition(db: Db, { partition, owner }: Holder): Promise<void> {
  await sql`UPDATE ingest_cursors SET owner = NULL, leased_until = '-infinity'
    WHERE partition = ${partition} AND owner = ${owner}`.execute(db)
}

/** Until the transaction ends no batch of the partition begins or ends. True when one is under way. */
export async function lockPartition(db: Db, partition: number): Promise<boolean> {
  const result = await sql<{ busy: boolean }>`SELECT intent IS NOT NULL AS busy FROM ingest_cursors
    WHERE partition = ${partition} FOR UPDATE`.execute(db)
  return result.rows[0]?.busy ?? false
}
