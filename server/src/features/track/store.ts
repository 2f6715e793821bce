import { sql } from 'kysely'
import type { AllWorkspacesDb, Db } from '../../platform/postgres.ts'

const lease = sql`now() + interval '30 seconds'`

export type ConversionKind = 'lead' | 'sale' | 'refund'
export type ConversionRow = {
  number: bigint
  id: string
  workspace_id: string
  kind: ConversionKind
  customer_id: string
  event_name: string
  link_number: bigint | null
  click_id: string | null
  attribution: string
  quantity: number
  amount: bigint
  currency: string | null
  original_amount: bigint | null
  original_currency: string | null
  payment_processor: string | null
  invoice_id: string | null
  refund_id: string | null
  /** Whether a page reported the lead or sale, with a publishable key. */
  from_page: boolean
  is_first: boolean
  is_full: boolean
  sale_number: bigint | null
  metadata: string | null
  /** The link's partner when the lead or sale was recorded. */
  partner_id: string | null
  /** The click's location, device and referrer as JSON; null while the click has not been found, or is lost. */
  click_facts: string | null
  click_facts_at: Date | null
  created_at: Date
  stored_at: Date | null
  batch: string | null
}
export type NewConversion = Pick<
  ConversionRow,
  'id' | 'workspace_id' | 'kind' | 'customer_id' | 'event_name' | 'link_number' | 'click_id' | 'attribution'
> &
  Partial<Omit<ConversionRow, 'number' | 'created_at' | 'stored_at' | 'batch'>> & { created_at: Date }

export type StoredConversion = Pick<
  ConversionRow,
  | 'id'
  | 'workspace_id'
  | 'kind'
  | 'link_number'
  | 'click_id'
  | 'quantity'
  | 'amount'
  | 'is_first'
  | 'is_full'
  | 'created_at'
>

/** A lead, sale or refund to export, without its large columns; `bytes` is the size of its ClickHouse rows. */
export type PendingRow = Pick<
  ConversionRow,
  'number' | 'id' | 'workspace_id' | 'kind' | 'click_id' | 'quantity' | 'created_at' | 'batch'
> & { attempts: number; bytes: bigint }

// The approximate size of a ClickHouse row without its metadata, event name and click facts.
const rowBytes = 600
// `octet_length` does not read the column's out-of-line (TOAST) data.
const pendingColumns = sql`number, id, workspace_id, kind, click_id, quantity, created_at, batch, attempts,
  quantity::bigint * (${rowBytes}::int + coalesce(octet_length(metadata), 0) + octet_length(event_name)
    + coalesce(octet_length(click_facts), 0)) AS bytes`

/** Leases the oldest batch whose lease has expired, because its worker died. `attempts` counts the leases. */
export async function takeOverBatch(db: AllWorkspacesDb): Promise<PendingRow[]> {
  const result = await sql<PendingRow>`
    UPDATE conversions SET due_at = ${lease}, attempts = attempts + 1
    WHERE stored_at IS NULL AND batch = (
      SELECT batch FROM conversions WHERE stored_at IS NULL AND batch IS NOT NULL AND due_at <= now()
      ORDER BY due_at LIMIT 1)
    RETURNING ${pendingColumns}`.execute(db)
  return result.rows
}

export async function selectDue(db: AllWorkspacesDb, count: number): Promise<PendingRow[]> {
  const result = await sql<PendingRow>`
    SELECT ${pendingColumns} FROM conversions
    WHERE stored_at IS NULL AND batch IS NULL AND due_at <= now() AND click_facts_at IS NOT NULL
    ORDER BY due_at, number LIMIT ${count}`.execute(db)
  return result.rows
}

/** Due leads and sales whose click facts are not in PostgreSQL yet. */
export async function selectWithoutClickFacts(db: AllWorkspacesDb, count: number): Promise<PendingRow[]> {
  const result = await sql<PendingRow>`
    SELECT ${pendingColumns} FROM conversions
    WHERE stored_at IS NULL AND batch IS NULL AND due_at <= now() AND click_facts_at IS NULL
    ORDER BY due_at, number LIMIT ${count}`.execute(db)
  return result.rows
}

export type ClickFacts = { number: bigint; facts: string | null }

/** Saves click facts, unless they were saved or erased before. Returns the leads and sales that this call changed. */
export async function saveClickFacts(
  db: AllWorkspacesDb,
  facts: ClickFacts[],
): Promise<Pick<ConversionRow, 'id' | 'workspace_id' | 'customer_id'>[]> {
  const result = await sql<Pick<ConversionRow, 'id' | 'workspace_id' | 'customer_id'>>`
    UPDATE conversions SET click_facts_at = now(), due_at = now(), attempts = 0,
      click_facts = found.facts
    FROM unnest(${facts.map(({ number }) => number)}::bigint[], ${facts.map(({ facts }) => facts)}::text[])
      AS found (number, facts)
    WHERE conversions.number = found.number AND click_facts_at IS NULL AND stored_at IS NULL
    RETURNING conversions.id, workspace_id, customer_id`.execute(db)
  return result.rows
}

