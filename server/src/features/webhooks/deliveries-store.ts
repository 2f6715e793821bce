import type { Trigger } from '@tributary/contract/webhooks'
import { type RawBuilder, sql } from 'kysely'
import type { AllWorkspacesDb, Db } from '../../platform/postgres.ts'
import type { WebhookRow } from './store.ts'

export type EventRow = {
  workspace_id: string
  id: string
  event: Trigger
  customer_id: string | null
  /** The event's JSON; null while the event waits for click facts and after its customer was erased. */
  body: string | null
  created_at: Date
}
export type WaitsFor = 'click'
export type DeliveryRow = {
  number: bigint
  workspace_id: string
  webhook_id: string
  event_id: string
  event: Trigger
  status: 'pending' | 'delivered' | 'failed'
  /** What the delivery waits for; until then `due_at` and the event's body are null. */
  waits_for: WaitsFor | null
  started_at: Date
  tries: number
  due_at: Date | null
  attempts: number
  response_status: number | null
  last_attempt_at: Date | null
  created_at: Date
}
export type AttemptRow = {
  delivery_number: bigint
  number: number
  workspace_id: string
  url: string
  at: Date
  duration_ms: number
  response_status: number | null
  response_excerpt: string | null
  problem: string | null
}

/** A webhook event to insert; `body` is null while the event waits for click facts. */
export type NewEvent = {
  id: string
  event: Trigger
  customerId: string | null
  body: string | null
  createdAt: string
}

/** Inserts webhook events; events that exist already stay unchanged. */
export async function insertEvents(db: Db, workspaceId: string, events: NewEvent[]): Promise<void> {
  await sql`WITH stored AS (
      INSERT INTO webhook_events (workspace_id, id, event, customer_id, body, created_at)
      SELECT ${workspaceId}, * FROM unnest(
        ${events.map(({ id }) => id)}::text[], ${events.map(({ event }) => event)}::text[],
        ${events.map(({ customerId }) => customerId)}::text[], ${events.map(({ body }) => body)}::text[],
        ${events.map(({ createdAt }) => createdAt)}::timestamptz[])
      ON CONFLICT DO NOTHING RETURNING octet_length(body) AS bytes)
    INSERT INTO webhook_storage AS known (workspace_id, bytes)
    SELECT ${workspaceId}, coalesce(sum(bytes), 0) FROM stored
    ON CONFLICT (workspace_id) DO UPDATE SET bytes = known.bytes + excluded.bytes`.execute(db)
}

/** The total size in bytes of a workspace's stored event bodies. */
export async function selectStoredBytes(db: Db, workspaceId: string): Promise<number> {
  const result = await sql<{ bytes: bigint }>`SELECT bytes FROM webhook_storage
    WHERE workspace_id = ${workspaceId}`.execute(db)
  return Number(result.rows[0]?.bytes ?? 0)
}

/** Inserts deliveries, due now unless their event waits. Deliveries that exist already stay unchanged. */
export async function insertDeliveries(
  db: Db,
  workspaceId: string,
  events: { id: string; event: Trigger; webhookIds: string[]; waitsFor?: WaitsFor }[],
  now: Date,
): Promise<void> {
  const rows = events.flatMap(({ webhookIds, ...event }) => webhookIds.map((webhookId) => ({ webhookId, ...event })))
  await sql`
    INSERT INTO webhook_deliveries (workspace_id, webhook_id, event_id, event, started_at, due_at, created_at, waits_for)
    SELECT ${workspaceId}, webhook_id, event_id, event, ${now},
      CASE WHEN waits_for IS NULL THEN ${now}::timestamptz END, ${now}, waits_for
    FROM unnest(${rows.map(({ webhookId }) => webhookId)}::text[], ${rows.map(({ id }) => id)}::text[],
      ${rows.map(({ event }) => event)}::text[], ${rows.map(({ waitsFor }) => waitsFor ?? null)}::text[])
      AS new (webhook_id, event_id, event, waits_for)
    ON CONFLICT DO NOTHING`.execute(db)
}

