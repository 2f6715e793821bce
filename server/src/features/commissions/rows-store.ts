import { spendLimitIntervals } from '@tributary/contract/reward-terms'
import { sql } from 'kysely'
import type { AllWorkspacesDb, Db } from '../../platform/postgres.ts'
import type { Commission, CommissionStatus } from './commission.ts'

/** Inserts commissions and their details, and sets their numbers. */
export async function insertCommissions(db: Db, workspaceId: string, commissions: Commission[]): Promise<void> {
  const column = <Name extends keyof Commission>(name: Name) => commissions.map((commission) => commission[name])
  const result = await sql<{ number: bigint; id: string }>`
    INSERT INTO commissions (id, workspace_id, partner_number, type, status, amount, earnings, currency, quantity,
      conversion_number, customer_id, link_number, reward_version, payout_number, invoice_id, description, metadata,
      actor, due_at, created_at, updated_at, status_reason)
    SELECT id, ${workspaceId}, partner, type, status, amount, earnings, currency, quantity, conversion, customer, link,
      version, payout, invoice, description, metadata::jsonb, actor, due_at, created_at, created_at, reason FROM unnest(
      ${column('id')}::uuid[], ${column('partnerNumber')}::bigint[], ${column('type')}::text[],
      ${column('status')}::text[], ${column('amount')}::bigint[], ${column('earnings')}::bigint[],
      ${column('currency')}::text[], ${column('quantity')}::integer[], ${column('conversionNumber')}::bigint[],
      ${column('customerId')}::text[], ${column('linkNumber')}::bigint[], ${column('rewardVersion')}::bigint[],
      ${column('payoutNumber')}::bigint[], ${column('invoiceId')}::text[], ${column('description')}::text[],
      ${column('metadata')}::text[], ${column('actor')}::text[], ${column('dueAt')}::timestamptz[],
      ${column('createdAt')}::timestamptz[], ${column('statusReason')}::text[])
      AS added (id, partner, type, status, amount, earnings, currency, quantity, conversion, customer, link, version,
        payout, invoice, description, metadata, actor, due_at, created_at, reason)
    RETURNING number, id`.execute(db)
  const numbers = new Map(result.rows.map(({ id, number }) => [id, number]))
  for (const commission of commissions) commission.number = numbers.get(commission.id) ?? null
  await sql`INSERT INTO commission_details (commission_number, why)
    SELECT number, why FROM ROWS FROM (unnest(${commissions.map(({ number }) => number)}::bigint[]),
      jsonb_array_elements(${JSON.stringify(commissions.map(({ detail }) => detail))}::jsonb)) AS explained (number, why)`.execute(
    db,
  )
}

/** Writes status, amounts and payout of commissions that their caller has locked. */
export async function updateCommissions(db: Db, workspaceId: string, commissions: Commission[]): Promise<void> {
  const column = <Name extends keyof Commission>(name: Name) => commissions.map((commission) => commission[name])
  await sql`UPDATE commissions c SET status = changed.status, amount = changed.amount, earnings = changed.earnings,
      payout_number = changed.payout, status_reason = changed.reason, partner_number = changed.partner,
      due_at = changed.due_at, updated_at = now()
    FROM unnest(${column('number')}::bigint[], ${column('status')}::text[], ${column('amount')}::bigint[],
      ${column('earnings')}::bigint[], ${column('payoutNumber')}::bigint[], ${column('statusReason')}::text[],
      ${column('partnerNumber')}::bigint[], ${column('dueAt')}::timestamptz[])
      AS changed (number, status, amount, earnings, payout, reason, partner, due_at)
    WHERE c.workspace_id = ${workspaceId} AND c.number = changed.number`.execute(db)
}

export async function updateDetails(db: Db, commissions: Commission[]): Promise<void> {
  await sql`UPDATE commission_details d SET why = changed.why::jsonb
    FROM unnest(${commissions.map(({ number }) => number)}::bigint[],
      ${commissions.map(({ detail }) => JSON.stringify(detail))}::text[]) AS changed (number, why)
    WHERE d.commission_number = changed.number`.execute(db)
}

/** Workspaces with pending commissions, found by jumping from one to the next in the index. */
export async function selectWorkspacesWithPending(db: AllWorkspacesDb): Promise<string[]> {
  const result = await sql<{ workspace_id: string }>`WITH RECURSIVE found AS (
      (SELECT workspace_id FROM commissions WHERE status = 'pending' ORDER BY workspace_id LIMIT 1)
      UNION ALL
      SELECT (SELECT c.workspace_id FROM commissions c WHERE c.status = 'pending' AND c.workspace_id > found.workspace_id
        ORDER BY c.workspace_id LIMIT 1)
      FROM found WHERE found.workspace_id IS NOT NULL)
    SELECT workspace_id FROM found WHERE workspace_id IS NOT NULL`.execute(db)
  return result.rows.map(({ workspace_id }) => workspace_id)
}

export type DueRow = { number: bigint; partner_number: bigint; currency: string; created_at: Date }

/** Pending commissions that are due, oldest first. */
export async function selectDue(db: Db, workspaceId: string, now: Date, count: number): Promise<DueRow[]> {
  const result = await sql<DueRow>`SELECT number, partner_number, currency, created_at FROM commissions
    WHERE workspace_id = ${workspaceId} AND status = 'pending' AND due_at <= ${now}
    ORDER BY due_at LIMIT ${count}`.execute(db)
  return result.rows
}

