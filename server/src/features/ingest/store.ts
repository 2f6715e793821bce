import { sql } from 'kysely'
import { locks } from '../../platform/locks.ts'
import type { AllWorkspacesDb, Db } from '../../platform/postgres.ts'

/**
 * The write-ahead record of a batch in progress: its log messages, the positions of dropped events and bots (with the
 * reason), and its counter increments (link number, clicks, last click). After a crash, the next worker executes it.
 */
export type Intent = {
  first: number
  last: number
  excluded: number[]
  bots: [string, number[]][]
  counts: [string, number, number][]
  /** Positions of events that are not inserted, because ClickHouse already has them. */
  stored?: number[]
  /** Part of the insert's deduplication token, when not all events of the batch are inserted. */
  name?: string
  /** How many attempts to finish the batch have begun since its first attempt failed. */
  attempts?: number
  /** Progress of storing the batch in parts; absent unless the whole batch was refused or failed too often. */
  division?: Division
}
export type Division = {
  /** Index ranges of events still to be stored, sorted by workspace, link and position; the end is exclusive. */
  parts: [from: number, to: number][]
  /** Insert attempts of the first of these parts (`attempts`) and of all parts (`tries`). */
  attempts: number
  tries: number
  /** Positions of refused events, which become dead letters, by reason. */
  refused: [reason: string, positions: number[]][]
}
/** A partition's last stored message; `stream` is the creation time of its NATS stream, empty before the first. */
export type Cursor = {
  sequence: number
  intent: Intent | null
  stream: string
  /** When the log received the message at `sequence`, in milliseconds. */
  arrivedAt: number | null
}
/**
 * Log messages up to `until` may have been stored before the claim. `areStoredCounted` says whether their stored clicks
 * are in the link counters: they are not when PostgreSQL has lost the counts together with the cursor.
 */
export type Comparison = { until: number; areStoredCounted: boolean }
export type Holder = { partition: number; owner: string; stream?: string; comparison?: Comparison }
/** A partition's last stored log message, and the worker that owns the partition while its lease lasts. */
export type LogCursor = { partition: number; sequence: number; stream: string; owner: string | null }

const lease = sql`now() + interval '6 seconds'`

/** Claims a partition and returns its cursor; undefined while another worker's lease lasts. */
export async function claimPartition(db: AllWorkspacesDb, { partition, owner }: Holder): Promise<Cursor | undefined> {
  await sql`INSERT INTO ingest_cursors (partition) VALUES (${partition}) ON CONFLICT DO NOTHING`.execute(db)
  const result = await sql<{ sequence: bigint; intent: Intent | null; stream: string; arrived_at: Date | null }>`
    UPDATE ingest_cursors SET owner = ${owner}, leased_until = ${lease}
    WHERE partition = ${partition} AND (owner = ${owner} OR leased_until < now())
    RETURNING sequence, intent, stream, arrived_at`.execute(db)
  const [row] = result.rows
  if (!row) return undefined
  const { sequence, intent, stream, arrived_at } = row
  return { sequence: Number(sequence), intent, stream, arrivedAt: arrived_at?.getTime() ?? null }
}

/** Moves the cursor to another stream and sequence. False when another worker has taken over the partition. */
export async function setStream(
  db: Db,
  holder: Holder,
  { stream, sequence, intent }: Pick<Cursor, 'stream' | 'sequence' | 'intent'>,
): Promise<boolean> {
  const result = await sql`UPDATE ingest_cursors SET stream = ${stream}, sequence = ${sequence},
      intent = CASE WHEN ${intent !== null} THEN intent END,
      arrived_at = CASE WHEN sequence = ${sequence} THEN arrived_at END
    WHERE partition = ${holder.partition} AND owner = ${holder.owner}`.execute(db)
  return result.numAffectedRows === 1n
}

export async function renewLease(db: Db, { partition, owner }: Holder): Promise<boolean> {
  const result = await sql`UPDATE ingest_cursors SET leased_until = ${lease}
    WHERE partition = ${partition} AND owner = ${owner}`.execute(db)
  return result.numAffectedRows === 1n
}

/** Writes a new batch's intent. False when another worker has taken over the partition. */
export async function writeIntent(db: Db, holder: Holder, before: number, intent: Intent): Promise<boolean> {
  const result = await sql`UPDATE ingest_cursors SET intent = ${JSON.stringify(intent)}::jsonb, leased_until = ${lease}
    WHERE partition = ${holder.partition} AND owner = ${holder.owner} AND sequence = ${before}
      AND (SELECT pg_advisory_xact_lock_shared(${locks.ingestIntents}::bigint)) IS NOT NULL`.execute(db)
  return result.numAffectedRows === 1n
}

/** Replaces a running batch's intent, even while new batches are blocked. False when another worker has taken over. */
export async function updateIntent(db: Db, holder: Holder, before: number, intent: Intent): Promise<boolean> {
  const result = await sql`UPDATE ingest_cursors SET intent = ${JSON.stringify(intent)}::jsonb, leased_until = ${lease}
    WHERE partition = ${holder.partition} AND owner = ${holder.owner} AND sequence = ${before}
      AND intent IS NOT NULL`.execute(db)
  return result.numAffectedRows === 1n
}