/** Returns those of the given event ids whose deliveries wait for click facts. */
export async function selectWaiting(db: Db, workspaceId: string, eventIds: string[]): Promise<string[]> {
  const result = await sql<{ event_id: string }>`SELECT DISTINCT event_id FROM webhook_deliveries
    WHERE workspace_id = ${workspaceId} AND event_id = ANY(${eventIds}::text[])
      AND waits_for IS NOT NULL`.execute(db)
  return result.rows.map((row) => row.event_id)
}

/** Stores the bodies of waiting events and makes their deliveries due. Events of erased customers get no body. */
export async function releaseEvents(
  db: Db,
  workspaceId: string,
  events: { id: string; body: string }[],
  now: Date,
): Promise<void> {
  await sql`
    WITH released AS (
      UPDATE webhook_deliveries SET waits_for = NULL, due_at = ${now}, started_at = ${now}
      WHERE workspace_id = ${workspaceId} AND event_id = ANY(${events.map(({ id }) => id)}::text[])
        AND waits_for IS NOT NULL AND status = 'pending' RETURNING event_id
    ), filled AS (
      UPDATE webhook_events event SET body = new.body
      FROM unnest(${events.map(({ id }) => id)}::text[], ${events.map(({ body }) => body)}::text[]) AS new (id, body)
      WHERE workspace_id = ${workspaceId} AND event.id = new.id AND event.body IS NULL
        AND EXISTS (SELECT FROM released WHERE event_id = event.id)
      RETURNING octet_length(new.body) AS bytes
    )
    INSERT INTO webhook_storage AS known (workspace_id, bytes)
    SELECT ${workspaceId}, coalesce(sum(bytes), 0) FROM filled
    ON CONFLICT (workspace_id) DO UPDATE SET bytes = known.bytes + excluded.bytes`.execute(db)
}

/** Deletes waiting events, because the workspace's webhook storage is full. */
export async function dropWaiting(db: Db, workspaceId: string, eventIds: string[]): Promise<void> {
  await sql`DELETE FROM webhook_events WHERE workspace_id = ${workspaceId} AND id = ANY(${eventIds}::text[])
    AND body IS NULL`.execute(db)
}

/** Erases the customers' event bodies and the receivers' responses; pending deliveries of these events fail. */
export async function eraseEvents(db: Db, workspaceId: string, customerIds: string[]): Promise<void> {
  const erased = await sql<{ id: string }>`
    WITH old AS (SELECT id, octet_length(body) AS bytes FROM webhook_events
      WHERE workspace_id = ${workspaceId} AND customer_id = ANY(${customerIds}::text[]) FOR UPDATE
    ), counted AS (UPDATE webhook_storage SET bytes = bytes - (SELECT coalesce(sum(old.bytes), 0) FROM old)
      WHERE workspace_id = ${workspaceId})
    UPDATE webhook_events event SET body = NULL FROM old
    WHERE event.workspace_id = ${workspaceId} AND event.id = old.id RETURNING event.id`.execute(db)
  const ids = erased.rows.map((row) => row.id)
  // Fail deliveries before erasing responses: a concurrent recordAttempt has then committed, or stores no response.
  await sql`UPDATE webhook_deliveries SET status = 'failed', due_at = NULL, waits_for = NULL
    WHERE workspace_id = ${workspaceId} AND event_id = ANY(${ids}::text[]) AND status = 'pending'`.execute(db)
  await sql`UPDATE webhook_attempts a SET response_excerpt = NULL FROM webhook_deliveries d
    WHERE d.workspace_id = ${workspaceId} AND d.event_id = ANY(${ids}::text[])
      AND a.delivery_number = d.number`.execute(db)
}

export type DeliveryFilter = {
  status?: DeliveryRow['status']
  event?: Trigger
  ascending: boolean
  /** The `number` of the last delivery on the previous page. */
  after?: bigint
  offset: number
  count: number
}

