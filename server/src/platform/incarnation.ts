import { jetstreamManager } from '@nats-io/jetstream'
import { sql } from 'kysely'
import type pg from 'pg'
import { query } from './clickhouse.ts'
import type { Platform } from './context.ts'
import { databaseStream, jetStream } from './nats.ts'
import { type Db, openConnection } from './postgres.ts'
import { startInterval } from './schedule.ts'

/** A copy of PostgreSQL's state in ClickHouse and NATS: number of the last heartbeat and the highest sequence numbers. */
type Mark = {
  beat: number
  /** Time of the heartbeat in milliseconds, by PostgreSQL's clock. */
  at: number
  sequences: Record<string, string>
  /** Number of the last heartbeat that NATS acknowledged. */
  logBeat: number
}
type Engines = Pick<Platform, 'config' | 'clickhouse' | 'log'> & Partial<Pick<Platform, 'nats' | 'metrics'>>
type Row = {
  database: string
  server: string
  current: string
  beat: bigint
  beat_at: Date
  log_beat: bigint
  log_streams: Record<string, number>
  now: Date
}
/** The marks in ClickHouse and NATS: undefined if that server did not respond, null if it has no mark. */
type Marks = { clickhouse: Mark | null | undefined; log: Mark | null | undefined }

const beatIntervalMs = 5_000
const patienceMs = 2_000
// Sequences skip this many numbers, more than any uses between two heartbeats, so that no number is used twice.
const numbersSkipped = 1_000_000n
// After a NATS restore, messages from this long before its state are published again, because clocks may differ.
const overlapMs = 60_000
const missingTable = '42P01'

/**
 * Checks each new PostgreSQL connection before its first use. After a PostgreSQL restart the data may come from an
 * older backup: then a new incarnation (a UUID of the database's state) begins before any write.
 */
export function openServerCheck(engines: Engines): (client: pg.ClientBase) => Promise<void> {
  let checking: Promise<void> | undefined
  const statement = 'SELECT server = pg_postmaster_start_time()::text AS is_same FROM database_incarnation'
  return async (client) => {
    const found = await client.query(statement).catch((error: { code?: string }) => {
      if (error.code === missingTable) return { rows: [] }
      throw error
    })
    if (found.rows[0]?.is_same !== false) return
    checking ??= checkIncarnation(engines).finally(() => {
      checking = undefined
    })
    await checking
  }
}

/** Writes a heartbeat to ClickHouse and NATS, and detects when PostgreSQL or NATS was restored to an older state. */
export function startBeats(platform: Platform): AsyncDisposable {
  return startInterval(platform, 'database beat', beatIntervalMs, async () => {
    await checkIncarnation(platform, true)
    const rewinds = await selectRewinds(platform.db)
    for (const { engine, found_at, is_certain } of rewinds)
      if (is_certain) platform.metrics.engineRewound.set({ engine }, found_at.getTime() / 1_000)
  })
}

/**
 * Compares PostgreSQL with its marks in ClickHouse and NATS. If PostgreSQL may have been restored to an older state,
 * its sequences skip every number ever used and a new incarnation begins. If NATS was, the messages that it may have
 * lost are published again.
 */
export async function checkIncarnation(engines: Engines, isBeat = false): Promise<void> {
  const client = openConnection(engines.config)
  try {
    await client.connect()
    await client.query("BEGIN; SET LOCAL lock_timeout = '10s'; SET LOCAL idle_in_transaction_session_timeout = '30s'")
    const row = await selectRow(client)
    if (!isBeat && row.server === row.current) return
    const marks = await readMarks(engines, row.database)
    const isRestarted = row.server !== row.current
    const known = [marks.clickhouse, marks.log].filter((mark) => mark != null)
    if (known.length === 0 && (marks.clickhouse === undefined || marks.log === undefined)) {
      // Neither ClickHouse nor NATS returned a mark, so the next connection or heartbeat checks again.
      if (isRestarted) engines.log.warn('ClickHouse and NATS are down, PostgreSQL is not checked for lost data')
      return
    }
    const isBehind = known.some(({ beat }) => beat > Number(row.beat))
    const [newest] = [{ beat: Number(row.beat), logBeat: Number(row.log_beat) }, ...known].sort(
      (a, b) => b.beat - a.beat,
    )
    // Skips an unresponsive NATS: it would time out again, and a stopping process waits for the heartbeat.
    const answering = marks.log === undefined ? { ...engines, nats: undefined } : engines
    const streams = await readStreams(answering)
    const isLogBehind = marks.log !== undefined && (marks.log?.beat ?? 0) < (newest?.logBeat ?? 0)
    if (isLogBehind) await recordLogRewind(engines, client, { row, streams, since: new Date(marks.log?.at ?? 0) })
    if (isBehind || isRestarted) await beginIncarnation(engines, client, { row, known, isBehind })
    const logBeat = marks.log === undefined ? (newest?.logBeat ?? 0) : (marks.log?.beat ?? 0)
    const mark = await beat(client, { beat: (newest?.beat ?? 0) + 1, logBeat, streams: streams ?? row.log_streams })
    await client.query('COMMIT')
    await writeMarks(answering, row.database, mark)
  } finally {
    await client.end().catch(() => {})
  }
}

