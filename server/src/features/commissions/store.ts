import { sql } from 'kysely'
import type { AllWorkspacesDb, Db } from '../../platform/postgres.ts'
import type { BindingRow, DecisionRow, KeyRow, Spending } from './batch.ts'
import type { Cap } from './caps.ts'
import type { CommissionStatus, CommissionType, Detail } from './commission.ts'

export type CommissionRow = {
  number: bigint
  id: string
  workspace_id: string
  partner_number: bigint
  type: CommissionType
  status: CommissionStatus
  amount: bigint
  earnings: bigint
  currency: string
  quantity: number
  conversion_number: bigint | null
  customer_id: string | null
  link_number: bigint | null
  reward_version: bigint | null
  payout_number: bigint | null
  invoice_id: string | null
  description: string | null
  metadata: Record<string, unknown> | null
  actor: string | null
  due_at: Date
  created_at: Date
  updated_at: Date
  paid_at: Date | null
  status_reason: string | null
}

export type PairRow = {
  partner_number: bigint
  customer_id: string
  first_status: CommissionStatus | null
  has_lead: boolean
  reward_version: bigint | null
  first_sale_at: Date | null
  ends_at: Date | null
}

/** What partners earned from customers before: the first commission's status, and the terms the pair is bound to. */
export async function selectPairs(
  db: Db,
  workspaceId: string,
  pairs: { partnerNumber: bigint; customerId: string }[],
): Promise<PairRow[]> {
  const ofPair = sql`c.workspace_id = ${workspaceId} AND c.customer_id = pair.customer_id
    AND c.partner_number = pair.partner_number`
  const result = await sql<PairRow>`
    SELECT pair.partner_number, pair.customer_id, coalesce(found.type = 'lead', false) AS has_lead,
      CASE WHEN sale.number < found.number THEN sale.status ELSE found.status END AS first_status,
      b.reward_version, b.first_sale_at, b.ends_at
    FROM unnest(${pairs.map(({ partnerNumber }) => partnerNumber)}::bigint[],
      ${pairs.map(({ customerId }) => customerId)}::text[]) AS pair (partner_number, customer_id)
    -- The first lead, or else the first sale, in the order of the index: only a lead needs a second look.
    LEFT JOIN LATERAL (SELECT c.number, c.type, c.status FROM commissions c
      WHERE ${ofPair} AND c.type BETWEEN 'lead' AND 'sale' AND c.type <> 'referral'
      ORDER BY c.type, c.number LIMIT 1) AS found ON true
    LEFT JOIN LATERAL (SELECT c.number, c.status FROM commissions c
      WHERE found.type = 'lead' AND ${ofPair} AND c.type = 'sale' ORDER BY c.number LIMIT 1) AS sale ON true
    LEFT JOIN commission_bindings b
      ON b.partner_number = pair.partner_number AND b.customer_id = pair.customer_id`.execute(db)
  return result.rows
}

/** How many characters the explanations of these conversions have together. */
export async function measureDetails(db: Db, workspaceId: string, conversionNumbers: bigint[]): Promise<number> {
  const result = await sql<{ characters: bigint }>`SELECT coalesce(sum(characters), 0)::bigint AS characters FROM (
    SELECT length(d.why::text) AS characters FROM commissions c
      JOIN commission_details d ON d.commission_number = c.number
      WHERE c.workspace_id = ${workspaceId} AND c.conversion_number = ANY(${conversionNumbers}::bigint[])
    UNION ALL SELECT length(detail::text) FROM commission_decisions
      WHERE workspace_id = ${workspaceId} AND conversion_number = ANY(${conversionNumbers}::bigint[])) AS measured`.execute(
    db,
  )
  return Number(result.rows[0]?.characters)
}

/** Commissions by the conversions that they came from, with their details. Lock their partners before. */
export async function selectByConversion(
  db: Db,
  workspaceId: string,
  conversionNumbers: bigint[],
): Promise<(CommissionRow & { why: Detail | null })[]> {
  const result = await sql<CommissionRow & { why: Detail | null }>`
    SELECT c.*, d.why FROM commissions c LEFT JOIN commission_details d ON d.commission_number = c.number
    WHERE c.workspace_id = ${workspaceId} AND c.conversion_number = ANY(${conversionNumbers}::bigint[])
      AND c.type <> 'custom' ORDER BY c.number`.execute(db)
  return result.rows
}

export async function selectDecisions(
  db: Db,
  workspaceId: string,
  conversionNumbers: bigint[],
): Promise<{ conversion_number: bigint; reason: string | null; detail: Detail | null; decided_at: Date }[]> {
  const result = await sql<{
    conversion_number: bigint
    reason: string | null
    detail: Detail | null
    decided_at: Date
  }>`SELECT conversion_number, reason, detail, decided_at FROM commission_decisions
    WHERE workspace_id = ${workspaceId} AND conversion_number = ANY(${conversionNumbers}::bigint[])`.execute(db)
  return result.rows
}