export async function selectDeliveries(
  db: Db,
  workspaceId: string,
  webhookId: string,
  { status, event, ascending, after, offset, count }: DeliveryFilter,
): Promise<DeliveryRow[]> {
  const beyond = ascending ? sql`number > ${after}` : sql`number < ${after}`
  const result = await sql<DeliveryRow>`SELECT * FROM webhook_deliveries
    WHERE workspace_id = ${workspaceId} AND webhook_id = ${webhookId}
      AND ${status === undefined ? sql`true` : sql`status = ${status}`}
      AND ${event === undefined ? sql`true` : sql`event = ${event}`}
      AND ${after === undefined ? sql`true` : beyond}
    ORDER BY number ${ascending ? sql`ASC` : sql`DESC`} LIMIT ${count} OFFSET ${offset}`.execute(db)
  return result.rows
}

export async function selectDelivery(db: Db, workspaceId: string, webhookId: string, eventId: string) {
  const result = await sql<DeliveryRow & Pick<EventRow, 'body'>>`SELECT d.*, e.body FROM webhook_deliveries d
    JOIN webhook_events e ON e.workspace_id = d.workspace_id AND e.id = d.event_id
    WHERE d.workspace_id = ${workspaceId} AND d.webhook_id = ${webhookId} AND d.event_id = ${eventId}`.execute(db)
  return result.rows[0]
}

/** The attempts of a delivery, newest first. */
export async function selectAttempts(db: Db, workspaceId: string, deliveryNumber: bigint): Promise<AttemptRow[]> {
  const result = await sql<AttemptRow>`SELECT * FROM webhook_attempts
    WHERE workspace_id = ${workspaceId} AND delivery_number = ${deliveryNumber}
    ORDER BY number DESC LIMIT 100`.execute(db)
  return result.rows
}

/** Makes deliveries due now and restarts their retry schedule; skips deliveries whose event has no body. */
export async function restartDeliveries(db: Db, workspaceId: string, numbers: bigint[], now: Date) {
  const result = await sql<DeliveryRow>`UPDATE webhook_deliveries d
    SET status = 'pending', started_at = ${now}, due_at = ${now}, tries = 0 FROM webhook_events e
    WHERE d.workspace_id = ${workspaceId} AND d.number = ANY(${numbers}::bigint[])
      AND e.workspace_id = d.workspace_id AND e.id = d.event_id AND e.body IS NOT NULL
    RETURNING d.*`.execute(db)
  return result.rows
}

/** Locks and returns failed deliveries that started before `now` and whose event has a body, newest first. */
export async function selectFailed(
  db: Db,
  workspaceId: string,
  webhookId: string,
  { since, now, count }: { since: Date; now: Date; count: number },
): Promise<bigint[]> {
  const result = await sql<{ number: bigint }>`SELECT d.number FROM webhook_deliveries d
    JOIN webhook_events e ON e.workspace_id = d.workspace_id AND e.id = d.event_id
    WHERE d.workspace_id = ${workspaceId} AND d.webhook_id = ${webhookId} AND d.status = 'failed'
      AND d.created_at >= ${since} AND d.started_at < ${now} AND e.body IS NOT NULL
    ORDER BY d.number DESC LIMIT ${count} FOR UPDATE OF d SKIP LOCKED`.execute(db)
  return result.rows.map((row) => row.number)
}

export async function deletePieceOfDeleted(db: AllWorkspacesDb, count: number): Promise<number> {
  const deliveries = await sql`DELETE FROM webhook_deliveries WHERE number IN (
    SELECT d.number FROM webhooks w CROSS JOIN LATERAL (
      SELECT number FROM webhook_deliveries WHERE workspace_id = w.workspace_id AND webhook_id = w.id LIMIT ${count}
    ) d WHERE w.deleted_at IS NOT NULL LIMIT ${count})`.execute(db)
  const removed = Number(deliveries.numAffectedRows ?? 0)
  if (removed > 0) return removed
  // Delete webhooks only without deliveries: a cascade over very many deliveries would take too long.
  await sql`DELETE FROM webhooks w WHERE deleted_at IS NOT NULL AND NOT EXISTS (
    SELECT FROM webhook_deliveries WHERE workspace_id = w.workspace_id AND webhook_id = w.id)`.execute(db)
  return 0
}