/** Seconds since the oldest lead or sale that is not exported yet was due. */
export async function selectOverdue(db: AllWorkspacesDb): Promise<number> {
  const result = await sql<{ seconds: number }>`
    SELECT greatest(0, coalesce(extract(epoch FROM now() - min(due_at)), 0))::float AS seconds
    FROM conversions WHERE stored_at IS NULL AND due_at < 'infinity'`.execute(db)
  return result.rows[0]?.seconds ?? 0
}

/** Puts rows into a new batch. Returns those that no other worker had put into a batch meanwhile. */
export async function fixBatch(db: AllWorkspacesDb, batch: string, numbers: bigint[]): Promise<ConversionRow[]> {
  const result = await sql<ConversionRow>`
    UPDATE conversions SET batch = ${batch}, due_at = ${lease}, attempts = 0
    WHERE number = ANY(${numbers}::bigint[]) AND batch IS NULL AND stored_at IS NULL RETURNING *`.execute(db)
  return result.rows
}

/** Moves rows of a batch to another batch, due at once for any worker. */
export async function moveToBatch(
  db: AllWorkspacesDb,
  { from, to, numbers, attempts }: { from: string; to: string; numbers: bigint[]; attempts: number },
): Promise<void> {
  await sql`UPDATE conversions SET batch = ${to}, due_at = now(), attempts = ${attempts}
    WHERE number = ANY(${numbers}::bigint[]) AND batch = ${from} AND stored_at IS NULL`.execute(db)
}

export async function selectBatch(db: AllWorkspacesDb, batch: string): Promise<ConversionRow[]> {
  const result = await sql<ConversionRow>`
    SELECT * FROM conversions WHERE batch = ${batch} AND stored_at IS NULL`.execute(db)
  return result.rows
}

/** Postpones the export of these rows, with exponential backoff from one second to five minutes. */
export async function postpone(db: AllWorkspacesDb, numbers: bigint[]): Promise<void> {
  await sql`UPDATE conversions SET attempts = attempts + 1,
      due_at = now() + least(interval '5 minutes', interval '1 second' * power(2, least(attempts, 9)))
    WHERE number = ANY(${numbers}::bigint[]) AND batch IS NULL AND stored_at IS NULL`.execute(db)
}

/** Uncounts an attempt that failed because PostgreSQL or ClickHouse was unavailable: the batch is not at fault. */
export async function forgetAttempt(db: AllWorkspacesDb, batch: string): Promise<void> {
  await sql`UPDATE conversions SET attempts = greatest(0, attempts - 1)
    WHERE batch = ${batch} AND stored_at IS NULL`.execute(db)
}

/** Takes a row out of its batch, not due until `makeDue`. False when it is no longer in this batch. */
export async function setAside(db: Db, workspaceId: string, row: Pick<PendingRow, 'number' | 'batch'>) {
  const result = await sql`UPDATE conversions SET batch = NULL, due_at = 'infinity', attempts = 0
    WHERE workspace_id = ${workspaceId} AND number = ${row.number} AND stored_at IS NULL
      AND batch IS NOT DISTINCT FROM ${row.batch}::uuid`.execute(db)
  return result.numAffectedRows === 1n
}

export async function makeDue(db: Db, workspaceId: string, id: string): Promise<boolean> {
  const result = await sql`UPDATE conversions SET due_at = now(), attempts = 0
    WHERE workspace_id = ${workspaceId} AND id = ${id} AND stored_at IS NULL AND batch IS NULL`.execute(db)
  return result.numAffectedRows === 1n
}

/** Leads, sales and refunds of batches that are not completely copied to ClickHouse yet. */
export async function selectUnderWay(
  db: AllWorkspacesDb,
): Promise<Pick<ConversionRow, 'id' | 'workspace_id' | 'kind' | 'created_at'>[]> {
  const result = await sql<Pick<ConversionRow, 'id' | 'workspace_id' | 'kind' | 'created_at'>>`
    SELECT id, workspace_id, kind, created_at FROM conversions
    WHERE stored_at IS NULL AND batch IS NOT NULL`.execute(db)
  return result.rows
}

/** Marks a batch as stored. Returns only the rows that this call marked, so that each is counted once. */
export async function markStored(db: AllWorkspacesDb, batch: string): Promise<StoredConversion[]> {
  const result = await sql<StoredConversion>`
    UPDATE conversions SET stored_at = now() WHERE batch = ${batch} AND stored_at IS NULL
    RETURNING id, workspace_id, kind, link_number, click_id, quantity, amount, is_first, is_full, created_at`.execute(
    db,
  )
  return result.rows
}

