import type { partnerSorts } from '@tributary/contract/partners'
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Db } from '../../platform/postgres.ts'
import type { PartnerRow, PartnerStatus } from './store.ts'

export type PartnerSort = (typeof partnerSorts)[number]
export type PartnerFilter = {
  groupNumber?: bigint
  status?: PartnerStatus
  country?: string
  email?: string
  tenantId?: string
  search?: string
}
export type PartnerPage = { sort: PartnerSort; ascending: boolean; offset: number; count: number }

const ratio = (dividend: RawBuilder<unknown>, divisor: RawBuilder<unknown>) =>
  sql`${dividend}::double precision / nullif(${divisor}, 0)`
const [clicks, leads, converted, amount, earned] = [
  sql`t.clicks`,
  sql`t.leads`,
  sql`t.conversions`,
  sql`t.sale_amount`,
  sql`t.commissions`,
]
/** Only the first three have an index. */
const sortColumns: Record<PartnerSort, RawBuilder<unknown>> = {
  createdAt: sql`p.number`,
  totalSaleAmount: amount,
  totalCommissions: earned,
  totalClicks: clicks,
  totalLeads: leads,
  totalConversions: converted,
  netRevenue: sql`(t.sale_amount - t.commissions)`,
  earningsPerClick: ratio(amount, clicks),
  averageLifetimeValue: ratio(amount, converted),
  clickToLeadRate: ratio(leads, clicks),
  clickToConversionRate: ratio(converted, clicks),
  leadToConversionRate: ratio(converted, leads),
  returnOnAdSpend: ratio(amount, earned),
}
const indexed: PartnerSort[] = ['createdAt', 'totalSaleAmount', 'totalCommissions']

/** Reads a page of partners: first finds their numbers, then reads the full rows of this page only. */
export async function selectPartnerPage(
  db: Db,
  workspaceId: string,
  filter: PartnerFilter,
  { sort, ascending, offset, count }: PartnerPage,
): Promise<PartnerRow[]> {
  const byTotals = sort !== 'createdAt'
  const conditions = [
    sql<SqlBool>`p.workspace_id = ${workspaceId} AND p.merged_into IS NULL`,
    sql<SqlBool>`(p.status <> 'pending' OR p.applied_at IS NOT NULL)`,
    ...buildConditions(filter),
  ]
  if (byTotals) conditions.push(sql`t.workspace_id = ${workspaceId}`)
  const direction = ascending ? sql`ASC` : sql`DESC`
  // Partners without a value come last; the indexed columns are never null.
  const last = indexed.includes(sort) ? sql`` : sql`NULLS LAST`
  const number = byTotals ? sql`t.partner_number` : sql`p.number`
  const result = await sql<PartnerRow>`
    WITH page AS (
      SELECT p.number, row_number() OVER () AS position FROM (
        SELECT p.number FROM ${byTotals ? sql`partner_totals t JOIN partners p ON p.number = t.partner_number` : sql`partners p`}
        WHERE ${sql.join(conditions, sql` AND `)}
        ORDER BY ${sortColumns[sort]} ${direction} ${last}, ${number} ${direction} LIMIT ${count} OFFSET ${offset}
      ) p
    )
    SELECT p.* FROM page JOIN partners p ON p.number = page.number AND p.workspace_id = ${workspaceId}
    ORDER BY page.position`.execute(db)
  return result.rows
}

function buildConditions(filter: PartnerFilter): RawBuilder<SqlBool>[] {
  const conditions: RawBuilder<SqlBool>[] = []
  if (filter.groupNumber !== undefined) conditions.push(sql`p.group_number = ${filter.groupNumber}`)
  if (filter.status !== undefined) conditions.push(sql`p.status = ${filter.status}`)
  if (filter.country !== undefined) conditions.push(sql`p.country = ${filter.country}`)
  if (filter.tenantId !== undefined) conditions.push(sql`p.tenant_id = ${filter.tenantId}`)
  else if (filter.email !== undefined) conditions.push(sql`p.email = ${filter.email}`)
  else if (filter.search !== undefined) {
    const pattern = `%${filter.search.toLowerCase().replaceAll(/[\\%_]/g, '\\$&')}%`
    conditions.push(sql`p.search_text LIKE ${pattern}`)
  }
  return conditions
}

/** Reads pending applications, newest first or last. */
export async function selectApplications(
  db: Db,
  workspaceId: string,
  { groupNumber, country }: Pick<PartnerFilter, 'groupNumber' | 'country'>,
  page: { ascending: boolean; offset: number; count: number },
): Promise<PartnerRow[]> {
  const conditions = buildConditions({ groupNumber, country })
  const direction = page.ascending ? sql`ASC` : sql`DESC`
  const result = await sql<PartnerRow>`SELECT p.* FROM partners p
    WHERE ${sql.join([sql`p.workspace_id = ${workspaceId} AND p.status = 'pending'`, ...conditions], sql` AND `)}
      AND p.applied_at IS NOT NULL AND p.merged_into IS NULL
    ORDER BY p.applied_at ${direction}, p.number ${direction} LIMIT ${page.count} OFFSET ${page.offset}`.execute(db)
  return result.rows
}

export async function selectTagIds(
  db: Db,
  workspaceId: string,
  numbers: bigint[],
): Promise<{ partner_number: bigint; tag_id: string }[]> {
  const result = await sql<{ partner_number: bigint; tag_id: string }>`
    SELECT partner_number, tag_id FROM partner_tag_assignments
    WHERE workspace_id = ${workspaceId} AND partner_number = ANY(${numbers}::bigint[])
    ORDER BY partner_number, tag_id`.execute(db)
  return result.rows
}

export async function replaceTagIds(db: Db, workspaceId: string, number: bigint, tagIds: string[]): Promise<void> {
  await sql`DELETE FROM partner_tag_assignments
    WHERE workspace_id = ${workspaceId} AND partner_number = ${number} AND tag_id <> ALL(${tagIds}::text[])`.execute(db)
  await sql`INSERT INTO partner_tag_assignments (workspace_id, partner_number, tag_id)
    SELECT ${workspaceId}, ${number}, tag_id FROM unnest(${tagIds}::text[]) AS given (tag_id)
    ON CONFLICT DO NOTHING`.execute(db)
}
