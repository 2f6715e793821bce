import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../platform/postgres.ts'
import type { ConversionRow } from './store.ts'

/** A position among a customer's events, which are sorted by time and number: that of an event, or a time before its events. */
export type JourneyPosition = { number: bigint } | { at: Date }
export type JourneyPage = { ascending: boolean; after?: JourneyPosition; count: number }

/** A page of a customer's leads, sales and refunds by time. */
export async function selectJourney(
  db: Db,
  workspaceId: string,
  customerId: string,
  { ascending, after, count }: JourneyPage,
): Promise<ConversionRow[]> {
  const direction = ascending ? sql`ASC` : sql`DESC`
  const beyond = after
    ? sql`(created_at, number) ${ascending ? sql`>` : sql`<`} ${locate(workspaceId, after)}`
    : sql`true`
  const result = await sql<ConversionRow>`
    SELECT * FROM conversions WHERE workspace_id = ${workspaceId} AND customer_id = ${customerId} AND ${beyond}
    ORDER BY created_at ${direction}, number ${direction} LIMIT ${count}`.execute(db)
  return result.rows
}

/** The columns of a position. A Date has milliseconds only, so the time of an event is read from its row. */
function locate(workspaceId: string, position: JourneyPosition): RawBuilder<unknown> {
  if ('at' in position) return sql`(${position.at}::timestamptz, -1::bigint)`
  return sql`(SELECT created_at, number FROM conversions
    WHERE workspace_id = ${workspaceId} AND number = ${position.number})`
}

/** The sum of a customer's sales and refunds up to and including an event. */
export async function sumUntil(db: Db, workspaceId: string, customerId: string, number: bigint): Promise<bigint> {
  const result = await sql<{ amount: string }>`
    SELECT coalesce(sum(amount), 0)::text AS amount FROM conversions
    WHERE workspace_id = ${workspaceId} AND customer_id = ${customerId}
      AND (created_at, number) <= ${locate(workspaceId, { number })}`.execute(db)
  return BigInt(result.rows[0]?.amount ?? 0)
}

export type JourneyClickRow = Pick<ConversionRow, 'click_id' | 'click_facts' | 'link_number'> & { click_id: string }

/** The clicks that a customer's events are attributed to, those of the newest events first. */
export async function selectJourneyClicks(
  db: Db,
  workspaceId: string,
  customerId: string,
  count: number,
): Promise<JourneyClickRow[]> {
  // The large column is read of one event per click only.
  const result = await sql<JourneyClickRow>`
    WITH clicks AS (
      SELECT coalesce(min(number) FILTER (WHERE click_facts IS NOT NULL), min(number)) AS number,
        min(created_at) AS first_at
      FROM conversions WHERE workspace_id = ${workspaceId} AND customer_id = ${customerId}
        AND click_id IS NOT NULL
      GROUP BY click_id ORDER BY first_at DESC LIMIT ${count})
    SELECT click_id, click_facts, link_number FROM clicks JOIN conversions USING (number)
    ORDER BY first_at DESC`.execute(db)
  return result.rows
}

/** The ids of the clicks that customers' events are attributed to, after an id, in order. */
export async function selectClickIds(
  db: Db,
  workspaceId: string,
  customerIds: string[],
  { after, count }: { after: string; count: number },
): Promise<string[]> {
  const result = await sql<{ click_id: string }>`SELECT DISTINCT click_id FROM conversions
    WHERE workspace_id = ${workspaceId} AND customer_id = ANY(${customerIds}::text[]) AND click_id > ${after}
    ORDER BY click_id LIMIT ${count}`.execute(db)
  return result.rows.map(({ click_id }) => click_id)
}

/** Whether a customer's events have metadata or click facts, or may be exported to ClickHouse with them. */
export async function existsPersonalData(db: Db, workspaceId: string, customerId: string): Promise<boolean> {
  const result = await sql`SELECT FROM conversions WHERE workspace_id = ${workspaceId} AND customer_id = ${customerId}
    AND (metadata IS NOT NULL OR click_facts IS NOT NULL OR click_facts_at IS NULL
      OR (batch IS NOT NULL AND stored_at IS NULL) OR (link_number IS NULL AND batch IS NULL)) LIMIT 1`.execute(db)
  return result.rows.length > 0
}
