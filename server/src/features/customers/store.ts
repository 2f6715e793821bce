import { CompiledQuery, type RawBuilder, type SqlBool, sql } from 'kysely'
import { type AllWorkspacesDb, type Db, updateById } from '../../platform/postgres.ts'

export type CustomerRow = {
  number: bigint
  id: string
  workspace_id: string
  external_id: string | null
  name: string | null
  email: string | null
  avatar: string | null
  stripe_customer_id: string | null
  country: string | null
  click_id: string | null
  link_number: bigint | null
  /** The discount code of a deferred lead. */
  deferred_code: string | null
  sales: bigint
  sale_amount: bigint
  first_sale_at: Date | null
  subscription_canceled_at: Date | null
  erased_at: Date | null
  created_at: Date
  updated_at: Date
}
export type NewCustomerRow = Pick<
  CustomerRow,
  'id' | 'workspace_id' | 'external_id' | 'name' | 'email' | 'avatar' | 'click_id' | 'link_number'
>
export type CustomerSelector = { id: string } | { externalId: string }
export type CustomerChanges = Partial<
  Pick<CustomerRow, 'external_id' | 'name' | 'email' | 'avatar' | 'stripe_customer_id' | 'country'>
>
export type CustomerFilter = {
  email?: string
  externalId?: string
  search?: string
  country?: string
  linkNumber?: bigint
  /** Statements that select link numbers, of which the customer's link must be one. */
  links?: RawBuilder<unknown>[]
}
export type CustomerSort = 'createdAt' | 'saleAmount' | 'firstSaleAt' | 'subscriptionCanceledAt'
export type CustomerPage = {
  sort: CustomerSort
  ascending: boolean
  /** Keyset pagination: the number of the previous page's last customer. */
  after?: bigint
  offset: number
  count: number
}

// Customers without a first sale or cancellation come first in ascending order.
const sortColumns: Record<CustomerSort, RawBuilder<unknown>> = {
  createdAt: sql`number`,
  saleAmount: sql`sale_amount`,
  firstSaleAt: sql`coalesce(first_sale_at, '-infinity'::timestamptz)`,
  subscriptionCanceledAt: sql`coalesce(subscription_canceled_at, '-infinity'::timestamptz)`,
}

/**
 * Inserts customers, ordered by external id so that two transactions can't deadlock. Returns those whose external id
 * was free.
 */
export async function insertCustomers(db: Db, rows: NewCustomerRow[]): Promise<CustomerRow[]> {
  const column = <Name extends keyof NewCustomerRow>(name: Name) => rows.map((row) => row[name])
  const result = await sql<CustomerRow>`
    INSERT INTO customers (id, workspace_id, external_id, name, email, avatar, click_id, link_number)
    SELECT * FROM unnest(${column('id')}::text[], ${column('workspace_id')}::text[], ${column('external_id')}::text[],
      ${column('name')}::text[], ${column('email')}::text[], ${column('avatar')}::text[], ${column('click_id')}::text[],
      ${column('link_number')}::bigint[]) AS new (id, workspace_id, external_id) ORDER BY external_id
    ON CONFLICT (workspace_id, external_id) DO NOTHING RETURNING *`.execute(db)
  return result.rows
}

export async function countCustomers(db: Db, workspaceId: string): Promise<number> {
  const result = await sql<{ count: bigint }>`
    SELECT count(*) FROM customers WHERE workspace_id = ${workspaceId} AND erased_at IS NULL`.execute(db)
  return Number(result.rows[0]?.count ?? 0)
}

/** Finds a customer that is not erased. In a transaction, locks the row until it ends. */
export async function selectCustomer(
  db: Db,
  workspaceId: string,
  selector: CustomerSelector,
): Promise<CustomerRow | undefined> {
  const named = 'id' in selector ? sql`id = ${selector.id}` : sql`external_id = ${selector.externalId}`
  const rowLock = db.isTransaction ? sql`FOR NO KEY UPDATE` : sql``
  const result = await sql<CustomerRow>`
    SELECT * FROM customers WHERE workspace_id = ${workspaceId} AND ${named} AND erased_at IS NULL ${rowLock}`.execute(
    db,
  )
  return result.rows[0]
}

/** Finds customers that are not erased. In a transaction, locks their rows until it ends. */
export async function selectCustomersByExternalId(
  db: Db,
  workspaceId: string,
  externalIds: string[],
): Promise<CustomerRow[]> {
  const rowLock = db.isTransaction ? sql`ORDER BY id FOR NO KEY UPDATE` : sql``
  const result = await sql<CustomerRow>`
    SELECT * FROM customers WHERE workspace_id = ${workspaceId} AND external_id = ANY(${externalIds}::text[])
      AND erased_at IS NULL ${rowLock}`.execute(db)
  return result.rows
}

