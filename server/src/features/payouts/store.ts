import { sql } from 'kysely'
import type { AllWorkspacesDb, Db } from '../../platform/postgres.ts'

export const payoutStatuses = [
  ...(['pending', 'processing', 'processed', 'sent', 'completed', 'failed', 'canceled'] as const),
] as const
export type PayoutStatus = (typeof payoutStatuses)[number]
export type PayoutRow = {
  number: bigint
  id: string
  workspace_id: string
  partner_number: bigint
  currency: string
  amount: bigint
  status: PayoutStatus
  period_start: Date | null
  period_end: Date | null
  created_at: Date
  updated_at: Date
}
/** A sum that PostgreSQL returns as text, because it may exceed 64 bits. */
type StoredPayout = Omit<PayoutRow, 'amount'> & { amount: string }

/** Locks payouts until the transaction ends, in ascending order. */
export async function lockPayoutRows(db: Db, workspaceId: string, numbers: bigint[]): Promise<PayoutRow[]> {
  const result = await sql<StoredPayout>`SELECT * FROM payouts
    WHERE workspace_id = ${workspaceId} AND number = ANY(${numbers}::bigint[])
    ORDER BY number FOR NO KEY UPDATE`.execute(db)
  return result.rows.map(readAmount)
}

export type NewPayout = { id: string; partnerNumber: bigint; currency: string }

/** Opens a payout for each partner and currency that has none. */
export async function insertOpenPayouts(db: Db, workspaceId: string, payouts: NewPayout[]): Promise<void> {
  await sql`INSERT INTO payouts (id, workspace_id, partner_number, currency)
    SELECT id, ${workspaceId}, partner, currency FROM unnest(${payouts.map(({ id }) => id)}::uuid[],
      ${payouts.map(({ partnerNumber }) => partnerNumber)}::bigint[],
      ${payouts.map(({ currency }) => currency)}::text[]) AS added (id, partner, currency) ORDER BY partner, currency
    ON CONFLICT (partner_number, currency) WHERE status = 'pending' DO NOTHING`.execute(db)
}

/** Locks the open payouts of partners, in ascending order. */
export async function lockOpenPayouts(db: Db, workspaceId: string, partnerNumbers: bigint[]): Promise<PayoutRow[]> {
  const result = await sql<StoredPayout>`SELECT * FROM payouts
    WHERE workspace_id = ${workspaceId} AND partner_number = ANY(${partnerNumbers}::bigint[]) AND status = 'pending'
    ORDER BY number FOR NO KEY UPDATE`.execute(db)
  return result.rows.map(readAmount)
}

export type PayoutChange = { number: bigint; amount: bigint; from?: Date; to?: Date }

/** Adds to the amounts of open payouts, and widens their periods. */
export async function addToOpenPayouts(db: Db, workspaceId: string, changes: PayoutChange[]): Promise<void> {
  await sql`UPDATE payouts p SET amount = p.amount + added.amount, period_start = least(p.period_start, added.first_at),
      period_end = greatest(p.period_end, added.last_at), updated_at = now()
    FROM unnest(${changes.map(({ number }) => number)}::bigint[], ${changes.map(({ amount }) => amount)}::numeric[],
      ${changes.map(({ from }) => from ?? null)}::timestamptz[], ${changes.map(({ to }) => to ?? null)}::timestamptz[])
      AS added (number, amount, first_at, last_at)
    WHERE p.workspace_id = ${workspaceId} AND p.number = added.number AND p.status = 'pending'`.execute(db)
}

export async function cancelPayoutRows(db: Db, workspaceId: string, numbers: bigint[]): Promise<void> {
  await sql`UPDATE payouts SET status = 'canceled', amount = 0, updated_at = now()
    WHERE workspace_id = ${workspaceId} AND number = ANY(${numbers}::bigint[]) AND status = 'pending'`.execute(db)
}

export async function countUnderWay(db: Db, workspaceId: string, partnerNumber: bigint): Promise<number> {
  const result = await sql<{ count: bigint }>`SELECT count(*) FROM payouts
    WHERE workspace_id = ${workspaceId} AND partner_number = ${partnerNumber}
      AND status IN ('processing', 'processed', 'sent', 'failed')`.execute(db)
  return Number(result.rows[0]?.count ?? 0)
}

/** Gives the finished payouts of a partner to another one. */
export async function movePayoutRows(db: Db, workspaceId: string, from: bigint, to: bigint): Promise<void> {
  await sql`UPDATE payouts SET partner_number = ${to}, updated_at = now()
    WHERE workspace_id = ${workspaceId} AND partner_number = ${from} AND status <> 'pending'`.execute(db)
}

export async function selectPayouts(db: Db, workspaceId: string, numbers: bigint[]): Promise<PayoutRow[]> {
  const result = await sql<StoredPayout>`SELECT * FROM payouts
    WHERE workspace_id = ${workspaceId} AND number = ANY(${numbers}::bigint[])`.execute(db)
  return result.rows.map(readAmount)
}

export async function selectPayoutNumber(db: Db, workspaceId: string, id: string): Promise<bigint | undefined> {
  const result = await sql<{ number: bigint }>`SELECT number FROM payouts
    WHERE workspace_id = ${workspaceId} AND id = ${id}::uuid`.execute(db)
  return result.rows[0]?.number
}

/** The payouts of partners of any workspace. */
export async function selectPayoutsOfPartners(
  db: AllWorkspacesDb,
  partnerNumbers: bigint[],
): Promise<Pick<PayoutRow, 'number' | 'id' | 'partner_number' | 'amount' | 'status'>[]> {
  const result = await sql<StoredPayout>`SELECT number, id, partner_number, amount, status FROM payouts
    WHERE partner_number = ANY(${partnerNumbers}::bigint[])`.execute(db)
  return result.rows.map(readAmount)
}

function readAmount<Row extends { amount: string }>({ amount, ...row }: Row): Omit<Row, 'amount'> & { amount: bigint } {
  return { ...row, amount: BigInt(amount) }
}