export type DueDelivery = Pick<
  DeliveryRow,
  'number' | 'workspace_id' | 'webhook_id' | 'event_id' | 'started_at' | 'tries'
> &
  Pick<WebhookRow, 'url' | 'sealed_secret' | 'sealed_former_secret' | 'former_secret_until' | 'failing_since'> &
  Pick<EventRow, 'body'> & {
    /** The end of this worker's claim; no other worker claims the delivery before this time. */
    due_at: Date
  }

/**
 * Returns enabled webhooks with due deliveries and an id above `after`, in id order. The recursive query reads one
 * index entry per webhook, so many deliveries of one webhook do not slow it down. `live` is the SQL condition that a
 * workspace is not deleted.
 */
export async function selectDueWebhooks(
  db: AllWorkspacesDb,
  { now, after, count, live }: { now: Date; after: string; count: number; live: string },
): Promise<{ id: string; workspaceId: string }[]> {
  const result = await sql<{ id: string; workspaceId: string }>`
    WITH RECURSIVE waiting (id) AS (
      (SELECT webhook_id FROM webhook_deliveries WHERE due_at IS NOT NULL AND webhook_id > ${after}
       ORDER BY webhook_id LIMIT 1)
      UNION ALL
      SELECT (SELECT webhook_id FROM webhook_deliveries WHERE due_at IS NOT NULL AND webhook_id > waiting.id
              ORDER BY webhook_id LIMIT 1)
      FROM waiting WHERE waiting.id IS NOT NULL
    )
    SELECT id, workspace_id AS "workspaceId" FROM waiting JOIN webhooks USING (id)
    WHERE disabled_at IS NULL AND ${sql.raw(live)} AND EXISTS (
      SELECT FROM webhook_deliveries WHERE webhook_id = id AND due_at <= ${now})
    ORDER BY id LIMIT ${count}`.execute(db)
  return result.rows
}

/** Claims due deliveries until `until`: one per webhook before a second one, and at most each webhook's share. */
export async function claimDeliveries(
  db: AllWorkspacesDb,
  shares: Map<string, number>,
  { now, until, count }: { now: Date; until: Date; count: number },
): Promise<DueDelivery[]> {
  const result = await sql<DueDelivery>`
    WITH taken AS (
      SELECT due.number FROM unnest(${[...shares.keys()]}::text[], ${[...shares.values()]}::int[]) AS share (id, most)
      CROSS JOIN LATERAL (
        SELECT number, row_number() OVER () AS place FROM (
          SELECT number FROM webhook_deliveries WHERE webhook_id = share.id AND due_at <= ${now}
          ORDER BY due_at LIMIT share.most FOR UPDATE SKIP LOCKED) AS locked) AS due
      ORDER BY due.place, share.id LIMIT ${count}
    )
    UPDATE webhook_deliveries delivery SET due_at = ${until}
    FROM taken, webhooks webhook, webhook_events event
    WHERE delivery.number = taken.number AND webhook.id = delivery.webhook_id AND webhook.disabled_at IS NULL
      AND event.workspace_id = delivery.workspace_id AND event.id = delivery.event_id
    RETURNING delivery.number, delivery.workspace_id, delivery.webhook_id, delivery.event_id, delivery.started_at,
      delivery.tries, delivery.due_at, webhook.url, webhook.sealed_secret, webhook.sealed_former_secret,
      webhook.former_secret_until, webhook.failing_since, event.body`.execute(db)
  return result.rows
}

export type DeliveryEnd = Pick<DeliveryRow, 'status' | 'due_at'>

/**
 * Records a call to a receiver. Writes the delivery's next state and the response only while the claim is valid: the
 * delivery may have been replayed, claimed by another worker, or ended by a customer erasure.
 */
