import { sql } from 'kysely'
import type { AllWorkspacesDb, Db } from '../../platform/postgres.ts'

export type ClickCount = { linkNumber: bigint; clicks: number; lastClicked: Date }

export async function addClickCounts(db: AllWorkspacesDb, counts: ClickCount[]): Promise<void> {
  await sql`
    UPDATE link_counters c
    SET clicks = c.clicks + n.clicks, last_clicked = greatest(c.last_clicked, n.last_clicked)
    FROM unnest(
      ${counts.map((count) => count.linkNumber)}::bigint[],
      ${counts.map((count) => count.clicks)}::bigint[],
      ${counts.map((count) => count.lastClicked)}::timestamptz[]
    ) AS n (link_number, clicks, last_clicked)
    WHERE c.link_number = n.link_number`.execute(db)
}

export type ConversionCount = {
  linkNumber: bigint
  leads: number
  conversions: number
  sales: number
  saleAmount: bigint
}

export async function addConversionCounts(db: AllWorkspacesDb, counts: ConversionCount[]): Promise<void> {
  await sql`UPDATE link_counters SET leads = link_counters.leads + added.leads,
      conversions = link_counters.conversions + added.conversions, sales = link_counters.sales + added.sales,
      sale_amount = link_counters.sale_amount + added.sale_amount
    FROM unnest(
      ${counts.map((count) => count.linkNumber)}::bigint[], ${counts.map((count) => count.leads)}::bigint[],
      ${counts.map((count) => count.conversions)}::bigint[], ${counts.map((count) => count.sales)}::bigint[],
      ${counts.map((count) => String(count.saleAmount))}::numeric[]
    ) AS added (link_number, leads, conversions, sales, sale_amount)
    WHERE link_counters.link_number = added.link_number`.execute(db)
}

export type TrueCount = { workspace_id: string; link_number: string; clicks: number; last_clicked: Date | null }

export async function replaceClickCounts(db: Db, counts: TrueCount[]): Promise<void> {
  await sql`INSERT INTO link_counters (workspace_id, link_number, clicks, last_clicked)
    SELECT * FROM jsonb_to_recordset(${JSON.stringify(counts)}::jsonb)
      AS n (workspace_id text, link_number bigint, clicks bigint, last_clicked timestamptz)
    ON CONFLICT (link_number) DO UPDATE SET clicks = excluded.clicks, last_clicked = excluded.last_clicked`.execute(db)
}

export async function replaceConversionCounts(db: Db, counts: (ConversionCount & { workspaceId: string })[]) {
  const rows = counts.map((count) => ({
    ...count,
    linkNumber: `${count.linkNumber}`,
    saleAmount: `${count.saleAmount}`,
  }))
  await sql`INSERT INTO link_counters (workspace_id, link_number, leads, conversions, sales, sale_amount)
    SELECT * FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS n ("workspaceId" text, "linkNumber" bigint,
      leads bigint, conversions bigint, sales bigint, "saleAmount" numeric)
    ON CONFLICT (link_number) DO UPDATE SET leads = excluded.leads, conversions = excluded.conversions,
      sales = excluded.sales, sale_amount = excluded.sale_amount`.execute(db)
}