export async function insertDecisions(db: Db, workspaceId: string, rows: DecisionRow[]): Promise<void> {
  await sql`INSERT INTO commission_decisions (conversion_number, workspace_id, partner_number, reason, detail)
    SELECT number, ${workspaceId}, partner, reason, detail::jsonb FROM unnest(
      ${rows.map(({ conversionNumber }) => conversionNumber)}::bigint[],
      ${rows.map(({ partnerNumber }) => partnerNumber)}::bigint[], ${rows.map(({ reason }) => reason)}::text[],
      ${rows.map(({ detail }) => (detail === null ? null : JSON.stringify(detail)))}::text[])
      AS decided (number, partner, reason, detail)`.execute(db)
}

/** Records which event each commission came from. A second commission of an event violates the primary key. */
export async function insertKeys(db: Db, keys: KeyRow[]): Promise<void> {
  await sql`INSERT INTO commission_keys (source, kind, partner_number, commission_number)
    SELECT * FROM unnest(${keys.map(({ source }) => source)}::bigint[], ${keys.map(({ kind }) => kind)}::smallint[],
      ${keys.map(({ commission }) => commission.partnerNumber)}::bigint[],
      ${keys.map(({ commission }) => commission.number)}::bigint[])`.execute(db)
}

export async function insertBindings(db: Db, workspaceId: string, rows: BindingRow[]): Promise<void> {
  await sql`INSERT INTO commission_bindings (partner_number, customer_id, workspace_id, reward_version,
      commission_number, first_sale_at, ends_at)
    SELECT partner, customer, ${workspaceId}, version, commission, first_sale_at, ends_at FROM unnest(
      ${rows.map(({ partnerNumber }) => partnerNumber)}::bigint[], ${rows.map(({ customerId }) => customerId)}::text[],
      ${rows.map(({ rewardVersion }) => rewardVersion)}::bigint[],
      ${rows.map(({ commission }) => commission.number)}::bigint[],
      ${rows.map(({ firstSaleAt }) => firstSaleAt)}::timestamptz[], ${rows.map(({ endsAt }) => endsAt)}::timestamptz[])
      AS bound (partner, customer, version, commission, first_sale_at, ends_at)`.execute(db)
}

/** Locks the rows that count earnings against caps, in the order of all writers, and returns their amounts. */
export async function lockSpending(db: Db, rows: Cap[]): Promise<Omit<Spending, 'added'>[]> {
  const named = sql`unnest(${rows.map(({ rewardNumber }) => rewardNumber)}::bigint[],
    ${rows.map(({ scope }) => scope)}::text[], ${rows.map(({ periodStart }) => periodStart)}::timestamptz[])
    AS named (reward_number, scope, period_start)`
  await sql`INSERT INTO commission_spending (reward_number, scope, period_start) SELECT * FROM ${named}
    ORDER BY reward_number, scope, period_start ON CONFLICT DO NOTHING`.execute(db)
  const result = await sql<Omit<Spending, 'added'>>`
    SELECT s.reward_number AS "rewardNumber", s.scope, s.period_start AS "periodStart", s.amount
    FROM commission_spending s JOIN ${named} USING (reward_number, scope, period_start)
    ORDER BY s.reward_number, s.scope, s.period_start FOR NO KEY UPDATE OF s`.execute(db)
  return result.rows
}

/** Deletes some rows of days, weeks and months that began before a time. Returns how many. */
export async function deleteSpending(db: AllWorkspacesDb, before: Date, count: number): Promise<number> {
  const result = await sql`DELETE FROM commission_spending s USING (
      SELECT reward_number, scope, period_start FROM commission_spending
      WHERE period_start > '1970-01-01 00:00:00+00' AND period_start < ${before}
      ORDER BY period_start LIMIT ${count} FOR UPDATE SKIP LOCKED) AS old
    WHERE s.reward_number = old.reward_number AND s.scope = old.scope AND s.period_start = old.period_start`.execute(db)
  return Number(result.numAffectedRows ?? 0n)
}

export async function addSpending(db: Db, rows: Spending[]): Promise<void> {
  await sql`UPDATE commission_spending s SET amount = s.amount + added.amount
    FROM unnest(${rows.map(({ rewardNumber }) => rewardNumber)}::bigint[], ${rows.map(({ scope }) => scope)}::text[],
      ${rows.map(({ periodStart }) => periodStart)}::timestamptz[], ${rows.map(({ added }) => added)}::bigint[])
      AS added (reward_number, scope, period_start, amount)
    WHERE s.reward_number = added.reward_number AND s.scope = added.scope AND s.period_start = added.period_start`.execute(
    db,
  )
}
