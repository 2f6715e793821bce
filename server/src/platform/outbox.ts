import { headers } from '@nats-io/transport-node'
import { sql } from 'kysely'
import { sleep } from './clock.ts'
import type { Ctx, Platform } from './context.ts'
import { deleteLetters, insertLetter, type Letter, type NewLetter } from './dead-letters.ts'
import { locks } from './locks.ts'
import { jetStream, openPublisher, type Publisher } from './nats.ts'
import { type Db, openConnection, transaction } from './postgres.ts'
import { describeFailure, judgeFailure } from './refusal.ts'
import { startInterval } from './schedule.ts'
import { traced } from './tracing.ts'

export type Message = { subject: string; body: unknown }

const channel = 'outbox'
const batchSize = 500
const batchBytes = 8 * 1024 * 1024
const publishMs = 5_000
// Under load, the relay gathers messages for this long, because each batch costs round trips.
const restMs = 25
const measureIntervalMs = 5_000
const mostCounted = 100_000
const mostPruned = 20_000

/** Writes messages to the outbox in the caller's transaction: they are published if and only if it commits. */
export async function publish(ctx: Pick<Ctx, 'db' | 'workspaceId' | 'tracing'>, ...messages: Message[]): Promise<void> {
  const traceparent = ctx.tracing?.traceparent() ?? null
  const rows = messages.map(
    (message) => sql`(${ctx.workspaceId}, ${message.subject}, ${JSON.stringify(message.body)}::jsonb, ${traceparent})`,
  )
  await sql`WITH published AS (
      INSERT INTO outbox (workspace_id, subject, body, traceparent) VALUES ${sql.join(rows)})
    SELECT pg_notify(${channel}, '')`.execute(ctx.db)
}

/** The SQL that wakes the relay when the transaction commits. */
export const outboxNotify = `pg_notify('${channel}', '')`

/** The SQL that inserts the rows of a SELECT: workspace, subject, body and traceparent. */
export function outboxInsert(rows: string): string {
  return `INSERT INTO outbox (workspace_id, subject, body, traceparent) ${rows}`
}

const waking = new WeakSet<Db>()
const wakeMs = 10

/**
 * Wakes the relay for messages that are committed already, once for all messages of some milliseconds: commits that
 * notify run one after another. If the process ends before, the relay finds the messages within a second.
 */
export function wakeRelay({ db }: Pick<Platform, 'db'>): void {
  if (waking.has(db)) return
  waking.add(db)
  setTimeout(() => {
    waking.delete(db)
    sql`SELECT ${sql.raw(outboxNotify)}`.execute(db).catch(() => {})
  }, wakeMs).unref()
}

/** Publishes committed outbox messages to NATS. One process does the work, the others stand by. */
export function startRelay(platform: Platform): AsyncDisposable {
  const stopping = new AbortController()
  const work = relay(platform, stopping.signal)
  const measuring = startInterval(platform, 'measure outbox', measureIntervalMs, () => measure(platform))
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort()
      await Promise.all([work, measuring[Symbol.asyncDispose]()])
    },
  }
}

async function relay(platform: Platform, signal: AbortSignal): Promise<void> {
  using publisher = openPublisher(platform.nats, publishMs)
  while (!signal.aborted) {
    const connection = openConnection(platform.config)
    try {
      await connection.connect()
      const lock = await connection.query('SELECT pg_try_advisory_lock($1) AS taken', [locks.outboxRelay])
      if (!lock.rows[0].taken) {
        await sleep(1_000, signal)
        continue
      }
      let heard = new AbortController()
      connection.on('notification', () => heard.abort())
      connection.on('end', () => heard.abort())
      await connection.query(`LISTEN ${channel}`)
      while (!signal.aborted) {
        heard = new AbortController()
        const started = performance.now()
        // On this connection, because it fails when the connection, and with it the advisory lock, is lost.
        const { rows } = await connection.query<OutboxRow>(selectOutbox)
        if (rows.length > 0) await moveBatch(platform, publisher, rows)
        else await sleep(1_000, AbortSignal.any([signal, heard.signal]))
        if (rows.length < batchSize) await sleep(Math.max(0, started + restMs - performance.now()), signal)
      }
    } catch (error) {
      platform.log.warn({ error: (error as Error).message }, 'outbox relay interrupted, will retry')
      await sleep(500, signal)
    } finally {
      await connection.end().catch(() => {})
    }
  }
}

async function moveBatch(platform: Platform, publisher: Publisher, rows: OutboxRow[]): Promise<void> {
  const moved = await Promise.all(rows.map((row) => moveOrJudge(platform, publisher, row)))
  const refused = moved.filter((letter) => letter !== undefined)
  const refusedIds = new Set(refused.map(({ id }) => id))
  const published = rows.map((row) => row.id).filter((id) => !refusedIds.has(id))
  if (published.length > 0) await keepPublished(platform.db, published)
  if (refused.length > 0) {
    await transaction(platform, async ({ db }) => {
      for (const { letter } of refused) await insertLetter(db, letter)
      await sql`DELETE FROM outbox WHERE id = ANY(${[...refusedIds]}::bigint[])`.execute(db)
    })
  }
  platform.metrics.relayed.inc(rows.length)
}

type Refused = { id: bigint; letter: NewLetter }

