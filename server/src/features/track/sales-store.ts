import { CompiledQuery } from 'kysely'
import { outboxInsert } from '../../platform/outbox.ts'
import { type Db, prepareOnce } from '../../platform/postgres.ts'

/** A sale to record; the statement adds the customer and what the sale copies from its lead. */
export type NewSaleRow = {
  id: string
  /** Its place among the sales; the first recorded sale of a customer is its first one. */
  ordinal: number
  external_id: string
  lead_event_name: string | null
  discount_code: string | null
  event_name: string
  amount: number
  currency: string
  original_amount: number
  original_currency: string
  payment_processor: string
  invoice_id: string | null
  from_page: boolean
  metadata: string | null
  created_at: Date
  /** The message about the sale, without the customer and the columns of the lead. */
  message: object
}

export type RecordedSaleRow = {
  id: string
  customer_id: string
  name: string | null
  email: string | null
  avatar: string | null
}

type NewSales = { subject: string; traceparent: string | null; rows: NewSaleRow[] }
type SaleRecording = (db: Db, workspaceId: string, sales: NewSales) => Promise<RecordedSaleRow[]>

type Sql<Part extends string> = (parts: Record<'workspace' | Part, string>) => string
/** Functions of other features that return SQL on their tables. */
type SaleParts = {
  currencySelection: Sql<never>
  buyersSelection: Sql<'externalIds'>
  codeSelection: Sql<'code'>
  saleCounting: Sql<'totals'>
}

/**
 * Returns the function that records sales of known customers that have a lead, counts them and publishes them, in one
 * statement. It leaves out sales of an invoice that has one, sales in another currency than the workspace's, all but one
 * of the first sales of a customer, and those with a discount code whose lead has no link. It locks the invoices first,
 * then the customers.
 */
export function openSaleRecording({
  currencySelection,
  buyersSelection,
  codeSelection,
  saleCounting,
}: SaleParts): SaleRecording {
  const workspace = '$1'
  const totals = `SELECT customer_id AS id, count(*) AS sales, sum(amount) AS amount, min(created_at) AS at
    FROM recorded GROUP BY customer_id`
  const text = prepareOnce(
    'record_sales',
    `WITH given AS MATERIALIZED (
      SELECT * FROM jsonb_to_recordset($2::jsonb) AS given (id text, ordinal integer, external_id text,
        lead_event_name text, discount_code text, event_name text, amount bigint, currency text, original_amount bigint,
        original_currency text, payment_processor text, invoice_id text, from_page boolean, metadata text,
        created_at timestamptz, message jsonb)
    ), sold AS MATERIALIZED (
      SELECT sold FROM lock_invoices($1, ARRAY(SELECT invoice_id FROM given WHERE invoice_id IS NOT NULL)) AS sold
    ), item AS MATERIALIZED (
      SELECT * FROM given WHERE (invoice_id IS NULL OR invoice_id NOT IN (SELECT sold FROM sold))
        AND currency = (${currencySelection({ workspace })})
    ), customer AS MATERIALIZED (
      ${buyersSelection({ workspace, externalIds: 'SELECT external_id FROM item' })}
    ), placed AS (
      SELECT item.*, customer.id AS customer_id, customer.name, customer.email, customer.avatar, first_sale_at,
        row_number() OVER (PARTITION BY customer.id ORDER BY ordinal) AS place
      FROM item JOIN customer USING (external_id)
    ), attributed AS MATERIALIZED (
      SELECT placed.*, coalesce(code.link_number, lead.link_number) AS link_number,
        coalesce(code.partner_id, lead.partner_id) AS partner_id,
        CASE WHEN code.link_number IS NULL THEN lead.click_id END AS click_id,
        CASE WHEN code.link_number IS NULL THEN lead.click_facts END AS click_facts,
        CASE WHEN code.link_number IS NULL THEN lead.click_facts_at END AS click_facts_at,
        CASE WHEN code.link_number IS NOT NULL THEN 'discount_code' WHEN lead.link_number IS NULL THEN lead.attribution
          ELSE 'lead' END AS attribution
      FROM placed CROSS JOIN LATERAL (
        SELECT * FROM (SELECT number, link_number, click_id, attribution, partner_id, click_facts, click_facts_at
          FROM conversions WHERE workspace_id = $1 AND customer_id = placed.customer_id AND kind = 'lead'
            AND (placed.lead_event_name IS NULL OR event_name = placed.lead_event_name) OFFSET 0) AS leads
        ORDER BY number DESC LIMIT 1) AS lead
      LEFT JOIN LATERAL (${codeSelection({ workspace, code: 'placed.discount_code' })}) AS code
        ON lead.link_number IS NULL OR (code.wins AND code.link_number <> lead.link_number)
      WHERE (first_sale_at IS NOT NULL OR place = 1) AND (lead.link_number IS NOT NULL OR code.link_number IS NULL)
    ), recorded AS (
      INSERT INTO conversions (id, workspace_id, kind, customer_id, event_name, link_number, click_id, attribution,
        amount, currency, original_amount, original_currency, payment_processor, invoice_id, from_page, is_first,
        metadata, partner_id, click_facts, click_facts_at, created_at, stored_at)
      SELECT id, $1, 'sale', customer_id, event_name, link_number, click_id, attribution, amount, currency,
        original_amount, original_currency, payment_processor, invoice_id, from_page, first_sale_at IS NULL, metadata,
        partner_id, click_facts, CASE WHEN click_id IS NULL THEN created_at ELSE click_facts_at END, created_at,
        CASE WHEN link_number IS NULL THEN created_at END
      FROM attributed ORDER BY invoice_id
      ON CONFLICT DO NOTHING RETURNING id, customer_id, link_number, partner_id, click_id, amount, created_at
    ), counted AS (
      ${saleCounting({ workspace, totals })}
    ), published AS (
      ${outboxInsert(`SELECT $1, $3, message || jsonb_build_object('customerId', recorded.customer_id,
        'linkNumber', recorded.link_number::text, 'partnerId', recorded.partner_id, 'clickId', recorded.click_id), $4
      FROM recorded JOIN attributed USING (id) ORDER BY ordinal`)}
    )
    SELECT id, attributed.customer_id, name, email, avatar
    FROM recorded JOIN attributed USING (id)`,
  )
  return async (db, workspaceId, { subject, traceparent, rows }) => {
    const values = [workspaceId, JSON.stringify(rows), subject, traceparent]
    const result = await db.executeQuery<RecordedSaleRow>(CompiledQuery.raw(text, values))
    return result.rows
  }
}