/** Returns customers, including erased ones. In a transaction, locks their rows until it ends. */
export async function selectCustomersById(db: Db, workspaceId: string, ids: string[]): Promise<CustomerRow[]> {
  const rowLock = db.isTransaction ? sql`ORDER BY id FOR SHARE` : sql``
  const result = await sql<CustomerRow>`
    SELECT * FROM customers WHERE workspace_id = ${workspaceId} AND id = ANY(${ids}::text[]) ${rowLock}`.execute(db)
  return result.rows
}

export type OriginRow = Pick<
  CustomerRow,
  'id' | 'country' | 'email' | 'created_at' | 'first_sale_at' | 'click_id' | 'erased_at'
>

export async function selectOrigins(db: Db, workspaceId: string, ids: string[]): Promise<OriginRow[]> {
  const result = await sql<OriginRow>`SELECT id, country, email, created_at, first_sale_at, click_id, erased_at
    FROM customers WHERE workspace_id = ${workspaceId} AND id = ANY(${ids}::text[])`.execute(db)
  return result.rows
}

export type FirstClickRow = { id: string; clickId: string | null; linkNumber: bigint }

/** Saves the first click of customers that have none yet. */
export async function updateFirstClicks(db: Db, workspaceId: string, rows: FirstClickRow[]): Promise<void> {
  await sql`UPDATE customers SET click_id = first.click_id, updated_at = now(), link_number =
      CASE WHEN first.click_id IS NULL THEN coalesce(customers.link_number, first.link_number) ELSE first.link_number END
    FROM unnest(${rows.map(({ id }) => id)}::text[], ${rows.map(({ clickId }) => clickId)}::text[],
      ${rows.map(({ linkNumber }) => linkNumber)}::bigint[]) AS first (id, click_id, link_number)
    WHERE workspace_id = ${workspaceId} AND customers.id = first.id AND customers.click_id IS NULL`.execute(db)
}

export async function updateDeferredCode(db: Db, workspaceId: string, id: string, code: string): Promise<void> {
  await sql`UPDATE customers SET deferred_code = ${code}, updated_at = now()
    WHERE workspace_id = ${workspaceId} AND id = ${id}`.execute(db)
}

/** SQL that locks customers that are not erased, by their external ids, in the order of all locks of customers. */
export function lockBuyers({ workspace, externalIds }: Record<'workspace' | 'externalIds', string>): string {
  return `SELECT id, external_id, name, email, avatar, first_sale_at FROM customers
    WHERE workspace_id = ${workspace} AND external_id = ANY(ARRAY(${externalIds})) AND erased_at IS NULL
    ORDER BY id FOR NO KEY UPDATE`
}

/** SQL that adds to customers' totals, within the range of the column, so that the update does not fail. */
export function addTotals({ workspace, totals }: Record<'workspace' | 'totals', string>): string {
  return `UPDATE customers SET sales = customers.sales + sold.sales, sale_amount = greatest(-9000000000000000000,
      least(9000000000000000000, customers.sale_amount + sold.amount::numeric))::bigint,
    first_sale_at = coalesce(first_sale_at, sold.at), updated_at = now()
    FROM (${totals}) AS sold WHERE workspace_id = ${workspace} AND customers.id = sold.id`
}

/** What to add to a customer's totals. */
export type SoldRow = { id: string; sales: number; amount: number | bigint; at: Date }

export async function addSales(db: Db, workspaceId: string, { id, sales, amount, at }: SoldRow): Promise<void> {
  const totals = 'SELECT $2::text AS id, $3::bigint AS sales, $4::numeric AS amount, $5::timestamptz AS at'
  const text = addTotals({ workspace: '$1', totals })
  await db.executeQuery(CompiledQuery.raw(text, [workspaceId, id, sales, amount, at]))
}

export type SoldToRow = Pick<CustomerRow, 'number' | 'id' | 'workspace_id' | 'sales' | 'sale_amount'>

/** Returns customers' sales, including erased customers. In a transaction, locks their rows until it ends. */
export async function selectSoldTo(
  db: AllWorkspacesDb,
  range: { workspaceId?: string; after: bigint; count: number } | { numbers: bigint[] },
): Promise<SoldToRow[]> {
  const rowLock = db.isTransaction ? sql`FOR NO KEY UPDATE` : sql``
  const mine = 'workspaceId' in range && range.workspaceId ? sql`workspace_id = ${range.workspaceId}` : sql`true`
  const result = await sql<SoldToRow>`
    SELECT number, id, workspace_id, sales, sale_amount FROM customers WHERE ${mine} AND ${
      'numbers' in range ? sql`number = ANY(${range.numbers}::bigint[])` : sql`number > ${range.after}`
    } ORDER BY number LIMIT ${'numbers' in range ? null : range.count} ${rowLock}`.execute(db)
  return result.rows
}

export async function replaceSales(db: AllWorkspacesDb, rows: { number: bigint; sales: number; saleAmount: number }[]) {
  await sql`UPDATE customers SET sales = n.sales, sale_amount = greatest(-9000000000000000000, least(9000000000000000000, n.sale_amount))::bigint FROM unnest(
      ${rows.map(({ number }) => number)}::bigint[], ${rows.map(({ sales }) => sales)}::bigint[],
      ${rows.map(({ saleAmount }) => String(saleAmount))}::numeric[]) AS n (number, sales, sale_amount)
    WHERE customers.number = n.number`.execute(db)
}