export type MaturedRow = { payout_number: bigint; earnings: bigint; first_at: Date; last_at: Date; ids: string[] }

/** Moves pending commissions into payouts. Returns the sum and the commissions' ids of each payout. */
export async function matureCommissions(
  db: Db,
  workspaceId: string,
  rows: { number: bigint; payoutNumber: bigint }[],
): Promise<MaturedRow[]> {
  const result = await sql<Omit<MaturedRow, 'earnings'> & { earnings: string }>`WITH matured AS (
      UPDATE commissions c SET status = 'processed', payout_number = due.payout, updated_at = now()
      FROM unnest(${rows.map(({ number }) => number)}::bigint[],
        ${rows.map(({ payoutNumber }) => payoutNumber)}::bigint[]) AS due (number, payout)
      WHERE c.workspace_id = ${workspaceId} AND c.number = due.number AND c.status = 'pending'
      RETURNING c.payout_number, c.earnings, c.created_at, c.id)
    SELECT payout_number, sum(earnings)::text AS earnings, min(created_at) AS first_at, max(created_at) AS last_at,
      array_agg(id::text) AS ids
    FROM matured GROUP BY payout_number`.execute(db)
  return result.rows.map(({ earnings, ...row }) => ({ ...row, earnings: BigInt(earnings) }))
}

/** The numbers of a partner's commissions with one of these statuses, a part at a time. */
export async function selectNumbersByStatus(
  db: Db,
  workspaceId: string,
  partnerNumber: bigint,
  selection: { statuses: CommissionStatus[]; reason?: string; after: bigint; count: number },
): Promise<bigint[]> {
  const { statuses, reason, after, count } = selection
  const because = reason === undefined ? sql`true` : sql`status_reason = ${reason}`
  const result = await sql<{ number: bigint }>`SELECT number FROM commissions
    WHERE workspace_id = ${workspaceId} AND partner_number = ${partnerNumber} AND status = ANY(${statuses}::text[])
      AND ${because} AND number > ${after} ORDER BY number LIMIT ${count}`.execute(db)
  return result.rows.map(({ number }) => number)
}

/** Marks the commissions that earlier bans of a partner canceled, so that lifting the next ban does not restore them. */
export async function closeFormerBans(db: Db, workspaceId: string, partnerNumber: bigint): Promise<void> {
  await sql`UPDATE commissions SET status_reason = 'former_ban'
    WHERE workspace_id = ${workspaceId} AND partner_number = ${partnerNumber} AND status = 'canceled'
      AND (status_reason = 'ban' OR status_reason LIKE 'ban:%')`.execute(db)
}

export type MovedPayout = { from: bigint; to: bigint }

/** Gives all commissions of a partner to another one, and those of its open payouts to the other's. */
export async function moveCommissions(
  db: Db,
  workspaceId: string,
  { source, target, payouts }: { source: bigint; target: bigint; payouts: MovedPayout[] },
): Promise<void> {
  await sql`UPDATE commissions c SET partner_number = ${target}, updated_at = now(),
      payout_number = coalesce((SELECT moved.to_number FROM unnest(${payouts.map(({ from }) => from)}::bigint[],
        ${payouts.map(({ to }) => to)}::bigint[]) AS moved (from_number, to_number)
        WHERE moved.from_number = c.payout_number), c.payout_number)
    WHERE c.workspace_id = ${workspaceId} AND c.partner_number = ${source}`.execute(db)
}

/** Counts what a partner and its customers spent of caps against those of another partner. */
export async function moveSpending(db: Db, source: bigint, target: bigint): Promise<void> {
  // A pattern that begins with a wildcard would read the rows of all workspaces.
  const mine = spendLimitIntervals.flatMap((interval) => [
    sql`scope = ${`${interval}:partner:${source}`}`,
    sql`scope LIKE ${`${interval}:customer:${source}:%`}`,
  ])
  await sql`WITH taken AS (
      DELETE FROM commission_spending WHERE ${sql.join(mine, sql` OR `)} RETURNING *)
    INSERT INTO commission_spending AS s (reward_number, scope, period_start, amount)
    SELECT reward_number, regexp_replace(scope, ':[0-9]+', ${`:${target}`}), period_start, amount FROM taken
    ON CONFLICT (reward_number, scope, period_start) DO UPDATE SET amount = s.amount + excluded.amount`.execute(db)
}

/** Gives the terms that customers are bound to; a customer of both partners keeps the earlier first sale. */
export async function moveBindings(db: Db, workspaceId: string, source: bigint, target: bigint): Promise<void> {
  await sql`WITH taken AS (
      DELETE FROM commission_bindings WHERE workspace_id = ${workspaceId} AND partner_number = ${source} RETURNING *)
    INSERT INTO commission_bindings AS b (partner_number, customer_id, workspace_id, reward_version, commission_number,
      first_sale_at, ends_at)
    SELECT ${target}, customer_id, workspace_id, reward_version, commission_number, first_sale_at, ends_at FROM taken
    ON CONFLICT (partner_number, customer_id) DO UPDATE SET reward_version = excluded.reward_version,
      commission_number = excluded.commission_number, first_sale_at = excluded.first_sale_at, ends_at = excluded.ends_at
    WHERE excluded.first_sale_at < b.first_sale_at`.execute(db)
}
