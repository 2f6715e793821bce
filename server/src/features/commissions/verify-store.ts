import { sql } from 'kysely'
import type { AllWorkspacesDb } from '../../platform/postgres.ts'

export type SumRow = { partner_number: bigint; accrued: string; counted: string }

/** Sums of commissions by partner: pending and held ones, and all that count in the partner's total. */
export async function selectSums(db: AllWorkspacesDb, partnerNumbers: bigint[]): Promise<SumRow[]> {
  const result = await sql<SumRow>`SELECT partner_number,
      coalesce(sum(earnings) FILTER (WHERE status IN ('pending', 'hold')), 0)::text AS accrued,
      coalesce(sum(earnings) FILTER (WHERE status IN ('pending', 'hold', 'processed', 'paid')), 0)::text AS counted
    FROM commissions WHERE partner_number = ANY(${partnerNumbers}::bigint[]) GROUP BY partner_number`.execute(db)
  return result.rows
}

export async function selectPayoutSums(
  db: AllWorkspacesDb,
  payoutNumbers: bigint[],
): Promise<{ payout_number: bigint; earnings: string }[]> {
  const result = await sql<{ payout_number: bigint; earnings: string }>`
    SELECT payout_number, sum(earnings)::text AS earnings FROM commissions
    WHERE payout_number = ANY(${payoutNumbers}::bigint[]) GROUP BY payout_number`.execute(db)
  return result.rows
}

export type FateRow = {
  number: bigint
  is_queued: boolean
  is_decided: boolean
  reason: string | null
  /** The number of commissions with this conversion as their source. */
  commissions: number
  /** The sale's amount that the commission was decided by, in the currency of the sale. */
  amount: string | null
}

/** What became of conversions: queued, decided, and rewarded how often. */
export async function selectFates(db: AllWorkspacesDb, numbers: bigint[]): Promise<FateRow[]> {
  const result = await sql<FateRow>`
    SELECT asked.number, q.conversion_number IS NOT NULL AS is_queued, d.conversion_number IS NOT NULL AS is_decided,
      d.reason, (SELECT count(*)::int FROM commission_keys k WHERE k.source = asked.number AND k.kind = 0) AS commissions,
      (SELECT coalesce(why->'exchange'->>'amount', why->'why'->'event'->>'amount')
        FROM commission_keys k JOIN commission_details USING (commission_number)
        WHERE k.source = asked.number AND k.kind = 0 LIMIT 1) AS amount
    FROM unnest(${numbers}::bigint[]) AS asked (number)
    LEFT JOIN commission_queue q ON q.conversion_number = asked.number
    LEFT JOIN commission_decisions d ON d.conversion_number = asked.number`.execute(db)
  return result.rows
}