async function selectRow(client: pg.Client): Promise<Row> {
  const found = await client.query(`SELECT *, pg_postmaster_start_time()::text AS current, now() AS now
    FROM database_incarnation FOR UPDATE`)
  return found.rows[0]
}

async function beginIncarnation(
  { log, metrics }: Engines,
  client: pg.Client,
  { row, known, isBehind }: { row: Row; known: Mark[]; isBehind: boolean },
): Promise<void> {
  await client.query('UPDATE database_incarnation SET id = gen_random_uuid(), server = $1, started_at = now()', [
    row.current,
  ])
  // A database that never served requests can't have lost records.
  if (row.server === '' && !isBehind) return
  const sequences = await moveSequences(client, known)
  const until = new Date(Math.max(row.now.getTime(), ...known.map(({ at }) => at)))
  await insertRewind(client, { engine: 'postgresql', since: row.beat_at, until, is_certain: isBehind, sequences })
  if (!isBehind) return void log.info('PostgreSQL restarted, new database incarnation')
  metrics?.engineRewound.set({ engine: 'postgresql' }, row.now.getTime() / 1_000)
  log.error(
    { since: row.beat_at, until, sequences },
    'PostgreSQL was restored to an older state, later records are lost: run `tributary verify`',
  )
}

/** Advances sequences past the highest number in PostgreSQL and the marks. Returns old and new numbers by sequence. */
async function moveSequences(client: pg.Client, known: Mark[]): Promise<Rewind['sequences']> {
  const skipped: Rewind['sequences'] = {}
  for (const [name, last] of Object.entries(await selectSequences(client))) {
    const elsewhere = known.map(({ sequences }) => BigInt(sequences[name] ?? 0))
    const highest = [BigInt(last), ...elsewhere].reduce((a, b) => (a > b ? a : b))
    const moved = String(highest + numbersSkipped)
    await client.query('SELECT setval(quote_ident($1)::regclass, $2)', [name, moved])
    skipped[name] = [last, moved]
  }
  return skipped
}

async function selectSequences(client: pg.Client): Promise<Record<string, string>> {
  const found = await client.query(`SELECT sequencename AS name, coalesce(last_value, 0)::text AS last FROM pg_sequences
    WHERE schemaname = current_schema()`)
  return Object.fromEntries(found.rows.map(({ name, last }) => [name, last]))
}

async function recordLogRewind(
  { log, metrics }: Engines,
  client: pg.Client,
  { row, streams = {}, since }: { row: Row; streams: Record<string, number> | undefined; since: Date },
): Promise<void> {
  const sequences: Rewind['sequences'] = {}
  for (const [name, last] of Object.entries(row.log_streams))
    if (last > (streams[name] ?? 0)) sequences[name] = [String(streams[name] ?? 0), String(last)]
  await insertRewind(client, { engine: 'nats', since, until: row.now, is_certain: true, sequences })
  const publishedAgain = await publishAgain(client, new Date(since.getTime() - overlapMs))
  metrics?.engineRewound.set({ engine: 'nats' }, row.now.getTime() / 1_000)
  log.error(
    { since, until: row.now, sequences, publishedAgain },
    'NATS was restored to an older state, publishing recent messages again: run `tributary verify`',
  )
}

/** Moves messages that were published since then back to the outbox. Returns their count. */
async function publishAgain(client: pg.Client, since: Date): Promise<number> {
  const moved = await client.query(
    `WITH again AS (DELETE FROM outbox_published WHERE published_at >= $1 RETURNING *)
    INSERT INTO outbox (id, workspace_id, subject, body, created_at, traceparent) OVERRIDING SYSTEM VALUE
    SELECT id, workspace_id, subject, body, created_at, traceparent FROM again ON CONFLICT DO NOTHING`,
    [since],
  )
  await client.query(`SELECT pg_notify('outbox', '')`)
  return moved.rowCount ?? 0
}

async function beat(
  client: pg.Client,
  { beat, logBeat, streams }: { beat: number; logBeat: number; streams: Record<string, number> },
): Promise<Mark> {
  const changed = await client.query(
    `UPDATE database_incarnation SET beat = $1, beat_at = now(), log_beat = $2, log_streams = $3 RETURNING beat_at`,
    [beat, logBeat, JSON.stringify(streams)],
  )
  return { beat, at: changed.rows[0].beat_at.getTime(), sequences: await selectSequences(client), logBeat }
}

