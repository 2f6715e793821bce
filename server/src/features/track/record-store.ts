import { sql } from 'kysely'
import { locks } from '../../platform/locks.ts'
import type { Db } from '../../platform/postgres.ts'
import type { ConversionRow, NewConversion } from './store.ts'

/** Inserts leads, sales and refunds. Returns those that did not exist already. */
export async function insertConversions(db: Db, rows: NewConversion[]): Promise<ConversionRow[]> {
  const complete = rows.map(completeRow)
  const column = <Name extends keyof ReturnType<typeof completeRow>>(name: Name) => complete.map((row) => row[name])
  const result = await sql<Pick<ConversionRow, 'id' | 'number'>>`
    INSERT INTO conversions (id, workspace_id, kind, customer_id, event_name, link_number, click_id, attribution, quantity,
      amount, currency, original_amount, original_currency, payment_processor, invoice_id, refund_id, from_page, is_first,
      is_full, sale_number, metadata, partner_id, click_facts, click_facts_at, created_at, stored_at)
    SELECT * FROM unnest(${column('id')}::text[], ${column('workspace_id')}::text[], ${column('kind')}::text[],
      ${column('customer_id')}::text[], ${column('event_name')}::text[], ${column('link_number')}::bigint[],
      ${column('click_id')}::text[], ${column('attribution')}::text[], ${column('quantity')}::integer[],
      ${column('amount')}::bigint[], ${column('currency')}::text[], ${column('original_amount')}::bigint[],
      ${column('original_currency')}::text[], ${column('payment_processor')}::text[], ${column('invoice_id')}::text[],
      ${column('refund_id')}::text[], ${column('from_page')}::boolean[], ${column('is_first')}::boolean[],
      ${column('is_full')}::boolean[], ${column('sale_number')}::bigint[], ${column('metadata')}::text[],
      ${column('partner_id')}::text[], ${column('click_facts')}::text[], ${column('click_facts_at')}::timestamptz[],
      ${column('created_at')}::timestamptz[], ${column('stored_at')}::timestamptz[])
    ON CONFLICT DO NOTHING RETURNING id, number`.execute(db)
  const numbers = new Map(result.rows.map(({ id, number }) => [id, number]))
  return complete.flatMap((row) => {
    const number = numbers.get(row.id)
    return number === undefined ? [] : [{ ...row, number, batch: null }]
  })
}

function completeRow(row: NewConversion): Omit<ConversionRow, 'number' | 'batch'> {
  return {
    ...row,
    quantity: row.quantity ?? 1,
    amount: row.amount ?? 0n,
    currency: row.currency ?? null,
    original_amount: row.original_amount ?? null,
    original_currency: row.original_currency ?? null,
    payment_processor: row.payment_processor ?? null,
    invoice_id: row.invoice_id ?? null,
    refund_id: row.refund_id ?? null,
    from_page: row.from_page ?? false,
    is_first: row.is_first ?? false,
    is_full: row.is_full ?? false,
    sale_number: row.sale_number ?? null,
    metadata: row.metadata ?? null,
    partner_id: row.partner_id ?? null,
    click_facts: row.click_facts ?? null,
    click_facts_at: row.click_id === null ? row.created_at : (row.click_facts_at ?? null),
    // A lead or sale without a link changes no link counter, so it counts as stored at once.
    stored_at: row.link_number === null ? row.created_at : null,
  }
}

/** The latest lead of a customer, or the lead with this event name. */
export async function selectLead(
  db: Db,
  workspaceId: string,
  customerId: string,
  eventName?: string,
): Promise<ConversionRow | undefined> {
  return (await selectLeads(db, workspaceId, [{ customerId, eventName }]))[0]
}

/** The latest lead without a link that a customer had before a sale or refund. */
export async function selectUnattributedLead(
  db: Db,
  workspaceId: string,
  { customer_id, number }: Pick<ConversionRow, 'customer_id' | 'number'>,
): Promise<Pick<ConversionRow, 'created_at'> | undefined> {
  const result = await sql<Pick<ConversionRow, 'created_at'>>`
    SELECT created_at FROM (SELECT number, created_at FROM conversions WHERE workspace_id = ${workspaceId}
      AND customer_id = ${customer_id} AND kind = 'lead' AND link_number IS NULL AND number < ${number} OFFSET 0) AS leads
    ORDER BY number DESC LIMIT 1`.execute(db)
  return result.rows[0]
}

/** The leads of several customers, in the order of `requested`. */
export async function selectLeads(
  db: Db,
  workspaceId: string,
  requested: { customerId: string; eventName?: string }[],
): Promise<(ConversionRow | undefined)[]> {
  // OFFSET 0 keeps PostgreSQL from searching a customer's latest lead backwards through all of its sales.
  const result = await sql<ConversionRow & { ordinal: bigint }>`
    SELECT ordinal, lead.* FROM unnest(${requested.map(({ customerId }) => customerId)}::text[],
      ${requested.map(({ eventName }) => eventName ?? null)}::text[]) WITH ORDINALITY AS requested (customer_id, event_name, ordinal),
      LATERAL (SELECT * FROM (SELECT * FROM conversions
          WHERE workspace_id = ${workspaceId} AND conversions.customer_id = requested.customer_id AND kind = 'lead'
            AND (requested.event_name IS NULL OR conversions.event_name = requested.event_name) OFFSET 0) AS leads
        ORDER BY number DESC LIMIT 1) AS lead`.execute(db)
  const leads = new Map(result.rows.map((row) => [Number(row.ordinal) - 1, row]))
  return requested.map((_, index) => leads.get(index))
}

/** Holds locks that block other sales of these invoices until the transaction ends. Sorted, so that none deadlock. */
export async function lockInvoices(db: Db, workspaceId: string, invoiceIds: string[]): Promise<void> {
  const names = invoiceIds.map((id) => `${workspaceId} ${id}`)
  await sql`SELECT pg_advisory_xact_lock(lock) FROM (
      SELECT DISTINCT hashtextextended(name, ${locks.invoices}) AS lock FROM unnest(${names}::text[]) AS name ORDER BY lock
    ) AS sorted`.execute(db)
}

/** The sale of an invoice: the one that a secret key reported, else the one from a page. */
export async function selectSale(db: Db, workspaceId: string, invoiceId: string): Promise<ConversionRow | undefined> {
  const result = await sql<ConversionRow>`
    SELECT * FROM conversions
    WHERE workspace_id = ${workspaceId} AND invoice_id = ${invoiceId} AND kind = 'sale'
    ORDER BY from_page LIMIT 1`.execute(db)
  return result.rows[0]
}

/** Holds a lock that blocks other refunds of the sale until the transaction ends. */
export async function lockSale(db: Db, workspaceId: string, number: bigint): Promise<void> {
  await sql`SELECT FROM conversions WHERE workspace_id = ${workspaceId} AND number = ${number}
    FOR NO KEY UPDATE`.execute(db)
}

export type RefundRow = Pick<
  ConversionRow,
  'number' | 'id' | 'amount' | 'original_amount' | 'refund_id' | 'is_full' | 'created_at'
>

/** The refunds of a sale, without their metadata: a sale may have thousands. */
export async function selectRefunds(db: Db, workspaceId: string, saleNumber: bigint): Promise<RefundRow[]> {
  const result = await sql<RefundRow>`
    SELECT number, id, amount, original_amount, refund_id, is_full, created_at FROM conversions
    WHERE workspace_id = ${workspaceId} AND sale_number = ${saleNumber} AND kind = 'refund' ORDER BY number`.execute(db)
  return result.rows
}
