import { sql } from 'kysely'
import type { AllWorkspacesDb, Db } from '../../platform/postgres.ts'

export const accountKinds = ['expense', 'accrued', 'due', 'clearing', 'cash', 'fee', 'writeoff'] as const
export type AccountKind = (typeof accountKinds)[number]

export type AccountRow = { number: bigint; partner_number: bigint | null; kind: AccountKind; currency: string }
export type NewAccount = Omit<AccountRow, 'number'>
export type NewPosting = {
  kind: string
  currency: string
  debit: bigint
  credit: bigint
  amount: bigint
  commission_number: bigint | null
  payout_number: bigint | null
}
export type AccountChange = { account: bigint; debit: bigint; credit: bigint }
export type KindChange = { kind: AccountKind; currency: string; debit: bigint; credit: bigint }

/** The accounts of these partners and of the whole program, of these kinds and currencies: the given ones, and some more. */
export async function selectAccounts(db: Db, workspaceId: string, accounts: NewAccount[]): Promise<AccountRow[]> {
  const partners = [...new Set(accounts.flatMap(({ partner_number }) => partner_number ?? []))]
  const kinds = [...new Set(accounts.map(({ kind }) => kind))]
  const currencies = [...new Set(accounts.map(({ currency }) => currency))]
  const named = sql`kind = ANY(${kinds}::text[]) AND currency = ANY(${currencies}::text[])`
  const result = await sql<AccountRow>`
    SELECT number, partner_number, kind, currency FROM ledger_accounts
    WHERE workspace_id = ${workspaceId} AND partner_number = ANY(${partners}::bigint[]) AND ${named}
    UNION ALL SELECT number, partner_number, kind, currency FROM ledger_accounts
    WHERE workspace_id = ${workspaceId} AND partner_number IS NULL AND ${named}`.execute(db)
  return result.rows
}

/** Creates accounts that do not exist yet, in the order of all writers. */
export async function insertAccounts(db: Db, workspaceId: string, accounts: NewAccount[]): Promise<void> {
  await sql`INSERT INTO ledger_accounts (workspace_id, partner_number, kind, currency)
    SELECT ${workspaceId}, partner_number, kind, currency FROM ${accountsFragment(accounts)}
    ORDER BY partner_number NULLS FIRST, kind, currency ON CONFLICT DO NOTHING`.execute(db)
}

function accountsFragment(accounts: NewAccount[]) {
  return sql`unnest(${accounts.map((account) => account.partner_number)}::bigint[],
    ${accounts.map(({ kind }) => kind)}::text[], ${accounts.map(({ currency }) => currency)}::text[])
    AS named (partner_number, kind, currency)`
}

/** Inserts postings as one ledger transaction. */
export async function insertPostings(db: Db, workspaceId: string, postings: NewPosting[]): Promise<void> {
  const column = <Name extends keyof NewPosting>(name: Name) => postings.map((posting) => posting[name])
  await sql`INSERT INTO ledger_postings (transaction, workspace_id, kind, currency, debit, credit, amount,
      commission_number, payout_number)
    SELECT (SELECT nextval('ledger_transactions')), ${workspaceId}, * FROM unnest(${column('kind')}::text[],
      ${column('currency')}::text[], ${column('debit')}::bigint[], ${column('credit')}::bigint[],
      ${column('amount')}::bigint[], ${column('commission_number')}::bigint[], ${column('payout_number')}::bigint[])`.execute(
    db,
  )
}

/** Adds to balances in account order, so that two transactions can't deadlock. */
export async function addToBalances(db: Db, changes: AccountChange[]): Promise<void> {
  await sql`INSERT INTO ledger_balances (account, debit, credit)
    SELECT * FROM unnest(${changes.map(({ account }) => account)}::bigint[],
      ${changes.map(({ debit }) => debit)}::numeric[], ${changes.map(({ credit }) => credit)}::numeric[])
      AS change (account, debit, credit) ORDER BY account
    ON CONFLICT (account) DO UPDATE SET debit = ledger_balances.debit + excluded.debit,
      credit = ledger_balances.credit + excluded.credit`.execute(db)
}

export async function insertSums(db: Db, workspaceId: string, changes: KindChange[]): Promise<void> {
  await sql`INSERT INTO ledger_sums (workspace_id, day, kind, currency, debit, credit)
    SELECT ${workspaceId}, (now() AT TIME ZONE 'UTC')::date, * FROM unnest(${changes.map(({ kind }) => kind)}::text[],
      ${changes.map(({ currency }) => currency)}::text[], ${changes.map(({ debit }) => debit)}::numeric[],
      ${changes.map(({ credit }) => credit)}::numeric[])`.execute(db)
}

