import { sql } from 'kysely'
import type { Db } from '../../platform/postgres.ts'
import type { Detail } from './commission.ts'

type DetailRow = { number: bigint; detail: Detail }

export async function clearMetadata(db: Db, workspaceId: string, customerIds: string[]): Promise<void> {
  await sql`UPDATE commissions SET metadata = NULL WHERE workspace_id = ${workspaceId}
    AND customer_id = ANY(${customerIds}::text[]) AND metadata IS NOT NULL`.execute(db)
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
