import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Db } from '../../platform/postgres.ts'
import type { CommissionStatus, CommissionType, Detail } from './commission.ts'
import type { CommissionRow } from './store.ts'

export type DetailedRow = CommissionRow & { why: Detail | null }

const detailedFragment = sql`SELECT c.*, d.why FROM commissions c
  LEFT JOIN commission_details d ON d.commission_number = c.number`

export async function selectCommissionsById(db: Db, workspaceId: string, ids: string[]): Promise<DetailedRow[]> {
  const result = await sql<DetailedRow>`${detailedFragment}
    WHERE c.workspace_id = ${workspaceId} AND c.id = ANY(${ids}::uuid[]) ORDER BY c.number`.execute(db)
  return result.rows
}

export async function selectCommissionsByNumber(
  db: Db,
  workspaceId: string,
  numbers: bigint[],
): Promise<CommissionRow[]> {
  const result = await sql<CommissionRow>`SELECT * FROM commissions
    WHERE workspace_id = ${workspaceId} AND number = ANY(${numbers}::bigint[]) ORDER BY number`.execute(db)
  return result.rows
}

/** Commissions of a conversion, including clawbacks. */
export async function selectOfConversion(db: Db, workspaceId: string, number: bigint): Promise<DetailedRow[]> {
  const result = await sql<DetailedRow>`${detailedFragment}
    WHERE c.workspace_id = ${workspaceId} AND c.conversion_number = ${number} ORDER BY c.number`.execute(db)
  return result.rows
}

/** Commissions of conversions, including clawbacks. */
export async function selectOfConversions(db: Db, workspaceId: string, numbers: bigint[]): Promise<CommissionRow[]> {
  const result = await sql<CommissionRow>`SELECT * FROM commissions
    WHERE workspace_id = ${workspaceId} AND conversion_number = ANY(${numbers}::bigint[]) ORDER BY number`.execute(db)
  return result.rows
}

export async function selectIdsByNumber(
  db: Db,
  workspaceId: string,
  numbers: bigint[],
): Promise<{ number: bigint; id: string }[]> {
  const result = await sql<{ number: bigint; id: string }>`SELECT number, id FROM commissions
    WHERE workspace_id = ${workspaceId} AND number = ANY(${numbers}::bigint[])`.execute(db)
  return result.rows
}

type Operator = '=' | '!=' | '>' | '>=' | '<' | '<='
/** Conditions on values in the metadata. */
export type MetadataQuery =
  | { path: string[]; operator: Operator; value: string }
  | { all: MetadataQuery[] }
  | { any: MetadataQuery[] }

export type Values<Value> = { values: Value[]; excluded: boolean }
export type CommissionFilter = {
  type?: CommissionType
  status?: CommissionStatus
  customerId?: string
  payoutNumber?: bigint
  partnerNumbers?: Values<bigint>
  /** A statement that selects the numbers of partners. */
  partnersFragment?: RawBuilder<unknown>[]
  invoiceId?: string
  metadata?: MetadataQuery
  from?: Date
  until?: Date
}
export type CommissionPage = {
  sort: 'createdAt' | 'amount'
  ascending: boolean
  after?: bigint
  offset: number
  count: number
}

export async function selectCommissions(
  db: Db,
  workspaceId: string,
  filter: CommissionFilter,
  { sort, ascending, after, offset, count }: CommissionPage,
): Promise<CommissionRow[]> {
  const column = sort === 'amount' ? sql`c.amount` : sql`c.created_at`
  const direction = ascending ? sql`ASC` : sql`DESC`
  const beyond = ascending ? sql`>` : sql`<`
  const conditions = [sql<SqlBool>`c.workspace_id = ${workspaceId}`, ...buildConditions(filter)]
  if (after !== undefined)
    conditions.push(
      sql`(${column}, c.number) ${beyond} (SELECT ${column}, c.number FROM commissions c WHERE c.number = ${after})`,
    )
  const result = await sql<CommissionRow>`SELECT c.* FROM commissions c WHERE ${sql.join(conditions, sql` AND `)}
    ORDER BY ${column} ${direction}, c.number ${direction} LIMIT ${count} OFFSET ${offset}`.execute(db)
  return result.rows
}

function buildConditions(filter: CommissionFilter): RawBuilder<SqlBool>[] {
  const { type, status, customerId, payoutNumber, partnerNumbers, invoiceId, from, until } = filter
  const conditions: (RawBuilder<SqlBool> | false | undefined)[] = [
    type && sql`c.type = ${type}`,
    status && sql`c.status = ${status}`,
    customerId !== undefined && sql`c.customer_id = ${customerId}`,
    payoutNumber !== undefined && sql`c.payout_number = ${payoutNumber}`,
    partnerNumbers && isAmong(partnerNumbers),
    invoiceId !== undefined && sql`c.invoice_id = ${invoiceId}`,
    from && sql`c.created_at >= ${from}`,
    until && sql`c.created_at < ${until}`,
    ...(filter.partnersFragment ?? []).map((numbers) => sql<SqlBool>`c.partner_number IN (${numbers})`),
    filter.metadata && buildMetadata(filter.metadata),
  ]
  return conditions.filter((condition) => condition !== undefined && condition !== false)
}

/** An order compares numbers only; a missing value matches nothing. */
function buildMetadata(query: MetadataQuery): RawBuilder<SqlBool> {
  if ('all' in query) return sql`(${sql.join(query.all.map(buildMetadata), sql` AND `)})`
  if ('any' in query) return sql`(${sql.join(query.any.map(buildMetadata), sql` OR `)})`
  const { path, operator, value } = query
  if (operator === '=' || operator === '!=')
    return sql`coalesce(c.metadata #>> ${path}::text[] ${sql.raw(operator)} ${value}, false)`
  if (!Number.isFinite(Number(value)) || value.trim() === '') return sql`false`
  return sql`CASE WHEN jsonb_typeof(c.metadata #> ${path}::text[]) = 'number'
    THEN (c.metadata #>> ${path}::text[])::numeric ${sql.raw(operator)} ${formatNumber(value)}::numeric ELSE false END`
}

/** PostgreSQL refuses exponents that JavaScript rounds, such as 1e-400000. */
function formatNumber(value: string): string {
  return /^-?\d+(\.\d+)?$/.test(value) ? value : String(Number(value))
}

function isAmong({ values, excluded }: Values<bigint>): RawBuilder<SqlBool> {
  return excluded ? sql`c.partner_number <> ALL(${values}::bigint[])` : sql`c.partner_number = ANY(${values}::bigint[])`
}