/** Adds the rows of a workspace and day together. Returns false when none is left. */
export async function foldSums(db: AllWorkspacesDb): Promise<boolean> {
  const result = await sql`
    WITH next AS (
      SELECT workspace_id, day FROM ledger_sums WHERE NOT is_folded LIMIT 1
    ), removed AS (
      DELETE FROM ledger_sums USING next WHERE ledger_sums.workspace_id = next.workspace_id AND ledger_sums.day = next.day
      RETURNING ledger_sums.*
    )
    INSERT INTO ledger_sums (workspace_id, day, kind, currency, debit, credit, is_folded)
    SELECT workspace_id, day, kind, currency, sum(debit), sum(credit), true
    FROM removed GROUP BY workspace_id, day, kind, currency`.execute(db)
  return (result.numAffectedRows ?? 0n) > 0n
}

export type BalanceRow = {
  kind: AccountKind
  currency: string
  partner_number: bigint | null
  debit: string
  credit: string
}

/** The balances of partners' accounts. */
export async function selectPartnerBalances(
  db: Db,
  workspaceId: string,
  partnerNumbers: bigint[],
): Promise<BalanceRow[]> {
  const result = await sql<BalanceRow>`
    SELECT kind, currency, partner_number, debit::text, credit::text
    FROM ledger_accounts JOIN ledger_balances ON account = number
    WHERE workspace_id = ${workspaceId} AND partner_number = ANY(${partnerNumbers}::bigint[])
    ORDER BY partner_number, number`.execute(db)
  return result.rows
}

/** The sums of all postings by kind of account. */
export async function selectKindSums(db: Db, workspaceId: string): Promise<Omit<BalanceRow, 'partner_number'>[]> {
  const result = await sql<Omit<BalanceRow, 'partner_number'>>`
    SELECT kind, currency, sum(debit)::text AS debit, sum(credit)::text AS credit
    FROM ledger_sums WHERE workspace_id = ${workspaceId} GROUP BY kind, currency ORDER BY kind, currency`.execute(db)
  return result.rows
}

export type MonthRow = Omit<BalanceRow, 'partner_number'> & { month: string }

export async function selectMonths(db: Db, workspaceId: string): Promise<MonthRow[]> {
  const result = await sql<MonthRow>`
    SELECT to_char(day, 'YYYY-MM') AS month, kind, currency, sum(debit)::text AS debit, sum(credit)::text AS credit
    FROM ledger_sums WHERE workspace_id = ${workspaceId} GROUP BY month, kind, currency
    ORDER BY month, kind, currency`.execute(db)
  return result.rows
}

export type PostingRow = {
  number: bigint
  transaction: bigint
  kind: string
  currency: string
  amount: bigint
  debit_kind: AccountKind
  debit_partner: bigint | null
  credit_kind: AccountKind
  credit_partner: bigint | null
  commission_number: bigint | null
  payout_number: bigint | null
  created_at: Date
  /** The time with microseconds, which a `Date` would lose; the position of a cursor. */
  at: string
}
export type PostingFilter = { partnerNumber?: bigint; kind?: string; from?: Date; until?: Date }
export type PostingPosition = { at: string; number: string }
export type PostingPage = { ascending: boolean; after?: PostingPosition; offset: number; count: number }

export async function selectPostings(
  db: Db,
  workspaceId: string,
  filter: PostingFilter,
  { ascending, after, offset, count }: PostingPage,
): Promise<PostingRow[]> {
  const direction = ascending ? sql`ASC` : sql`DESC`
  const beyond = ascending ? sql`>` : sql`<`
  const conditions = [
    sql`p.workspace_id = ${workspaceId}`,
    ...(filter.kind === undefined ? [] : [sql`p.kind = ${filter.kind}`]),
    ...(filter.from === undefined ? [] : [sql`p.created_at >= ${filter.from}`]),
    ...(filter.until === undefined ? [] : [sql`p.created_at < ${filter.until}`]),
    ...(after === undefined
      ? []
      : [sql`(p.created_at, p.number) ${beyond} (${after.at}::timestamptz, ${after.number}::bigint)`]),
  ]
  const where = sql.join(conditions, sql` AND `)
  const order = sql`ORDER BY created_at ${direction}, number ${direction}`
  const limit = sql`LIMIT ${offset + count}`
  const mine = (side: 'debit' | 'credit') => sql`(SELECT p.* FROM ledger_postings p WHERE ${where}
    AND p.${sql.raw(side)} = ANY(ARRAY(SELECT number FROM ledger_accounts
      WHERE workspace_id = ${workspaceId} AND partner_number = ${filter.partnerNumber})) ${order} ${limit})`
  const source =
    filter.partnerNumber === undefined
      ? sql`(SELECT p.* FROM ledger_postings p WHERE ${where} ${order} ${limit})`
      : sql`(${mine('debit')} UNION ${mine('credit')})`
  const result = await sql<PostingRow>`
    SELECT p.number, p.transaction, p.kind, p.currency, p.amount, p.commission_number, p.payout_number, p.created_at,
      p.created_at::text AS at, d.kind AS debit_kind, d.partner_number AS debit_partner, c.kind AS credit_kind,
      c.partner_number AS credit_partner
    FROM (SELECT * FROM ${source} AS found ${order} LIMIT ${count} OFFSET ${offset}) AS p
    JOIN ledger_accounts d ON d.number = p.debit JOIN ledger_accounts c ON c.number = p.credit
    ${order}`.execute(db)
  return result.rows
}