/** Erases metadata, and what was copied from clicks. Sets `click_facts_at`, so that no worker copies it again. */
export async function clearPersonalData(db: Db, workspaceId: string, customerIds: string[]): Promise<void> {
  await sql`UPDATE conversions SET metadata = NULL, click_facts = NULL, click_facts_at = coalesce(click_facts_at, now())
    WHERE workspace_id = ${workspaceId} AND customer_id = ANY(${customerIds}::text[])
      AND (metadata IS NOT NULL OR click_facts IS NOT NULL OR click_facts_at IS NULL)`.execute(db)
}

/** Whether a worker may have read rows of these customers that have not reached ClickHouse yet. */
export async function areUnderWay(db: Db, workspaceId: string, customerIds: string[]): Promise<boolean> {
  const result = await sql`SELECT 1 FROM conversions WHERE workspace_id = ${workspaceId}
    AND customer_id = ANY(${customerIds}::text[])
    AND ((batch IS NOT NULL AND stored_at IS NULL) OR (link_number IS NULL AND batch IS NULL)) LIMIT 1`.execute(db)
  return result.rows.length > 0
}

/** Claims leads and sales without a link that are not in ClickHouse yet, for two minutes. */
export async function claimUnattributed(db: AllWorkspacesDb, count: number): Promise<ConversionRow[]> {
  const result = await sql<ConversionRow>`
    UPDATE conversions SET due_at = now() + interval '2 minutes' WHERE number IN (
      SELECT number FROM conversions WHERE link_number IS NULL AND batch IS NULL AND due_at <= now()
      ORDER BY due_at, number LIMIT ${count} FOR UPDATE SKIP LOCKED)
    RETURNING *`.execute(db)
  return result.rows.sort((a, b) => (a.number < b.number ? -1 : 1))
}

export async function markUnattributed(db: AllWorkspacesDb, batch: string, numbers: bigint[]): Promise<void> {
  await sql`UPDATE conversions SET batch = ${batch} WHERE number = ANY(${numbers}::bigint[])`.execute(db)
}

/** Makes all leads and sales without a link due for export again. */
export async function releaseUnattributed(db: AllWorkspacesDb): Promise<void> {
  await sql`UPDATE conversions SET batch = NULL, due_at = now()
    WHERE link_number IS NULL AND batch IS NOT NULL`.execute(db)
}

/** A link's exported leads and sales; `under_way` is the number of rows being exported. */
export type RecordedRow = {
  workspace_id: string
  link_number: bigint
  under_way: bigint
  sale_amount: string
} & Record<'leads' | 'conversions' | 'sales', bigint>

export async function selectRecorded(
  db: AllWorkspacesDb,
  { workspaceId, first, last }: { workspaceId?: string; first: bigint; last: bigint },
): Promise<RecordedRow[]> {
  const mine = workspaceId === undefined ? sql`true` : sql`workspace_id = ${workspaceId}`
  const result = await sql<RecordedRow>`
    SELECT workspace_id, link_number,
      coalesce(sum(quantity) FILTER (WHERE kind = 'lead' AND stored_at IS NOT NULL), 0)::bigint AS leads,
      count(*) FILTER (WHERE kind = 'sale' AND is_first AND stored_at IS NOT NULL) AS conversions,
      count(*) FILTER (WHERE kind = 'sale' AND stored_at IS NOT NULL)
        - count(*) FILTER (WHERE kind = 'refund' AND is_full AND stored_at IS NOT NULL) AS sales,
      coalesce(sum(amount) FILTER (WHERE stored_at IS NOT NULL), 0)::text AS sale_amount,
      count(*) FILTER (WHERE batch IS NOT NULL AND stored_at IS NULL) AS under_way
    FROM conversions WHERE link_number BETWEEN ${first} AND ${last} AND ${mine}
    GROUP BY workspace_id, link_number`.execute(db)
  return result.rows
}

/** Exported leads, sales and refunds, share-locked until the transaction ends. */
export async function selectStored(
  db: AllWorkspacesDb,
  { linkNumber, after, count }: { linkNumber?: bigint; after: bigint; count: number },
): Promise<PendingRow[]> {
  const mine = linkNumber === undefined ? sql`link_number IS NOT NULL` : sql`link_number = ${linkNumber}`
  const result = await sql<PendingRow>`
    SELECT ${pendingColumns} FROM conversions WHERE number > ${after} AND ${mine} AND stored_at IS NOT NULL
    ORDER BY number LIMIT ${count} FOR SHARE`.execute(db)
  return result.rows
}