export async function recordAttempt(
  db: Db,
  delivery: DueDelivery,
  attempt: Omit<AttemptRow, 'delivery_number' | 'number' | 'workspace_id' | 'url'>,
  end: DeliveryEnd,
): Promise<void> {
  const has = sql`due_at = ${delivery.due_at}`
  const isSuccess = end.status === 'delivered'
  await sql`
    WITH called AS (
      UPDATE webhook_deliveries SET
        attempts = attempts + 1, response_status = ${attempt.response_status}, last_attempt_at = ${attempt.at},
        tries = CASE WHEN ${has} THEN tries + 1 ELSE tries END,
        status = CASE WHEN ${has} THEN ${end.status} ELSE status END,
        due_at = CASE WHEN ${has} THEN ${end.due_at}::timestamptz ELSE due_at END
      WHERE workspace_id = ${delivery.workspace_id} AND number = ${delivery.number}
      RETURNING number, attempts, tries
    ), noted AS (
      INSERT INTO webhook_attempts (delivery_number, number, workspace_id, url, at, duration_ms, response_status,
        response_excerpt, problem)
      SELECT number, attempts, ${delivery.workspace_id}, ${delivery.url}, ${attempt.at}::timestamptz,
        ${attempt.duration_ms}::int, ${attempt.response_status}::int,
        CASE WHEN tries = ${delivery.tries + 1} THEN ${attempt.response_excerpt} END, ${attempt.problem}
      FROM called
    )
    UPDATE webhooks SET failing_since = CASE WHEN ${isSuccess} THEN NULL ELSE ${attempt.at}::timestamptz END
    WHERE workspace_id = ${delivery.workspace_id} AND id = ${delivery.webhook_id} AND url = ${delivery.url}
      AND (failing_since IS NULL) <> ${isSuccess}`.execute(db)
}

/** Fails a claimed delivery without a call, because its customer was erased and the event has no body. */
export async function endDelivery(db: Db, { workspace_id, number, due_at }: DueDelivery): Promise<void> {
  await sql`
    UPDATE webhook_deliveries SET status = 'failed', due_at = NULL
    WHERE workspace_id = ${workspace_id} AND number = ${number} AND due_at = ${due_at}`.execute(db)
}

export async function countDue(db: AllWorkspacesDb, now: Date, most: number): Promise<number> {
  const result = await sql<{ count: bigint }>`
    SELECT count(*) FROM (
      SELECT FROM webhooks JOIN webhook_deliveries ON webhook_id = webhooks.id
      WHERE disabled_at IS NULL AND due_at <= ${now} LIMIT ${most}) AS due`.execute(db)
  return Number(result.rows[0]?.count)
}

/** Deletes events created before `before`, unless one of their deliveries is newer: an event may be published late. */
export async function deleteEventsBefore(db: AllWorkspacesDb, before: Date, count: number): Promise<number> {
  return deleteEvents(
    db,
    sql`created_at < ${before} AND NOT EXISTS (SELECT FROM webhook_deliveries
      WHERE workspace_id = event.workspace_id AND event_id = event.id AND created_at >= ${before})`,
    count,
  )
}

/** Deletes the oldest events that have no pending delivery. */
export async function deleteFinishedEvents(db: Db, workspaceId: string, count: number): Promise<number> {
  return deleteEvents(
    db,
    sql`workspace_id = ${workspaceId} AND NOT EXISTS (SELECT FROM webhook_deliveries
      WHERE workspace_id = event.workspace_id AND event_id = event.id
        AND (due_at IS NOT NULL OR waits_for IS NOT NULL))`,
    count,
  )
}

async function deleteEvents(db: Db, condition: RawBuilder<unknown>, count: number): Promise<number> {
  const result = await sql<{ count: bigint }>`
    WITH removed AS (
      DELETE FROM webhook_events WHERE ctid = ANY (ARRAY (
        SELECT ctid FROM webhook_events event WHERE ${condition}
        ORDER BY created_at LIMIT ${count} FOR UPDATE SKIP LOCKED))
      RETURNING workspace_id, octet_length(body) AS bytes
    ), counted AS (
      UPDATE webhook_storage known SET bytes = greatest(0, known.bytes - gone.bytes)
      FROM (SELECT workspace_id, coalesce(sum(bytes), 0) AS bytes FROM removed GROUP BY 1) gone
      WHERE known.workspace_id = gone.workspace_id
    ) SELECT count(*) FROM removed`.execute(db)
  return Number(result.rows[0]?.count ?? 0)
}