/** Holds a lock that blocks new click batches until the transaction ends; running batches can finish. */
export async function forbidIntents(db: Db): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(${locks.ingestIntents}::bigint)`.execute(db)
}

/** Limits how long a stalled worker's transaction holds row locks, so that the worker that takes over can go on. */
export async function limitPause(db: Db): Promise<void> {
  await sql`SET LOCAL idle_in_transaction_session_timeout = '3s'`.execute(db)
}

/** Moves the cursor past a stored batch and clears its intent. False when another worker has taken over. */
export async function advanceCursor(
  db: Db,
  holder: Holder,
  before: number,
  last: number,
  arrivedAt: number | null = null,
): Promise<boolean> {
  const arrival = arrivedAt === null ? null : new Date(arrivedAt)
  const result = await sql`UPDATE ingest_cursors
    SET sequence = ${last}, arrived_at = ${arrival}, intent = NULL, leased_until = ${lease}
    WHERE partition = ${holder.partition} AND owner = ${holder.owner} AND sequence = ${before}`.execute(db)
  return result.numAffectedRows === 1n
}

export async function releasePartition(db: Db, { partition, owner }: Holder): Promise<void> {
  await sql`UPDATE ingest_cursors SET owner = NULL, leased_until = '-infinity'
    WHERE partition = ${partition} AND owner = ${owner}`.execute(db)
}

/** Locks a partition: no batch begins or ends until the transaction ends. Returns whether a batch is running. */
export async function lockPartition(db: Db, partition: number): Promise<boolean> {
  const result = await sql<{ busy: boolean }>`SELECT intent IS NOT NULL AS busy FROM ingest_cursors
    WHERE partition = ${partition} FOR UPDATE`.execute(db)
  return result.rows[0]?.busy ?? false
}

/** Locks a partition until the transaction ends, but only between two batches: false while a batch is running. */
export async function lockIdlePartition(db: Db, partition: number): Promise<boolean> {
  const result = await sql`SELECT FROM ingest_cursors WHERE partition = ${partition} AND intent IS NULL
    FOR UPDATE`.execute(db)
  return result.rows.length > 0
}

/** Creates the cursor rows, so that even a partition that was never read can be locked. */
export async function insertCursors(db: Db, partitions: number): Promise<void> {
  await sql`INSERT INTO ingest_cursors (partition) SELECT generate_series(0, ${partitions} - 1)
    ON CONFLICT DO NOTHING`.execute(db)
}

export async function selectCursors(db: Db): Promise<LogCursor[]> {
  const result = await sql<{ partition: number; sequence: bigint; stream: string; owner: string | null }>`
    SELECT partition, sequence, stream, CASE WHEN leased_until > now() THEN owner END AS owner FROM ingest_cursors`.execute(
    db,
  )
  return result.rows.map((row) => ({ ...row, sequence: Number(row.sequence) }))
}

export async function isRebuildLocked(db: Db): Promise<boolean> {
  const result = await sql`SELECT FROM pg_locks WHERE locktype = 'advisory' AND classid = 0 AND objid = ${locks.rebuild}
    AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`.execute(db)
  return result.rows.length > 0
}

/** A run that publishes daily click counts up to `day`; `after` is the last link whose days are published. */
export type ClickDayTarget = { day: string; until: string; after?: { workspaceId: string; linkNumber: string } }
export type ClickDayProgress = { closed_day: string; stored_until: Date; target: ClickDayTarget | null }

export async function selectClickDays(db: Db): Promise<ClickDayProgress | undefined> {
  const result = await sql<ClickDayProgress>`SELECT closed_day::text, stored_until, target FROM click_days`.execute(db)
  return result.rows[0]
}

/** Sets the starting point: click counts are published from the day after `closedDay`. */
export async function insertClickDays(db: Db, closedDay: string, storedUntil: Date): Promise<void> {
  await sql`INSERT INTO click_days (closed_day, stored_until) VALUES (${closedDay}, ${storedUntil})
    ON CONFLICT DO NOTHING`.execute(db)
}

/** Begins a run that publishes daily click counts. False when another worker has begun one. */
export async function startClickDays(db: Db, target: ClickDayTarget): Promise<boolean> {
  const result = await sql`UPDATE click_days SET target = ${JSON.stringify(target)}::jsonb
    WHERE target IS NULL AND closed_day <= ${target.day}::date AND stored_until < ${target.until}`.execute(db)
  return result.numAffectedRows === 1n
}

/** Records progress of a run of daily click counts. False when another worker has published these days. */
export async function advanceClickDays(db: Db, from: ClickDayTarget, to: ClickDayTarget): Promise<boolean> {
  const result = await sql`UPDATE click_days SET target = ${JSON.stringify(to)}::jsonb
    WHERE target = ${JSON.stringify(from)}::jsonb`.execute(db)
  return result.numAffectedRows === 1n
}

/** Ends a run of daily click counts. False when another worker has published these days. */
export async function finishClickDays(db: Db, target: ClickDayTarget): Promise<boolean> {
  const result = await sql`UPDATE click_days
    SET target = NULL, closed_day = ${target.day}::date, stored_until = ${target.until}
    WHERE target = ${JSON.stringify(target)}::jsonb`.execute(db)
  return result.numAffectedRows === 1n
}
