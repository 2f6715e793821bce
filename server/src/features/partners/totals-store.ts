import { sql } from 'kysely'
import type { AllWorkspacesDb, Db } from '../../platform/postgres.ts'
import { type BriefPartnerRow, claimedColumns } from './store.ts'

export type PartnerTotals = {
  clicks: bigint
  leads: bigint
  conversions: bigint
  sales: bigint
  sale_amount: bigint
  commissions: bigint
}
export type TotalsChange = { partnerNumber: bigint } & Partial<PartnerTotals>

/** Adds to the totals of partners, in ascending order, so that two transactions do not deadlock. */
export async function addTotals(db: AllWorkspacesDb, changes: TotalsChange[]): Promise<void> {
  const column = (read: (change: TotalsChange) => bigint | undefined) =>
    changes.map((change) => String(read(change) ?? 0n))
  await sql`WITH locked AS MATERIALIZED (
      SELECT partner_number FROM partner_totals
      WHERE partner_number = ANY(${changes.map((change) => change.partnerNumber)}::bigint[])
      ORDER BY partner_number FOR NO KEY UPDATE
    ), added AS (
      SELECT number, sum(clicks)::bigint AS clicks, sum(leads)::bigint AS leads,
        sum(conversions)::bigint AS conversions, sum(sales)::bigint AS sales,
        sum(sale_amount) AS sale_amount, sum(commissions) AS commissions
      FROM unnest(
        ${changes.map((change) => change.partnerNumber)}::bigint[], ${column((change) => change.clicks)}::bigint[],
        ${column((change) => change.leads)}::bigint[], ${column((change) => change.conversions)}::bigint[], ${column((change) => change.sales)}::bigint[],
        ${column((change) => change.sale_amount)}::numeric[], ${column((change) => change.commissions)}::numeric[]
      ) AS given (number, clicks, leads, conversions, sales, sale_amount, commissions)
      GROUP BY number
    )
    UPDATE partner_totals t SET clicks = t.clicks + added.clicks, leads = t.leads + added.leads,
      conversions = t.conversions + added.conversions, sales = t.sales + added.sales,
      sale_amount = t.sale_amount + added.sale_amount, commissions = t.commissions + added.commissions
    FROM added JOIN locked ON locked.partner_number = added.number
    WHERE t.partner_number = added.number`.execute(db)
}

export type ClicksOfPartner = { workspaceId: string; partnerId: string; clicks: number }

/** Adds to the clicks of partners, or with `isReplaced` sets them, in ascending order. Unknown ids are skipped. */
export async function addClicks(db: AllWorkspacesDb, counts: ClicksOfPartner[], isReplaced = false): Promise<void> {
  await sql`WITH added AS MATERIALIZED (
      SELECT coalesce(p.merged_into, p.number) AS number, sum(given.clicks)::bigint AS clicks
      FROM unnest(
        ${counts.map((count) => count.workspaceId)}::text[], ${counts.map((count) => count.partnerId)}::text[],
        ${counts.map((count) => count.clicks)}::bigint[]
      ) AS given (workspace_id, id, clicks)
      JOIN partners p ON p.id = given.id AND p.workspace_id = given.workspace_id GROUP BY 1
    ), locked AS MATERIALIZED (
      SELECT partner_number FROM partner_totals WHERE partner_number IN (SELECT number FROM added)
      ORDER BY partner_number FOR NO KEY UPDATE
    )
    UPDATE partner_totals t SET clicks = CASE WHEN ${isReplaced} THEN 0 ELSE t.clicks END + added.clicks
    FROM added JOIN locked ON locked.partner_number = added.number
    WHERE t.partner_number = added.number`.execute(db)
}

export async function selectTotals(db: Db, workspaceId: string, numbers: bigint[]) {
  const result = await sql<PartnerTotals & { partner_number: bigint }>`SELECT partner_number,
      clicks, leads, conversions, sales, sale_amount, commissions FROM partner_totals
    WHERE workspace_id = ${workspaceId} AND partner_number = ANY(${numbers}::bigint[])`.execute(db)
  // PostgreSQL returns these sums as text, because they may exceed 64 bits.
  return result.rows.map((row) => {
    return { ...row, sale_amount: BigInt(row.sale_amount), commissions: BigInt(row.commissions) }
  })
}

/** The partners of a group with the highest revenue. */
export async function selectTopPartners(
  db: Db,
  workspaceId: string,
  groupNumber: bigint,
  most: number,
): Promise<BriefPartnerRow[]> {
  const result = await sql<BriefPartnerRow>`
    SELECT ${claimedColumns}, name, image FROM partners p JOIN partner_totals t ON t.partner_number = p.number
    WHERE p.workspace_id = ${workspaceId} AND p.group_number = ${groupNumber} AND p.merged_into IS NULL
    ORDER BY t.sale_amount DESC, p.number LIMIT ${most}`.execute(db)
  return result.rows
}