export async function selectHighestNumber(db: AllWorkspacesDb): Promise<bigint> {
  const result = await sql<{ highest: bigint | null }>`SELECT max(number) AS highest FROM customers`.execute(db)
  return result.rows[0]?.highest ?? 0n
}

export async function selectCustomers(
  db: Db,
  workspaceId: string,
  filter: CustomerFilter,
  page: CustomerPage,
): Promise<CustomerRow[]> {
  const direction = page.ascending ? sql`ASC` : sql`DESC`
  const conditions = buildConditions(workspaceId, filter)
  if (page.after !== undefined) conditions.push(beyond(workspaceId, page))
  const order = sql`ORDER BY ${sortColumns[page.sort]} ${direction}, number ${direction}`
  // Skipped rows read only the index of the order.
  const result = await sql<CustomerRow>`
    SELECT * FROM customers WHERE number IN (
      SELECT number FROM customers WHERE ${sql.join(conditions, sql` AND `)} ${order}
      LIMIT ${page.count} OFFSET ${page.offset}) ${order}`.execute(db)
  return result.rows
}

export async function countMatching(db: Db, workspaceId: string, filter: CustomerFilter): Promise<number> {
  const conditions = buildConditions(workspaceId, filter)
  const result = await sql<{ count: bigint }>`
    SELECT count(*) AS count FROM customers WHERE ${sql.join(conditions, sql` AND `)}`.execute(db)
  return Number(result.rows[0]?.count ?? 0)
}

function buildConditions(workspaceId: string, filter: CustomerFilter): RawBuilder<SqlBool>[] {
  const conditions = [sql<SqlBool>`workspace_id = ${workspaceId} AND erased_at IS NULL`]
  if (filter.email !== undefined) conditions.push(sql`email = ${filter.email}`)
  if (filter.externalId !== undefined) conditions.push(sql`external_id = ${filter.externalId}`)
  if (filter.search !== undefined) conditions.push(containing(filter.search))
  if (filter.country !== undefined) conditions.push(sql`country = ${filter.country}`)
  if (filter.linkNumber !== undefined) conditions.push(sql`link_number = ${filter.linkNumber}`)
  for (const links of filter.links ?? []) conditions.push(sql`link_number IN (${links})`)
  return conditions
}

/** The number of a customer, even of an erased customer, so that pagination can continue after it. */
export async function selectNumber(db: Db, workspaceId: string, id: string): Promise<bigint | undefined> {
  const result = await sql<{ number: bigint }>`
    SELECT number FROM customers WHERE workspace_id = ${workspaceId} AND id = ${id}`.execute(db)
  return result.rows[0]?.number
}

/** Updates a customer. Throws on a violation of `customers_external_id` or `customers_stripe_id`. */
export async function updateCustomerRow(
  db: Db,
  workspaceId: string,
  id: string,
  changes: CustomerChanges,
): Promise<CustomerRow> {
  const row = await updateById<CustomerRow>(db, 'customers', workspaceId, id, changes)
  if (!row) throw new Error(`There is no customer ${id} to update`)
  return row
}

/** Erases a customer's personal data; the row stays for events that refer to it. */
export async function eraseCustomerRow(db: Db, workspaceId: string, id: string): Promise<void> {
  await sql`UPDATE customers SET external_id = NULL, name = NULL, email = NULL, avatar = NULL, stripe_customer_id = NULL,
      country = NULL, deferred_code = NULL, erased_at = now(), updated_at = now()
    WHERE workspace_id = ${workspaceId} AND id = ${id}`.execute(db)
}

function containing(text: string): RawBuilder<SqlBool> {
  const pattern = text.toLowerCase().replaceAll(/[\\%_]/g, '\\$&')
  return sql`(search_text LIKE ${`%${pattern}%`} OR id = ${text} OR stripe_customer_id = ${text})`
}

function beyond(workspaceId: string, { sort, ascending, after }: CustomerPage): RawBuilder<SqlBool> {
  const comparison = ascending ? sql`>` : sql`<`
  if (sort === 'createdAt') return sql`number ${comparison} ${after}`
  return sql`(${sortColumns[sort]}, number) ${comparison} (
    SELECT ${sortColumns[sort]}, number FROM customers WHERE workspace_id = ${workspaceId} AND number = ${after})`
}

export type LocatedCustomer = { id: string; country: string }

export async function fillCountries(db: AllWorkspacesDb, located: LocatedCustomer[]): Promise<void> {
  await sql`UPDATE customers SET country = known.country
    FROM unnest(${located.map(({ id }) => id)}::text[], ${located.map(({ country }) => country)}::text[])
      AS known (id, country)
    WHERE customers.id = known.id AND customers.country IS NULL AND customers.erased_at IS NULL`.execute(db)
}
