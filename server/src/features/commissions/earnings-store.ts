import { sql } from 'kysely'
import type { Db } from '../../platform/postgres.ts'

/** How earnings are summed: all together, by number of the given links, or by the index of the last start that is not later. */
export type EarningsKey = { kind: 'all' } | { kind: 'link'; links: bigint[] } | { kind: 'start'; starts: Date[] }

/** Sums what a partner earned in a period, without commissions that are held or were taken back. */
export async function sumEarnings(
  db: Db,
  workspaceId: string,
  partnerNumber: bigint,
  { from, to }: { from: Date; to: Date },
  by: EarningsKey,
): Promise<{ key: bigint; earnings: string }[]> {
  const keys = {
    all: sql`0::bigint`,
    link: sql`link_number`,
    start: sql`width_bucket(created_at, ${by.kind === 'start' ? by.starts : []}::timestamptz[])::bigint - 1`,
  }
  const result = await sql<{ key: bigint; earnings: string }>`
    SELECT ${keys[by.kind]} AS key, sum(earnings)::text AS earnings FROM commissions
    WHERE workspace_id = ${workspaceId} AND partner_number = ${partnerNumber}
      AND created_at >= ${from} AND created_at < ${to} AND status IN ('pending', 'processed', 'paid')
      AND ${by.kind === 'link' ? sql`link_number = ANY(${by.links}::bigint[])` : sql`true`}
    GROUP BY 1`.execute(db)
  return result.rows
}
