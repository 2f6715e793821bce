import { sql } from 'kysely'
import type { Db } from '../../platform/postgres.ts'
import type { Detail } from './commission.ts'
import type { CommissionRow } from './store.ts'

type DetailRow = { number: bigint; detail: Detail }

export async function clearMetadata(db: Db, workspaceId: string, customerIds: string[]): Promise<void> {
  await sql`UPDATE commissions SET metadata = NULL, description = NULL WHERE workspace_id = ${workspaceId}
    AND customer_id = ANY(${customerIds}::text[]) AND (metadata IS NOT NULL OR description IS NOT NULL)`.execute(db)
}

export async function selectCustomerDetails(db: Db, workspaceId: string, customerIds: string[]): Promise<DetailRow[]> {
  const result = await sql<DetailRow>`SELECT d.commission_number AS number, d.why AS detail
    FROM commissions c JOIN commission_details d ON d.commission_number = c.number
    WHERE c.workspace_id = ${workspaceId} AND c.customer_id = ANY(${customerIds}::text[])`.execute(db)
  return result.rows
}

export async function replaceDetails(db: Db, rows: DetailRow[]): Promise<void> {
  await sql`UPDATE commission_details d SET why = changed.why::jsonb
    FROM unnest(${rows.map(({ number }) => number)}::bigint[],
      ${rows.map(({ detail }) => JSON.stringify(detail))}::text[]) AS changed (number, why)
    WHERE d.commission_number = changed.number`.execute(db)
}

/** Details of decisions that gave no commission. */
export async function selectRefusals(db: Db, workspaceId: string, numbers: bigint[]): Promise<DetailRow[]> {
  const result = await sql<DetailRow>`SELECT conversion_number AS number, detail FROM commission_decisions
    WHERE workspace_id = ${workspaceId} AND conversion_number = ANY(${numbers}::bigint[]) AND detail IS NOT NULL`.execute(
    db,
  )
  return result.rows
}

export async function updateDecisionDetails(db: Db, workspaceId: string, rows: DetailRow[]): Promise<void> {
  await sql`UPDATE commission_decisions d SET detail = changed.detail::jsonb
    FROM unnest(${rows.map(({ number }) => number)}::bigint[],
      ${rows.map(({ detail }) => JSON.stringify(detail))}::text[]) AS changed (number, detail)
    WHERE d.workspace_id = ${workspaceId} AND d.conversion_number = changed.number`.execute(db)
}

/** Commissions of a customer after a number, in order. */
export async function selectOfCustomer(
  db: Db,
  workspaceId: string,
  customerId: string,
  { after, count }: { after: bigint; count: number },
): Promise<(CommissionRow & { why: Detail | null })[]> {
  const result = await sql<CommissionRow & { why: Detail | null }>`SELECT c.*, d.why FROM commissions c
    LEFT JOIN commission_details d ON d.commission_number = c.number
    WHERE c.workspace_id = ${workspaceId} AND c.customer_id = ${customerId} AND c.number > ${after}
    ORDER BY c.number LIMIT ${count}`.execute(db)
  return result.rows
}

// The values that `withoutPerson` clears.
const personalValues = `$.why.conditions[*] ? ((@.entity == "customer" || @.attribute starts with "metadata") && @.actual != null)`

/** Whether commissions of a customer, or decisions on its events, have metadata or values of the customer. */
export async function existsPersonalData(
  db: Db,
  workspaceId: string,
  customerId: string,
  conversionNumbers: bigint[],
): Promise<boolean> {
  const result = await sql<{ found: boolean }>`SELECT
    EXISTS (SELECT FROM commissions c LEFT JOIN commission_details d ON d.commission_number = c.number
      WHERE c.workspace_id = ${workspaceId} AND c.customer_id = ${customerId}
        AND (c.metadata IS NOT NULL OR c.description IS NOT NULL OR d.why @? ${personalValues}::jsonpath))
    OR EXISTS (SELECT FROM commission_decisions WHERE workspace_id = ${workspaceId}
      AND conversion_number = ANY(${conversionNumbers}::bigint[]) AND detail @? ${personalValues}::jsonpath)
    AS found`.execute(db)
  return result.rows[0]?.found ?? false
}