/** Postings of a commission; `owed` is what they add to the accounts of its partner. */
export async function selectCommissionPostings(
  db: Db,
  workspaceId: string,
  commissionNumber: bigint,
  count: number,
): Promise<{ kind: string; owed: bigint; created_at: Date }[]> {
  const result = await sql<{ kind: string; owed: bigint; created_at: Date }>`
    SELECT p.kind, p.created_at, CASE WHEN c.partner_number IS NULL THEN -p.amount
      WHEN d.partner_number IS NULL THEN p.amount ELSE 0 END AS owed
    FROM ledger_postings p JOIN ledger_accounts d ON d.number = p.debit JOIN ledger_accounts c ON c.number = p.credit
    WHERE p.workspace_id = ${workspaceId} AND p.commission_number = ${commissionNumber}
    ORDER BY p.number DESC LIMIT ${count}`.execute(db)
  return result.rows.reverse()
}

export type AccountDifference = {
  workspace_id: string
  partner_number: bigint | null
  kind: AccountKind
  currency: string
  posted: string
  balance: string
}

/** Accounts with a balance that is not the sum of their postings, among those after a number. */
export async function selectDifferentBalances(
  db: AllWorkspacesDb,
  { after, count, workspaceId }: { after: bigint; count: number; workspaceId?: string },
): Promise<{ last: bigint | null; rows: AccountDifference[] }> {
  const mine = workspaceId === undefined ? sql`true` : sql`workspace_id = ${workspaceId}`
  const result = await sql<AccountDifference & { number: bigint; is_different: boolean }>`
    SELECT number, workspace_id, partner_number, kind, currency, posted::text, balance::text,
      posted IS DISTINCT FROM balance AS is_different
    FROM (SELECT * FROM ledger_accounts WHERE number > ${after} AND kind IN ('accrued', 'due', 'clearing') AND ${mine}
        ORDER BY number LIMIT ${count}) AS a
    LEFT JOIN LATERAL (SELECT debit - credit AS balance FROM ledger_balances WHERE account = a.number) AS b ON true
    LEFT JOIN LATERAL (SELECT
        coalesce((SELECT sum(amount) FROM ledger_postings WHERE debit = a.number), 0)
        - coalesce((SELECT sum(amount) FROM ledger_postings WHERE credit = a.number), 0) AS posted) AS p ON true
    ORDER BY number`.execute(db)
  const rows = result.rows.filter(({ is_different, balance, posted }) => is_different && (balance ?? '0') !== posted)
  return { last: result.rows.length < count ? null : (result.rows.at(-1)?.number ?? null), rows }
}

/** What is owed to partners of any workspace, by kind of account. */
export async function selectOwed(
  db: AllWorkspacesDb,
  partnerNumbers: bigint[],
): Promise<{ partner_number: bigint; kind: AccountKind; owed: string }[]> {
  const result = await sql<{ partner_number: bigint; kind: AccountKind; owed: string }>`
    SELECT partner_number, kind, sum(credit - debit)::text AS owed FROM ledger_accounts
    JOIN ledger_balances ON account = number WHERE partner_number = ANY(${partnerNumbers}::bigint[])
    GROUP BY partner_number, kind`.execute(db)
  return result.rows
}

/** Sums by kind of account that differ from the postings. */
export async function selectDifferentSums(
  db: AllWorkspacesDb,
  workspaceId?: string,
): Promise<Omit<AccountDifference, 'partner_number'>[]> {
  const mine = workspaceId === undefined ? sql`true` : sql`p.workspace_id = ${workspaceId}`
  const summed = workspaceId === undefined ? sql`true` : sql`workspace_id = ${workspaceId}`
  const result = await sql<Omit<AccountDifference, 'partner_number'>>`
    SELECT workspace_id, kind, currency, coalesce(posted, 0)::text AS posted, coalesce(balance, 0)::text AS balance
    FROM (SELECT p.workspace_id, a.kind, p.currency, sum(p.amount) AS posted FROM (
        SELECT workspace_id, currency, debit AS account, amount FROM ledger_postings p WHERE ${mine}
        UNION ALL SELECT workspace_id, currency, credit, -amount FROM ledger_postings p WHERE ${mine}) AS p
      JOIN ledger_accounts a ON a.number = p.account GROUP BY 1, 2, 3) AS posted
    FULL JOIN (SELECT workspace_id, kind, currency, sum(debit) - sum(credit) AS balance FROM ledger_sums
      WHERE ${summed} GROUP BY 1, 2, 3) AS summed USING (workspace_id, kind, currency)
    WHERE coalesce(posted, 0) <> coalesce(balance, 0)`.execute(db)
  return result.rows
}