async function readMarks({ clickhouse, nats }: Engines, database: string): Promise<Marks> {
  const [stored, logged] = await Promise.all([
    readStoredMark(clickhouse, database).catch(() => undefined),
    nats ? readLoggedMark(nats, database).catch(() => undefined) : undefined,
  ])
  return { clickhouse: stored, log: logged }
}

async function readStoredMark(clickhouse: Platform['clickhouse'], database: string): Promise<Mark | null> {
  const statement =
    'SELECT mark FROM database_marks WHERE database = {database:String} ORDER BY beat DESC LIMIT 1 SETTINGS max_execution_time = 2'
  const [row] = await query<{ mark: string }>(clickhouse, statement, { database })
  return row ? JSON.parse(row.mark) : null
}

async function readLoggedMark(nats: Platform['nats'], database: string): Promise<Mark | null> {
  const manager = await jetstreamManager(nats, { checkAPI: false, timeout: patienceMs })
  try {
    const message = await manager.streams.getMessage(databaseStream, { last_by_subj: markSubject(database) })
    return message ? message.json<Mark>() : null
  } catch (error) {
    if (/not found/.test((error as Error).message)) return null
    throw error
  }
}

/** Returns the last sequence of every NATS stream; undefined if NATS does not respond. */
async function readStreams({ nats }: Engines): Promise<Record<string, number> | undefined> {
  if (!nats) return undefined
  try {
    const manager = await jetstreamManager(nats, { checkAPI: false, timeout: patienceMs })
    const streams: Record<string, number> = {}
    for await (const { config, state } of manager.streams.list())
      if (config.name !== databaseStream) streams[config.name] = state.last_seq
    return streams
  } catch {
    return undefined
  }
}

/** Writes the mark to ClickHouse and NATS. A server that is down keeps its older mark, which is harmless. */
async function writeMarks({ clickhouse, nats }: Engines, database: string, mark: Mark): Promise<void> {
  const text = JSON.stringify(mark)
  const row = { database, beat: mark.beat, mark: text }
  await Promise.allSettled([
    clickhouse.insert({ table: 'database_marks', values: [row], format: 'JSONEachRow' }),
    nats && jetStream(nats).publish(markSubject(database), text, { timeout: patienceMs }),
  ])
}

function markSubject(database: string): string {
  return `database.${database}`
}

/** A detected restore of PostgreSQL or NATS to an older state; `sequences` has old and newest number by sequence or stream. */
export type Rewind = {
  number: bigint
  engine: 'postgresql' | 'nats'
  found_at: Date
  since: Date
  until: Date
  is_certain: boolean
  sequences: Record<string, [string, string]>
  lost: Record<string, number> | null
}

async function insertRewind(
  client: pg.Client,
  { engine, since, until, is_certain, sequences }: Omit<Rewind, 'number' | 'found_at' | 'lost'>,
): Promise<void> {
  await client.query(
    'INSERT INTO engine_rewinds (engine, since, until, is_certain, sequences) VALUES ($1, $2, $3, $4, $5)',
    [engine, since, until, is_certain, JSON.stringify(sequences)],
  )
}

/** Returns detected restores to an older state, newest first. */
export async function selectRewinds(db: Db, limit = 100): Promise<Rewind[]> {
  const found = await sql<Rewind>`SELECT * FROM engine_rewinds ORDER BY number DESC LIMIT ${limit}`.execute(db)
  return found.rows
}

/** Stores how many records a restore lost; deletes the entry of a mere restart that lost none. */
export async function saveLost(db: Db, { number, is_certain }: Rewind, lost: Record<string, number>): Promise<void> {
  const isNothing = Object.values(lost).every((count) => count === 0)
  if (!is_certain && isNothing) await sql`DELETE FROM engine_rewinds WHERE number = ${number}`.execute(db)
  else await sql`UPDATE engine_rewinds SET lost = ${JSON.stringify(lost)}::jsonb WHERE number = ${number}`.execute(db)
}

/** Returns the last known sequence of a NATS stream. */
export async function lastKnownSequence(db: Db, stream: string): Promise<number> {
  const found = await sql<{ last: number | null }>`SELECT greatest((log_streams ->> ${stream})::float8, (
      SELECT max((sequences -> ${stream} ->> 1)::float8) FROM engine_rewinds
      WHERE engine = 'nats' AND found_at > now() - interval '10 minutes')) AS last
    FROM database_incarnation`.execute(db)
  return found.rows[0]?.last ?? 0
}

/** Returns when PostgreSQL was created or last restored. Rows written before may already be in ClickHouse or NATS. */
export async function incarnationStart(db: Db): Promise<Date> {
  const found = await sql<{ started_at: Date }>`SELECT started_at FROM database_incarnation`.execute(db)
  return found.rows[0]?.started_at ?? new Date(0)
}