export async function selectByNumber(db: AllWorkspacesDb, numbers: bigint[]): Promise<ConversionRow[]> {
  const result = await sql<ConversionRow>`
    SELECT * FROM conversions WHERE number = ANY(${numbers}::bigint[]) ORDER BY number`.execute(db)
  return result.rows
}

/** The ids of the partners that customers' leads, sales and refunds belong to. */
export async function selectPartnersOfCustomers(db: Db, workspaceId: string, customerIds: string[]): Promise<string[]> {
  const result = await sql<{ partner_id: string }>`SELECT DISTINCT partner_id FROM conversions
    WHERE workspace_id = ${workspaceId} AND customer_id = ANY(${customerIds}::text[])
      AND partner_id IS NOT NULL`.execute(db)
  return result.rows.map(({ partner_id }) => partner_id)
}

export async function selectCustomerNumbers(db: Db, workspaceId: string, customerIds: string[]): Promise<bigint[]> {
  const result = await sql<{ number: bigint }>`SELECT number FROM conversions
    WHERE workspace_id = ${workspaceId} AND customer_id = ANY(${customerIds}::text[])`.execute(db)
  return result.rows.map(({ number }) => number)
}

export type PartnerConversion = Pick<
  ConversionRow,
  'number' | 'id' | 'workspace_id' | 'kind' | 'amount' | 'partner_id' | 'created_at' | 'stored_at'
>

/** Leads, sales and refunds of partners after a number, in order. */
export async function selectOfPartners(
  db: AllWorkspacesDb,
  { workspaceId, after, count }: { workspaceId?: string; after: bigint; count: number },
): Promise<PartnerConversion[]> {
  const mine = workspaceId === undefined ? sql`true` : sql`workspace_id = ${workspaceId}`
  const result = await sql<PartnerConversion>`
    SELECT number, id, workspace_id, kind, amount, partner_id, created_at, stored_at FROM conversions
    WHERE number > ${after} AND partner_id LIKE 'pn\\_%' AND ${mine} ORDER BY number LIMIT ${count}`.execute(db)
  return result.rows
}

/** Sales with the sum of their refunds, which is negative, before a refund's number. */
export async function selectSalesLeft(
  db: Db,
  workspaceId: string,
  sales: { number: bigint; before: bigint }[],
): Promise<{ number: bigint; amount: bigint; refunded: bigint }[]> {
  const result = await sql<{ number: bigint; amount: bigint; refunded: bigint }>`
    SELECT sale.number, sale.amount, coalesce((SELECT sum(refund.amount) FROM conversions refund
      WHERE refund.sale_number = sale.number AND refund.kind = 'refund' AND refund.number < asked.before), 0)::bigint AS refunded
    FROM unnest(${sales.map(({ number }) => number)}::bigint[], ${sales.map(({ before }) => before)}::bigint[])
      AS asked (number, before)
    JOIN conversions sale ON sale.number = asked.number AND sale.workspace_id = ${workspaceId}`.execute(db)
  return result.rows
}

export async function selectHighestNumber(db: AllWorkspacesDb): Promise<bigint> {
  const result = await sql<{ highest: bigint | null }>`SELECT max(number) AS highest FROM conversions`.execute(db)
  return result.rows[0]?.highest ?? 0n
}

export async function selectConversions(db: Db, workspaceId: string, ids: string[]): Promise<ConversionRow[]> {
  const result = await sql<ConversionRow>`SELECT * FROM conversions
    WHERE workspace_id = ${workspaceId} AND id = ANY(${ids}::text[]) ORDER BY number`.execute(db)
  return result.rows
}

/** Returns those of the given ids that exist. */
export async function selectIds(db: Db, workspaceId: string, ids: string[]): Promise<string[]> {
  const result = await sql<{ id: string }>`SELECT id FROM conversions
    WHERE workspace_id = ${workspaceId} AND id = ANY(${ids}::text[])`.execute(db)
  return result.rows.map(({ id }) => id)
}

export type SoldRow = { customer_id: string; sales: bigint; sale_amount: bigint }

export async function selectSold(db: Db, workspaceId: string, customerIds: string[]): Promise<SoldRow[]> {
  const result = await sql<SoldRow>`
    SELECT customer_id,
      greatest(-9000000000000000000, least(9000000000000000000, sum(amount)))::bigint AS sale_amount,
      count(*) FILTER (WHERE kind = 'sale') - count(*) FILTER (WHERE kind = 'refund' AND is_full) AS sales
    FROM conversions
    WHERE workspace_id = ${workspaceId} AND customer_id = ANY(${customerIds}::text[]) GROUP BY customer_id`.execute(db)
  return result.rows
}
