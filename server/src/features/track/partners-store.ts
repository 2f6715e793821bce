import { sql } from 'kysely'
import type { Db } from '../../platform/postgres.ts'
import type { ConversionRow } from './store.ts'

/** A sale of a partner's link, with its amount after refunds and the first sale of the same customer and partner. */
export type PartnerSaleRow = Pick<
  ConversionRow,
  'number' | 'customer_id' | 'amount' | 'currency' | 'original_amount' | 'metadata' | 'is_first' | 'created_at'
> & { partner_id: string; amount_left: bigint; first_sale_at: Date }

/** The sales of the links in a period, as conversion numbers in ascending order. */
export async function selectSaleNumbers(
  db: Db,
  workspaceId: string,
  { linkNumbers, start, end, most }: { linkNumbers: bigint[]; start: Date; end: Date; most: number },
): Promise<bigint[]> {
  const result = await sql<{ number: bigint }>`
    SELECT number FROM conversions
    WHERE workspace_id = ${workspaceId} AND link_number = ANY(${linkNumbers}::bigint[]) AND kind = 'sale'
      AND partner_id IS NOT NULL AND created_at >= ${start} AND created_at < ${end}
    ORDER BY number LIMIT ${most}`.execute(db)
  return result.rows.map(({ number }) => number)
}

export async function selectPartnerSales(db: Db, workspaceId: string, numbers: bigint[]): Promise<PartnerSaleRow[]> {
  const result = await sql<PartnerSaleRow>`
    WITH sold AS MATERIALIZED (
      SELECT number, partner_id, customer_id, amount, currency, original_amount, metadata, is_first, created_at
      FROM conversions
      WHERE workspace_id = ${workspaceId} AND number = ANY(${numbers}::bigint[]) AND kind = 'sale'
    ), firsts AS MATERIALIZED (
      SELECT customer_id, partner_id, min(created_at) AS first_sale_at FROM conversions
      WHERE workspace_id = ${workspaceId} AND customer_id = ANY(ARRAY(SELECT DISTINCT customer_id FROM sold))
        AND kind = 'sale' AND partner_id IS NOT NULL
      GROUP BY customer_id, partner_id
    ), refunds AS MATERIALIZED (
      SELECT sale_number, sum(amount)::bigint AS amount FROM conversions
      WHERE kind = 'refund' AND sale_number = ANY(ARRAY(SELECT number FROM sold))
      GROUP BY sale_number
    )
    SELECT sold.*, sold.amount + coalesce(refunds.amount, 0) AS amount_left, firsts.first_sale_at
    FROM sold JOIN firsts USING (customer_id, partner_id)
    LEFT JOIN refunds ON refunds.sale_number = sold.number
    ORDER BY sold.number`.execute(db)
  return result.rows
}

export type EarlierTotals = { leads: bigint; conversions: bigint; saleAmount: bigint }

/** Leads, first sales and sold amounts of the links before a time, by partner id. */
export async function selectEarlierTotals(
  db: Db,
  workspaceId: string,
  linkNumbers: bigint[],
  before: Date,
): Promise<(EarlierTotals & { partner_id: string })[]> {
  const result = await sql<Omit<EarlierTotals, 'saleAmount'> & { partner_id: string; amount: string }>`
    SELECT partner_id, coalesce(sum(quantity) FILTER (WHERE kind = 'lead'), 0)::bigint AS leads,
      count(*) FILTER (WHERE kind = 'sale' AND is_first) AS conversions, sum(amount)::text AS amount
    FROM conversions
    WHERE workspace_id = ${workspaceId} AND link_number = ANY(${linkNumbers}::bigint[]) AND partner_id IS NOT NULL
      AND created_at < ${before}
    GROUP BY partner_id`.execute(db)
  return result.rows.map(({ amount, ...counts }) => ({ ...counts, saleAmount: BigInt(amount) }))
}
