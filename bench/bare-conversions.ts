import { randomUUID } from 'node:crypto'
import pg from 'pg'

export type Figures = { perSecond: number; p50: number; p99: number }
type Statement = { name: string; text: string }

const tables = ['customers', 'conversions', 'outbox']
const outbox = `INSERT INTO bare_outbox (workspace_id, subject, body)
  SELECT $1, 'changes.0.bare', jsonb_build_object('id', $2::text)`
const conversion = (kind: string) => `INSERT INTO bare_conversions (id, workspace_id, kind, customer_id, event_name,
    link_number, click_id, attribution, amount, currency, invoice_id)
  VALUES ($2, $1, '${kind}', $3, 'Event', $4, 'click', 'lead', $5, 'usd', $6)`
const customer = `INSERT INTO bare_customers (id, workspace_id, external_id, name, click_id, link_number)
  VALUES ($3, $1, $3, 'Ada Lovelace', 'click', $4)`
const total = `UPDATE bare_customers SET sales = sales + 1, sale_amount = sale_amount + $5
  WHERE workspace_id = $1 AND id = $3`

const statements = {
  sale: one('sale', conversion('sale'), total, outbox),
  lead: one('lead', customer, conversion('lead'), outbox, outbox),
  customer: one('customer', customer, outbox),
}

/** Runs the writes of one operation as a single prepared statement on copies of the tables. */
export async function openBare(url: string, workspaceId: string, connections: number) {
  const pool = new pg.Pool({ connectionString: url, max: connections })
  for (const table of tables) await pool.query(`CREATE TABLE bare_${table} (LIKE ${table} INCLUDING ALL)`)

  async function run(kind: keyof typeof statements, count: number, customers: string[]): Promise<Figures> {
    const latencies: number[] = []
    let sent = 0
    const write = async () => {
      while (sent < count) {
        const n = sent++
        const id = randomUUID()
        const customerId = customers[n % customers.length] ?? id
        const started = performance.now()
        await pool.query({ ...statements[kind], values: [workspaceId, id, customerId, n % 40, 1_000, id] })
        latencies.push(performance.now() - started)
      }
    }
    const started = performance.now()
    await Promise.all(Array.from({ length: connections }, write))
    const perSecond = count / ((performance.now() - started) / 1000)
    latencies.sort((a, b) => a - b)
    const at = (share: number) => latencies[Math.floor(count * share)] ?? 0
    return { perSecond, p50: at(0.5), p99: at(0.99) }
  }

  /** Creates customers for sales and returns their ids. */
  async function addCustomers(count: number): Promise<string[]> {
    const ids = Array.from({ length: count }, () => randomUUID())
    await pool.query(
      `INSERT INTO bare_customers (id, workspace_id, external_id, name)
        SELECT id, $1, id, 'Ada Lovelace' FROM unnest($2::text[]) AS id`,
      [workspaceId, ids],
    )
    return ids
  }

  return { run, addCustomers, [Symbol.asyncDispose]: () => pool.end() }
}

function one(name: string, ...writes: string[]): Statement {
  const parts = writes.map((text, n) => `write_${n} AS (${text})`)
  // Mentions every parameter with its type, because PostgreSQL can't infer the type of an unused one.
  const given = 'SELECT $1::text, $2::text, $3::text, $4::bigint, $5::bigint, $6::text'
  return { name, text: `WITH given AS (${given}), ${parts.join(', ')} SELECT pg_notify('outbox', '')` }
}
