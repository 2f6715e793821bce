import { sql } from 'kysely'
import type { Db } from '../../platform/postgres.ts'
import type { AttemptRow, DeliveryRow, EventRow } from './deliveries-store.ts'

/** The stored webhook events about a customer after an id, in the order of their ids. */
export async function selectCustomerEvents(
  db: Db,
  workspaceId: string,
  customerId: string,
  { after, count }: { after: string; count: number },
): Promise<EventRow[]> {
  const result = await sql<EventRow>`SELECT * FROM webhook_events
    WHERE workspace_id = ${workspaceId} AND customer_id = ${customerId} AND id > ${after}
    ORDER BY id LIMIT ${count}`.execute(db)
  return result.rows
}

export async function selectDeliveriesOfEvents(db: Db, workspaceId: string, ids: string[]): Promise<DeliveryRow[]> {
  const result = await sql<DeliveryRow>`SELECT * FROM webhook_deliveries
    WHERE workspace_id = ${workspaceId} AND event_id = ANY(${ids}::text[]) ORDER BY number`.execute(db)
  return result.rows
}

export async function selectAttemptsByDelivery(db: Db, workspaceId: string, numbers: bigint[]): Promise<AttemptRow[]> {
  const result = await sql<AttemptRow>`SELECT * FROM webhook_attempts
    WHERE workspace_id = ${workspaceId} AND delivery_number = ANY(${numbers}::bigint[])
    ORDER BY delivery_number, number`.execute(db)
  return result.rows
}

/** Whether events about a customer have a body, or receivers' responses to them are stored. */
export async function existsCustomerEvent(db: Db, workspaceId: string, customerId: string): Promise<boolean> {
  const result = await sql`SELECT FROM webhook_events e
    WHERE e.workspace_id = ${workspaceId} AND e.customer_id = ${customerId} AND (e.body IS NOT NULL OR EXISTS (
      SELECT FROM webhook_deliveries d LEFT JOIN webhook_attempts a ON a.delivery_number = d.number
      WHERE d.workspace_id = e.workspace_id AND d.event_id = e.id
        AND (d.status = 'pending' OR a.response_excerpt IS NOT NULL))) LIMIT 1`.execute(db)
  return result.rows.length > 0
}