/** Publishes a row. A message that NATS rejects, such as one that is too large, becomes a dead letter and blocks no others. */
async function moveOrJudge(platform: Platform, publisher: Publisher, row: OutboxRow): Promise<Refused | undefined> {
  try {
    await move(platform, publisher, row)
  } catch (error) {
    if (judgeFailure(error) !== 'refused') throw error
    const reason = `NATS rejected the message: ${describeFailure(error)}`
    platform.log.error({ outbox: row.id, subject: row.subject, reason }, 'message refused, moved to dead letters')
    const { subject, traceparent } = row
    const body: unknown = JSON.parse(row.text)
    const reference = `${row.incarnation}-${row.id}`
    const work = { body: { subject, body, traceparent } }
    return { id: row.id, letter: { workspaceId: row.workspace_id, kind: 'outbox', reference, reason, ...work } }
  }
}

/** Moves a rejected message from the dead letters back to the outbox. */
export async function republish(platform: Pick<Platform, 'db'>, letter: Letter): Promise<void> {
  const { subject, body, traceparent } = letter.body as Pick<OutboxRow, 'subject' | 'traceparent'> & { body: unknown }
  await transaction(platform, async ({ db }) => {
    await sql`INSERT INTO outbox (workspace_id, subject, body, traceparent)
      VALUES (${letter.workspace_id}, ${subject}, ${JSON.stringify(body)}::jsonb, ${traceparent})`.execute(db)
    await sql`SELECT pg_notify(${channel}, '')`.execute(db)
    await deleteLetters(db, 'outbox', [letter.reference])
  })
}

/** Publishes a row within its writer's trace, even if this process does not trace. */
async function move(platform: Platform, publisher: Publisher, row: OutboxRow): Promise<void> {
  const { subject, text: body } = row
  const id = `outbox-${row.incarnation}-${row.id}`
  if (row.traceparent === null) return publishOne(platform, publisher, { subject, id, body })
  const parents = [row.traceparent]
  const attributes = { 'messaging.system': 'nats', 'messaging.destination.name': subject, 'messaging.message.id': id }
  await traced(platform, { name: 'relay', kind: 'producer', parents, attributes }, (span) => {
    const traceparent = span?.traceparent ?? (row.traceparent as string)
    return publishOne(platform, publisher, { subject, id, body, traceparent })
  })
}

/** Publishes a message; the second attempt, by JetStream's own function, has an error that says whether to try again. */
async function publishOne(
  { nats }: Platform,
  publisher: Publisher,
  message: { subject: string; id: string; body: string; traceparent?: string },
): Promise<void> {
  try {
    await publisher.publish(message)
  } catch {
    const about = headers()
    if (message.traceparent) about.set('traceparent', message.traceparent)
    await jetStream(nats).publish(message.subject, message.body, { msgID: message.id, headers: about })
  }
}

/** Measures the outbox. PostgreSQL being down is logged elsewhere. */
async function measure({ config, db, metrics }: Platform): Promise<void> {
  await prunePublished(db, config.PUBLISHED_RETENTION_MINUTES).catch(() => {})
  const size = await measureOutbox(db).catch(() => undefined)
  if (!size) return
  metrics.outboxMessages.set(size.messages)
  metrics.outboxAge.set(size.seconds)
}

/** `incarnation` is part of the message id: after a restore, row ids repeat, and NATS would drop them as duplicates. */
type OutboxRow = {
  id: bigint
  incarnation: string
  workspace_id: string
  subject: string
  text: string
  traceparent: string | null
}

const selectOutbox = {
  name: 'select_outbox',
  text: `SELECT id, (SELECT id FROM database_incarnation) AS incarnation, workspace_id, subject, text, traceparent FROM (
      SELECT *, sum(octet_length(text)) OVER (ORDER BY id) AS bytes, row_number() OVER (ORDER BY id) AS place
      FROM (SELECT id, workspace_id, subject, body::text AS text, traceparent
        FROM outbox ORDER BY id LIMIT ${batchSize}) AS first
    ) AS sized WHERE place = 1 OR bytes <= ${batchBytes} ORDER BY id`,
}

/** Moves published rows to a second table for some minutes, in case NATS is restored to an older state and loses them. */
async function keepPublished(db: Db, ids: bigint[]): Promise<void> {
  await sql`WITH published AS (DELETE FROM outbox WHERE id = ANY(${ids}::bigint[]) RETURNING *)
    INSERT INTO outbox_published (id, workspace_id, subject, body, created_at, traceparent)
    SELECT id, workspace_id, subject, body, created_at, traceparent FROM published
    ON CONFLICT (id) DO UPDATE SET published_at = now()`.execute(db)
}

async function prunePublished(db: Db, minutes: number): Promise<void> {
  await sql`DELETE FROM outbox_published WHERE id IN (SELECT id FROM outbox_published
    WHERE published_at < now() - make_interval(mins => ${minutes}) ORDER BY published_at LIMIT ${mostPruned})`.execute(
    db,
  )
}

async function measureOutbox(db: Db) {
  const result = await sql<{ messages: number; seconds: number }>`
    SELECT count(*)::int AS messages, greatest(0, coalesce(extract(epoch FROM now() - min(created_at)), 0))::float AS seconds
    FROM (SELECT created_at FROM outbox ORDER BY id LIMIT ${mostCounted}) AS waiting`.execute(db)
  return result.rows[0]
}
